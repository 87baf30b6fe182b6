/* visit.c: the calls that visit all fingerprints of an open index, or a part of them. */
#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/view/live.h"

/* The state of a visit of fingerprints. */
struct visit_state {
    const struct idx_index *index;
    size_t segment; /* the number of the one that is visited */
    idx_fingerprints_visitor visit;
    void *context;
    bool stopped; /* by the visitor */
};

/* Drops those of *count fingerprints of the visited segment that were removed, or that earlier segments have, so that
 * each fingerprint is visited once. Sets *count to how many are left. Errors: as idxi_is_fingerprint_repeated. */
static enum idx_status drop_repeated_fingerprints(const struct visit_state *state, uint64_t *fingerprints,
                                                  size_t *count, struct idx_error *error) {
    size_t kept = 0;
    if (state->segment == 0 && !state->index->removes) return IDX_OK;
    for (size_t i = 0; i < *count; i++) {
        bool repeated;
        IDXI_TRY(idxi_is_fingerprint_repeated(state->index, state->segment, fingerprints[i], &repeated, error));
        fingerprints[kept] = fingerprints[i];
        kept += !repeated;
    }
    *count = kept;
    return IDX_OK;
}

/* How many bytes of blocks are requested from the disk at a time. Requests are twice as many bytes ahead of their use.
 */
#define REQUESTED_BYTES ((uint64_t)256 << 10)

/* If the table is on a disk, requests blocks up to 2 * REQUESTED_BYTES behind block `next`, which is used next, but
 * none from block `end` on. Blocks before *requested were requested already. Moves *requested behind the last one. */
static void request_blocks(const struct idxi_table *table, uint64_t next, uint64_t end, uint64_t *requested) {
    uint64_t step_blocks = REQUESTED_BYTES / table->header.block_size;
    while (table->on_disk && *requested < end && *requested < next + 2 * step_blocks) {
        uint64_t requested_end = end - *requested < step_blocks ? end : *requested + step_blocks;
        idxi_table_request_pages(table, *requested, requested_end);
        *requested = requested_end;
    }
}

/* Visits the fingerprints in the blocks from number `begin` to before `end` of a table, until the visitor stops.
 * `fingerprints` is scratch memory for IDXF_MAX_DECODED_WORDS of them. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
static enum idx_status visit_blocks(struct visit_state *state, const struct idxi_table *table, uint64_t begin,
                                    uint64_t end, uint64_t *fingerprints, struct idx_error *error) {
    struct idxf_start start = {0, 0};
    uint64_t requested = begin;
    size_t count;
    if (begin >= end) return IDX_OK;
    if (begin > 0) IDXI_TRY(idxi_table_find_block_by_number(table, begin, &start, error));
    struct idxi_blocks blocks;
    idxi_blocks_begin(&blocks, table, &start);
    while (!state->stopped) {
        request_blocks(table, blocks.next, end, &requested);
        IDXI_TRY(idxi_blocks_read(&blocks, end, fingerprints, &count, error));
        if (count == 0) return IDX_OK;
        for (size_t i = 0; i < count; i++) fingerprints[i] = idxf_unpermute(&table->permutation, fingerprints[i]);
        IDXI_TRY(drop_repeated_fingerprints(state, fingerprints, &count, error));
        if (count > 0) state->stopped = !state->visit(state->context, fingerprints, count);
    }
    return IDX_OK;
}

/* Returns the number of the first block of part `part`: ⌊block_count · part / part_count⌋, computed without overflow.
 * With `part_count` for `part`, that is the number of blocks. */
static uint64_t find_first_block_of_part(uint64_t block_count, uint64_t part, uint64_t part_count) {
    return block_count / part_count * part + block_count % part_count * part / part_count;
}

/* Visits the pending fingerprints that no segment has, unless the visitor has stopped. They all belong to the last
 * part, since listing and sorting them once for each part would take longer. */
static enum idx_status visit_pending_fingerprints(struct visit_state *state, struct idx_error *error) {
    uint64_t *fingerprints;
    size_t count;
    if (state->stopped) return IDX_OK;
    IDXI_TRY(idxi_list_pending_fingerprints(state->index, &fingerprints, &count, error));
    if (count > 0) state->stopped = !state->visit(state->context, fingerprints, count);
    free(fingerprints);
    return IDX_OK;
}

enum idx_status idx_visit_part(const struct idx_index *index, uint32_t part, uint32_t parts,
                               idx_fingerprints_visitor visit, void *context, struct idx_error *error) {
    struct visit_state state = {.index = index, .visit = visit, .context = context};
    if (part >= parts)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "part %u of %u: parts are numbered from 0", part, parts);
    uint64_t *fingerprints = malloc(IDXF_MAX_DECODED_WORDS * sizeof *fingerprints);
    enum idx_status status = fingerprints == NULL ? idxi_fail_memory(error) : IDX_OK;
    for (; state.segment < index->manifest->segment_count && status == IDX_OK; state.segment++) {
        const struct idxi_table *table = &index->segments[state.segment]->tables[0];
        uint64_t begin = find_first_block_of_part(table->header.blocks, part, parts);
        uint64_t end = find_first_block_of_part(table->header.blocks, (uint64_t)part + 1, parts);
        status = visit_blocks(&state, table, begin, end, fingerprints, error);
    }
    free(fingerprints);
    return status == IDX_OK && part + 1 == parts ? visit_pending_fingerprints(&state, error) : status;
}

/* A visitor of single fingerprints, the context of visit_each_fingerprint. */
struct match_visitor {
    idx_match_visitor visit;
    void *context;
};

/* Calls a visitor of single fingerprints for each of `count`, as a match with distance 0. Returns false if it stops.
 * This is an idx_fingerprints_visitor. */
static bool visit_each_fingerprint(void *context, const uint64_t *fingerprints, size_t count) {
    const struct match_visitor *visitor = context;
    for (size_t i = 0; i < count; i++) {
        struct idx_match match = {fingerprints[i], 0};
        if (!visitor->visit(visitor->context, &match)) return false;
    }
    return true;
}

enum idx_status idx_visit_all(const struct idx_index *index, idx_match_visitor visit, void *context,
                              struct idx_error *error) {
    struct match_visitor visitor = {visit, context};
    return idx_visit_part(index, 0, 1, visit_each_fingerprint, &visitor, error);
}
