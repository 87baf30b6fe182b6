/* leaders.h: finds the representatives that a document may resemble, among as many as there are: those that share one
 * of its few features of the smallest hashes. Of two documents whose Jaccard coefficient is J, each such feature is
 * shared with probability J, so that with enough of them hardly any is missed. */
#ifndef IDX_TOOLS_LEADERS_H
#define IDX_TOOLS_LEADERS_H

#include "tools/dedup/sets.h"

/* The most representatives that are listed under a feature: the first ones. */
enum { LEADERS_LISTED = 1000 };

struct leaders {
    const struct sets *sets;
    uint64_t features; /* of a document that are looked at */

    struct leader_slot {
        uint64_t hash;
        uint32_t head, count; /* its list; count 0: the slot is free */
    } * slots;
    size_t slot_count, slot_capacity, used;
    struct leader_entry {
        uint32_t place, next;
    } * entries;
    size_t entry_count, entry_capacity;
    uint32_t *found;
    size_t found_capacity;
};

/* Settles how many features are looked at. */
void leaders_init(struct leaders *leaders, const struct sets *sets);

/* Forgets all representatives. False: out of memory. */
bool leaders_begin(struct leaders *leaders);

/* Adds a representative that is known by its place. False: out of memory. */
bool leaders_add(struct leaders *leaders, uint32_t place, const struct set *set);

/* Lists the places of those that the set may resemble, ascending, each once; valid until the next call. False: out of
 * memory. */
bool leaders_find(struct leaders *leaders, const struct set *set, const uint32_t **places, size_t *count);

void leaders_free(struct leaders *leaders);

#endif
