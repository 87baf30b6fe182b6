/* members.c: makes the table of one set's members. */
#include "libidx/sets/members.h"

#include <stdlib.h>
#include <string.h>

/* The least number of slots, and of bytes of `lows`; and how many bytes `lows` has at least for each member. */
enum { MIN_SIZE = 64, MIN_LOWS_PER_MEMBER = 16 };

enum idx_status idxi_members_reset(struct idxi_members *members, size_t max_members, struct idx_error *error) {
    size_t slot_count = MIN_SIZE;
    while (slot_count < 2 * max_members) slot_count *= 2;
    if (slot_count > members->capacity) {
        free(members->slots);
        members->slots = malloc(slot_count * sizeof *members->slots);
        members->capacity = members->slots == NULL ? 0 : slot_count;
        if (members->slots == NULL) return idxi_fail_memory(error);
    }
    members->mask = slot_count - 1;
    members->has_zero = false;
    memset(members->slots, 0, slot_count * sizeof *members->slots);
    return IDX_OK;
}

enum idx_status idxi_members_prepare_lows(struct idxi_members *members, const uint64_t *hashes, size_t count,
                                          struct idx_error *error) {
    size_t low_count = MIN_SIZE;
    while (low_count < MIN_LOWS_PER_MEMBER * count) low_count *= 2;
    if (low_count > members->low_capacity) {
        free(members->lows);
        members->lows = malloc(low_count);
        members->low_capacity = members->lows == NULL ? 0 : low_count;
        if (members->lows == NULL) return idxi_fail_memory(error);
    }
    members->low_mask = low_count - 1;
    memset(members->lows, 0, low_count);
    for (size_t i = 0; i < count; i++) members->lows[(uint32_t)hashes[i] & members->low_mask] = 1;
    return IDX_OK;
}

void idxi_members_free(struct idxi_members *members) {
    free(members->slots);
    free(members->lows);
    *members = (struct idxi_members){0};
}
