/* leaders.c: see leaders.h. */
#include "tools/dedup/leaders.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64, MOST_FEATURES = 64 };

/* The probability that a representative is missed that resembles a document by the threshold. */
#define MISSED 1e-5

/* Words are fewer than shingles, and shared where the cosine is high, but how many is not known. */
void leaders_init(struct leaders *leaders, const struct sets *sets) {
    double different = 1 - (double)sets->threshold / (double)IDX_DECIMAL_WEIGHT_ONE, missed = 1;
    *leaders = (struct leaders){.sets = sets};
    while (leaders->features < MOST_FEATURES && (missed > MISSED || sets->weighted)) {
        leaders->features++;
        missed *= different;
    }
}

static uint64_t count_features(const struct leaders *leaders, const struct set *set) {
    return set->count < leaders->features ? set->count : leaders->features;
}

/* The slot of the hash, or the free one where it belongs. */
static struct leader_slot *find_slot(const struct leaders *leaders, uint64_t hash) {
    size_t mask = leaders->slot_count - 1, slot = (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
    while (leaders->slots[slot].count > 0 && leaders->slots[slot].hash != hash) slot = (slot + 1) & mask;
    return &leaders->slots[slot];
}

static bool set_slots(struct leaders *leaders, size_t count) {
    struct leader_slot *slots = leaders->slots;
    if (count > leaders->slot_capacity) slots = realloc(slots, count * sizeof *slots);
    if (slots == NULL) return false;
    if (count > leaders->slot_capacity) leaders->slot_capacity = count;
    leaders->slots = slots;
    leaders->slot_count = count;
    memset(slots, 0, count * sizeof *slots);
    return true;
}

bool leaders_begin(struct leaders *leaders) {
    leaders->used = leaders->entry_count = 0;
    return set_slots(leaders, FIRST_SLOTS);
}

/* Twice as many slots, for what is there. */
static bool grow_slots(struct leaders *leaders) {
    size_t count = leaders->slot_count;
    struct leader_slot *before = malloc(count * sizeof *before);
    if (before == NULL) return false;
    memcpy(before, leaders->slots, count * sizeof *before);
    bool grown = set_slots(leaders, 2 * count);
    for (size_t i = 0; i < count && grown; i++)
        if (before[i].count > 0) *find_slot(leaders, before[i].hash) = before[i];
    free(before);
    return grown;
}

static bool add_entry(struct leaders *leaders, struct leader_slot *slot, uint32_t place) {
    if (leaders->entry_count == leaders->entry_capacity) {
        size_t capacity = 2 * leaders->entry_capacity + FIRST_SLOTS;
        struct leader_entry *grown = capacity > UINT32_MAX ? NULL : realloc(leaders->entries, capacity * sizeof *grown);
        if (grown == NULL) return false;
        leaders->entries = grown;
        leaders->entry_capacity = capacity;
    }
    leaders->entries[leaders->entry_count] = (struct leader_entry){place, slot->head};
    slot->head = (uint32_t)leaders->entry_count++;
    slot->count++;
    return true;
}

bool leaders_add(struct leaders *leaders, uint32_t place, const struct set *set) {
    for (uint64_t i = 0; i < count_features(leaders, set); i++) {
        uint64_t hash = sets_hash(leaders->sets, set, i);
        if (2 * leaders->used >= leaders->slot_count && !grow_slots(leaders)) return false;
        struct leader_slot *slot = find_slot(leaders, hash);
        if (slot->count == LEADERS_LISTED) continue;
        leaders->used += slot->count == 0;
        slot->hash = hash;
        if (!add_entry(leaders, slot, place)) return false;
    }
    return true;
}

static int compare_places(const void *first, const void *second) {
    const uint32_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

bool leaders_find(struct leaders *leaders, const struct set *set, const uint32_t **places, size_t *count) {
    size_t found = 0, distinct = 0;
    for (uint64_t i = 0; i < count_features(leaders, set); i++) {
        const struct leader_slot *slot = find_slot(leaders, sets_hash(leaders->sets, set, i));
        if (found + slot->count > leaders->found_capacity) {
            size_t capacity = 2 * (found + slot->count);
            uint32_t *grown = realloc(leaders->found, capacity * sizeof *grown);
            if (grown == NULL) return false;
            leaders->found = grown;
            leaders->found_capacity = capacity;
        }
        for (uint32_t j = 0, at = slot->head; j < slot->count; j++, at = leaders->entries[at].next)
            leaders->found[found++] = leaders->entries[at].place;
    }
    if (found > 1) qsort(leaders->found, found, sizeof *leaders->found, compare_places);
    for (size_t i = 0; i < found; i++)
        if (i == 0 || leaders->found[i] != leaders->found[i - 1]) leaders->found[distinct++] = leaders->found[i];
    *places = leaders->found;
    *count = distinct;
    return true;
}

void leaders_free(struct leaders *leaders) {
    free(leaders->slots);
    free(leaders->entries);
    free(leaders->found);
}
