/* members.c: makes the table of one set's members. */
#include "libidx/sets/members.h"

#include <stdlib.h>
#include <string.h>

/* The least number of slots, and of bytes of `lows`; and how many of the latter each member has at least. */
enum { LEAST_SIZE = 64, LOWS_OF_MEMBER = 16 };

enum idx_status idxi_members_begin(struct idxi_members *members, size_t most, struct idx_error *error) {
    size_t slots = LEAST_SIZE;
    while (slots < 2 * most) slots *= 2;
    if (slots > members->capacity) {
        free(members->slots);
        members->slots = malloc(slots * sizeof *members->slots);
        members->capacity = members->slots == NULL ? 0 : slots;
        if (members->slots == NULL) return idxi_fail_memory(error);
    }
    members->mask = slots - 1;
    members->has_zero = false;
    memset(members->slots, 0, slots * sizeof *members->slots);
    return IDX_OK;
}

enum idx_status idxi_members_note_lows(struct idxi_members *members, const uint64_t *hashes, size_t count,
                                       struct idx_error *error) {
    size_t bytes = LEAST_SIZE;
    while (bytes < LOWS_OF_MEMBER * count) bytes *= 2;
    if (bytes > members->low_capacity) {
        free(members->lows);
        members->lows = malloc(bytes);
        members->low_capacity = members->lows == NULL ? 0 : bytes;
        if (members->lows == NULL) return idxi_fail_memory(error);
    }
    members->low_mask = bytes - 1;
    memset(members->lows, 0, bytes);
    for (size_t i = 0; i < count; i++) members->lows[(uint32_t)hashes[i] & members->low_mask] = 1;
    return IDX_OK;
}

void idxi_members_free(struct idxi_members *members) {
    free(members->slots);
    free(members->lows);
    *members = (struct idxi_members){0};
}
