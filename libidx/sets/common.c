/* common.c: counters tell which hashes may be common, and a table counts these exactly. If it doesn't fit into memory,
 * the hashes are taken by their value in several passes. */
#include "libidx/sets/common.h"

#include <stdlib.h>

#include "libidx/sets/counters.h"

/* The counters and the table get one part in so many of the memory each. */
enum { SHARES = 2 };
/* The least number of slots of the table. */
enum { FEWEST_SLOTS = 1024 };

/* A hash, and how many sets have it; 0: the slot is empty. */
struct slot {
    uint64_t hash;
    uint32_t count;
};

struct common_search {
    const struct idxi_removal *removal;
    struct idxi_counters counters;
    uint8_t least;        /* a hash whose counter is lower is not common */
    uint32_t *copies;     /* by number: how many sets equal a set that is the first of its equals, itself included */
    uint64_t begin, last; /* the first and the last hash that this pass may count */
    struct slot *slots;   /* the table of the hashes of this pass; their number is a power of two */
    size_t slot_count, most_slots, slots_used;
};

/* ---- The table ---- */

/* Returns the slot of a hash, or the empty one where it belongs. */
static struct slot *find_slot(const struct common_search *search, uint64_t hash) {
    size_t at = hash & (search->slot_count - 1);
    while (search->slots[at].count != 0 && search->slots[at].hash != hash) at = (at + 1) & (search->slot_count - 1);
    return &search->slots[at];
}

/* Makes a table of `count` slots from the one before, without the hashes above search->last. */
static enum idx_status rebuild_table(struct common_search *search, size_t count, struct idx_error *error) {
    struct slot *before = search->slots;
    const size_t count_before = search->slot_count;
    struct slot *slots = calloc(count, sizeof *slots);
    if (slots == NULL) return idxi_fail_memory(error);
    search->slots = slots;
    search->slot_count = count;
    search->slots_used = 0;
    for (size_t i = 0; i < count_before; i++) {
        if (before[i].count == 0 || before[i].hash > search->last) continue;
        *find_slot(search, before[i].hash) = before[i];
        search->slots_used++;
    }
    free(before);
    return IDX_OK;
}

/* Makes room for one more hash. If the memory is used up, search->last is lowered, which leaves the upper half of the
 * hashes to further passes, and drops what was counted of them. */
static enum idx_status make_room(struct common_search *search, struct idx_error *error) {
    while (2 * (search->slots_used + 1) > search->slot_count) {
        size_t count = search->slot_count == 0 ? FEWEST_SLOTS : 2 * search->slot_count;
        if (count > search->most_slots && search->slot_count > 0) {
            count = search->slot_count;
            search->last = search->begin + (search->last - search->begin) / 2;
        }
        IDXI_TRY(rebuild_table(search, count, error));
    }
    return IDX_OK;
}

/* ---- Passes ---- */

/* Returns whether a hash is counted in this pass: it may be common as far as its counter tells. */
static inline bool may_be_common(const struct common_search *search, uint64_t hash) {
    return hash >= search->begin && hash <= search->last &&
           idxi_counter_at(&search->counters, hash >> search->counters.shift) >= search->least;
}

/* Counts in how many sets each hash of this pass is, copies of sets included. */
static enum idx_status count_exactly(struct common_search *search, struct idxi_set_reader *reader,
                                     struct idx_error *error) {
    const struct idxi_set_store *store = search->removal->store;
    for (size_t i = 0; i < store->count; i++) {
        const struct idxi_stored_set *set = &store->sets[i];
        const uint64_t *hashes;
        if (set->first != i || set->count == 0) continue;
        IDXI_TRY(idxi_set_read(reader, set->offset, set->count, &hashes, error));
        for (size_t j = 0; j < set->count; j++) {
            if (!may_be_common(search, hashes[j])) continue;
            IDXI_TRY(make_room(search, error));
            if (hashes[j] > search->last) continue;
            struct slot *slot = find_slot(search, hashes[j]);
            search->slots_used += slot->count == 0;
            slot->hash = hashes[j];
            slot->count += search->copies[i];
        }
        IDXI_TRY(idxi_progress_add(search->removal->progress, set->count, error));
    }
    return IDX_OK;
}

/* Returns whether a hash is common and of this pass, in which all hashes were counted. This is an idxi_hash_test. */
static bool is_common(const void *context, uint64_t hash) {
    const struct common_search *search = context;
    return may_be_common(search, hash) && find_slot(search, hash)->count > search->removal->most;
}

/* Removes the common hashes from search->begin to search->last, which is lowered if these are too many to count. Adds
 * to *removed how many different ones these are. */
static enum idx_status run_pass(struct common_search *search, uint64_t *removed, struct idx_error *error) {
    struct idxi_set_store *store = search->removal->store;
    struct idxi_set_reader reader = {.store = store};
    uint64_t common = 0;
    idxi_set_store_count_copies(store, search->copies);
    IDXI_TRY(idxi_progress_begin(search->removal->progress, IDX_PHASE_COUNTING, store->stored, error));
    enum idx_status status = count_exactly(search, &reader, error);
    idxi_set_reader_close(&reader);
    for (size_t i = 0; i < search->slot_count; i++) common += search->slots[i].count > search->removal->most;
    if (status == IDX_OK && common > 0) status = idxi_set_store_filter(store, is_common, search, error);
    *removed += common;
    free(search->slots);
    search->slots = NULL;
    search->slot_count = search->slots_used = 0;
    return status;
}

/* Makes the counters, which the caller frees, and removes all common hashes, in as many passes as the memory needs. */
static enum idx_status run_passes(struct common_search *search, uint64_t *removed, struct idx_error *error) {
    const struct idxi_removal *removal = search->removal;
    enum idx_status status = idxi_counters_make(&search->counters, IDXI_COUNTERS_EXACT, removal->store,
                                                removal->memory / SHARES, removal->threads, removal->progress, error);
    if (status == IDX_OK) status = idxi_counters_add_copies(&search->counters, removal->store, search->copies, error);
    for (bool more = true; more && status == IDX_OK; search->begin = search->last + 1) {
        search->last = UINT64_MAX;
        status = run_pass(search, removed, error);
        more = search->last < UINT64_MAX;
    }
    return status;
}

enum idx_status idxi_remove_common(const struct idxi_removal *removal, uint64_t *removed, struct idx_error *error) {
    struct common_search search = {
        .removal = removal,
        .least = (uint8_t)(removal->most < IDXI_COUNTER_EXACT_MOST ? removal->most + 1 : IDXI_COUNTER_EXACT_MOST),
        .most_slots = removal->memory / SHARES / sizeof(struct slot)};
    *removed = 0;
    if (removal->most >= removal->store->count) return IDX_OK;
    search.copies = calloc(removal->store->count, sizeof *search.copies);
    if (search.copies == NULL) return idxi_fail_memory(error);
    idxi_set_store_count_copies(removal->store, search.copies);
    enum idx_status status = run_passes(&search, removed, error);
    idxi_counters_free(&search.counters);
    free(search.copies);
    free(search.slots);
    return status;
}
