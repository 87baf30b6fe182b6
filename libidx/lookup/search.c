/* search.c: see search.h. The probes of several queries go through three stages together, so that their waits for
 * memory or a disk overlap: prefetch the directory line; find the block and prefetch it; search the blocks, some of
 * them side by side. */
#include "libidx/lookup/search.h"

#include <sys/mman.h>

#include "format/processor.h"
#include "libidx/base/base.h"
#include "libidx/log/pending_find.h"
#include "libidx/view/live.h"

#define LINE_BYTES 64

/* ---- Matches ---- */

/* Visits a match of query number `query`, found in the source search->segment, unless an earlier source has it, or it
 * was removed. Sets search->stopped to whether the visitor wants to stop. Errors: as idxi_is_fingerprint_repeated. */
static inline enum idx_status visit_match(struct idxi_search *search, size_t query, uint64_t fingerprint,
                                          unsigned distance) {
    bool repeated;
    IDXI_TRY(idxi_is_fingerprint_repeated(search->index, search->segment, fingerprint, &repeated, search->error));
    struct idx_match match = {fingerprint, distance};
    search->stopped = !repeated && !search->visit(search->context, query, &match);
    return IDX_OK;
}

/* Visits a match of a probe, the permuted fingerprint `found`, unless the search has stopped, or an earlier table finds
 * the match as well. Errors: as visit_match. */
static enum idx_status visit_probe_match(struct idxi_search *search, const struct idxi_probe *probe, uint64_t found) {
    uint64_t errors = idxf_unpermute(&probe->table->permutation, probe->permuted ^ found);
    if (search->stopped || !idxi_owns_match(search->probing, probe->order, errors)) return IDX_OK;
    return visit_match(search, probe->query, idxf_unpermute(&probe->table->permutation, found),
                       (unsigned)__builtin_popcountll(errors));
}

/* Visits a match that was found in a source in memory. Sets search->visit_status, and returns false to end the search.
 * This is an idxi_near_visitor. */
static bool visit_near(void *context, size_t query, uint64_t fingerprint) {
    struct idxi_search *search = context;
    search->visit_status =
        visit_match(search, query, fingerprint, idxf_count_bits(search->queries[query] ^ fingerprint));
    return search->visit_status == IDX_OK && !search->stopped;
}

/* ---- Stages ---- */

/* Prefetches a cache line into the first cache. */
static inline void prefetch_line(const uint8_t *address) { __builtin_prefetch(address, 0, 3); }
/* Prefetches a cache line of a block into the second cache, which can wait for more lines at a time than the first. */
static inline void prefetch_block_line(const uint8_t *address) { __builtin_prefetch(address, 0, 2); }

/* Asks the disk for the pages of all blocks that the search of a probe may read. The probe must have a first block.
 * Errors: as idxi_table_find_block. */
static enum idx_status request_blocks(const struct idxi_search *search, const struct idxi_probe *probe) {
    const struct idxi_table *table = probe->table;
    struct idxf_start last_start;
    IDXI_TRY(idxi_table_find_block(table, probe->high, &last_start, search->error));
    if (last_start.block == table->header.blocks) last_start.block--;
    uint64_t begin = idxi_table_get_block_offset(table, probe->start.block) / IDXF_PAGE_SIZE * IDXF_PAGE_SIZE;
    uint64_t end = idxi_table_get_block_offset(table, last_start.block + 1);
    madvise((void *)(uintptr_t)(table->map + begin), (size_t)(end - begin), MADV_WILLNEED);
    return IDX_OK;
}

/* Prefetches the beginning of a probe's first block, or if the table is on a disk, asks for all of the probe's blocks.
 */
static enum idx_status prefetch_or_request_blocks(const struct idxi_search *search, const struct idxi_probe *probe) {
    const struct idxi_table *table = probe->table;
    if (probe->start.block == table->header.blocks) return IDX_OK;
    if (table->on_disk) return request_blocks(search, probe);
    const uint8_t *block = idxi_table_get_block(table, probe->start.block);
    for (size_t offset = 0; offset < table->prefetched_bytes; offset += LINE_BYTES) prefetch_block_line(block + offset);
    return IDX_OK;
}

/* Visits the matches in search->hits, until the visitor stops. */
static enum idx_status visit_hits(struct idxi_search *search) {
    unsigned shift = 64 - search->lane_probes[0]->table->decoder->bits; /* tables hold fingerprints in the low bits */
    for (size_t i = 0; i < search->hits.count && !search->stopped; i++) {
        const struct idxi_probe *probe = search->lane_probes[search->hits.lanes[i]];
        IDXI_TRY(visit_probe_match(search, probe, search->hits.fingerprints[i] << shift));
    }
    return IDX_OK;
}

/* Visits the hits, and empties their array. Returns false to end the search. This is the `take` of the hits, which
 * idxf_search calls when the array is full. */
static bool flush_hits(struct idxf_hits *hits) {
    struct idxi_search *search = hits->context;
    search->visit_status = visit_hits(search);
    hits->count = 0;
    return search->visit_status == IDX_OK && !search->stopped;
}

/* Searches the chains that wait in lanes, which are of tables with the same code, and visits their matches. There must
 * be at least one. No chains wait afterwards. */
static enum idx_status search_lanes(struct idxi_search *search) {
    idxf_search(search->lane_probes[0]->table->decoder, &search->lanes, search->lane_count, search->distance,
                &search->hits);
    search->lane_count = 0;
    return search->visit_status == IDX_OK ? visit_hits(search) : search->visit_status;
}

/* Puts a chain of a block into a lane, to be searched for a probe: the one with this key, from bit `begin` to before
 * bit `end` of the block. Searches the waiting chains before that if their code differs, and after it if all lanes are
 * full. */
static inline enum idx_status add_chain(struct idxi_search *search, const struct idxi_probe *probe,
                                        const uint8_t *block, uint64_t key, uint64_t begin, uint64_t end) {
    if (search->lane_count > 0 && search->lane_probes[0]->table->alike != probe->table->alike)
        IDXI_TRY(search_lanes(search));
    unsigned lane = search->lane_count++, shift = 64 - probe->table->decoder->bits;
    struct idxf_lanes *lanes = &search->lanes;
    search->lane_probes[lane] = probe;
    lanes->blocks[lane] = block;
    lanes->keys[lane] = key;
    lanes->begins[lane] = begin;
    lanes->ends[lane] = end;
    lanes->low[lane] = probe->low >> shift;
    lanes->high[lane] = probe->high >> shift;
    lanes->queries[lane] = probe->permuted >> shift;
    return search->lane_count == IDXF_LANES ? search_lanes(search) : IDX_OK;
}

/* Puts those chains of a block into lanes that may hold fingerprints from `low` to `high`, and sets *key to the key of
 * the block. `bounds` are those of its fingerprints, as the block before it gives them. If the block breaks a rule,
 * sets *fault instead, which the caller reports. `low`, `high` and keys are right-aligned. Errors: as search_lanes. */
static enum idx_status add_chains(struct idxi_search *search, const struct idxi_probe *probe, const uint8_t *block,
                                  struct idxf_bounds bounds, uint64_t low, uint64_t high, uint64_t *key,
                                  enum idxf_fault *fault) {
    struct idxf_chain chains[IDXF_MAX_CHAINS];
    unsigned count = idxf_block_list_chains(probe->table->decoder, block, bounds, chains, fault);
    if (count == 0) return IDX_OK;
    *key = chains[count - 1].key;
    for (unsigned i = 0; i < count; i++) {
        if (chains[i].key < low) continue;
        IDXI_TRY(add_chain(search, probe, block, chains[i].key, chains[i].begin, chains[i].end));
        if (chains[i].key >= high) break;
    }
    return IDX_OK;
}

/* Puts the chains of the blocks into lanes that may hold fingerprints of a probe's range: of the block in which it
 * begins, and of those after it, up to the first whose key is not below the range's end. Errors: IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT. */
static enum idx_status add_blocks_of_probe(struct idxi_search *search, const struct idxi_probe *probe) {
    const struct idxi_table *table = probe->table;
    const struct idxf_decoder *decoder = table->decoder;
    unsigned shift = 64 - decoder->bits;
    uint64_t above = probe->start.above >> shift, low = probe->low >> shift, high = probe->high >> shift, key = above;
    for (uint64_t block = probe->start.block; block < table->header.blocks && !search->stopped; block++) {
        enum idxf_fault fault = IDXF_OK;
        const uint8_t *bytes = idxi_table_get_block(table, block);
        uint64_t offset = idxi_table_get_block_offset(table, block);
        IDXI_TRY(idxi_table_check_page_at(table, offset, search->error));
        if (decoder->chains > 1) {
            IDXI_TRY(add_chains(search, probe, bytes, (struct idxf_bounds){above, 0}, low, high, &key, &fault));
        } else {
            struct idxf_anchor anchor = idxf_block_read_anchor(decoder, bytes, above);
            key = anchor.key;
            if (key < above) fault = IDXF_FAULT_ORDER;
            if (key >= low)
                IDXI_TRY(add_chain(search, probe, bytes, key, anchor.end, (uint64_t)table->header.block_size * 8));
        }
        if (fault != IDXF_OK) return idxi_fail_fault(search->error, fault, table->path, offset);
        search->blocks_searched++;
        if (key >= high) break;
        above = key + 1;
    }
    return IDX_OK;
}

/* How many probes ahead of its use a block is prefetched from the second cache into the first. */
#define PREFETCHED_AHEAD 8

/* Returns the block in which a probe's search begins. If there is none, returns another block, since the result is only
 * prefetched. */
static const uint8_t *get_first_block(const struct idxi_probe *probe) {
    bool has_block = probe->start.block < probe->table->header.blocks;
    return idxi_table_get_block(probe->table, has_block ? probe->start.block : 0);
}

/* Searches the blocks of all probes of a group, until the visitor stops, and empties the group and the lanes. */
static enum idx_status search_probe_group(struct idxi_search *search, struct idxi_group *group) {
    for (size_t i = 0; i < group->count && !search->stopped; i++) {
        if (i + PREFETCHED_AHEAD < group->count) prefetch_line(get_first_block(&group->probes[i + PREFETCHED_AHEAD]));
        IDXI_TRY(add_blocks_of_probe(search, &group->probes[i]));
    }
    if (search->lane_count > 0 && !search->stopped) IDXI_TRY(search_lanes(search));
    search->lane_count = 0;
    group->count = 0;
    group->bytes = 0;
    return IDX_OK;
}

/* Finds the first blocks of the probes of search->new_group, and prefetches them. While they arrive, searches the other
 * group, search->ready_group, and empties it. Then the groups change roles: the empty one gets the next probes. */
static enum idx_status advance_groups(struct idxi_search *search) {
    struct idxi_group *group = search->new_group;
    for (size_t i = 0; i < group->count; i++) {
        struct idxi_probe *probe = &group->probes[i];
        IDXI_TRY(idxi_table_find_block(probe->table, probe->low, &probe->start, search->error));
    }
    for (size_t i = 0; i < group->count; i++) IDXI_TRY(prefetch_or_request_blocks(search, &group->probes[i]));
    IDXI_TRY(search_probe_group(search, search->ready_group));
    search->new_group = search->ready_group;
    search->ready_group = group;
    return IDX_OK;
}

enum idx_status idxi_search_complete_probes(struct idxi_search *search) {
    IDXI_TRY(advance_groups(search));
    return search_probe_group(search, search->ready_group);
}

/* Begins a probe for the permuted fingerprints whose first `prefix_bits` bits are those of `value`. If the group is
 * full then, advances both groups. */
static enum idx_status begin_probe(struct idxi_search *search, const struct idxi_table_query *query, uint64_t value,
                                   unsigned prefix_bits) {
    struct idxi_group *group = search->new_group;
    struct idxi_probe *probe = &group->probes[group->count++];
    uint64_t rest_mask = idxf_low_bits(64 - prefix_bits);
    probe->table = query->table;
    probe->query = query->number;
    probe->order = query->order;
    probe->low = value & ~rest_mask;
    probe->high = value | rest_mask;
    probe->permuted = query->permuted;
    prefetch_line(idxi_table_get_line(query->table, value & ~rest_mask));
    group->bytes += query->table->prefetched_bytes;
    bool is_full = group->count == search->max_probes || group->bytes >= search->max_bytes;
    return is_full ? advance_groups(search) : IDX_OK;
}

/* The last bits of the prefix, the spared ones, are not flipped: so few fingerprints share the bits before them that
 * one probe searches for all values of the spared bits at once. */
enum idx_status idxi_probe_table(struct idxi_search *search, const struct idxi_table_query *query, uint64_t value,
                                 unsigned end_bit, unsigned radius) {
    unsigned prefix_bits = query->table->prefix, flipped_bits = prefix_bits - query->table->spared_bits;
    if (radius == 0) return begin_probe(search, query, value, prefix_bits);
    IDXI_TRY(begin_probe(search, query, value, flipped_bits));
    while (end_bit > 64 - flipped_bits && !search->stopped) {
        end_bit--;
        IDXI_TRY(idxi_probe_table(search, query, value ^ UINT64_C(1) << end_bit, end_bit, radius - 1));
    }
    return IDX_OK;
}

double idxi_count_probes(const struct idxi_table *table, unsigned radius) {
    unsigned flipped_bits = radius == 0 ? 0 : table->prefix - table->spared_bits;
    double probe_count = 0, patterns = 1;
    for (unsigned i = 0; i <= radius && i <= flipped_bits; i++) {
        probe_count += patterns;
        patterns = patterns * (flipped_bits - i) / (i + 1);
    }
    return probe_count;
}

/* ---- Tables of a segment ---- */

/* Returns whether the index was opened to read its tables from a disk, so that groups have more probes. */
static bool is_on_disk(const struct idxi_search *search) {
    return search->index->options.residence == IDX_RESIDENCE_DISK;
}

/* Empties both groups, and gives each one half of `probes`, which must have capacity for 2 * max_probes. A group is
 * full with max_probes probes, or max_bytes bytes of blocks to prefetch. */
static void set_groups(struct idxi_search *search, struct idxi_probe *probes, size_t max_probes, size_t max_bytes) {
    search->max_probes = max_probes;
    search->max_bytes = max_bytes;
    for (size_t i = 0; i < 2; i++) search->groups[i] = (struct idxi_group){.probes = probes + i * max_probes};
    search->new_group = &search->groups[0];
    search->ready_group = &search->groups[1];
}

void idxi_search_set_probe_buffer(struct idxi_search *search, struct idxi_probe_buffer *buffer) {
    if (is_on_disk(search))
        set_groups(search, buffer->probes, IDXI_DISK_GROUP, SIZE_MAX);
    else
        set_groups(search, buffer->probes, IDXI_MEMORY_GROUP, IDXI_MEMORY_GROUP_BYTES);
}

/* Probes, for query number `query`, all tables of the segment that are to be probed, until the visitor stops. */
static enum idx_status probe_tables(struct idxi_search *search, size_t query) {
    const struct idxi_table *tables = search->index->segments[search->segment]->tables;
    for (size_t i = 0; i < search->probing->count && !search->stopped; i++) {
        const struct idxi_probed_table *to_probe = &search->probing->tables[i];
        const struct idxi_table *table = &tables[to_probe->table];
        if (table->header.blocks == 0) continue;
        struct idxi_table_query table_query = {table, query, i,
                                               idxf_permute(&table->permutation, search->queries[query])};
        IDXI_TRY(idxi_probe_table(search, &table_query, table_query.permuted, 64, to_probe->radius));
    }
    return IDX_OK;
}

/* Probes the tables of segment search->segment for the queries [begin, end), and completes the probes. set_groups must
 * have been called. */
static enum idx_status search_segment(struct idxi_search *search, size_t begin, size_t end) {
    for (size_t query = begin; query < end && !search->stopped; query++) IDXI_TRY(probe_tables(search, query));
    return idxi_search_complete_probes(search);
}

/* Searches a segment on disk, with the larger groups of probes on the stack. This is a function of its own, not
 * inlined, so that other searches do not need that much of the stack. */
static __attribute__((noinline)) enum idx_status search_on_disk(struct idxi_search *search, size_t begin, size_t end) {
    struct idxi_probe_buffer buffer;
    idxi_search_set_probe_buffer(search, &buffer);
    return search_segment(search, begin, end);
}

/* Searches a segment in memory, with the smaller groups of probes on the stack. It is not inlined,
 * so that callers do not need that much of the stack while they search other sources. */
static __attribute__((noinline)) enum idx_status search_in_memory(struct idxi_search *search, size_t begin,
                                                                  size_t end) {
    struct idxi_probe probes[2 * IDXI_MEMORY_GROUP];
    set_groups(search, probes, IDXI_MEMORY_GROUP, IDXI_MEMORY_GROUP_BYTES);
    return search_segment(search, begin, end);
}

/* ---- Searches ---- */

void idxi_search_init(struct idxi_search *search, const struct idx_index *index, unsigned distance,
                      const uint64_t *queries, idxi_match_visitor visit, void *context, struct idx_error *error) {
    search->index = index;
    /* Distances above k are only for segments that are unpacked in memory, which need no probing. */
    search->probing = &index->probings[distance < index->manifest->k ? distance : index->manifest->k];
    search->distance = distance;
    search->queries = queries;
    search->visit = visit;
    search->context = context;
    search->error = error;
    search->segment = 0;
    search->stopped = false;
    search->blocks_searched = 0;
    search->lane_count = 0;
    search->hits.take = flush_hits;
    search->hits.context = search;
    search->visit_status = IDX_OK;
}

/* ---- Sources ---- */

/* Searches the source search->segment for queries [begin, end): the pending fingerprints if it is the number of
 * segments, otherwise that segment, unpacked or not. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
static enum idx_status search_source(struct idxi_search *search, size_t begin, size_t end) {
    const struct idx_index *index = search->index;
    const struct idxi_unpacked *unpacked = NULL;
    if (search->segment == index->open_segments)
        idxi_pending_find_near(&index->pending, search->distance, search->queries, begin, end, visit_near, search);
    else if ((unpacked = index->segments[search->segment]->unpacked) != NULL)
        idxi_unpacked_search(unpacked, NULL, search->distance, search->queries, begin, end, visit_near, search);
    else
        return is_on_disk(search) ? search_on_disk(search, begin, end) : search_in_memory(search, begin, end);
    return search->visit_status;
}

/* Searches the sources from search->segment on for queries [begin, end), until the visitor stops. */
IDXF_INLINE enum idx_status search_sources(struct idxi_search *search, size_t begin, size_t end) {
    for (; search->segment <= search->index->open_segments && !search->stopped; search->segment++)
        IDXI_TRY(search_source(search, begin, end));
    return IDX_OK;
}

enum idx_status idxi_search_pending(struct idxi_search *search, size_t begin, size_t end) {
    search->segment = search->index->open_segments;
    return search_sources(search, begin, end);
}

/* For calls with up to this many queries, pending fingerprints are prefetched before the segments are searched. They
 * have arrived when the segments are done. */
#define MAX_PREFETCHED_QUERIES 4

enum idx_status idxi_search_queries(struct idxi_search *search, size_t begin, size_t end) {
    for (size_t query = begin; query < end && end - begin <= MAX_PREFETCHED_QUERIES; query++)
        idxi_pending_prefetch_near(&search->index->pending, search->queries[query], search->distance);
    search->segment = 0;
    return search_sources(search, begin, end);
}
