/* leaders.c: finds the representative that a set resembles. However many representatives there are, only those are
 * compared that share one of the few members with the smallest hashes. If two sets have the Jaccard coefficient J, each
 * such member of one is such a member of the other with probability J at least; so with enough of them hardly any
 * representative is missed. */
#include "libidx/text/base.h"
#include "libidx/text/resemblance.h"

#include <idx_text.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SLOTS = 64,
    MOST_MEMBERS = 64,  /* how many members of a set are looked at, at most */
    MOST_LISTED = 1000, /* how many representatives are listed under a member, at most: the first ones */
};

/* The probability of missing a representative that a set resembles by exactly the threshold. */
#define MISSED 1e-5

/* A set of hashes, or of features with weights; ascending by hash. It points to the caller's array. */
struct set {
    const uint64_t *hashes; /* NULL if it has features */
    const struct idx_feature *features;
    size_t count;
    double norm; /* of features: the sum of the squares of their weights */
};

struct leader {
    uint64_t number; /* the caller's number of the set */
    struct set set;
};

/* A slot of the hash table from members to the representatives that have them, by mixed hashes of 32 bits. If two
 * members have the same one, some representatives are compared in vain. */
struct slot {
    uint32_t hash;
    uint32_t head; /* the first entry of its list; NONE if the slot is free */
};

#define NONE UINT32_MAX

struct entry {
    uint32_t place, next; /* the places of a representative and of the next entry; NONE after the last one */
};

/* The sets that were offered, by a hash of all members, with the places of their representatives: so equal sets are
 * searched for once. */
struct known {
    uint64_t *keys;
    uint32_t *places; /* the place plus 1; 0 if the slot is free */
    size_t slots, used;
};

/* The hashes of sets that will be offered, as bits: `seen` for hashes that at least one set has, `shared` for those of
 * several. Hashes can share a bit, so a few that only one set has seem to be shared. */
struct expected {
    uint64_t *seen, *shared;
    size_t bits, count; /* if `bits` is 0, no sets are expected */
};

struct idx_text_leaders {
    int64_t threshold; /* in units of 1/IDX_DECIMAL_WEIGHT_ONE */
    size_t looked_at;  /* how many members of a set are looked at */
    uint64_t bytes;    /* once so many bytes are in use, no representatives are added; 0: no bound */
    struct leader *leaders;
    size_t count, capacity;
    struct slot *slots;
    size_t slot_count, slot_capacity, used;
    struct entry *entries;
    size_t entry_count, entry_capacity;
    uint32_t *found;
    size_t found_capacity;
    struct known known;
    struct expected expected;
};

static enum idx_status out_of_memory(struct idx_error *error) {
    return idxt_fail(error, IDX_OUT_OF_MEMORY, "out of memory while looking for a representative");
}

/* ---- Sets ---- */

static uint64_t get_hash(const struct set *set, size_t i) {
    return set->hashes != NULL ? set->hashes[i] : set->features[i].hash;
}

static bool are_equal(const struct set *a, const struct set *b) {
    if (a->count != b->count) return false;
    if (a->hashes != NULL) return memcmp(a->hashes, b->hashes, a->count * sizeof *a->hashes) == 0;
    return memcmp(a->features, b->features, a->count * sizeof *a->features) == 0;
}

/* Returns whether the Jaccard coefficient reaches the threshold t: s of the a + b - s distinct members are shared, and
 * s / (a + b - s) >= t where s >= t (a + b) / (1 + t). */
static bool is_jaccard_enough(const struct idx_text_leaders *leaders, const struct set *a, const struct set *b) {
    uint64_t t = (uint64_t)leaders->threshold, one = IDX_DECIMAL_WEIGHT_ONE;
    uint64_t needed = (t * (a->count + b->count) + one + t - 1) / (one + t);
    return idxt_share(a->hashes, a->count, b->hashes, b->count, needed);
}

static bool is_cosine_enough(const struct idx_text_leaders *leaders, const struct set *a, const struct set *b) {
    const struct idx_feature *x = a->features, *y = b->features;
    double sum = 0, threshold = (double)leaders->threshold / (double)IDX_DECIMAL_WEIGHT_ONE;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (x[i].hash == y[j].hash) sum += (double)x[i].weight * (double)y[j].weight;
        bool ahead = x[i].hash >= y[j].hash;
        i += x[i].hash <= y[j].hash;
        j += ahead;
    }
    return sum > 0 && sum * sum >= threshold * threshold * a->norm * b->norm;
}

static bool are_alike(const struct idx_text_leaders *leaders, const struct set *a, const struct set *b) {
    if (a->count == 0 || b->count == 0) return a->count == b->count;
    if (are_equal(a, b)) return true;
    return a->hashes != NULL ? is_jaccard_enough(leaders, a, b) : is_cosine_enough(leaders, a, b);
}

/* ---- Sets that are expected ---- */

/* The first number of bits, a power of two, and the least number of bits for each hash. */
enum { FIRST_BITS = 1 << 12, BITS_PER_HASH = 8 };

static size_t get_bit(const struct expected *expected, uint64_t hash) {
    return (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 24) & (expected->bits - 1);
}

static bool has_bit(const uint64_t *bits, size_t bit) { return (bits[bit / 64] >> bit % 64 & 1) != 0; }

static void set_bit(uint64_t *bits, size_t bit) { bits[bit / 64] |= UINT64_C(1) << bit % 64; }

static void forget_expected(struct expected *expected) {
    free(expected->seen);
    free(expected->shared);
    *expected = (struct expected){0};
}

/* Doubles the bits. A hash then has its former bit or the same one in the new half, so both halves begin alike. Returns
 * false if memory runs out. */
static bool grow_expected(struct expected *expected) {
    size_t before = expected->bits / 8, after = before == 0 ? FIRST_BITS / 8 : 2 * before;
    uint64_t *seen = realloc(expected->seen, after);
    if (seen != NULL) expected->seen = seen;
    uint64_t *shared = seen == NULL ? NULL : realloc(expected->shared, after);
    if (shared == NULL) return false;
    expected->shared = shared;
    expected->bits = 8 * after;
    if (before == 0) {
        memset(seen, 0, after);
        memset(shared, 0, after);
    } else {
        memcpy((char *)seen + before, seen, before);
        memcpy((char *)shared + before, shared, before);
    }
    return true;
}

static bool expect_hash(struct expected *expected, uint64_t hash) {
    if (BITS_PER_HASH * (expected->count + 1) > expected->bits && !grow_expected(expected)) return false;
    size_t bit = get_bit(expected, hash);
    if (has_bit(expected->seen, bit)) set_bit(expected->shared, bit);
    set_bit(expected->seen, bit);
    expected->count++;
    return true;
}

/* Returns whether several sets may have a hash. */
static bool is_shared(const struct expected *expected, uint64_t hash) {
    return expected->bits == 0 || has_bit(expected->shared, get_bit(expected, hash));
}

/* ---- Representatives by their members ---- */

static size_t count_looked_at(const struct idx_text_leaders *leaders, const struct set *set) {
    /* How many features two texts with a high cosine share is not known. */
    size_t most = set->hashes != NULL ? leaders->looked_at : MOST_MEMBERS;
    return set->count < most ? set->count : most;
}

/* Returns whether the representatives take as many bytes as they may. */
static bool is_at_bound(const struct idx_text_leaders *leaders) {
    uint64_t taken = leaders->count * sizeof *leaders->leaders + leaders->entry_count * sizeof *leaders->entries +
                     leaders->slot_count * sizeof *leaders->slots;
    return leaders->bytes > 0 && leaders->count > 0 && taken >= leaders->bytes;
}

static uint32_t mix_hash(uint64_t hash) { return (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32); }

/* Returns the slot of a mixed hash, or the free one where it belongs. */
static struct slot *find_slot(const struct idx_text_leaders *leaders, uint32_t hash) {
    size_t mask = leaders->slot_count - 1, slot = hash & mask;
    while (leaders->slots[slot].head != NONE && leaders->slots[slot].hash != hash) slot = (slot + 1) & mask;
    return &leaders->slots[slot];
}

static void empty_slots(struct idx_text_leaders *leaders, size_t count) {
    leaders->slot_count = count;
    memset(leaders->slots, 0xff, count * sizeof *leaders->slots);
}

/* Makes `count` empty slots. Returns false if memory runs out. */
static bool reset_slots(struct idx_text_leaders *leaders, size_t count) {
    struct slot *slots = leaders->slots;
    if (count > leaders->slot_capacity) slots = realloc(slots, count * sizeof *slots);
    if (slots == NULL) return false;
    if (count > leaders->slot_capacity) leaders->slot_capacity = count;
    leaders->slots = slots;
    empty_slots(leaders, count);
    return true;
}

/* Doubles the slots. Returns false if memory runs out. */
static bool grow_slots(struct idx_text_leaders *leaders) {
    size_t count = leaders->slot_count;
    struct slot *before = malloc(count * sizeof *before);
    if (before == NULL) return false;
    memcpy(before, leaders->slots, count * sizeof *before);
    bool grown = reset_slots(leaders, 2 * count);
    for (size_t i = 0; i < count && grown; i++)
        if (before[i].head != NONE) *find_slot(leaders, before[i].hash) = before[i];
    free(before);
    return grown;
}

static bool is_full(const struct idx_text_leaders *leaders, const struct slot *slot) {
    size_t count = 0;
    for (uint32_t at = slot->head; at != NONE && count < MOST_LISTED; at = leaders->entries[at].next) count++;
    return count == MOST_LISTED;
}

static bool add_entry(struct idx_text_leaders *leaders, struct slot *slot, uint32_t place) {
    if (leaders->entry_count == NONE) return false;
    struct entry *grown =
        idxt_buffer_grow(leaders->entries, &leaders->entry_capacity, leaders->entry_count + 1, sizeof *grown);
    if (grown == NULL) return false;
    leaders->entries = grown;
    grown[leaders->entry_count] = (struct entry){place, slot->head};
    slot->head = (uint32_t)leaders->entry_count++;
    return true;
}

/* Adds a representative, and lists it under those of its members that other sets may share. */
static bool add_leader(struct idx_text_leaders *leaders, uint64_t number, const struct set *set) {
    struct leader *grown = idxt_buffer_grow(leaders->leaders, &leaders->capacity, leaders->count + 1, sizeof *grown);
    if (grown == NULL) return false;
    leaders->leaders = grown;
    for (size_t i = 0; i < count_looked_at(leaders, set); i++) {
        if (!is_shared(&leaders->expected, get_hash(set, i))) continue;
        if (4 * leaders->used >= 3 * leaders->slot_count && !grow_slots(leaders)) return false;
        const uint32_t hash = mix_hash(get_hash(set, i));
        struct slot *slot = find_slot(leaders, hash);
        if (is_full(leaders, slot)) continue;
        leaders->used += slot->head == NONE;
        slot->hash = hash;
        if (!add_entry(leaders, slot, (uint32_t)leaders->count)) return false;
    }
    grown[leaders->count++] = (struct leader){number, *set};
    return true;
}

static int compare_places(const void *first, const void *second) {
    const uint32_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

/* Lists the places of the representatives that share one of the members looked at, ascending, with repetitions. Returns
 * false if memory runs out. */
static bool list_shared(struct idx_text_leaders *leaders, const struct set *set, size_t *count) {
    *count = 0;
    for (size_t i = 0; i < count_looked_at(leaders, set); i++) {
        const struct slot *slot = find_slot(leaders, mix_hash(get_hash(set, i)));
        uint32_t *grown =
            idxt_buffer_grow(leaders->found, &leaders->found_capacity, *count + MOST_LISTED, sizeof *grown);
        if (grown == NULL) return false;
        leaders->found = grown;
        for (uint32_t at = slot->head; at != NONE; at = leaders->entries[at].next)
            grown[(*count)++] = leaders->entries[at].place;
    }
    if (*count > 1) qsort(leaders->found, *count, sizeof *leaders->found, compare_places);
    return true;
}

/* Sets *place to that of the first representative that the set resembles, or to leaders->count if it resembles none.
 * Returns false if memory runs out. */
static bool find_leader(struct idx_text_leaders *leaders, const struct set *set, size_t *place) {
    size_t found;
    *place = leaders->count;
    if (!list_shared(leaders, set, &found)) return false;
    for (size_t i = 0; i < found && *place == leaders->count; i++) {
        if (i > 0 && leaders->found[i] == leaders->found[i - 1]) continue;
        if (are_alike(leaders, &leaders->leaders[leaders->found[i]].set, set)) *place = leaders->found[i];
    }
    return true;
}

/* ---- Sets that were offered before ---- */

static uint64_t make_key(const struct set *set) {
    if (set->count == 0) return 0;
    if (set->hashes != NULL) return XXH3_64bits(set->hashes, set->count * sizeof *set->hashes);
    return XXH3_64bits(set->features, set->count * sizeof *set->features);
}

/* Returns the slot of a key, or the free one where it belongs. */
static size_t find_known(const struct known *known, uint64_t key) {
    size_t slot = (size_t)key & (known->slots - 1);
    while (known->places[slot] != 0 && known->keys[slot] != key) slot = (slot + 1) & (known->slots - 1);
    return slot;
}

/* Doubles the slots of known sets. Returns false if memory runs out. */
static bool grow_known(struct known *known) {
    struct known grown = {.slots = known->slots == 0 ? FIRST_SLOTS : 2 * known->slots, .used = known->used};
    grown.keys = malloc(grown.slots * sizeof *grown.keys);
    grown.places = calloc(grown.slots, sizeof *grown.places);
    if (grown.keys == NULL || grown.places == NULL) {
        free(grown.keys);
        free(grown.places);
        return false;
    }
    for (size_t i = 0; i < known->slots; i++) {
        if (known->places[i] == 0) continue;
        size_t slot = find_known(&grown, known->keys[i]);
        grown.keys[slot] = known->keys[i];
        grown.places[slot] = known->places[i];
    }
    free(known->keys);
    free(known->places);
    *known = grown;
    return true;
}

/* Forgets all sets, in the same time however many there were. */
static void forget_known(struct known *known) {
    known->used = 0;
    if (known->slots == FIRST_SLOTS) {
        memset(known->places, 0, FIRST_SLOTS * sizeof *known->places);
        return;
    }
    free(known->keys);
    free(known->places);
    *known = (struct known){0};
}

/* ---- The public functions ---- */

/* Sets *leader to the number of the representative that an equal set got before, or of the first one that the set
 * resembles, or of the set itself. Sets that differ can have equal keys, so a known representative is compared
 * again. */
static enum idx_status join_leader(struct idx_text_leaders *leaders, uint64_t number, const struct set *set,
                                   uint64_t *leader, struct idx_error *error) {
    struct known *known = &leaders->known;
    if (leaders->count > 0 && (leaders->leaders[0].set.hashes != NULL) != (set->hashes != NULL))
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "sets with weights can't be compared with sets without");
    if (leaders->count == UINT32_MAX - 1)
        return idxt_fail(error, IDX_LIMIT, "there are %zu representatives, and no more are possible", leaders->count);
    if (4 * (known->used + 1) > 3 * known->slots && !grow_known(known)) return out_of_memory(error);
    const uint64_t key = make_key(set);
    const size_t slot = find_known(known, key);
    size_t place = known->places[slot];
    bool is_known = place-- > 0;
    if (!is_known || !are_alike(leaders, &leaders->leaders[place].set, set)) {
        if (!find_leader(leaders, set, &place)) return out_of_memory(error);
        if (place == leaders->count && is_at_bound(leaders)) {
            *leader = IDX_TEXT_NO_LEADER;
            return IDX_OK;
        }
        if (place == leaders->count && !add_leader(leaders, number, set)) return out_of_memory(error);
        known->keys[slot] = key;
        known->places[slot] = (uint32_t)place + 1;
        known->used += !is_known;
    }
    *leader = leaders->leaders[place].number;
    return IDX_OK;
}

enum idx_status idx_text_leaders_make(struct idx_text_leaders **leaders, int64_t threshold, struct idx_error *error) {
    if (leaders == NULL)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "idx_text_leaders_make needs a pointer for its result");
    if (threshold < 1 || threshold > IDX_DECIMAL_WEIGHT_ONE)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "a threshold is from 1 to %lld units of 1/%lld, not %lld",
                         (long long)IDX_DECIMAL_WEIGHT_ONE, (long long)IDX_DECIMAL_WEIGHT_ONE, (long long)threshold);
    struct idx_text_leaders *created = calloc(1, sizeof *created);
    if (created == NULL || !reset_slots(created, FIRST_SLOTS)) {
        free(created);
        return out_of_memory(error);
    }
    created->threshold = threshold;
    double different = 1 - (double)threshold / (double)IDX_DECIMAL_WEIGHT_ONE;
    for (double missed = 1; missed > MISSED && created->looked_at < MOST_MEMBERS; missed *= different)
        created->looked_at++;
    *leaders = created;
    return IDX_OK;
}

void idx_text_leaders_limit(struct idx_text_leaders *leaders, uint64_t bytes) { leaders->bytes = bytes; }

static enum idx_status refuse_unsorted(struct idx_error *error) {
    return idxt_fail(error, IDX_INVALID_ARGUMENT,
                     "leaders are offered an array of hashes, each above the one before it");
}

enum idx_status idx_text_leaders_expect(struct idx_text_leaders *leaders, const uint64_t *hashes, size_t count,
                                        struct idx_error *error) {
    if (leaders == NULL || (hashes == NULL && count > 0) || !idxt_is_set(hashes, count)) return refuse_unsorted(error);
    if (leaders->count > 0)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "a set was offered already: expect all sets before the first");
    for (size_t i = 0; i < count && i < leaders->looked_at; i++)
        if (!expect_hash(&leaders->expected, hashes[i])) return out_of_memory(error);
    return IDX_OK;
}

enum idx_status idx_text_leaders_join(struct idx_text_leaders *leaders, uint64_t number, const uint64_t *hashes,
                                      size_t count, uint64_t *leader, struct idx_error *error) {
    static const uint64_t none;
    if (leaders == NULL || leader == NULL || (hashes == NULL && count > 0) || !idxt_is_set(hashes, count))
        return refuse_unsorted(error);
    const struct set set = {.hashes = count == 0 ? &none : hashes, .count = count};
    return join_leader(leaders, number, &set, leader, error);
}

enum idx_status idx_text_leaders_join_features(struct idx_text_leaders *leaders, uint64_t number,
                                               const struct idx_feature *features, size_t count, uint64_t *leader,
                                               struct idx_error *error) {
    if (leaders == NULL || leader == NULL || (features == NULL && count > 0)) return refuse_unsorted(error);
    struct set set = {.features = features, .count = count};
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && features[i - 1].hash >= features[i].hash) return refuse_unsorted(error);
        set.norm += (double)features[i].weight * (double)features[i].weight;
    }
    return join_leader(leaders, number, &set, leader, error);
}

void idx_text_leaders_clear(struct idx_text_leaders *leaders) {
    leaders->count = leaders->entry_count = leaders->used = 0;
    empty_slots(leaders, FIRST_SLOTS);
    forget_known(&leaders->known);
    forget_expected(&leaders->expected);
}

void idx_text_leaders_free(struct idx_text_leaders *leaders) {
    if (leaders == NULL) return;
    free(leaders->leaders);
    free(leaders->slots);
    free(leaders->entries);
    free(leaders->found);
    free(leaders->known.keys);
    free(leaders->known.places);
    forget_expected(&leaders->expected);
    free(leaders);
}
