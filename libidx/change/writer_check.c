/* writer_check.c: adds the documents that have no near one in the index yet. */
#include "libidx/base/base.h"
#include "libidx/change/writer.h"
#include "libidx/lookup/nearest.h"
#include "libidx/lookup/search.h"

/* So many documents are looked up together before any of them is added: few, since they are compared with each other.
 */
#define TOGETHER 1024

/* A thread takes so many of these at a time. */
#define TAKEN 128

/* Some documents that are looked up together: first in what there was before them, then among those of them that were
 * added. */
struct checking {
    struct idxi_comparison comparison;
    const struct idx_index *index;
    struct idxi_nearest nearest;
    size_t count;
    size_t query; /* the one that is being compared */
    uint64_t queries[TOGETHER];
    uint64_t added[TOGETHER];
    size_t added_count;
};

/* Notes a match of the current query with a document that was added before it. */
static void take_added(void *context, uint64_t query, uint64_t added, unsigned distance) {
    struct checking *checking = context;
    struct idx_match match = {added, distance};
    (void)query;
    idxi_nearest_add(&checking->nearest, checking->query, &match);
}

/* Compares each document with those that were added, and adds it if it has no match. */
static enum idx_status add_new(struct idx_writer *writer, struct checking *checking, const struct idx_item *items,
                               size_t count, struct idx_error *error) {
    for (size_t i = 0; i < count; i++) {
        checking->query = i;
        idxi_writer_expect(writer, items, i, count);
        writer->compare->between(&checking->comparison, &checking->queries[i], 1, checking->added,
                                 checking->added_count);
        idxi_nearest_sort(&checking->nearest, i);
        if (checking->nearest.counts[i] > 0) continue;
        IDXI_TRY(idxi_writer_record(writer, IDXF_ADD, &items[i], error));
        checking->added[checking->added_count++] = items[i].fingerprint;
    }
    return IDX_OK;
}

static enum idx_status look_up(void *context, size_t number, struct idx_error *error) {
    struct checking *checking = context;
    struct idxi_search search;
    size_t begin = number * TAKEN, end = checking->count - begin < TAKEN ? checking->count : begin + TAKEN;
    idxi_search_init(&search, checking->index, checking->comparison.distance, checking->queries, idxi_nearest_add,
                     &checking->nearest, error);
    return idxi_search_queries(&search, begin, end);
}

/* Looks up to TOGETHER documents up, and adds those without a match. *nearest gets the matches of each. */
static enum idx_status check_and_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                     unsigned distance, struct idxi_nearest nearest, struct idx_error *error) {
    struct checking checking = {.comparison = {.distance = distance, .visit = take_added, .context = &checking},
                                .index = writer->index,
                                .nearest = nearest,
                                .count = count};
    for (size_t i = 0; i < count; i++) {
        checking.queries[i] = items[i].fingerprint;
        nearest.counts[i] = 0;
    }
    IDXI_TRY(idxi_parallel((count + TAKEN - 1) / TAKEN, writer->threads, look_up, &checking, NULL, error));
    return add_new(writer, &checking, items, count, error);
}

enum idx_status idx_writer_check_and_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                         unsigned distance, struct idx_match *matches, size_t capacity,
                                         size_t *match_counts, struct idx_error *error) {
    enum idx_status status = IDX_OK;
    IDXI_TRY(idxi_check_distance(writer->index, distance, error));
    IDXI_TRY(idxi_writer_check(writer, items, count, error));
    IDXI_TRY(idxi_writer_begin(writer, count, error));
    for (size_t i = 0; i < count && status == IDX_OK; i += TOGETHER) {
        size_t some = count - i < TOGETHER ? count - i : TOGETHER;
        struct idxi_nearest nearest = {capacity == 0 ? NULL : matches + i * capacity, capacity, match_counts + i};
        status = check_and_add(writer, items + i, some, distance, nearest, error);
    }
    return idxi_writer_end(writer, status, error);
}
