/* sets.c: the public calls for sets: adding, which to keep, and all similar pairs. */
#include <stdlib.h>
#include <string.h>

#include "libidx/sets/common.h"
#include "libidx/sets/join.h"
#include "libidx/sets/needles.h"
#include "libidx/streams/sort.h"
#include "libidx/streams/sorter.h"

/* 1 / STORE_SHARE of the memory is for members, at most; 1 / POSTINGS_SHARE for postings, at least; and so on for
 * counters, for finding common hashes, and for pairs that are not visited yet. */
enum { STORE_SHARE = 2, POSTINGS_SHARE = 4, COUNTERS_SHARE = 4, COMMON_SHARE = 2, PAIRS_SHARE = 8 };

/* What each set takes besides its members: where it is stored, and its result. */
#define BYTES_PER_SET (sizeof(struct idxi_stored_set) + sizeof(struct idx_kept_set))

struct idx_sets {
    char *temporary_folder; /* a copy of what the options point to; NULL: that of the system */
    struct idxi_set_store store;
    struct idxi_counters counters; /* of the first counted_sets sets; without an array if there are none */
    size_t counted_sets;
    unsigned threads;
    uint64_t memory;
    struct idxi_progress progress;
};

enum idx_status idx_sets_open(struct idx_sets **sets, const struct idx_sets_options *options, struct idx_error *error) {
    struct idx_sets_options own = IDX_SETS_OPTIONS_INIT;
    if (sets == NULL)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "idx_sets_open needs a pointer for its result");
    IDXI_TRY(idxi_copy_options(&own, options, error));
    IDXI_TRY(idxi_check_threads(own.threads, error));
    IDXI_TRY(idxi_memory_choose_limit(&own.memory_bytes, error));
    struct idx_sets *new_sets = calloc(1, sizeof *new_sets);
    if (new_sets == NULL) return idxi_fail_memory(error);
    if (own.temporary_folder != NULL) new_sets->temporary_folder = strdup(own.temporary_folder);
    if (own.temporary_folder != NULL && new_sets->temporary_folder == NULL) {
        free(new_sets);
        return idxi_fail_memory(error);
    }
    new_sets->threads = own.threads;
    new_sets->memory = own.memory_bytes;
    idxi_set_store_init(&new_sets->store, own.memory_bytes / STORE_SHARE, new_sets->temporary_folder);
    idxi_progress_init(&new_sets->progress, own.progress, own.context);
    *sets = new_sets;
    return IDX_OK;
}

enum idx_status idx_sets_add(struct idx_sets *sets, const uint64_t *hashes, size_t count, struct idx_error *error) {
    if (sets == NULL || (hashes == NULL && count > 0))
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "idx_sets_add needs sets, and an array of hashes");
    return idxi_set_store_add(&sets->store, hashes, count, error);
}

enum idx_status idx_sets_ignore_common(struct idx_sets *sets, uint64_t most, uint64_t *ignored,
                                       struct idx_error *error) {
    if (sets == NULL || ignored == NULL || most == 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "idx_sets_ignore_common needs sets, a number of 1 or more, and a pointer for its result");
    const struct idxi_removal removal = {.store = &sets->store,
                                         .max_sets = most,
                                         .memory = sets->memory / COMMON_SHARE,
                                         .threads = sets->threads,
                                         .progress = &sets->progress};
    sets->progress.cancelled = false; /* an earlier call may have been */
    idxi_counters_free(&sets->counters);
    IDXI_TRY(idxi_set_store_flush(&sets->store, error));
    return idxi_remove_common(&removal, ignored, error);
}

/* Adds set `number` of the reader's store to another store. Its members are mixed hashes already, and are mixed once
 * more, so sets that are added this way can only be compared with each other. Fails with IDX_INVALID_ARGUMENT if there
 * is no such set. */
static enum idx_status add_set_of_reader(struct idxi_set_store *store, struct idxi_set_reader *reader, uint64_t number,
                                         struct idx_error *error) {
    const uint64_t *hashes;
    if (number >= reader->store->count)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "set %llu is asked for, of %zu that are numbered from 0",
                         (unsigned long long)number, reader->store->count);
    const struct idxi_stored_set *set = &reader->store->sets[number];
    IDXI_TRY(idxi_set_read(reader, set->offset, set->count, &hashes, error));
    return idxi_set_store_add(store, hashes, set->count, error);
}

enum idx_status idx_sets_add_from(struct idx_sets *sets, struct idx_sets *others, const uint64_t *numbers, size_t count,
                                  struct idx_error *error) {
    if (sets == NULL || others == NULL || sets == others || (numbers == NULL && count > 0))
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "idx_sets_add_from needs sets, other sets, and an array of numbers");
    struct idxi_set_reader reader = {.store = &others->store};
    enum idx_status status = idxi_set_store_flush(&others->store, error);
    for (size_t i = 0; i < count && status == IDX_OK; i++)
        status = add_set_of_reader(&sets->store, &reader, numbers[i], error);
    idxi_set_reader_close(&reader);
    return status;
}

enum idx_status idxi_sets_flush(struct idx_sets *sets, const struct idxi_set_store **store, struct idx_error *error) {
    *store = &sets->store;
    return idxi_set_store_flush(&sets->store, error);
}

void idx_sets_close(struct idx_sets *sets) {
    if (sets == NULL) return;
    idxi_set_store_close(&sets->store);
    idxi_counters_free(&sets->counters);
    free(sets->temporary_folder);
    free(sets);
}

/* ---- What both questions need ---- */

/* Fails with IDX_INVALID_ARGUMENT if a threshold is not from 1 to IDX_THRESHOLD_ONE. */
static enum idx_status check_threshold(int64_t threshold, struct idx_error *error) {
    if (threshold >= 1 && threshold <= IDX_THRESHOLD_ONE) return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "a threshold is from 1 to %lld units of 1/%lld, not %lld",
                     (long long)IDX_THRESHOLD_ONE, (long long)IDX_THRESHOLD_ONE, (long long)threshold);
}

/* Fails with IDX_INVALID_ARGUMENT if the threshold of similarity or that of being contained is out of range. One of
 * them may be 0, which means that it does not count, but not both. */
static enum idx_status check_thresholds(int64_t threshold, int64_t contained, struct idx_error *error) {
    if (threshold != 0 || contained == 0) IDXI_TRY(check_threshold(threshold, error));
    return contained == 0 ? IDX_OK : check_threshold(contained, error);
}

/* Makes all sets readable, frees the memory that only adding needs, and makes the counters of the sets, unless an
 * earlier call has made them for all sets. */
static enum idx_status flush_and_count_sets(struct idx_sets *sets, struct idx_error *error) {
    sets->progress.cancelled = false; /* an earlier call may have been */
    IDXI_TRY(idxi_set_store_flush(&sets->store, error));
    idxi_set_store_free_table(&sets->store);
    if (sets->counters.counts != NULL && sets->counted_sets == sets->store.count) return IDX_OK;
    idxi_counters_free(&sets->counters);
    sets->counted_sets = sets->store.count;
    enum idx_status status = idxi_counters_make(&sets->counters, IDXI_COUNTERS_SMALL, &sets->store,
                                                sets->memory / COUNTERS_SHARE, sets->threads, &sets->progress, error);
    if (status != IDX_OK) idxi_counters_free(&sets->counters);
    return status;
}

/* Returns a threshold as a fraction; for 0 IDXI_NONE, which no similarity reaches. */
static struct idxi_fraction threshold_to_fraction(int64_t threshold) {
    return threshold == 0 ? IDXI_NONE : (struct idxi_fraction){(uint64_t)threshold, (uint64_t)IDX_THRESHOLD_ONE};
}

/* Returns a join of all sets. The caller sets what is done with the results. The join may use the memory that sets and
 * counters leave, but at least 1 / POSTINGS_SHARE of all memory. */
static struct idxi_set_join make_join(struct idx_sets *sets, int64_t threshold, int64_t contained,
                                      uint64_t contained_size) {
    struct idxi_set_store *store = &sets->store;
    uint64_t used_bytes =
        store->hash_capacity * sizeof(uint64_t) + store->count * BYTES_PER_SET + idxi_counters_bytes(&sets->counters);
    uint64_t min_bytes = sets->memory / POSTINGS_SHARE;
    return (struct idxi_set_join){
        .store = store,
        .counters = &sets->counters,
        .threshold = threshold_to_fraction(threshold),
        .contained = threshold_to_fraction(contained),
        .contained_size = contained_size,
        .threads = sets->threads,
        .memory = sets->memory > used_bytes + min_bytes ? sets->memory - used_bytes : min_bytes,
        .progress = &sets->progress,
    };
}

/* ---- Which sets to keep ---- */

/* The order of preference. All arrays are NULL where it is the order of adding. */
struct preference {
    uint32_t *order, *firsts;
    uint32_t *copies;      /* by number: how many sets equal the set that is the first of its equals */
    uint32_t *first_ranks; /* by number: the lowest rank of a set that equals the set that is the first of its equals */
    uint64_t *keys, *numbers, *spare_keys, *spare_numbers; /* of the sets that are not known, for sorting */
};

/* Fills preference->order: known sets first; then the others by descending value, their preference or number of copies.
 * Where sets may be contained in others, those with more members come first, whatever their values. Sorting is stable,
 * so the key that is sorted by last counts most. */
static void sort_by_preference(const struct idx_sets *sets, const struct idx_keep_options *options,
                               struct preference *preference) {
    const struct idxi_set_store *store = &sets->store;
    size_t known_count = (size_t)options->known, unknown_count = store->count - known_count;
    idxi_set_store_count_copies(store, preference->copies);
    for (size_t i = 0; i < unknown_count; i++) {
        size_t number = known_count + i;
        int64_t value = options->prefer_copies ? (int64_t)preference->copies[store->sets[number].first] : 0;
        if (options->preferences != NULL) value = options->preferences[number];
        preference->keys[i] = ~((uint64_t)value ^ UINT64_C(1) << 63); /* greater values, smaller keys */
        preference->numbers[i] = number;
    }
    idxi_sort_pairs(preference->keys, preference->numbers, unknown_count, false, preference->spare_keys,
                    preference->spare_numbers);
    for (size_t i = 0; i < unknown_count && options->contained != 0; i++)
        preference->keys[i] = ~(uint64_t)store->sets[preference->numbers[i]].count;
    if (options->contained != 0)
        idxi_sort_pairs(preference->keys, preference->numbers, unknown_count, false, preference->spare_keys,
                        preference->spare_numbers);
    for (size_t i = 0; i < store->count; i++)
        preference->order[i] = (uint32_t)(i < known_count ? i : preference->numbers[i - known_count]);
}

/* Sets preference->firsts[rank], for each rank, to the lowest rank of a set that equals the set of this rank. */
static void find_first_ranks(const struct idxi_set_store *store, struct preference *preference) {
    for (size_t i = 0; i < store->count; i++) preference->first_ranks[i] = UINT32_MAX;
    for (size_t rank = 0; rank < store->count; rank++) {
        uint32_t *first = &preference->first_ranks[store->sets[preference->order[rank]].first];
        if (*first == UINT32_MAX) *first = (uint32_t)rank;
        preference->firsts[rank] = *first;
    }
}

/* Makes the order of preference in *preference, which is zeroed; leaves it so if sets are preferred in the order of
 * adding. The caller frees `order` and `firsts` even after an error. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status make_preference(const struct idx_sets *sets, const struct idx_keep_options *options,
                                       struct preference *preference, struct idx_error *error) {
    uint32_t **const small[] = {&preference->order, &preference->firsts, &preference->copies, &preference->first_ranks};
    uint64_t **const large[] = {&preference->keys, &preference->numbers, &preference->spare_keys,
                                &preference->spare_numbers};
    if (options->preferences == NULL && !options->prefer_copies && options->contained == 0) return IDX_OK;
    bool allocated = true;
    for (size_t i = 0; i < 4; i++) {
        *small[i] = calloc(sets->store.count + 1, sizeof **small[i]);
        *large[i] = calloc(sets->store.count + 1, sizeof **large[i]);
        allocated = allocated && *small[i] != NULL && *large[i] != NULL;
    }
    if (allocated) {
        sort_by_preference(sets, options, preference);
        find_first_ranks(&sets->store, preference);
    }
    free(preference->copies);
    free(preference->first_ranks);
    free(preference->keys);
    free(preference->numbers);
    free(preference->spare_keys);
    free(preference->spare_numbers);
    return allocated ? IDX_OK : idxi_fail_memory(error);
}

enum idx_status idx_sets_keep(struct idx_sets *sets, const struct idx_keep_options *options, struct idx_kept_set *kept,
                              struct idx_sets_summary *summary, struct idx_error *error) {
    struct idx_keep_options own = IDX_KEEP_OPTIONS_INIT;
    struct preference preference = {0};
    IDXI_TRY(idxi_copy_options(&own, options, error));
    if (sets == NULL || (kept == NULL && sets->store.count > 0))
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "idx_sets_keep needs sets, and an array for its results");
    if (own.known > sets->store.count)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%llu of %zu sets are said to be known",
                         (unsigned long long)own.known, sets->store.count);
    if (own.preferences != NULL && own.prefer_copies)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "preferences and prefer_copies exclude each other: each is an order of all sets");
    IDXI_TRY(check_thresholds(own.threshold, own.contained, error));
    IDXI_TRY(flush_and_count_sets(sets, error));
    struct idxi_set_join join = make_join(sets, own.threshold, own.contained, own.contained_size);
    enum idx_status status = make_preference(sets, &own, &preference, error);
    join.kept = kept;
    join.known = (uint32_t)own.known;
    join.order = preference.order;
    join.firsts = preference.firsts;
    if (status == IDX_OK && sets->store.count > 0) status = idxi_set_join_run(&join, error);
    if (summary != NULL) *summary = join.summary;
    free(preference.order);
    free(preference.firsts);
    return status;
}

/* ---- All pairs ---- */

/* The pairs that were found so far. They are visited once all are found, sorted by the numbers of their sets. */
struct found_pairs {
    pthread_mutex_t mutex; /* guards the sorter */
    struct idxi_sorter sorter;
    const uint32_t *order; /* the number of the set of each rank; NULL: ranks are numbers */
};

/* Adds the pair of sets number `a` and `b`, in any order, to the sorter, with how many members they share and how many
 * either of them has. The caller holds the mutex, or is the only thread. */
static enum idx_status add_pair(struct found_pairs *pairs, uint32_t a, uint32_t b, uint32_t shared, uint32_t total,
                                struct idx_error *error) {
    const uint64_t lower = a < b ? a : b, higher = a < b ? b : a;
    return idxi_sorter_add_or_spill(&pairs->sorter, lower << 32 | higher, (uint64_t)shared << 32 | total, error);
}

/* An idxi_similar_visitor: adds the pairs of the set of a rank with `count` similar ones. */
static enum idx_status add_similar_pairs(void *context, uint32_t rank, const struct idxi_similar *similar, size_t count,
                                         struct idx_error *error) {
    struct found_pairs *pairs = context;
    enum idx_status status = IDX_OK;
    pthread_mutex_lock(&pairs->mutex);
    for (size_t i = 0; i < count && status == IDX_OK; i++)
        status = add_pair(pairs, idxi_rank_to_number(pairs->order, similar[i].rank),
                          idxi_rank_to_number(pairs->order, rank), similar[i].shared, similar[i].total, error);
    pthread_mutex_unlock(&pairs->mutex);
    return status;
}

/* Adds a pair for each set that equals an earlier one and has `min_members` members or more: with the first of its
 * equals. */
static enum idx_status add_pairs_of_equal(const struct idxi_set_store *store, uint64_t min_members,
                                          struct found_pairs *pairs, struct idx_error *error) {
    for (uint32_t i = 0; i < store->count; i++) {
        const struct idxi_stored_set *set = &store->sets[i];
        if (set->first != i && set->count >= min_members)
            IDXI_TRY(add_pair(pairs, set->first, i, set->count, set->count, error));
    }
    return IDX_OK;
}

/* Visits the pairs of a sorter in order of their numbers, until the visitor stops, which is no error. */
static enum idx_status visit_sorted_pairs(const struct idxi_set_store *store, struct idxi_sorter *sorter,
                                          idx_set_pair_visitor visit, void *context, struct idx_error *error) {
    uint64_t keys[256], values[256];
    struct idxi_stream *stream;
    size_t pair_count;
    IDXI_TRY(idxi_sorter_open_stream(sorter, &stream, error));
    while (true) {
        IDXI_TRY(stream->read(stream, keys, values, sizeof keys / sizeof *keys, &pair_count, error));
        for (size_t i = 0; i < pair_count; i++) {
            const uint32_t first = (uint32_t)(keys[i] >> 32), second = (uint32_t)keys[i];
            const struct idx_set_pair pair = {.first = first,
                                              .second = second,
                                              .shared = (uint32_t)(values[i] >> 32),
                                              .total = (uint32_t)values[i],
                                              .first_size = store->sets[first].count,
                                              .second_size = store->sets[second].count};
            if (!visit(context, &pair)) return IDX_OK;
        }
        if (pair_count == 0) return IDX_OK;
    }
}

/* Finds all similar pairs and adds them to `pairs`. If sets may be contained in others, larger ones come first in the
 * order of the join, as for idx_sets_keep. Errors: IDX_OUT_OF_MEMORY, IDX_LIMIT, IDX_CANCELLED, those of files. */
static enum idx_status find_all_pairs(struct idx_sets *sets, const struct idx_set_pair_options *options,
                                      struct idxi_set_join *join, struct found_pairs *pairs, struct idx_error *error) {
    const struct idx_keep_options keep_options = {.contained = options->contained};
    struct preference preference = {0};
    enum idx_status status = make_preference(sets, &keep_options, &preference, error);
    pairs->order = join->order = preference.order;
    join->firsts = preference.firsts;
    join->visit = add_similar_pairs;
    join->context = pairs;
    if (status == IDX_OK)
        status = add_pairs_of_equal(&sets->store, options->threshold != 0 ? 0 : options->contained_size, pairs, error);
    if (status == IDX_OK && sets->store.count > 0) status = idxi_set_join_run(join, error);
    free(preference.order);
    free(preference.firsts);
    return status;
}

enum idx_status idx_sets_visit_pairs(struct idx_sets *sets, const struct idx_set_pair_options *options,
                                     idx_set_pair_visitor visit, void *visit_context, struct idx_sets_summary *summary,
                                     struct idx_error *error) {
    struct idx_set_pair_options own = IDX_SET_PAIR_OPTIONS_INIT;
    struct found_pairs pairs = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct idxi_progress silent_progress; /* pairs are no sets, which the progress counts */
    IDXI_TRY(idxi_copy_options(&own, options, error));
    if (sets == NULL || visit == NULL)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "idx_sets_visit_pairs needs sets, and a visitor");
    IDXI_TRY(check_thresholds(own.threshold, own.contained, error));
    IDXI_TRY(flush_and_count_sets(sets, error));
    IDXI_TRY(idxi_set_store_open_folder(&sets->store, error));
    idxi_progress_init(&silent_progress, NULL, NULL);
    const struct idxi_sorter_options sorter_options = {.with_values = true,
                                                       .threads = sets->threads,
                                                       .memory = sets->memory / PAIRS_SHARE,
                                                       .folder = sets->store.folder,
                                                       .path = sets->store.path,
                                                       .progress = &silent_progress};
    struct idxi_set_join join = make_join(sets, own.threshold, own.contained, own.contained_size);
    join.memory -= sorter_options.memory;
    enum idx_status status = idxi_sorter_open(&pairs.sorter, &sorter_options, error);
    if (status == IDX_OK) status = find_all_pairs(sets, &own, &join, &pairs, error);
    if (status == IDX_OK) status = visit_sorted_pairs(&sets->store, &pairs.sorter, visit, visit_context, error);
    if (summary != NULL) *summary = join.summary;
    idxi_sorter_close(&pairs.sorter);
    pthread_mutex_destroy(&pairs.mutex);
    return status;
}
