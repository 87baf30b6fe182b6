/* sweep.c: see sweep.h. The queries, permuted, are sorted for each table. Threads share ranges of its permuted values,
 * by their first bits, small enough for the caches. Where few queries fall into a range, their blocks are probed, in
 * order; where many do, the whole range is decoded once and they are looked for in it. A query with a bit of these
 * first bits flipped falls into another range, for which its own is visited, too: so each range sees all queries that
 * concern it together, and the table's file is read in order. */
#include "libidx/lookup/sweep.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/processor.h"
#include "libidx/base/memory.h"
#include "libidx/lookup/search.h"
#include "libidx/streams/sort.h"

/* What things take, on a core of a typical server, in nanoseconds. */
#define SORT_TIME 20.0   /* permuting and sorting a query for a table */
#define PROBE_TIME 40.0  /* a probe, in order */
#define LOOK_TIME 4.0    /* looking for a flipped query in a range that was decoded */
#define DECODE_TIME 0.35 /* decoding a byte of blocks */

/* Bytes of blocks in a range, and how many first bits ranges may have to begin with. */
#define RANGE_BYTES ((uint64_t)256 << 10)
#define MAX_RANGE_BITS 20
/* Queries that are swept together, however little memory there is. */
#define MIN_QUERIES ((size_t)4096)

#define MAX_SPLIT_BITS 32 /* of one that many fingerprints fall into; keys have no more */

/* Fingerprints of a range that was decoded, for each cell of it. */
#define CELL_ITEMS 4

/* Read beyond the last one of a range. */
#define PADDING 8

/* A table, and the queries in its order. */
struct line {
    const struct idxi_table *table;
    size_t segment, turn;
    unsigned radius, flipped; /* bits that are flipped */
    unsigned range_bits;
    uint64_t *keys; /* ascending, of all queries: the first half of the permuted one's bits, then its number */
    size_t *starts; /* of each range's queries; one more */
    size_t before;  /* ranges of the lines before */
};

struct sweep {
    const struct idx_index *index;
    const struct idxi_probing *probing;
    const uint64_t *queries; /* those at hand: `begin` is the number of the first */
    size_t count, begin;
    unsigned distance, threads;
    struct idxi_results *results;
    struct idxi_progress *progress;
    struct line *lines;
    size_t line_count;
    atomic_size_t next; /* line to be sorted, then range of all lines */
    atomic_bool failed;
};

/* A thread's. A range that was decoded: fingerprints, and where those of each cell begin: as many cells as 2^cell_bits.
 */
struct worker {
    struct sweep *sweep;
    const struct line *line;
    struct idxi_finds finds;
    struct idx_error *error;
    struct idxi_search search;
    uint64_t *items;
    size_t count, capacity;
    uint32_t *cells;
    size_t cell_capacity;
    unsigned range_bits, cell_bits;
};

/* The first `bits` bits, 0 to 63. */
static inline size_t get_first(uint64_t value, unsigned bits) { return (size_t)(value >> 1 >> (63 - bits)); }

/* ---- Queries of a range ---- */

/* How far ahead of its use a query is asked for. */
#define AHEAD 16

/* The query of a key; those behind it are asked for. There are `end` keys. */
static inline struct idxi_turn get_turn(const struct worker *worker, size_t at, size_t end) {
    const struct line *line = worker->line;
    const uint64_t *queries = worker->sweep->queries;
    size_t number = (uint32_t)line->keys[at];
    if (at + AHEAD < end) __builtin_prefetch(&queries[(uint32_t)line->keys[at + AHEAD]], 0, 3);
    return (struct idxi_turn){line->table, number, line->turn,
                              idxf_permute(&line->table->permutation, queries[number])};
}

/* Called for the queries [begin, end) of the line, which fall into a range with `flips` flipped, and may have `radius`
 * more bits flipped, behind its first bits. */
typedef enum idx_status (*take_queries)(struct worker *worker, size_t begin, size_t end, uint64_t flips,
                                        unsigned radius);

/* The first query at or above the value, of which the first half of the bits counts. */
static size_t find_query(const struct line *line, uint64_t value) {
    size_t range = get_first(value, line->range_bits), low = line->starts[range], high = line->starts[range + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (line->keys[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Visits all queries that, with up to `radius` bits among the first `bit` of the first `bits` flipped, have these first
 * bits in common with `value`. */
static enum idx_status visit_queries(struct worker *worker, uint64_t value, unsigned bits, uint64_t flips, unsigned bit,
                                     unsigned radius, take_queries take) {
    const struct line *line = worker->line;
    uint64_t rest = idxf_low_bits(64 - bits), from = (value ^ flips) & ~rest;
    size_t begin = find_query(line, from),
           end = (from | rest) == UINT64_MAX ? worker->sweep->count : find_query(line, (from | rest) + 1);
    if (begin < end) IDXI_TRY(take(worker, begin, end, flips, radius));
    for (unsigned i = 0; i < bit && radius > 0; i++)
        IDXI_TRY(visit_queries(worker, value, bits, flips ^ UINT64_C(1) << (63 - i), i, radius - 1, take));
    return IDX_OK;
}

/* ---- Few queries ---- */

static bool note_match(void *context, size_t query, const struct idx_match *match) {
    struct worker *worker = context;
    return idxi_results_find(&worker->finds, worker->sweep->begin + query, match->fingerprint, worker->error) == IDX_OK;
}

static enum idx_status probe_queries(struct worker *worker, size_t begin, size_t end, uint64_t flips, unsigned radius) {
    for (size_t i = begin; i < end; i++) {
        struct idxi_turn turn = get_turn(worker, i, end);
        IDXI_TRY(idxi_search_probes(&worker->search, &turn, turn.permuted ^ flips, 64 - worker->range_bits, radius));
    }
    return IDX_OK;
}

static enum idx_status probe_range(struct worker *worker, uint64_t value, unsigned bits) {
    worker->range_bits = bits;
    IDXI_TRY(visit_queries(worker, value, bits, 0, bits, worker->line->radius, probe_queries));
    return worker->search.stopped ? worker->error->status : IDX_OK;
}

/* ---- Many queries ---- */

static enum idx_status reserve(struct worker *worker, size_t count) {
    if (count <= worker->capacity) return IDX_OK;
    size_t capacity = count + count / 2;
    uint64_t *items = realloc(worker->items, capacity * sizeof *items);
    if (items == NULL) return idxi_fail_memory(worker->error);
    worker->items = items;
    worker->capacity = capacity;
    return IDX_OK;
}

/* Keeps those of the `count` items behind the ones at hand that are from `low` to `high`. */
static void keep_items(struct worker *worker, size_t count, uint64_t low, uint64_t high) {
    uint64_t *items = worker->items + worker->count;
    size_t kept = 0;
    if (items[0] >= low && items[count - 1] <= high) {
        worker->count += count;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t item = items[i];
        items[kept] = item;
        kept += (item >= low) & (item <= high);
    }
    worker->count += kept;
}

/* Behind the first bits of the range. */
static inline size_t get_cell(uint64_t value, unsigned range_bits, unsigned cell_bits) {
    return get_first(value << range_bits, cell_bits);
}

/* Some fingerprints a cell. Whatever the order is that they are in, cells begin one after the other. */
static enum idx_status set_cells(struct worker *worker, unsigned bits) {
    unsigned cell_bits = 0;
    while (cell_bits + bits < 63 && (size_t)CELL_ITEMS << cell_bits < worker->count) cell_bits++;
    size_t cells = (size_t)1 << cell_bits;
    if (cells + 1 > worker->cell_capacity) {
        uint32_t *grown = realloc(worker->cells, 2 * (cells + 1) * sizeof *grown);
        if (grown == NULL) return idxi_fail_memory(worker->error);
        worker->cells = grown;
        worker->cell_capacity = 2 * (cells + 1);
    }
    memset(worker->cells, 0, (cells + 1) * sizeof *worker->cells);
    for (size_t i = 0; i < worker->count; i++)
        worker->cells[get_cell(worker->items[i], bits, cell_bits) + 1] = (uint32_t)i + 1;
    for (size_t cell = 1; cell <= cells; cell++) {
        if (worker->cells[cell] < worker->cells[cell - 1]) worker->cells[cell] = worker->cells[cell - 1];
    }
    worker->range_bits = bits;
    worker->cell_bits = cell_bits;
    return IDX_OK;
}

/* Where all pages of the range will be needed, they are asked for together. */
static void read_ahead(const struct idxi_table *table, uint64_t begin, uint64_t end) {
    if (table->blocks != table->map + table->layout.blocks || begin >= end) return;
    uint64_t from = idxi_table_block_offset(table, begin) / IDXF_PAGE_SIZE * IDXF_PAGE_SIZE;
    madvise((void *)(uintptr_t)(table->map + from), (size_t)(idxi_table_block_offset(table, end) - from),
            MADV_WILLNEED);
}

static enum idx_status decode_range(struct worker *worker, uint64_t value, unsigned bits,
                                    const struct idxf_start *begin, uint64_t end) {
    const struct idxi_table *table = worker->line->table;
    uint64_t rest = idxf_low_bits(64 - bits), low = value & ~rest, high = value | rest, last = 0;
    struct idxi_blocks blocks;
    size_t count = 1;
    worker->count = 0;
    idxi_blocks_begin(&blocks, table, begin);
    read_ahead(table, begin->block, end);
    while (count > 0 && last < high) {
        IDXI_TRY(reserve(worker, worker->count + idxf_decoded_room(table->decoder) + PADDING));
        IDXI_TRY(idxi_blocks_read(&blocks, table->header.blocks, worker->items + worker->count, &count, worker->error));
        if (count == 0) break;
        last = worker->items[worker->count + count - 1];
        keep_items(worker, count, low, high);
    }
    memset(worker->items + worker->count, 0, PADDING * sizeof *worker->items);
    return set_cells(worker, bits);
}

/* A query with some bits flipped, and how many of its first bits matter. */
struct look {
    struct worker *worker;
    uint64_t permuted;
    size_t number;
    enum idx_status status;
};

/* Compares a query with an item that seems near to it. Masks of vectors are not taken at their word: gcc 12 spills one
 * of 8 bits as a byte and reads it back as 32 bits, where it runs out of registers. */
static void check(struct look *look, uint64_t item) {
    struct worker *worker = look->worker;
    struct sweep *sweep = worker->sweep;
    const struct line *line = worker->line;
    const struct idxf_permutation *permutation = &line->table->permutation;
    uint64_t errors = idxf_unpermute(permutation, item ^ look->permuted);
    if ((unsigned)__builtin_popcountll(errors) > sweep->distance) return;
    if (look->status != IDX_OK || !idxi_owns(sweep->probing, line->turn, errors)) return;
    uint64_t fingerprint = idxf_unpermute(permutation, item);
    if (idxi_first_live(sweep->index, fingerprint) > line->segment) return;
    look->status = idxi_results_find(&worker->finds, sweep->begin + look->number, fingerprint, worker->error);
}

/* Compares the items of cells from that of the value's first `prefix` bits on. */
IDXF_INLINE void look_up(struct look *look, uint64_t value, unsigned prefix) {
    const struct worker *worker = look->worker;
    uint64_t rest = idxf_low_bits(64 - prefix);
    size_t first = get_cell(value & ~rest, worker->range_bits, worker->cell_bits);
    size_t last = get_cell(value | rest, worker->range_bits, worker->cell_bits);
    for (size_t i = worker->cells[first], end = worker->cells[last + 1]; i < end; i++) {
        uint64_t item = worker->items[i];
        if (idxf_count_bits(item ^ look->permuted) <= worker->sweep->distance && ((item ^ value) & ~rest) == 0)
            check(look, item);
    }
}

/* The patterns of idxi_search_probes. */
IDXF_INLINE void look_for(struct look *look, uint64_t value, unsigned bit, unsigned radius,
                          void (*look_up_one)(struct look *, uint64_t, unsigned),
                          void (*look_deeper)(struct look *, uint64_t, unsigned, unsigned)) {
    const struct line *line = look->worker->line;
    if (radius == 0) {
        look_up_one(look, value, line->table->prefix);
        return;
    }
    look_up_one(look, value, line->flipped);
    while (bit > 64 - line->flipped) {
        bit--;
        if (radius == 1)
            look_up_one(look, value ^ UINT64_C(1) << bit, line->table->prefix);
        else
            look_deeper(look, value ^ UINT64_C(1) << bit, bit, radius - 1);
    }
}

static void look_up_portably(struct look *look, uint64_t value, unsigned prefix) { look_up(look, value, prefix); }

static void look_portably(struct look *look, uint64_t value, unsigned bit, unsigned radius) {
    look_for(look, value, bit, radius, look_up_portably, look_portably);
}

#ifdef IDXF_X86
#include <immintrin.h>

IDXF_BMI2 static inline __attribute__((always_inline)) void look_up_bmi2(struct look *look, uint64_t value,
                                                                         unsigned prefix) {
    look_up(look, value, prefix);
}

IDXF_BMI2 static void look_bmi2(struct look *look, uint64_t value, unsigned bit, unsigned radius) {
    look_for(look, value, bit, radius, look_up_bmi2, look_bmi2);
}

/* Eight items at once; what stands behind the last cell's does not matter. */
IDXF_AVX512 static inline __attribute__((always_inline)) void look_up_avx512(struct look *look, uint64_t value,
                                                                             unsigned prefix) {
    const struct worker *worker = look->worker;
    uint64_t rest = idxf_low_bits(64 - prefix);
    size_t first = get_cell(value & ~rest, worker->range_bits, worker->cell_bits);
    size_t last = get_cell(value | rest, worker->range_bits, worker->cell_bits);
    size_t i = worker->cells[first], end = worker->cells[last + 1];
    __m512i query = _mm512_set1_epi64((long long)look->permuted);
    __m512i most = _mm512_set1_epi64(worker->sweep->distance);
    do {
        __m512i errors = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_loadu_si512(worker->items + i), query));
        unsigned near = _mm512_cmple_epu64_mask(errors, most);
        for (; __builtin_expect(near != 0, 0); near &= near - 1) {
            size_t at = i + (size_t)__builtin_ctz(near);
            if (at < end && ((worker->items[at] ^ value) & ~rest) == 0) check(look, worker->items[at]);
        }
        i += 8;
    } while (__builtin_expect(i < end, 0));
}

IDXF_AVX512 static void look_avx512(struct look *look, uint64_t value, unsigned bit, unsigned radius) {
    look_for(look, value, bit, radius, look_up_avx512, look_avx512);
}
#endif

typedef void (*look_way)(struct look *look, uint64_t value, unsigned bit, unsigned radius);

static look_way choose_look(void) {
#ifdef IDXF_X86
    if (idxf_has_avx512()) return look_avx512;
    if (idxf_has_bmi2()) return look_bmi2;
#endif
    return look_portably;
}

static enum idx_status look_for_queries(struct worker *worker, size_t begin, size_t end, uint64_t flips,
                                        unsigned radius) {
    look_way way = choose_look();
    struct look looking = {.worker = worker};
    for (size_t i = begin; i < end && looking.status == IDX_OK; i++) {
        struct idxi_turn turn = get_turn(worker, i, end);
        looking.permuted = turn.permuted;
        looking.number = turn.query;
        way(&looking, turn.permuted ^ flips, 64 - worker->range_bits, radius);
    }
    return looking.status;
}

/* ---- Ranges ---- */

static double count_patterns(unsigned bits, unsigned radius) {
    double sum = 0, patterns = 1;
    for (unsigned i = 0; i <= radius && i <= bits; i++) {
        sum += patterns;
        patterns = patterns * (bits - i) / (i + 1);
    }
    return sum;
}

/* Nanoseconds that looking for queries saves against probing. */
static double count_savings(const struct line *line, size_t queries, unsigned bits, unsigned radius) {
    double patterns = count_patterns(line->flipped > bits ? line->flipped - bits : 0, radius);
    return (double)queries * patterns * (PROBE_TIME - LOOK_TIME);
}

static double get_decode_time(const struct idxi_table *table, uint64_t blocks) {
    return (double)blocks * table->header.block_size * DECODE_TIME;
}

/* Queries with flipped bits among the first ones are as many in a range as it has itself, for each of these. */
static bool is_worth_decoding(const struct worker *worker, uint64_t value, unsigned bits, uint64_t blocks) {
    const struct line *line = worker->line;
    uint64_t rest = idxf_low_bits(64 - bits);
    size_t begin = find_query(line, value & ~rest);
    size_t end = (value | rest) == UINT64_MAX ? worker->sweep->count : find_query(line, (value | rest) + 1);
    double saved = 0, times = 1;
    for (unsigned flips = 0; flips <= line->radius && flips <= bits; flips++) {
        saved += times * count_savings(line, end - begin, bits, line->radius - flips);
        times = times * (bits - flips) / (flips + 1);
    }
    return saved > get_decode_time(line->table, blocks);
}

static bool can_split(const struct line *line, unsigned bits) { return bits < line->flipped && bits < MAX_SPLIT_BITS; }

/* Answers the queries that fall into a range of the line: values whose first `bits` bits are those of `value`. */
static enum idx_status sweep_range(struct worker *worker, uint64_t value, unsigned bits) {
    const struct line *line = worker->line;
    uint64_t rest = idxf_low_bits(64 - bits);
    struct idxf_start begin, last;
    IDXI_TRY(idxi_table_find(line->table, value, &begin, worker->error));
    IDXI_TRY(idxi_table_find(line->table, value | rest, &last, worker->error));
    uint64_t end = last.block + (last.block < line->table->header.blocks), blocks = end - begin.block;
    bool is_large = blocks * line->table->header.block_size > 2 * RANGE_BYTES;
    if (begin.block >= end) return IDX_OK;
    if (!is_worth_decoding(worker, value, bits, blocks) || (is_large && !can_split(line, bits)))
        return probe_range(worker, value, bits);
    if (is_large) {
        IDXI_TRY(sweep_range(worker, value, bits + 1));
        return sweep_range(worker, value | UINT64_C(1) << (63 - bits), bits + 1);
    }
    IDXI_TRY(decode_range(worker, value, bits, &begin, end));
    worker->range_bits = bits;
    return visit_queries(worker, value, bits, 0, bits, line->radius, look_for_queries);
}

/* ---- Sorting queries ---- */

/* Keys that share the first digit, about, and the cells that a second one sorts these into, which holds as many bits;
 * more in a bucket, or in a cell, are left to a sort that minds no skew. */
#define BUCKET_BITS 9
#define BUCKET_MOST ((size_t)8 << BUCKET_BITS)
#define CELL_MOST 16
#define MAX_DIGIT_BITS 11

/* Where the next key of a bucket will be written is asked for so many places before. */
#define SCATTER_AHEAD 16

/* From counts, each one place on, to where each begins. Returns the highest count. */
static uint32_t add_up(uint32_t *starts, size_t count) {
    uint32_t most = 0, sum = 0;
    for (size_t i = 1; i <= count; i++) {
        most = starts[i] > most ? starts[i] : most;
        starts[i] = sum += starts[i];
    }
    return most;
}

/* Sorts keys that share their first `shared` bits, from one array to the other. */
static void sort_bucket(uint64_t *from, uint64_t *to, size_t count, unsigned shared) {
    uint32_t starts[((size_t)1 << (BUCKET_BITS + 1)) + 1] = {0};
    unsigned shift = 64 - (BUCKET_BITS + 1);
    for (size_t i = 0; i < count && count <= BUCKET_MOST; i++) starts[(from[i] << shared >> shift) + 1]++;
    if (count > BUCKET_MOST || add_up(starts, (size_t)1 << (BUCKET_BITS + 1)) > CELL_MOST) {
        idxi_sort_pairs(from, NULL, count, false, to, NULL);
        memcpy(to, from, count * sizeof *to);
        return;
    }
    for (size_t i = 0; i < count; i++) to[starts[from[i] << shared >> shift]++] = from[i];
    for (size_t i = 1; i < count; i++) {
        uint64_t key = to[i];
        size_t at = i;
        for (; at > 0 && to[at - 1] > key; at--) to[at] = to[at - 1];
        to[at] = key;
    }
}

/* Sorts fewer than 2^32 keys; faster than idxi_sort_pairs where they are spread evenly. */
static void sort_keys(uint64_t *keys, size_t count, uint64_t *spare) {
    uint32_t starts[((size_t)1 << MAX_DIGIT_BITS) + 1] = {0};
    unsigned bits = 1;
    while (bits < MAX_DIGIT_BITS && count >> bits > (size_t)1 << BUCKET_BITS) bits++;
    for (size_t i = 0; i < count; i++) starts[get_first(keys[i], bits) + 1]++;
    add_up(starts, (size_t)1 << bits);
    for (size_t i = 0; i < count; i++) {
        size_t at = starts[get_first(keys[i], bits)]++;
        __builtin_prefetch(spare + at + SCATTER_AHEAD, 1, 3);
        spare[at] = keys[i];
    }
    for (size_t i = 0, begin = 0; i < (size_t)1 << bits; begin = starts[i++])
        sort_bucket(spare + begin, keys + begin, starts[i] - begin, bits);
}

/* ---- Lines ---- */

/* Sorts the queries for the table. The spare holds as many. */
static enum idx_status set_line(struct sweep *sweep, struct line *line, uint64_t *spare, struct idx_error *error) {
    size_t ranges = (size_t)1 << line->range_bits, next = 0;
    line->keys = idxi_array_reserve(sweep->count);
    line->starts = malloc((ranges + 1) * sizeof *line->starts);
    if (line->keys == NULL || line->starts == NULL) return idxi_fail_memory(error);
    for (size_t i = 0; i < sweep->count; i++)
        line->keys[i] = (idxf_permute(&line->table->permutation, sweep->queries[i]) & ~(uint64_t)UINT32_MAX) | i;
    sort_keys(line->keys, sweep->count, spare);
    for (size_t i = 0; i < sweep->count; i++) {
        size_t range = get_first(line->keys[i], line->range_bits);
        while (next <= range) line->starts[next++] = i;
    }
    while (next <= ranges) line->starts[next++] = sweep->count;
    return idxi_progress_add(sweep->progress, 0, error);
}

/* The next lines that no thread has taken yet; one spare serves all of a thread's, since new memory takes time. */
static enum idx_status set_lines(void *context, size_t number, struct idx_error *error) {
    struct sweep *sweep = context;
    uint64_t *spare = idxi_array_reserve(sweep->count);
    enum idx_status status = spare == NULL ? idxi_fail_memory(error) : IDX_OK;
    size_t line;
    (void)number;
    while (status == IDX_OK && (line = atomic_fetch_add(&sweep->next, 1)) < sweep->line_count)
        status = set_line(sweep, &sweep->lines[line], spare, error);
    idxi_array_release(spare, sweep->count);
    return status;
}

static void free_lines(struct sweep *sweep) {
    while (sweep->line_count > 0) {
        struct line *line = &sweep->lines[--sweep->line_count];
        idxi_array_release(line->keys, sweep->count);
        free(line->starts);
    }
}

static unsigned get_flipped(const struct idxi_table *table) { return table->prefix - table->spared_bits; }

/* Ranges by bits that are flipped, or of a prefix, so that what a probe looks for lies in one range. */
static struct line make_line(const struct idx_index *index, size_t segment, size_t turn, unsigned distance) {
    const struct idxi_probed *probed = &index->probings[distance].tables[turn];
    const struct idxi_table *table = &index->segments[segment]->tables[probed->table];
    struct line line = {.table = table, .segment = segment, .turn = turn, .radius = probed->radius};
    line.flipped = probed->radius == 0 ? table->prefix : get_flipped(table);
    uint64_t bytes = table->header.blocks * table->header.block_size;
    while (line.range_bits < line.flipped && line.range_bits < MAX_RANGE_BITS && bytes >> line.range_bits > RANGE_BYTES)
        line.range_bits++;
    return line;
}

/* ---- Threads ---- */

static enum idx_status end_probes(struct worker *worker) {
    IDXI_TRY(idxi_search_end(&worker->search));
    return worker->search.stopped ? worker->error->status : IDX_OK;
}

/* The next range, of all lines, that no thread has taken yet; probes are under way from range to range. */
static enum idx_status sweep_lines(struct worker *worker) {
    struct sweep *sweep = worker->sweep;
    size_t range = atomic_fetch_add(&sweep->next, 1);
    for (size_t i = 0; i < sweep->line_count; i++) {
        const struct line *line = worker->line = &sweep->lines[i];
        size_t ranges = (size_t)1 << line->range_bits;
        idxi_search_init(&worker->search, sweep->index, sweep->distance, sweep->queries, note_match, worker,
                         worker->error);
        worker->search.segment = line->segment;
        for (; range < ranges && !sweep->failed; range = atomic_fetch_add(&sweep->next, 1) - line->before) {
            IDXI_TRY(sweep_range(worker, line->range_bits == 0 ? 0 : (uint64_t)range << (64 - line->range_bits),
                                 line->range_bits));
            IDXI_TRY(idxi_progress_add(sweep->progress, line->starts[range + 1] - line->starts[range], worker->error));
        }
        IDXI_TRY(end_probes(worker));
        range -= ranges;
    }
    return idxi_results_put(&worker->finds, worker->error);
}

static enum idx_status work(void *context, size_t number, struct idx_error *error) {
    struct sweep *sweep = context;
    struct worker *worker = calloc(1, sizeof *worker);
    (void)number;
    if (worker == NULL) return idxi_fail_memory(error);
    worker->sweep = sweep;
    worker->finds.results = sweep->results;
    worker->error = error;
    enum idx_status status = sweep_lines(worker);
    if (status != IDX_OK) sweep->failed = true;
    free(worker->items);
    free(worker->cells);
    free(worker);
    return status;
}

/* Sweeps along the lines that were made. */
static enum idx_status sweep_all(struct sweep *sweep, struct idx_error *error) {
    size_t before = 0;
    for (size_t i = 0; i < sweep->line_count; i++) {
        sweep->lines[i].before = before;
        before += (size_t)1 << sweep->lines[i].range_bits;
    }
    sweep->next = 0;
    enum idx_status status = idxi_parallel(sweep->threads, sweep->threads, set_lines, sweep, sweep->progress, error);
    sweep->next = 0;
    if (status == IDX_OK) status = idxi_parallel(sweep->threads, sweep->threads, work, sweep, sweep->progress, error);
    free_lines(sweep);
    return status;
}

/* ---- All ---- */

/* While it is sorted for a table, and then, each thread and line. */
#define QUERY_BYTES 16

/* As many lines at a time as memory holds, at least one. */
static enum idx_status sweep_some(struct sweep *sweep, size_t most, struct idx_error *error) {
    const struct idx_index *index = sweep->index;
    size_t turns = sweep->probing->count, all = index->manifest->segment_count * turns;
    for (size_t i = 0; i < all; i++) {
        struct line line = make_line(index, i / turns, i % turns, sweep->distance);
        if (line.table->header.blocks > 0) sweep->lines[sweep->line_count++] = line;
        if (sweep->line_count == most || i + 1 == all) IDXI_TRY(sweep_all(sweep, error));
    }
    return IDX_OK;
}

enum idx_status idxi_sweep(const struct idx_index *index, const uint64_t *queries, size_t count,
                           const struct idxi_sweep_options *options, struct idxi_results *results,
                           struct idx_error *error) {
    struct sweep sweep = {.index = index,
                          .probing = &index->probings[options->distance],
                          .distance = options->distance,
                          .threads = options->threads,
                          .results = results,
                          .progress = options->progress};
    size_t lines = sweep.probing->count * index->manifest->segment_count, held = options->memory / QUERY_BYTES;
    size_t some = held < MIN_QUERIES ? MIN_QUERIES : held < UINT32_MAX ? held : UINT32_MAX;
    enum idx_status status = IDX_OK;
    sweep.lines = calloc(lines + 1, sizeof *sweep.lines);
    if (sweep.lines == NULL) return idxi_fail_memory(error);
    for (; sweep.begin < count && status == IDX_OK; sweep.begin += sweep.count) {
        sweep.count = count - sweep.begin < some ? count - sweep.begin : some;
        sweep.queries = queries + sweep.begin;
        status = sweep_some(&sweep, held / sweep.count > 0 ? held / sweep.count : 1, error);
    }
    free(sweep.lines);
    return status;
}

double idxi_sweep_cost(const struct idx_index *index, size_t count, unsigned distance) {
    double cost = 0;
    for (size_t segment = 0; segment < index->manifest->segment_count; segment++) {
        for (size_t turn = 0; turn < index->probings[distance].count; turn++) {
            struct line line = make_line(index, segment, turn, distance);
            double patterns = (double)count * idxi_count_probes(line.table, line.radius);
            double decoding = get_decode_time(line.table, line.table->header.blocks) + patterns * LOOK_TIME;
            cost += (double)count * SORT_TIME + fmin(patterns * PROBE_TIME, decoding);
        }
    }
    return cost;
}
