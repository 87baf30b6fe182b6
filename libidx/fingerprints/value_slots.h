/* value_slots.h: a hash table that tells where in an array a value is. */
#ifndef IDX_LIBIDX_VALUE_SLOTS_H
#define IDX_LIBIDX_VALUE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idxi_value_slots {
    const uint64_t *values;
    uint32_t *slots; /* places in the array, from 1 on; 0: empty */
    unsigned bits;   /* There are 2 to the power of this many slots. */
};

/* The bytes that the slots of so many values take: at most 12 for each, and 16. */
uint64_t idxi_value_slots_bytes(size_t count);

/* Fills a table with fewer than 2^32 - 1 distinct values, which stay the caller's, where they are. False where memory
 * is short. To be freed also then. */
bool idxi_value_slots_make(struct idxi_value_slots *slots, const uint64_t *values, size_t count);

/* The place of a value, or SIZE_MAX where it is not in the array. */
size_t idxi_value_slots_find(const struct idxi_value_slots *slots, uint64_t value);

/* Fetches what a search for the value some searches later reads first. */
void idxi_value_slots_expect(const struct idxi_value_slots *slots, uint64_t value);

void idxi_value_slots_free(struct idxi_value_slots *slots);

#endif
