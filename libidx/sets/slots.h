/* slots.h: a hash table of numbers by 32-bit tags. Where tags are hashes, several numbers may have the same one. */
#ifndef IDX_LIBIDX_SLOTS_H
#define IDX_LIBIDX_SLOTS_H

#include "libidx/base/base.h"

struct idxi_slot {
    uint32_t tag, number; /* number 0: the slot is empty */
};

/* A number whose slot is taken goes to the next free one. Zeroed, the table has room for nothing. */
struct idxi_slots {
    struct idxi_slot *list;
    unsigned bits; /* there are 2^bits slots */
    size_t used;
    size_t capacity; /* slots that there is memory for */
};

/* Empties the table, and gives it 2^bits slots, four or more. Errors: IDX_OUT_OF_MEMORY, which can't happen if the
 * table has had as many slots before; then `error` may be NULL. */
enum idx_status idxi_slots_reset(struct idxi_slots *slots, unsigned bits, struct idx_error *error);

/* Doubles the slots and moves all numbers to them, or makes the first slots. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_slots_grow(struct idxi_slots *slots, struct idx_error *error);

/* Makes room for one more number: doubles the slots if three quarters of them are in use, up to 2^32 slots. Errors:
 * IDX_OUT_OF_MEMORY. */
static inline enum idx_status idxi_slots_reserve(struct idxi_slots *slots, struct idx_error *error) {
    const bool has_room = 4 * slots->used < (size_t)3 << slots->bits || slots->bits == 32;
    return has_room && slots->list != NULL ? IDX_OK : idxi_slots_grow(slots, error);
}

/* Returns the number of the slot at which the search for a tag begins. Multiplying by 2^32 divided by the golden ratio
 * spreads tags that are near to each other evenly. */
static inline size_t idxi_slots_find_start(const struct idxi_slots *slots, uint32_t tag) {
    return (tag * UINT32_C(0x9e3779b1)) >> (32 - slots->bits);
}

/* Returns the first slot with a tag from slot number `place` on, or the empty one where another number with this tag
 * belongs. The search goes round at the end, so `place` may be the number of slots. */
static inline struct idxi_slot *idxi_slots_find_from(const struct idxi_slots *slots, uint32_t tag, size_t place) {
    const size_t mask = ((size_t)1 << slots->bits) - 1;
    for (place &= mask; slots->list[place].number != 0 && slots->list[place].tag != tag;) place = (place + 1) & mask;
    return &slots->list[place];
}

/* Returns the first slot with a tag, or the empty one where a number with this tag belongs. The table has an empty
 * slot. */
static inline struct idxi_slot *idxi_slots_find(const struct idxi_slots *slots, uint32_t tag) {
    return idxi_slots_find_from(slots, tag, idxi_slots_find_start(slots, tag));
}

/* Returns the next slot with the tag of this one, or the empty one where another number with it belongs. */
static inline struct idxi_slot *idxi_slots_next(const struct idxi_slots *slots, const struct idxi_slot *slot) {
    return idxi_slots_find_from(slots, slot->tag, (size_t)(slot - slots->list) + 1);
}

/* Adds a number, not 0, behind others with its tag. There must be room (idxi_slots_reserve). */
static inline void idxi_slots_add(struct idxi_slots *slots, uint32_t tag, uint32_t number) {
    struct idxi_slot *slot = idxi_slots_find(slots, tag);
    while (slot->number != 0) slot = idxi_slots_next(slots, slot);
    *slot = (struct idxi_slot){tag, number};
    slots->used++;
}

/* Frees the memory, and leaves the table zeroed. */
void idxi_slots_free(struct idxi_slots *slots);

#endif
