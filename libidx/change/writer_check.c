/* writer_check.c: adds the documents that have no near one in the index yet. */
#include "libidx/base/base.h"
#include "libidx/change/writer.h"
#include "libidx/lookup/match_lists.h"

/* How many shares are looked up before their documents are added: few, since these are compared with each other. */
#define MAX_SHARES 8
#define MAX_QUERIES (MAX_SHARES * IDXI_SHARE_QUERIES)

/* Documents that are looked up together: first in the index, then among those of them that were added. */
struct lookup_group {
    struct idxi_comparison comparison;
    struct idxi_match_share *shares;
    size_t query_count;
    size_t query; /* the number of the one that is compared now */
    uint64_t queries[MAX_QUERIES];
    uint64_t added[MAX_QUERIES]; /* the fingerprints of those that were added */
    size_t added_count;
    struct idx_error *error;
};

/* Returns the share that has query number `query` of the group. */
static struct idxi_match_share *find_share(const struct lookup_group *group, size_t query) {
    return &group->shares[query / IDXI_SHARE_QUERIES];
}

/* Lists a match of query group->query with a document added before it. If that fails, the status of the
 * query's share says so. This is the visitor of group->comparison. */
static void list_added_match(void *context, uint64_t query, uint64_t added_fingerprint, unsigned distance) {
    const struct lookup_group *group = context;
    struct idx_match match = {added_fingerprint, distance};
    (void)query;
    idxi_match_share_add(find_share(group, group->query), group->query % IDXI_SHARE_QUERIES, &match, group->error);
}

/* For each document in turn, lists its matches with those added before it by this call, and adds it to the batch if it
 * has no match among these or in the index. `items` are those of group->queries. */
static enum idx_status add_unmatched(struct idx_writer *writer, struct lookup_group *group,
                                     const struct idx_item *items, struct idx_error *error) {
    for (size_t i = 0; i < group->query_count; i++) {
        const struct idxi_match_share *share = find_share(group, i);
        group->query = i;
        idxi_writer_prefetch_add(writer, items, i, group->query_count);
        writer->compare->between(&group->comparison, &group->queries[i], 1, group->added, group->added_count);
        IDXI_TRY(share->status);
        if (share->listing->lists.counts[share->begin + i % IDXI_SHARE_QUERIES] > 0) continue;
        IDXI_TRY(idxi_writer_add_record(writer, IDXF_ADD, &items[i], error));
        group->added[group->added_count++] = items[i].fingerprint;
    }
    return IDX_OK;
}

/* Looks up the queries of one share in the index. This is an idxi_plain_task. */
static enum idx_status look_up_share(void *context, size_t number, struct idx_error *error) {
    struct lookup_group *group = context;
    return idxi_match_share_search(&group->shares[number], group->queries + number * IDXI_SHARE_QUERIES, error);
}

/* Looks up the documents of the next shares, up to MAX_SHARES of them from number `first_share` on, and adds those
 * without a match. `items` are those of the whole call. Errors: as idxi_match_share_search, idxi_writer_add_record and
 * idxi_match_share_end. */
static enum idx_status check_and_add_shares(struct idx_writer *writer, struct idxi_listing *listing, size_t first_share,
                                            const struct idx_item *items, struct idx_error *error) {
    size_t begin = first_share * IDXI_SHARE_QUERIES, remaining_count = listing->count - begin;
    struct lookup_group group = {
        .comparison = {.distance = listing->options.distance, .visit = list_added_match, .context = &group},
        .shares = &listing->shares[first_share],
        .query_count = remaining_count < MAX_QUERIES ? remaining_count : MAX_QUERIES,
        .error = error};
    size_t share_count = listing->share_count - first_share;
    if (share_count > MAX_SHARES) share_count = MAX_SHARES;
    for (size_t i = 0; i < group.query_count; i++) group.queries[i] = items[begin + i].fingerprint;
    IDXI_TRY(idxi_run_parallel(share_count, writer->threads, look_up_share, &group, NULL, error));
    IDXI_TRY(add_unmatched(writer, &group, items + begin, error));
    for (size_t i = 0; i < share_count; i++) IDXI_TRY(idxi_match_share_end(&group.shares[i], error));
    return IDX_OK;
}

/* Begins the listing, checks the items, and begins a batch. The listing looks up in the writer's view. Call
 * idxi_listing_end even after an error. Errors: as idxi_listing_begin, idxi_writer_check_items and
 * idxi_writer_begin_batch. */
static enum idx_status begin_listing_and_batch(struct idx_writer *writer, struct idxi_listing *listing,
                                               const struct idx_item *items, size_t count,
                                               const struct idx_match_lists_options *options, struct idx_error *error) {
    IDXI_TRY(idxi_listing_begin(listing, writer->index, count, options, error));
    IDXI_TRY(idxi_writer_check_items(writer, items, count, error));
    IDXI_TRY(idxi_writer_begin_batch(writer, count, error));
    listing->index = writer->index; /* Beginning a batch may have replaced the view, after a compaction. */
    return IDX_OK;
}

enum idx_status idx_writer_check_and_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                         const struct idx_match_lists_options *options, struct idx_match_lists *lists,
                                         struct idx_error *error) {
    struct idxi_listing listing;
    struct idx_match_lists complete_lists = {.matches = NULL};
    enum idx_status status = begin_listing_and_batch(writer, &listing, items, count, options, error);
    if (status != IDX_OK) return idxi_listing_end(&listing, status, lists, error);
    for (size_t share = 0; share < listing.share_count && status == IDX_OK; share += MAX_SHARES)
        status = check_and_add_shares(writer, &listing, share, items, error);
    /* The lists are completed before the documents are appended to the log, so that either all is done or nothing. */
    status = idxi_listing_end(&listing, status, &complete_lists, error);
    status = idxi_writer_end_batch(writer, status, error);
    if (status == IDX_OK)
        *lists = complete_lists;
    else
        idx_match_lists_close(&complete_lists);
    return status;
}
