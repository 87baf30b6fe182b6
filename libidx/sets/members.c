/* members.c: makes the table of one set's members. */
#include "libidx/sets/members.h"

#include <stdlib.h>
#include <string.h>

/* The least number of slots. */
enum { FEWEST = 64 };

enum idx_status idxi_members_begin(struct idxi_members *members, size_t most, struct idx_error *error) {
    size_t slots = FEWEST;
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

void idxi_members_free(struct idxi_members *members) {
    free(members->slots);
    *members = (struct idxi_members){0};
}
