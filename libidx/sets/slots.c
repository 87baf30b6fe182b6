/* slots.c: makes and grows a hash table of numbers by tags. */
#include "libidx/sets/slots.h"

#include <string.h>

enum { FIRST_BITS = 10 };

enum idx_status idxi_slots_reset(struct idxi_slots *slots, unsigned bits, struct idx_error *error) {
    const size_t slot_count = (size_t)1 << bits;
    if (slot_count > slots->capacity) {
        idxi_slots_free(slots);
        slots->list = idxi_map_resize(NULL, 0, slot_count * sizeof *slots->list);
        if (slots->list == NULL) return idxi_fail_memory(error);
        slots->capacity = slot_count;
    } else {
        memset(slots->list, 0, slot_count * sizeof *slots->list);
    }
    slots->bits = bits;
    slots->used = 0;
    return IDX_OK;
}

enum idx_status idxi_slots_grow(struct idxi_slots *slots, struct idx_error *error) {
    const size_t slot_count = (size_t)1 << slots->bits;
    struct idxi_slots grown = {0};
    if (slots->list == NULL) return idxi_slots_reset(slots, FIRST_BITS, error);
    IDXI_TRY(idxi_slots_reset(&grown, slots->bits + 1, error));
    for (size_t i = 0; i < slot_count; i++) {
        if (slots->list[i].number != 0) idxi_slots_add(&grown, slots->list[i].tag, slots->list[i].number);
    }
    idxi_slots_free(slots);
    *slots = grown;
    return IDX_OK;
}

void idxi_slots_free(struct idxi_slots *slots) {
    idxi_map_release(slots->list, slots->capacity * sizeof *slots->list);
    *slots = (struct idxi_slots){0};
}
