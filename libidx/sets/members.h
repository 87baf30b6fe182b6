/* members.h: the members of one set in memory, to ask which members another set shares with it. */
#ifndef IDX_LIBIDX_MEMBERS_H
#define IDX_LIBIDX_MEMBERS_H

#include "libidx/base/base.h"

/* A hash table of mixed hashes (idxi_mix). A slot that is 0 is empty, so a flag stands for the hash 0. Zeroed, the
 * table is empty and has room for nothing. */
struct idxi_members {
    uint64_t *slots;
    size_t capacity, mask; /* slots that there is memory for, and those in use minus 1 */
    bool has_zero;

    uint8_t *lows;                 /* lows[hash & low_mask] is 1 if a member has these low bits, else 0 */
    size_t low_capacity, low_mask; /* as those of slots, in bytes of `lows` */
};

/* Spreads hashes evenly over all values. Different hashes stay different. */
static inline uint64_t idxi_mix(uint64_t hash) {
    hash += UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

/* Empties the table, and gives it room for `max_members` members, reusing its memory. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_members_reset(struct idxi_members *members, size_t max_members, struct idx_error *error);

/* Adds a mixed hash as a member; the table must have room for it. Returns false if it was a member before. */
static inline bool idxi_members_add(struct idxi_members *members, uint64_t hash) {
    if (hash == 0) {
        bool is_new = !members->has_zero;
        members->has_zero = true;
        return is_new;
    }
    size_t slot = (uint32_t)hash & members->mask;
    for (; members->slots[slot] != 0; slot = (slot + 1) & members->mask)
        if (members->slots[slot] == hash) return false;
    members->slots[slot] = hash;
    return true;
}

/* Returns whether a mixed hash is a member. idxi_members_reset must have been called. */
static inline bool idxi_members_has(const struct idxi_members *members, uint64_t hash) {
    if (hash == 0) return members->has_zero;
    size_t slot = (uint32_t)hash & members->mask;
    for (; members->slots[slot] != 0; slot = (slot + 1) & members->mask)
        if (members->slots[slot] == hash) return true;
    return false;
}

/* Sets members->lows, which idxi_members_count_lows reads, by the `count` members of the set, given as mixed hashes.
 * Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_members_prepare_lows(struct idxi_members *members, const uint64_t *hashes, size_t count,
                                          struct idx_error *error);

/* Returns how many of `count` hashes, given by their low 32 bits, seem to be members: all that are, and about a
 * sixteenth of the others. idxi_members_prepare_lows must have been called. This takes a tenth of the time of
 * idxi_members_has_low. */
static inline size_t idxi_members_count_lows(const struct idxi_members *members, const uint32_t *lows, size_t count) {
    size_t member_count = 0;
    for (size_t i = 0; i < count; i++) member_count += members->lows[lows[i] & members->low_mask];
    return member_count;
}

/* Returns whether any member has these low 32 bits. idxi_members_reset must have been called. */
static inline bool idxi_members_has_low(const struct idxi_members *members, uint32_t low) {
    size_t slot = low & members->mask;
    for (; members->slots[slot] != 0; slot = (slot + 1) & members->mask)
        if ((uint32_t)members->slots[slot] == low) return true;
    return low == 0 && members->has_zero;
}

/* Frees the memory, and leaves the table zeroed. */
void idxi_members_free(struct idxi_members *members);

#endif
