/* value_slots.c: a hash table of places in an array. A value whose slot is taken goes to the next free one. */
#include "libidx/fingerprints/value_slots.h"

#include <stdlib.h>

/* Returns the least number of bits with which 2^bits slots are enough for so many values: at most two thirds of the
 * slots are then taken, and at least one is empty, where searches end. */
static unsigned choose_slot_bits(size_t count) {
    unsigned bits = 1;
    while ((size_t)1 << bits < count + count / 2 + 2) bits++;
    return bits;
}

/* Returns the number of the slot where a search for a value begins. The factor is 2^64 divided by the golden ratio; it
 * spreads values that are near to each other. */
static size_t choose_first_slot(const struct idxi_value_slots *slots, uint64_t value) {
    return (size_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> (64 - slots->bits));
}

uint64_t idxi_value_slots_bytes(size_t count) { return sizeof(uint32_t) << choose_slot_bits(count); }

bool idxi_value_slots_make(struct idxi_value_slots *slots, const uint64_t *values, size_t count) {
    *slots = (struct idxi_value_slots){.values = values, .bits = choose_slot_bits(count)};
    size_t slot_mask = ((size_t)1 << slots->bits) - 1;
    slots->slots = calloc(slot_mask + 1, sizeof *slots->slots);
    if (slots->slots == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        size_t slot = choose_first_slot(slots, values[i]);
        while (slots->slots[slot] != 0) slot = (slot + 1) & slot_mask;
        slots->slots[slot] = (uint32_t)i + 1;
    }
    return true;
}

size_t idxi_value_slots_find(const struct idxi_value_slots *slots, uint64_t value) {
    size_t slot_mask = ((size_t)1 << slots->bits) - 1, slot = choose_first_slot(slots, value);
    for (; slots->slots[slot] != 0; slot = (slot + 1) & slot_mask) {
        if (slots->values[slots->slots[slot] - 1] == value) return slots->slots[slot] - 1;
    }
    return SIZE_MAX;
}

void idxi_value_slots_prefetch(const struct idxi_value_slots *slots, uint64_t value) {
    __builtin_prefetch(&slots->slots[choose_first_slot(slots, value)]);
}

void idxi_value_slots_free(struct idxi_value_slots *slots) { free(slots->slots); }
