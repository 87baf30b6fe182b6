/* visit.c: the calls that visit all fingerprints of an open index, or a part of them. */
#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/view/index.h"

/* A visit of the fingerprints of an index. */
struct reading {
    const struct idx_index *index;
    size_t segment;
    idx_fingerprints_visitor visit;
    void *context;
    bool stopped;
};

/* Leaves out the fingerprints that were removed, or that earlier segments have. */
static enum idx_status keep_fresh(const struct reading *reading, uint64_t *fingerprints, size_t *count,
                                  struct idx_error *error) {
    bool asks = reading->segment > 0 || reading->index->removes;
    size_t kept = 0;
    for (size_t i = 0; i < *count && asks; i++) {
        bool repeated;
        IDXI_TRY(idxi_is_repeated(reading->index, reading->segment, fingerprints[i], &repeated, error));
        fingerprints[kept] = fingerprints[i];
        kept += !repeated;
    }
    if (asks) *count = kept;
    return IDX_OK;
}

/* The disk is asked for so many bytes of blocks at a time, twice as many bytes ahead of their use. */
#define EXPECTED_BYTES ((uint64_t)256 << 10)

/* Asks the disk for blocks up to `end`. Block `next` is used next, and the blocks before *expected were asked for. */
static void expect_blocks(const struct idxi_table *table, uint64_t next, uint64_t end, uint64_t *expected) {
    uint64_t step = EXPECTED_BYTES / table->header.block_size;
    while (table->on_disk && *expected < end && *expected < next + 2 * step) {
        uint64_t until = end - *expected < step ? end : *expected + step;
        idxi_table_expect(table, *expected, until);
        *expected = until;
    }
}

static enum idx_status visit_blocks(struct reading *reading, const struct idxi_table *table, uint64_t begin,
                                    uint64_t end, uint64_t *fingerprints, struct idx_error *error) {
    struct idxf_start start = {0, 0};
    uint64_t expected = begin;
    size_t count;
    if (begin >= end) return IDX_OK;
    if (begin > 0) IDXI_TRY(idxi_table_locate(table, begin, &start, error));
    struct idxi_blocks blocks;
    idxi_blocks_begin(&blocks, table, &start);
    while (!reading->stopped) {
        expect_blocks(table, blocks.next, end, &expected);
        IDXI_TRY(idxi_blocks_read(&blocks, end, fingerprints, &count, error));
        if (count == 0) return IDX_OK;
        for (size_t i = 0; i < count; i++) fingerprints[i] = idxf_unpermute(&table->permutation, fingerprints[i]);
        IDXI_TRY(keep_fresh(reading, fingerprints, &count, error));
        if (count > 0) reading->stopped = !reading->visit(reading->context, fingerprints, count);
    }
    return IDX_OK;
}

/* Returns ⌊blocks · part / parts⌋, which can't overflow this way. */
static uint64_t get_part(uint64_t blocks, uint64_t part, uint64_t parts) {
    return blocks / parts * part + blocks % parts * part / parts;
}

/* Visits the fingerprints that are only pending. All of them belong to the last part, since sorting them for each part
 * would take longer. */
static enum idx_status visit_pending(struct reading *reading, struct idx_error *error) {
    uint64_t *fingerprints;
    size_t count;
    if (reading->stopped || !idxi_has_pending(reading->index)) return IDX_OK;
    IDXI_TRY(idxi_sort_pending(reading->index, true, &fingerprints, &count, error));
    if (count > 0) reading->stopped = !reading->visit(reading->context, fingerprints, count);
    free(fingerprints);
    return IDX_OK;
}

enum idx_status idx_visit_part(const struct idx_index *index, uint32_t part, uint32_t parts,
                               idx_fingerprints_visitor visit, void *context, struct idx_error *error) {
    struct reading reading = {index, 0, visit, context, false};
    if (part >= parts)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "part %u of %u: parts are numbered from 0", part, parts);
    uint64_t *fingerprints = malloc(IDXF_DECODED_ROOM * sizeof *fingerprints);
    enum idx_status status = fingerprints == NULL ? idxi_fail_memory(error) : IDX_OK;
    for (; reading.segment < index->manifest->segment_count && status == IDX_OK; reading.segment++) {
        const struct idxi_table *table = &index->segments[reading.segment]->tables[0];
        uint64_t blocks = table->header.blocks, begin = get_part(blocks, part, parts);
        status = visit_blocks(&reading, table, begin, get_part(blocks, (uint64_t)part + 1, parts), fingerprints, error);
    }
    free(fingerprints);
    return status == IDX_OK && part + 1 == parts ? visit_pending(&reading, error) : status;
}

struct visitor {
    idx_match_visitor visit;
    void *context;
};

static bool visit_each(void *context, const uint64_t *fingerprints, size_t count) {
    const struct visitor *visitor = context;
    for (size_t i = 0; i < count; i++) {
        struct idx_match match = {fingerprints[i], 0};
        if (!visitor->visit(visitor->context, &match)) return false;
    }
    return true;
}

enum idx_status idx_visit_all(const struct idx_index *index, idx_match_visitor visit, void *context,
                              struct idx_error *error) {
    struct visitor visitor = {visit, context};
    return idx_visit_part(index, 0, 1, visit_each, &visitor, error);
}
