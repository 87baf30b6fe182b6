/* search.c: see search.h. The probes of a query, and of the queries after it, go through stages: the directory's line
 * is asked for; the block is found and asked for; the probes that find nothing are sorted out; the others' blocks are
 * searched. So the waits for memory, or for a disk, overlap. */
#include "libidx/search.h"

#include <sys/mman.h>

#define LINE_BYTES 64

/* ---- Matches ---- */

enum idx_status idxi_is_repeated(const struct idx_index *index, size_t segment, uint64_t fingerprint, bool *repeated,
                                 struct idx_error *error) {
    *repeated = idxi_first_live(index, fingerprint) > segment;
    return *repeated ? IDX_OK : idxi_is_before(index, segment, fingerprint, repeated, error);
}

/* `query` and `found` are permuted. */
static enum idx_status report(struct idxi_search *search, const struct idxi_probe *probe, uint64_t query,
                              uint64_t found) {
    uint64_t errors = idxf_unpermute(&probe->table->permutation, query ^ found);
    bool earlier;
    if (search->stopped || !idxi_owns(search->probing, probe->turn, errors)) return IDX_OK;
    uint64_t fingerprint = idxf_unpermute(&probe->table->permutation, found);
    IDXI_TRY(idxi_is_repeated(search->index, search->segment, fingerprint, &earlier, search->error));
    if (earlier) return IDX_OK;
    struct idx_match match = {fingerprint, (unsigned)__builtin_popcountll(errors)};
    search->stopped = !search->take(search->context, probe->query, &match);
    return IDX_OK;
}

/* ---- Stages ---- */

/* Into the first cache, or the second, which waits for more lines at a time. */
static inline void prefetch(const uint8_t *address) { __builtin_prefetch(address, 0, 3); }
static inline void prefetch_block(const uint8_t *address) { __builtin_prefetch(address, 0, 2); }

/* Asks the disk for the pages of all blocks up to those that may hold `high`. */
static enum idx_status read_ahead(const struct idxi_search *search, const struct idxi_probe *probe, uint64_t high) {
    const struct idxi_table *table = probe->table;
    uint64_t last;
    IDXI_TRY(idxi_table_find_block(table, high, &last, search->error));
    if (last == table->header.blocks) last--;
    uint64_t begin = idxi_table_block_offset(table, probe->block) / IDXF_PAGE_SIZE * IDXF_PAGE_SIZE;
    uint64_t end = idxi_table_block_offset(table, last + 1);
    madvise((void *)(uintptr_t)(table->map + begin), (size_t)(end - begin), MADV_WILLNEED);
    return IDX_OK;
}

/* Where no block is to be searched, the first one stands in for it. */
static enum idx_status ask_for_block(const struct idxi_search *search, struct idxi_probe *probe,
                                     struct idxf_lanes *lanes, size_t lane) {
    const struct idxi_table *table = probe->table;
    bool has_block = probe->block < table->header.blocks;
    const uint8_t *block = idxi_table_block(table, has_block ? probe->block : 0);
    probe->finds_few &= has_block;
    lanes->blocks[lane] = block;
    if (has_block && table->on_disk) return read_ahead(search, probe, lanes->high[lane]);
    for (size_t at = 0; at < table->prefetched_bytes; at += LINE_BYTES) prefetch_block(block + at);
    return IDX_OK;
}

/* Searches the block of the probe, which is in lane `lane`, and those after it until one has a fingerprint beyond the
 * range. */
static enum idx_status search_blocks(struct idxi_search *search, const struct idxi_probe *probe,
                                     const struct idxf_lanes *lanes, size_t lane) {
    const struct idxi_table *table = probe->table;
    for (uint64_t block = probe->block; block < table->header.blocks && !search->stopped; block++) {
        struct idxf_block_cursor cursor;
        uint64_t found[IDXF_CHUNK];
        size_t count;
        uint64_t offset = idxi_table_block_offset(table, block);
        IDXI_TRY(idxi_table_check(table, offset, search->error));
        idxf_block_seek(&cursor, table->decoder, idxi_table_block(table, block), lanes->low[lane], lanes->high[lane]);
        search->blocks_searched++;
        while ((count = idxf_block_find(&cursor, lanes->queries[lane], search->distance, found)) > 0) {
            for (size_t i = 0; i < count; i++) IDXI_TRY(report(search, probe, lanes->queries[lane], found[i]));
        }
        if (cursor.fault != IDXF_OK) return idxi_fail_fault(search->error, cursor.fault, table->path, offset);
        if (cursor.past) break;
    }
    return IDX_OK;
}

/* A bit for each probe in lanes[i]. */
static unsigned get_all(const struct idxi_group *group, size_t i) {
    size_t count = group->count - i * IDXF_LANES;
    return count < IDXF_LANES ? (1u << count) - 1 : (1u << IDXF_LANES) - 1;
}

/* Gets lanes[i] of a group ready to be sifted. Returns a bit for each that is not to be. */
static enum idx_status prepare(const struct idxi_search *search, struct idxi_group *group, size_t i,
                               unsigned *searched) {
    struct idxf_lanes *lanes = &group->lanes[i];
    *searched = 0;
    for (size_t lane = 0; lane < IDXF_LANES; lane++) {
        const struct idxi_probe *probe = &group->probes[i * IDXF_LANES + lane];
        if (i * IDXF_LANES + lane >= group->count) {
            lanes->blocks[lane] = lanes->blocks[0];
            continue;
        }
        *searched |= (unsigned)!probe->finds_few << lane;
        if (probe->table->checked == NULL) continue;
        uint64_t offset = (uint64_t)(lanes->blocks[lane] - probe->table->map);
        IDXI_TRY(idxi_table_check(probe->table, offset, search->error));
    }
    return IDX_OK;
}

/* Sets a bit of left[i] for each probe in lanes[i] that has to be searched: those that sifting does not sort out. */
static enum idx_status sift(struct idxi_search *search, struct idxi_group *group, unsigned left[]) {
    for (size_t i = 0; i * IDXF_LANES < group->count; i++) IDXI_TRY(prepare(search, group, i, &left[i]));
    for (size_t i = 0; i * IDXF_LANES < group->count; i++) {
        unsigned all = get_all(group, i);
        const struct idxf_decoder *decoder = group->probes[i * IDXF_LANES].table->decoder;
        if (left[i] != all) left[i] |= idxf_block_sift(decoder, &group->lanes[i], search->distance);
        left[i] &= all;
        search->blocks_searched += (unsigned)__builtin_popcount(all & ~left[i]);
    }
    return IDX_OK;
}

static enum idx_status search_group(struct idxi_search *search, struct idxi_group *group) {
    unsigned left[IDXI_DISK_GROUP / IDXF_LANES];
    bool sifts = search->index->segments[search->segment]->decodes_alike;
    if (sifts) IDXI_TRY(sift(search, group, left));
    for (size_t i = 0; i * IDXF_LANES < group->count; i++) {
        unsigned here = sifts ? left[i] : get_all(group, i);
        for (; here != 0 && !search->stopped; here &= here - 1) {
            size_t lane = (size_t)__builtin_ctz(here);
            IDXI_TRY(search_blocks(search, &group->probes[i * IDXF_LANES + lane], &group->lanes[i], lane));
        }
    }
    group->count = 0;
    group->bytes = 0;
    return IDX_OK;
}

/* Finds the blocks of the group that was begun, and asks for them; meanwhile the group before it is searched. */
static enum idx_status end_group(struct idxi_search *search) {
    struct idxi_group *group = search->beginning;
    for (size_t i = 0; i < group->count; i++) {
        uint64_t low = group->lanes[i / IDXF_LANES].low[i % IDXF_LANES];
        IDXI_TRY(idxi_table_find_block(group->probes[i].table, low, &group->probes[i].block, search->error));
    }
    for (size_t i = 0; i < group->count; i++)
        IDXI_TRY(ask_for_block(search, &group->probes[i], &group->lanes[i / IDXF_LANES], i % IDXF_LANES));
    IDXI_TRY(search_group(search, search->waiting));
    search->beginning = search->waiting;
    search->waiting = group;
    return IDX_OK;
}

enum idx_status idxi_search_end(struct idxi_search *search) {
    IDXI_TRY(end_group(search));
    return search_group(search, search->waiting);
}

/* Begins a probe for the first `prefix` bits of `value`. */
static enum idx_status begin_probe(struct idxi_search *search, const struct idxi_turn *turn, uint64_t value,
                                   unsigned prefix) {
    struct idxi_group *group = search->beginning;
    size_t lane = group->count % IDXF_LANES;
    struct idxf_lanes *lanes = &group->lanes[group->count / IDXF_LANES];
    struct idxi_probe *probe = &group->probes[group->count++];
    uint64_t rest = idxf_low_bits(64 - prefix);
    probe->table = turn->table;
    probe->query = turn->query;
    probe->turn = turn->number;
    probe->finds_few = prefix == turn->table->prefix && turn->table->finds_few;
    lanes->low[lane] = value & ~rest;
    lanes->high[lane] = value | rest;
    lanes->queries[lane] = turn->permuted;
    prefetch(idxi_table_line(turn->table, value & ~rest));
    group->bytes += turn->table->prefetched_bytes;
    bool is_full = group->count == search->most || group->bytes >= search->most_bytes;
    return is_full ? end_group(search) : IDX_OK;
}

/* The last bits of the prefix, the spared ones, are not flipped: so few fingerprints have the bits before them that
 * they are searched for all of their values at once. */
enum idx_status idxi_search_probes(struct idxi_search *search, const struct idxi_turn *turn, uint64_t value,
                                   unsigned bit, unsigned radius) {
    unsigned prefix = turn->table->prefix, flipped = prefix - turn->table->spared_bits;
    if (radius == 0) return begin_probe(search, turn, value, prefix);
    IDXI_TRY(begin_probe(search, turn, value, flipped));
    while (bit > 64 - flipped && !search->stopped) {
        bit--;
        IDXI_TRY(idxi_search_probes(search, turn, value ^ UINT64_C(1) << bit, bit, radius - 1));
    }
    return IDX_OK;
}

double idxi_count_probes(const struct idxi_table *table, unsigned radius) {
    unsigned flipped = radius == 0 ? 0 : table->prefix - table->spared_bits;
    double sum = 0, patterns = 1;
    for (unsigned i = 0; i <= radius && i <= flipped; i++) {
        sum += patterns;
        patterns = patterns * (flipped - i) / (i + 1);
    }
    return sum;
}

static enum idx_status search_query(struct idxi_search *search, size_t query) {
    const struct idxi_table *tables = search->index->segments[search->segment]->tables;
    for (size_t i = 0; i < search->probing->count && !search->stopped; i++) {
        const struct idxi_probed *probed = &search->probing->tables[i];
        const struct idxi_table *table = &tables[probed->table];
        if (table->header.blocks == 0) continue;
        struct idxi_turn turn = {table, query, i, idxf_permute(&table->permutation, search->queries[query])};
        IDXI_TRY(idxi_search_probes(search, &turn, turn.permuted, 64, probed->radius));
    }
    return IDX_OK;
}

/* ---- Searches ---- */

enum idx_status idxi_check_distance(const struct idx_index *index, unsigned distance, struct idx_error *error) {
    if (distance <= index->manifest->k) return IDX_OK;
    return idxi_fail(error, IDX_BAD_DISTANCE, index->path,
                     "answers distances up to %u, not %u: ask for less, or build an index with -k %u",
                     index->manifest->k, distance, distance);
}

enum idx_status idxi_check_queries(const struct idx_index *index, const uint64_t *queries, size_t count,
                                   struct idx_error *error) {
    unsigned bits = index->manifest->bits;
    for (size_t i = 0; i < count; i++) {
        if ((queries[i] & ~idxf_low_bits(bits)) == 0) continue;
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "fingerprint %016llx has more than the index's %u bits",
                         (unsigned long long)queries[i], bits);
    }
    return IDX_OK;
}

void idxi_search_init(struct idxi_search *search, const struct idx_index *index, unsigned distance,
                      const uint64_t *queries, idxi_match_taker take, void *context, struct idx_error *error) {
    bool on_disk = index->options.residence == IDX_RESIDENCE_DISK;
    search->index = index;
    search->probing = &index->probings[distance];
    search->distance = distance;
    search->queries = queries;
    search->take = take;
    search->context = context;
    search->error = error;
    search->segment = 0;
    search->stopped = false;
    search->blocks_searched = 0;
    search->most = on_disk ? IDXI_DISK_GROUP : IDXI_MEMORY_GROUP;
    search->most_bytes = on_disk ? SIZE_MAX : IDXI_MEMORY_GROUP_BYTES;
    search->beginning = &search->groups[0];
    search->waiting = &search->groups[1];
    for (size_t i = 0; i < 2; i++) search->groups[i].count = search->groups[i].bytes = 0;
}

enum idx_status idxi_search_segments(struct idxi_search *search, size_t begin, size_t end) {
    uint32_t segments = search->index->manifest->segment_count;
    for (search->segment = 0; search->segment < segments && !search->stopped; search->segment++) {
        for (size_t query = begin; query < end && !search->stopped; query++) IDXI_TRY(search_query(search, query));
        IDXI_TRY(idxi_search_end(search));
    }
    return IDX_OK;
}

/* ---- Pending fingerprints ---- */

struct pending_search {
    struct idxi_search *search;
    size_t begin;
    enum idx_status status;
};

/* A match that segments hold, too, was reported of them. */
static bool report_pending(void *context, size_t query, const struct idx_match *match) {
    struct pending_search *pending = context;
    struct idxi_search *search = pending->search;
    const struct idx_index *index = search->index;
    bool before;
    pending->status = idxi_is_before(index, index->open_segments, match->fingerprint, &before, search->error);
    if (pending->status != IDX_OK) return false;
    search->stopped = !before && !search->take(search->context, pending->begin + query, match);
    return !search->stopped;
}

enum idx_status idxi_search_pending(struct idxi_search *search, size_t begin, size_t end) {
    struct pending_search pending = {search, begin, IDX_OK};
    if (search->stopped || !idxi_has_pending(search->index)) return IDX_OK;
    idxi_pending_find(&search->index->pending.pending, search->queries + begin, end - begin, search->distance,
                      report_pending, &pending);
    return pending.status;
}

/* Up to so many queries, what is pending is asked for before segments are searched: it is there afterwards. */
#define FETCHED_AHEAD 4

enum idx_status idxi_search_queries(struct idxi_search *search, size_t begin, size_t end) {
    bool ahead = idxi_has_pending(search->index) && end - begin <= FETCHED_AHEAD;
    for (size_t query = begin; query < end && ahead; query++)
        idxi_pending_prefetch(&search->index->pending.pending, search->queries[query], search->distance);
    IDXI_TRY(idxi_search_segments(search, begin, end));
    return idxi_search_pending(search, begin, end);
}

/* ---- Single fingerprints ---- */

enum idx_status idxi_segment_contains(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                      bool *contains, struct idx_error *error) {
    const struct idxi_table *table = &index->segments[segment]->tables[0];
    uint64_t permuted = idxf_permute(&table->permutation, fingerprint), block;
    *contains = false;
    if (table->header.blocks == 0) return IDX_OK;
    IDXI_TRY(idxi_table_find_block(table, permuted, &block, error));
    for (; block < table->header.blocks; block++) {
        struct idxf_block_cursor cursor;
        uint64_t found[IDXF_CHUNK];
        uint64_t offset = idxi_table_block_offset(table, block);
        IDXI_TRY(idxi_table_check(table, offset, error));
        idxf_block_seek(&cursor, table->decoder, idxi_table_block(table, block), permuted, permuted);
        *contains = idxf_block_find(&cursor, permuted, 0, found) > 0;
        if (cursor.fault != IDXF_OK) return idxi_fail_fault(error, cursor.fault, table->path, offset);
        if (*contains || cursor.past) break;
    }
    return IDX_OK;
}
