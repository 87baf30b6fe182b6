/* lookup.c: finds the fingerprints within a distance (SPEC.md, chapter 10). The probes of a query, and of the queries
 * after it, go through stages: the directory's line is asked for; the block is found and asked for; the probes that
 * find nothing are sorted out; the others' blocks are searched. So the waits for memory, or for a disk, overlap. A
 * match that several tables find belongs to the first of them: nothing is remembered, allocated or locked. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "libidx/error.h"
#include "libidx/index.h"
#include "libidx/probing.h"

/* Probes go through a stage in groups: short loops, in which many of them wait for memory at the same time. Two groups
 * are under way, and what they ask for must stay in the caches. What comes from a disk takes so much longer that
 * many queries make one. */
#define MEMORY_GROUP 64
#define MEMORY_GROUP_BYTES 8192
#define DISK_GROUP 512
#define LINE_BYTES 64

/* One range of permuted fingerprints looked for in one table. */
struct probe {
    const struct idxi_table *table;
    size_t query;
    size_t turn;    /* the table's in the tables that are probed */
    uint64_t block; /* to begin with */
    bool finds_few; /* so that it is worth sifting */
};

/* Probes that go through the stages together; and their ranges and permuted queries, as sifting takes them. */
struct group {
    size_t count;
    size_t bytes; /* that are asked for ahead */
    struct probe probes[DISK_GROUP];
    struct idxf_lanes lanes[DISK_GROUP / IDXF_LANES];
};

/* Called for a match of query number `query`. False stops the search. */
typedef bool (*match_taker)(void *context, size_t query, const struct idx_match *match);

struct search {
    const struct idx_index *index;
    const struct idxi_probing *probing; /* the tables to probe for the distance */
    unsigned distance;
    const uint64_t *queries;
    match_taker take;
    void *context;
    struct idx_error *error;
    size_t segment;
    bool stopped;
    uint64_t blocks_searched;

    size_t most, most_bytes;           /* of a group */
    struct group *beginning, *waiting; /* that one's blocks were asked for */
    struct group groups[2];
};

/* ---- Matches ---- */

/* Whether a table lets the error pattern through. Few bits are cleared faster than counted. */
static inline bool lets_through(const struct idxi_probed *table, uint64_t errors) {
    errors &= table->mask;
    for (unsigned i = 0; i < table->radius; i++) errors &= errors - 1;
    return errors == 0;
}

/* Whether the table is the first that lets the error pattern through, and so the one to report the match. */
static bool owns(const struct search *search, size_t turn, uint64_t errors) {
    const struct idxi_probed *tables = search->probing->tables;
    for (size_t i = 0; i < turn; i++) {
        if (lets_through(&tables[i], errors)) return false;
    }
    return lets_through(&tables[turn], errors);
}

static enum idx_status has_earlier_segment(const struct search *search, uint64_t fingerprint, bool *earlier) {
    *earlier = false;
    for (size_t i = 0; i < search->segment && !*earlier; i++)
        IDXI_TRY(idxi_segment_contains(search->index, i, fingerprint, earlier, search->error));
    return IDX_OK;
}

static enum idx_status report(struct search *search, const struct probe *probe, uint64_t permuted) {
    uint64_t fingerprint = idxf_unpermute(&probe->table->permutation, permuted);
    uint64_t errors = fingerprint ^ search->queries[probe->query];
    bool earlier;
    if (search->stopped || !owns(search, probe->turn, errors)) return IDX_OK;
    IDXI_TRY(has_earlier_segment(search, fingerprint, &earlier));
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
static enum idx_status read_ahead(const struct search *search, const struct probe *probe, uint64_t high) {
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
static enum idx_status ask_for_block(const struct search *search, struct probe *probe, struct idxf_lanes *lanes,
                                     size_t lane) {
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
static enum idx_status search_blocks(struct search *search, const struct probe *probe, const struct idxf_lanes *lanes,
                                     size_t lane) {
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
            for (size_t i = 0; i < count; i++) IDXI_TRY(report(search, probe, found[i]));
        }
        if (cursor.fault != IDXF_OK) return idxi_fail_fault(search->error, cursor.fault, table->path, offset);
        if (cursor.past) break;
    }
    return IDX_OK;
}

/* A bit for each probe in lanes[i]. */
static unsigned get_all(const struct group *group, size_t i) {
    size_t count = group->count - i * IDXF_LANES;
    return count < IDXF_LANES ? (1u << count) - 1 : (1u << IDXF_LANES) - 1;
}

/* Gets lanes[i] of a group ready to be sifted. Returns a bit for each that is not to be. */
static enum idx_status prepare(const struct search *search, struct group *group, size_t i, unsigned *searched) {
    struct idxf_lanes *lanes = &group->lanes[i];
    *searched = 0;
    for (size_t lane = 0; lane < IDXF_LANES; lane++) {
        const struct probe *probe = &group->probes[i * IDXF_LANES + lane];
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
static enum idx_status sift(struct search *search, struct group *group, unsigned left[]) {
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

static enum idx_status search_group(struct search *search, struct group *group) {
    unsigned left[DISK_GROUP / IDXF_LANES];
    bool sifts = search->index->segments[search->segment].decodes_alike;
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
static enum idx_status end_group(struct search *search) {
    struct group *group = search->beginning;
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

static enum idx_status end_probes(struct search *search) {
    IDXI_TRY(end_group(search));
    return search_group(search, search->waiting);
}

/* What the probes of a query have in common that are for one table. */
struct turn {
    const struct idxi_table *table;
    size_t query, number;
    uint64_t permuted;
};

/* Begins a probe for the first `prefix` bits of `value`. */
static inline enum idx_status begin_probe(struct search *search, const struct turn *turn, uint64_t value,
                                          unsigned prefix) {
    struct group *group = search->beginning;
    size_t lane = group->count % IDXF_LANES;
    struct idxf_lanes *lanes = &group->lanes[group->count / IDXF_LANES];
    struct probe *probe = &group->probes[group->count++];
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

/* Begins a probe for each pattern of at most `radius` flipped bits of the prefix of `value`. Its last bits, the spared
 * ones, are not flipped: so few fingerprints have the bits before them that they are searched for all of their values
 * at once. Bits from bit `bit` on were flipped, or not, before. */
static enum idx_status begin_probes(struct search *search, const struct turn *turn, uint64_t value, unsigned bit,
                                    unsigned radius) {
    unsigned prefix = turn->table->prefix, flipped = prefix - turn->table->spared_bits;
    if (radius == 0) return begin_probe(search, turn, value, prefix);
    IDXI_TRY(begin_probe(search, turn, value, flipped));
    while (bit > 64 - flipped && !search->stopped) {
        bit--;
        IDXI_TRY(begin_probes(search, turn, value ^ UINT64_C(1) << bit, bit, radius - 1));
    }
    return IDX_OK;
}

static enum idx_status search_query(struct search *search, size_t query) {
    const struct idxi_table *tables = search->index->segments[search->segment].tables;
    for (size_t i = 0; i < search->probing->count && !search->stopped; i++) {
        const struct idxi_probed *probed = &search->probing->tables[i];
        const struct idxi_table *table = &tables[probed->table];
        if (table->header.blocks == 0) continue;
        struct turn turn = {table, query, i, idxf_permute(&table->permutation, search->queries[query])};
        IDXI_TRY(begin_probes(search, &turn, turn.permuted, 64, probed->radius));
    }
    return IDX_OK;
}

static enum idx_status check_query(const struct search *search, uint64_t fingerprint) {
    unsigned bits = search->index->manifest->bits;
    if ((fingerprint & ~idxf_low_bits(bits)) == 0) return IDX_OK;
    return idxi_fail(search->error, IDX_INVALID_ARGUMENT, NULL, "fingerprint %016llx has more than the index's %u bits",
                     (unsigned long long)fingerprint, bits);
}

static enum idx_status check_distance(const struct idx_index *index, unsigned distance, struct idx_error *error) {
    if (distance <= index->manifest->k) return IDX_OK;
    return idxi_fail(error, IDX_BAD_DISTANCE, index->path,
                     "answers distances up to %u, not %u: ask for less, or build an index with -k %u",
                     index->manifest->k, distance, distance);
}

/* Searches for queries `begin` to `end`, the distance checked. */
static enum idx_status search_queries(struct search *search, size_t begin, size_t end) {
    const struct idx_index *index = search->index;
    search->probing = &index->probings[search->distance];
    bool on_disk = index->options.residence == IDX_RESIDENCE_DISK;
    search->most = on_disk ? DISK_GROUP : MEMORY_GROUP;
    search->most_bytes = on_disk ? SIZE_MAX : MEMORY_GROUP_BYTES;
    search->beginning = &search->groups[0];
    search->waiting = &search->groups[1];
    for (size_t i = 0; i < 2; i++) search->groups[i].count = search->groups[i].bytes = 0;
    search->stopped = false;
    search->blocks_searched = 0;
    for (size_t query = begin; query < end; query++) IDXI_TRY(check_query(search, search->queries[query]));
    for (search->segment = 0; search->segment < index->manifest->segment_count && !search->stopped; search->segment++) {
        for (size_t query = begin; query < end && !search->stopped; query++) IDXI_TRY(search_query(search, query));
        IDXI_TRY(end_probes(search));
    }
    return IDX_OK;
}

/* ---- One query ---- */

struct visitor {
    idx_match_visitor visit;
    void *context;
};

static bool visit_match(void *context, size_t query, const struct idx_match *match) {
    const struct visitor *visitor = context;
    (void)query;
    return visitor->visit(visitor->context, match);
}

static enum idx_status visit_counting(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                                      struct visitor visitor, uint64_t *blocks, struct idx_error *error) {
    struct search search;
    IDXI_TRY(check_distance(index, distance, error));
    search.index = index;
    search.distance = distance;
    search.queries = &fingerprint;
    search.take = visit_match;
    search.context = &visitor;
    search.error = error;
    IDXI_TRY(search_queries(&search, 0, 1));
    *blocks = search.blocks_searched;
    return IDX_OK;
}

enum idx_status idx_visit_matches(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                                  idx_match_visitor visit, void *context, struct idx_error *error) {
    uint64_t blocks;
    return visit_counting(index, fingerprint, distance, (struct visitor){visit, context}, &blocks, error);
}

static bool go_on(void *context, const struct idx_match *match) {
    (void)context;
    (void)match;
    return true;
}

enum idx_status idxi_count_blocks(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                                  uint64_t *blocks, struct idx_error *error) {
    return visit_counting(index, fingerprint, distance, (struct visitor){go_on, NULL}, blocks, error);
}

static bool stop_at_first(void *context, const struct idx_match *match) {
    (void)match;
    *(bool *)context = true;
    return false;
}

enum idx_status idx_exists(const struct idx_index *index, uint64_t fingerprint, unsigned distance, bool *exists,
                           struct idx_error *error) {
    bool found = false;
    IDXI_TRY(idx_visit_matches(index, fingerprint, distance, stop_at_first, &found, error));
    *exists = found;
    return IDX_OK;
}

enum idx_status idxi_segment_contains(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                      bool *contains, struct idx_error *error) {
    const struct idxi_table *table = &index->segments[segment].tables[0];
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

/* ---- The nearest matches ---- */

/* The nearest matches of queries so far, `capacity` for each: heaps, the farthest on top. */
struct nearest {
    struct idx_match *matches;
    size_t capacity;
    size_t *counts; /* found, in the heap or not */
};

static bool is_farther(const struct idx_match *a, const struct idx_match *b) {
    return a->distance != b->distance ? a->distance > b->distance : a->fingerprint > b->fingerprint;
}

static void swap(struct idx_match *a, struct idx_match *b) {
    struct idx_match other = *a;
    *a = *b;
    *b = other;
}

static void sift_down(struct idx_match *matches, size_t count, size_t at) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && is_farther(&matches[child + 1], &matches[child])) child++;
        if (!is_farther(&matches[child], &matches[at])) return;
        swap(&matches[child], &matches[at]);
        at = child;
    }
}

static bool keep_nearest(void *context, size_t query, const struct idx_match *match) {
    struct nearest *nearest = context;
    struct idx_match *matches = nearest->matches + query * nearest->capacity;
    size_t at = nearest->counts[query]++;
    if (at < nearest->capacity) {
        matches[at] = *match;
        for (; at > 0 && is_farther(&matches[at], &matches[(at - 1) / 2]); at = (at - 1) / 2)
            swap(&matches[at], &matches[(at - 1) / 2]);
    } else if (nearest->capacity > 0 && is_farther(&matches[0], match)) {
        matches[0] = *match;
        sift_down(matches, nearest->capacity, 0);
    }
    return true;
}

static void sort_nearest(const struct nearest *nearest, size_t query) {
    struct idx_match *matches = nearest->matches + query * nearest->capacity;
    size_t count = nearest->counts[query];
    for (size_t left = count < nearest->capacity ? count : nearest->capacity; left > 1; left--) {
        swap(&matches[0], &matches[left - 1]);
        sift_down(matches, left - 1, 0);
    }
}

/* Queries to be answered, by one thread or several, each of which takes the next few until none is left. */
struct batch {
    const struct idx_index *index;
    const uint64_t *queries;
    size_t count;
    unsigned distance;
    struct nearest nearest;
    atomic_size_t taken;
    pthread_mutex_t failing;
    enum idx_status status; /* of the first failure */
    struct idx_error *error;
};

/* Queries that a thread takes at a time. */
#define TAKEN 256

static enum idx_status answer(struct batch *batch, size_t begin, size_t end, struct idx_error *error) {
    struct search search;
    search.index = batch->index;
    search.distance = batch->distance;
    search.queries = batch->queries;
    search.take = keep_nearest;
    search.context = &batch->nearest;
    search.error = error;
    for (size_t query = begin; query < end; query++) batch->nearest.counts[query] = 0;
    IDXI_TRY(search_queries(&search, begin, end));
    for (size_t query = begin; query < end; query++) sort_nearest(&batch->nearest, query);
    return IDX_OK;
}

static void *work(void *context) {
    struct batch *batch = context;
    for (;;) {
        struct idx_error error;
        size_t begin = atomic_fetch_add(&batch->taken, TAKEN);
        if (begin >= batch->count) return NULL;
        size_t end = batch->count - begin < TAKEN ? batch->count : begin + TAKEN;
        enum idx_status status = answer(batch, begin, end, &error);
        if (status == IDX_OK) continue;
        pthread_mutex_lock(&batch->failing);
        if (batch->status == IDX_OK && batch->error != NULL) *batch->error = error;
        if (batch->status == IDX_OK) batch->status = status;
        pthread_mutex_unlock(&batch->failing);
        atomic_store(&batch->taken, batch->count);
    }
}

/* Starts further threads as far as the system lets it: the caller's does the rest. */
static void work_together(struct batch *batch, unsigned threads) {
    pthread_t others[IDX_MAX_THREADS];
    unsigned started = 0;
    while (started + 1 < threads && pthread_create(&others[started], NULL, work, batch) == 0) started++;
    work(batch);
    while (started > 0) pthread_join(others[--started], NULL);
}

enum idx_status idx_lookup_many(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                unsigned distance, unsigned threads, struct idx_match *matches, size_t capacity,
                                size_t *match_counts, struct idx_error *error) {
    struct batch batch = {.index = index, .queries = fingerprints, .count = count, .distance = distance};
    if (threads < 1 || threads > IDX_MAX_THREADS)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%u threads: there can be 1 to %d", threads,
                         IDX_MAX_THREADS);
    IDXI_TRY(check_distance(index, distance, error));
    batch.nearest = (struct nearest){matches, capacity, match_counts};
    batch.error = error;
    pthread_mutex_init(&batch.failing, NULL);
    work_together(&batch, threads);
    pthread_mutex_destroy(&batch.failing);
    return batch.status;
}

enum idx_status idx_lookup(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                           struct idx_match *matches, size_t capacity, size_t *match_count, struct idx_error *error) {
    struct batch batch = {.index = index, .queries = &fingerprint, .count = 1, .distance = distance};
    size_t count;
    IDXI_TRY(check_distance(index, distance, error));
    batch.nearest = (struct nearest){matches, capacity, &count};
    IDXI_TRY(answer(&batch, 0, 1, error));
    *match_count = count;
    return IDX_OK;
}

/* ---- All fingerprints ---- */

static enum idx_status visit_block(struct search *search, const struct visitor *visitor, const struct idxi_table *table,
                                   uint64_t block) {
    struct idxf_block_cursor cursor;
    uint64_t fingerprints[IDXF_CHUNK];
    size_t count;
    IDXI_TRY(idxi_table_check(table, idxi_table_block_offset(table, block), search->error));
    idxf_block_begin(&cursor, table->decoder, idxi_table_block(table, block));
    while ((count = idxf_block_next(&cursor, fingerprints)) > 0) {
        for (size_t i = 0; i < count && !search->stopped; i++) {
            struct idx_match match = {idxf_unpermute(&table->permutation, fingerprints[i]), 0};
            bool earlier;
            IDXI_TRY(has_earlier_segment(search, match.fingerprint, &earlier));
            if (!earlier) search->stopped = !visitor->visit(visitor->context, &match);
        }
    }
    if (cursor.fault == IDXF_OK) return IDX_OK;
    return idxi_fail_fault(search->error, cursor.fault, table->path, idxi_table_block_offset(table, block));
}

enum idx_status idx_visit_all(const struct idx_index *index, idx_match_visitor visit, void *context,
                              struct idx_error *error) {
    struct search search;
    struct visitor visitor = {visit, context};
    search.index = index;
    search.error = error;
    search.stopped = false;
    for (search.segment = 0; search.segment < index->manifest->segment_count; search.segment++) {
        const struct idxi_table *table = &index->segments[search.segment].tables[0];
        for (uint64_t block = 0; block < table->header.blocks && !search.stopped; block++)
            IDXI_TRY(visit_block(&search, &visitor, table, block));
    }
    return IDX_OK;
}
