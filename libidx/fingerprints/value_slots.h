/* value_slots.h: a hash table that finds the place of a value in an array. */
#ifndef IDX_LIBIDX_VALUE_SLOTS_H
#define IDX_LIBIDX_VALUE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The table. The array of values is the caller's. */
struct idxi_value_slots {
    const uint64_t *values;
    uint32_t *slots; /* places in the array, each plus 1, so that 0 is an empty slot */
    unsigned bits;   /* there are 2^bits slots */
};

/* Returns how many bytes the slots for `count` values take: at most 12 * count + 16. */
uint64_t idxi_value_slots_bytes(size_t count);

/* Makes a table of `count` distinct values, fewer than 2^32 - 1. The array stays the caller's, and must neither move
 * nor change. Returns false when memory runs out. Call idxi_value_slots_free even then. */
bool idxi_value_slots_make(struct idxi_value_slots *slots, const uint64_t *values, size_t count);

/* Returns the place of a value in the array, or SIZE_MAX if it is not there. */
size_t idxi_value_slots_find(const struct idxi_value_slots *slots, uint64_t value);

/* Begins to load the slot at which the search for a value begins. Call it a little before idxi_value_slots_find. */
void idxi_value_slots_prefetch(const struct idxi_value_slots *slots, uint64_t value);

/* Frees the slots. */
void idxi_value_slots_free(struct idxi_value_slots *slots);

#endif
