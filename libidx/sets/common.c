/* common.c: counters tell which hashes may be common, and a table counts these exactly. If it doesn't fit into memory,
 * the hashes are taken by their value in several passes. */
#include "libidx/sets/common.h"

#include <stdlib.h>

#include "libidx/sets/counters.h"

/* The counters and the table each get one of so many equal shares of the memory. */
enum { SHARES = 2 };
/* The least number of slots of the table. */
enum { MIN_SLOTS = 1024 };

/* A hash, and how many sets have it; 0: the slot is empty. */
struct slot {
    uint64_t hash;
    uint32_t count;
};

struct common_search {
    const struct idxi_removal *removal;
    struct idxi_counters counters;
    uint8_t min_counter; /* a hash whose counter is lower is not common */
    uint32_t *copies;    /* by number: how many sets equal a set that is the first of its equals; 0 for others */
    uint64_t first_hash, last_hash; /* the hashes that this pass may count, both included */
    struct slot *slots;             /* the table of the hashes of this pass; their number is a power of two */
    size_t slot_count, max_slots, slots_used;
};

/* ---- The table ---- */

/* Returns the slot of a hash, or if it has none, the empty slot where it belongs. The table must have an empty slot. */
static struct slot *find_slot(const struct common_search *search, uint64_t hash) {
    size_t pos = hash & (search->slot_count - 1);
    while (search->slots[pos].count != 0 && search->slots[pos].hash != hash) pos = (pos + 1) & (search->slot_count - 1);
    return &search->slots[pos];
}

/* Replaces the table by one of `new_count` slots, a power of two with room for all. Drops hashes above
 * search->last_hash. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status rebuild_table(struct common_search *search, size_t new_count, struct idx_error *error) {
    struct slot *old_slots = search->slots;
    const size_t old_count = search->slot_count;
    struct slot *slots = calloc(new_count, sizeof *slots);
    if (slots == NULL) return idxi_fail_memory(error);
    search->slots = slots;
    search->slot_count = new_count;
    search->slots_used = 0;
    for (size_t i = 0; i < old_count; i++) {
        if (old_slots[i].count == 0 || old_slots[i].hash > search->last_hash) continue;
        *find_slot(search, old_slots[i].hash) = old_slots[i];
        search->slots_used++;
    }
    free(old_slots);
    return IDX_OK;
}

/* Makes room for one more hash. If the memory is used up, lowers search->last_hash: this leaves the upper half of the
 * hashes to further passes, and drops what was counted of them. So the caller's hash may be above search->last_hash
 * afterwards. */
static enum idx_status make_room_for_hash(struct common_search *search, struct idx_error *error) {
    while (2 * (search->slots_used + 1) > search->slot_count) {
        size_t new_count = search->slot_count == 0 ? MIN_SLOTS : 2 * search->slot_count;
        if (new_count > search->max_slots && search->slot_count > 0) {
            new_count = search->slot_count;
            search->last_hash = search->first_hash + (search->last_hash - search->first_hash) / 2;
        }
        IDXI_TRY(rebuild_table(search, new_count, error));
    }
    return IDX_OK;
}

/* ---- Passes ---- */

/* Returns whether this pass counts a hash: it is one of the pass, and its counter does not rule out that it is common.
 */
static inline bool may_be_common(const struct common_search *search, uint64_t hash) {
    return hash >= search->first_hash && hash <= search->last_hash &&
           idxi_read_counter(&search->counters, hash >> search->counters.shift) >= search->min_counter;
}

/* Counts in how many sets each hash of this pass is, copies of sets included. */
static enum idx_status count_hashes_of_pass(struct common_search *search, struct idxi_set_reader *reader,
                                            struct idx_error *error) {
    const struct idxi_set_store *store = search->removal->store;
    for (size_t i = 0; i < store->count; i++) {
        const struct idxi_stored_set *set = &store->sets[i];
        const uint64_t *hashes;
        if (set->first != i || set->count == 0) continue;
        IDXI_TRY(idxi_set_read(reader, set->offset, set->count, &hashes, error));
        for (size_t j = 0; j < set->count; j++) {
            if (!may_be_common(search, hashes[j])) continue;
            IDXI_TRY(make_room_for_hash(search, error));
            if (hashes[j] > search->last_hash) continue;
            struct slot *slot = find_slot(search, hashes[j]);
            search->slots_used += slot->count == 0;
            slot->hash = hashes[j];
            slot->count += search->copies[i];
        }
        IDXI_TRY(idxi_progress_add(search->removal->progress, set->count, error));
    }
    return IDX_OK;
}

/* An idxi_hash_test: returns whether a hash is common and belongs to this pass, all of whose hashes were counted. */
static bool is_common(const void *context, uint64_t hash) {
    const struct common_search *search = context;
    return may_be_common(search, hash) && find_slot(search, hash)->count > search->removal->max_sets;
}

/* Removes the common hashes from search->first_hash to search->last_hash from all sets. Lowers search->last_hash if
 * these are too many to count in one pass. Adds to *removed how many different hashes it removed. Frees the table of
 * the pass. */
static enum idx_status remove_hashes_in_pass(struct common_search *search, uint64_t *removed, struct idx_error *error) {
    struct idxi_set_store *store = search->removal->store;
    struct idxi_set_reader reader = {.store = store};
    uint64_t common_count = 0;
    idxi_set_store_count_copies(store, search->copies);
    IDXI_TRY(idxi_progress_begin(search->removal->progress, IDX_PHASE_COUNTING, store->member_count, error));
    enum idx_status status = count_hashes_of_pass(search, &reader, error);
    idxi_set_reader_close(&reader);
    for (size_t i = 0; i < search->slot_count; i++) common_count += search->slots[i].count > search->removal->max_sets;
    if (status == IDX_OK && common_count > 0) status = idxi_set_store_filter(store, is_common, search, error);
    *removed += common_count;
    free(search->slots);
    search->slots = NULL;
    search->slot_count = search->slots_used = 0;
    return status;
}

/* Makes the counters, which the caller frees even after an error, and removes all common hashes, in as many passes as
 * the memory requires. Adds their number to *removed. */
static enum idx_status remove_in_all_passes(struct common_search *search, uint64_t *removed, struct idx_error *error) {
    const struct idxi_removal *removal = search->removal;
    enum idx_status status = idxi_counters_make(&search->counters, IDXI_COUNTERS_EXACT, removal->store,
                                                removal->memory / SHARES, removal->threads, removal->progress, error);
    if (status == IDX_OK) status = idxi_counters_add_copies(&search->counters, removal->store, search->copies, error);
    for (bool has_more = true; has_more && status == IDX_OK; search->first_hash = search->last_hash + 1) {
        search->last_hash = UINT64_MAX;
        status = remove_hashes_in_pass(search, removed, error);
        has_more = search->last_hash < UINT64_MAX;
    }
    return status;
}

enum idx_status idxi_remove_common(const struct idxi_removal *removal, uint64_t *removed, struct idx_error *error) {
    struct common_search search = {
        .removal = removal,
        .min_counter =
            (uint8_t)(removal->max_sets < IDXI_MAX_EXACT_COUNTER ? removal->max_sets + 1 : IDXI_MAX_EXACT_COUNTER),
        .max_slots = removal->memory / SHARES / sizeof(struct slot)};
    *removed = 0;
    if (removal->max_sets >= removal->store->count) return IDX_OK;
    search.copies = calloc(removal->store->count, sizeof *search.copies);
    if (search.copies == NULL) return idxi_fail_memory(error);
    idxi_set_store_count_copies(removal->store, search.copies);
    enum idx_status status = remove_in_all_passes(&search, removed, error);
    idxi_counters_free(&search.counters);
    free(search.copies);
    free(search.slots);
    return status;
}
