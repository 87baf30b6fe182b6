/* writer_check.c: adds the documents that have no near one in the index yet. */
#include "libidx/base/base.h"
#include "libidx/change/writer.h"
#include "libidx/lookup/match_lists.h"

/* So many shares of documents are looked up together before any of them is added: few, since they are compared with
 * each other. */
#define SHARES 8
#define TOGETHER (SHARES * IDXI_SHARE_QUERIES)

/* Some documents that are looked up together: first in what there was before them, then among those of them that were
 * added. */
struct checking {
    struct idxi_comparison comparison;
    struct idxi_match_share *shares;
    size_t count;
    size_t query; /* the one that is being compared */
    uint64_t queries[TOGETHER];
    uint64_t added[TOGETHER];
    size_t added_count;
    struct idx_error *error;
};

static struct idxi_match_share *get_share(const struct checking *checking, size_t query) {
    return &checking->shares[query / IDXI_SHARE_QUERIES];
}

/* Notes a match of the current query with a document that was added before it. If that fails, its share knows. */
static void take_added(void *context, uint64_t query, uint64_t added, unsigned distance) {
    const struct checking *checking = context;
    struct idx_match match = {added, distance};
    (void)query;
    idxi_match_share_add(get_share(checking, checking->query), checking->query % IDXI_SHARE_QUERIES, &match,
                         checking->error);
}

/* Compares each document with those that were added, and adds it if it has no match. */
static enum idx_status add_new(struct idx_writer *writer, struct checking *checking, const struct idx_item *items,
                               struct idx_error *error) {
    for (size_t i = 0; i < checking->count; i++) {
        const struct idxi_match_share *share = get_share(checking, i);
        checking->query = i;
        idxi_writer_expect(writer, items, i, checking->count);
        writer->compare->between(&checking->comparison, &checking->queries[i], 1, checking->added,
                                 checking->added_count);
        IDXI_TRY(share->status);
        if (share->listing->lists.counts[share->begin + i % IDXI_SHARE_QUERIES] > 0) continue;
        IDXI_TRY(idxi_writer_record(writer, IDXF_ADD, &items[i], error));
        checking->added[checking->added_count++] = items[i].fingerprint;
    }
    return IDX_OK;
}

static enum idx_status look_up(void *context, size_t number, struct idx_error *error) {
    struct checking *checking = context;
    return idxi_match_share_search(&checking->shares[number], checking->queries + number * IDXI_SHARE_QUERIES, error);
}

/* Looks up to TOGETHER documents up, of the shares from `share` on, and adds those without a match. */
static enum idx_status check_and_add(struct idx_writer *writer, struct idxi_listing *listing, size_t share,
                                     const struct idx_item *items, struct idx_error *error) {
    size_t begin = share * IDXI_SHARE_QUERIES, left = listing->count - begin;
    struct checking checking = {
        .comparison = {.distance = listing->options.distance, .visit = take_added, .context = &checking},
        .shares = &listing->shares[share],
        .count = left < TOGETHER ? left : TOGETHER,
        .error = error};
    size_t shares = listing->share_count - share < SHARES ? listing->share_count - share : SHARES;
    for (size_t i = 0; i < checking.count; i++) checking.queries[i] = items[begin + i].fingerprint;
    IDXI_TRY(idxi_parallel(shares, writer->threads, look_up, &checking, NULL, error));
    IDXI_TRY(add_new(writer, &checking, items + begin, error));
    for (size_t i = 0; i < shares; i++) IDXI_TRY(idxi_match_share_end(&checking.shares[i], error));
    return IDX_OK;
}

static enum idx_status begin(struct idx_writer *writer, struct idxi_listing *listing, const struct idx_item *items,
                             size_t count, const struct idx_match_lists_options *options, struct idx_error *error) {
    IDXI_TRY(idxi_listing_begin(listing, writer->index, count, options, error));
    IDXI_TRY(idxi_writer_check(writer, items, count, error));
    IDXI_TRY(idxi_writer_begin(writer, count, error));
    listing->index = writer->index; /* A compaction may have replaced it. */
    return IDX_OK;
}

enum idx_status idx_writer_check_and_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                         const struct idx_match_lists_options *options, struct idx_match_lists *lists,
                                         struct idx_error *error) {
    struct idxi_listing listing;
    struct idx_match_lists made = {.matches = NULL};
    enum idx_status status = begin(writer, &listing, items, count, options, error);
    if (status != IDX_OK) return idxi_listing_end(&listing, status, lists, error);
    for (size_t share = 0; share < listing.share_count && status == IDX_OK; share += SHARES)
        status = check_and_add(writer, &listing, share, items, error);
    /* The lists are complete before the log takes the documents, so that either all is done or nothing. */
    status = idxi_listing_end(&listing, status, &made, error);
    status = idxi_writer_end(writer, status, error);
    if (status == IDX_OK) {
        *lists = made;
    } else {
        idx_match_lists_free(&made);
    }
    return status;
}
