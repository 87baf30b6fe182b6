/* match_lists.c: see match_lists.h. */
#include "libidx/lookup/match_lists.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/log/pending_find.h"
#include "libidx/lookup/nearest.h"
#include "libidx/lookup/search.h"

/* A match of a query. `place` is the number of the query in its share, from 0. */
struct idxi_found_match {
    uint64_t fingerprint;
    uint32_t distance, place;
};

/* A call of idx_list_matches. */
struct lookup {
    struct idxi_listing listing;
    const uint64_t *queries;
};

/* ---- Beginning ---- */

enum idx_status idxi_listing_begin(struct idxi_listing *listing, const struct idx_index *index, size_t count,
                                   const struct idx_match_lists_options *options, struct idx_error *error) {
    *listing = (struct idxi_listing){.index = index, .options = IDX_MATCH_LISTS_OPTIONS_INIT, .count = count};
    IDXI_TRY(idxi_copy_options(&listing->options, options, error));
    if (listing->options.distance == UINT_MAX) listing->options.distance = index->manifest->k;
    IDXI_TRY(idxi_check_threads(listing->options.threads, error));
    IDXI_TRY(idxi_check_distance(index, listing->options.distance, error));
    idxi_progress_init(&listing->progress, listing->options.progress, listing->options.context);
    listing->share_count = count / IDXI_SHARE_QUERIES + (count % IDXI_SHARE_QUERIES > 0);
    listing->shares = calloc(listing->share_count + 1, sizeof *listing->shares);
    listing->lists.offsets = calloc(count + 1, sizeof *listing->lists.offsets);
    listing->lists.counts = calloc(count + 1, sizeof *listing->lists.counts);
    if (listing->shares == NULL || listing->lists.offsets == NULL || listing->lists.counts == NULL)
        return idxi_fail_memory(error);
    for (size_t i = 0; i < listing->share_count; i++) {
        struct idxi_match_share *share = &listing->shares[i];
        share->listing = listing;
        share->begin = i * IDXI_SHARE_QUERIES;
        share->end = count - share->begin < IDXI_SHARE_QUERIES ? count : share->begin + IDXI_SHARE_QUERIES;
    }
    listing->bytes = (2 * (uint64_t)count + 1) * sizeof(int64_t);
    return IDX_OK;
}

/* ---- What a share finds ---- */

/* Sets share->matches to the nearest matches of each query among share->found, up to options.max_matches, ordered as by
 * idx_lookup. Sets share->count to how many these are in all, and lists.offsets[q + 1] to how many query q has. Errors:
 * IDX_OUT_OF_MEMORY. */
static enum idx_status order_nearest_matches(struct idxi_match_share *share, struct idx_error *error) {
    size_t query_count = share->end - share->begin, lengths[IDXI_SHARE_QUERIES] = {0}, kept_count = 0;
    size_t counts[IDXI_SHARE_QUERIES] = {0};
    uint64_t max_matches = share->listing->options.max_matches;
    struct idxi_nearest nearest[IDXI_SHARE_QUERIES];
    for (size_t i = 0; i < share->count; i++) lengths[share->found[i].place]++;
    for (size_t i = 0; i < query_count; i++) {
        if (lengths[i] > max_matches) lengths[i] = (size_t)max_matches;
        kept_count += lengths[i];
    }
    free(share->matches);
    share->matches = malloc(kept_count * sizeof *share->matches + 1);
    if (share->matches == NULL) return idxi_fail_memory(error);
    kept_count = 0;
    for (size_t i = 0; i < query_count; i++) {
        nearest[i] =
            (struct idxi_nearest){.matches = share->matches + kept_count, .capacity = lengths[i], .counts = &counts[i]};
        kept_count += lengths[i];
        share->listing->lists.offsets[share->begin + i + 1] = (int64_t)lengths[i];
    }
    for (size_t i = 0; i < share->count; i++) {
        const struct idxi_found_match *found = &share->found[i];
        idxi_nearest_add(&nearest[found->place], 0, &(struct idx_match){found->fingerprint, found->distance});
    }
    for (size_t i = 0; i < query_count; i++) idxi_nearest_sort(&nearest[i], 0);
    share->count = kept_count;
    return IDX_OK;
}

/* Changes listing->bytes, the bytes that all lists take, by the matches that this share has gained or lost since the
 * last call. Fails with IDX_LIMIT if the lists take more than options.max_bytes. */
static enum idx_status count_share_bytes(struct idxi_match_share *share, struct idx_error *error) {
    struct idxi_listing *listing = share->listing;
    uint64_t share_bytes = share->count * sizeof *share->matches;
    /* This may wrap around, if the share has fewer matches than before: unsigned sums are right all the same. */
    uint64_t added_bytes = share_bytes - share->counted_bytes;
    uint64_t bytes = atomic_fetch_add(&listing->bytes, added_bytes) + added_bytes;
    share->counted_bytes = share_bytes;
    if (bytes <= listing->options.max_bytes) return IDX_OK;
    return idxi_fail(
        error, IDX_LIMIT, listing->index->path,
        "the matches of %zu fingerprints take more than the %llu bytes allowed: ask for fewer fingerprints "
        "at a time, or fewer matches of each",
        listing->count, (unsigned long long)listing->options.max_bytes);
}

/* Drops from share->found all but the nearest matches of each query, so that a share needs memory for the matches that
 * it keeps, and not for all that it finds. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status drop_far_matches(struct idxi_match_share *share, struct idx_error *error) {
    IDXI_TRY(order_nearest_matches(share, error));
    size_t i = 0;
    for (uint32_t place = 0; place < share->end - share->begin; place++) {
        int64_t left = share->listing->lists.offsets[share->begin + place + 1];
        for (; left > 0; left--, i++)
            share->found[i] =
                (struct idxi_found_match){share->matches[i].fingerprint, share->matches[i].distance, place};
    }
    return IDX_OK;
}

/* How many matches per query share->found first has capacity for. Most shares find no more. */
#define EXPECTED_MATCHES 4

/* Makes sure that share->found has capacity for one more match. Before it grows, drops all but the nearest matches of
 * each query, unless there are so few matches that one query may keep them all. Errors: IDX_LIMIT, IDX_OUT_OF_MEMORY.
 */
static enum idx_status reserve_found_match(struct idxi_match_share *share, struct idx_error *error) {
    if (share->count > share->listing->options.max_matches) IDXI_TRY(drop_far_matches(share, error));
    IDXI_TRY(count_share_bytes(share, error));
    IDXI_GROW(share->found, share->capacity, 2 * share->count + EXPECTED_MATCHES * (share->end - share->begin), error);
    return IDX_OK;
}

/* The idxi_match_visitor of a share: counts a match of query number `place` of the share, and appends it to
 * share->found. After an error, sets share->status, and returns false. */
static bool add_found_match(void *context, size_t place, const struct idx_match *match) {
    struct idxi_match_share *share = context;
    struct idxi_listing *listing = share->listing;
    listing->lists.counts[share->begin + place]++;
    if (listing->options.max_matches == 0) return true;
    if (share->count == share->capacity) share->status = reserve_found_match(share, share->error);
    if (share->status != IDX_OK) return false;
    share->found[share->count++] = (struct idxi_found_match){match->fingerprint, match->distance, (uint32_t)place};
    return true;
}

enum idx_status idxi_match_share_add(struct idxi_match_share *share, size_t place, const struct idx_match *match,
                                     struct idx_error *error) {
    share->error = error;
    add_found_match(share, place, match);
    return share->status;
}

enum idx_status idxi_match_share_search(struct idxi_match_share *share, const uint64_t *queries,
                                        struct idx_error *error) {
    const struct idxi_listing *listing = share->listing;
    struct idxi_search search;
    share->error = error;
    idxi_search_init(&search, listing->index, listing->options.distance, queries, add_found_match, share, error);
    IDXI_TRY(idxi_search_queries(&search, 0, share->end - share->begin));
    return share->status;
}

enum idx_status idxi_match_share_end(struct idxi_match_share *share, struct idx_error *error) {
    IDXI_TRY(order_nearest_matches(share, error));
    free(share->found);
    share->found = NULL;
    return count_share_bytes(share, error);
}

/* ---- The lists ---- */

/* Finds and orders the matches of share `number`. This is an idxi_plain_task. */
static enum idx_status look_up_share(void *context, size_t number, struct idx_error *error) {
    struct lookup *lookup = context;
    struct idxi_listing *listing = &lookup->listing;
    struct idxi_match_share *share = &listing->shares[number];
    uint64_t queries[IDXI_SHARE_QUERIES]; /* a copy, so that what was checked stays so whatever the caller does */
    size_t count = share->end - share->begin;
    memcpy(queries, lookup->queries + share->begin, count * sizeof *queries);
    IDXI_TRY(idxi_check_queries(listing->index, queries, count, error));
    IDXI_TRY(idxi_match_share_search(share, queries, error));
    IDXI_TRY(idxi_match_share_end(share, error));
    return idxi_progress_add(&listing->progress, count, error);
}

/* Turns the lengths of lists in lists.offsets into offsets, and moves the matches of all shares, which were ended, to
 * lists.matches. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status gather_shares(struct idxi_listing *listing, struct idx_error *error) {
    int64_t *offsets = listing->lists.offsets;
    for (size_t i = 0; i < listing->count; i++) offsets[i + 1] += offsets[i];
    listing->lists.matches = malloc((size_t)offsets[listing->count] * sizeof *listing->lists.matches + 1);
    if (listing->lists.matches == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < listing->share_count; i++) {
        struct idxi_match_share *share = &listing->shares[i];
        memcpy(listing->lists.matches + offsets[share->begin], share->matches, share->count * sizeof *share->matches);
        free(share->matches);
        share->matches = NULL;
    }
    return IDX_OK;
}

enum idx_status idxi_listing_end(struct idxi_listing *listing, enum idx_status status, struct idx_match_lists *lists,
                                 struct idx_error *error) {
    if (status == IDX_OK) status = gather_shares(listing, error);
    for (size_t i = 0; i < listing->share_count && listing->shares != NULL; i++) {
        free(listing->shares[i].found);
        free(listing->shares[i].matches);
    }
    free(listing->shares);
    if (status == IDX_OK)
        *lists = listing->lists;
    else
        idx_match_lists_close(&listing->lists);
    return status;
}

enum idx_status idx_list_matches(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                 const struct idx_match_lists_options *options, struct idx_match_lists *lists,
                                 struct idx_error *error) {
    struct lookup lookup = {.queries = fingerprints};
    struct idxi_listing *listing = &lookup.listing;
    enum idx_status status = idxi_listing_begin(listing, index, count, options, error);
    if (status == IDX_OK) status = idxi_progress_begin(&listing->progress, IDX_PHASE_COMPARING, count, error);
    if (status == IDX_OK)
        status = idxi_run_parallel(listing->share_count, listing->options.threads, look_up_share, &lookup,
                                   &listing->progress, error);
    return idxi_listing_end(listing, status, lists, error);
}

void idx_match_lists_close(struct idx_match_lists *lists) {
    if (lists == NULL) return;
    free(lists->offsets);
    free(lists->counts);
    free(lists->matches);
    memset(lists, 0, sizeof *lists);
}
