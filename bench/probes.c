/* probes.c: probes uncompressed tables in memory in stages: sorted tables, and hash buckets. Both are divided into
 * cells by their top bits. A cell has fingerprints, or in their place numbers of fingerprints.
 *
 * A query's stages are: ask for the cells' bounds, ask for the cells, for tables of numbers ask for the fingerprints,
 * compare. A query is in one stage while the queries after it are in the stages before. */
#include "bench/systems.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define MAX_PROBE_TABLES 256
#define LINE_BYTES 64
#define LINE_VALUES 8
/* How many lines of a cell are prefetched; the processor's own prefetcher loads the others. */
#define PREFETCHED_LINES 8
/* How many queries are answered at once, one in each stage. More queries, with stages further apart, are no faster. */
#define STAGES 4

/* The mask and the radius of a table that is to be made, as in tables of idx. */
struct probe_table_plan {
    uint64_t mask;
    unsigned radius;
    unsigned cell_bits; /* At most as many as the mask has. */
};

struct table {
    uint64_t mask;
    unsigned radius;
    unsigned cell_bits;
    size_t first_probe, probe_count; /* Its probes among those of all tables. */
    uint32_t *cells;                 /* Where each cell begins; one more at the end. */
    uint64_t *values;                /* Permuted fingerprints, in order, or NULL. */
    uint32_t *numbers;               /* Numbers of fingerprints, or NULL. */
};

/* The bounds of a probe's cell. */
struct range {
    uint32_t begin, end;
};

struct probes {
    const struct data *data;
    bool by_number;
    enum instructions instructions;
    size_t table_count;
    size_t probe_count;
    uint32_t *flips; /* For each probe, the bits to flip in the number of the cell. */
    struct table tables[MAX_PROBE_TABLES];
};

/* What is stored of a query between its stages. */
struct stage {
    uint64_t query;
    uint64_t permuted[MAX_PROBE_TABLES];
    struct range *ranges; /* Those of each probe. */
};

static const uint64_t no_line[LINE_VALUES] __attribute__((aligned(LINE_BYTES)));

#define INLINE static inline __attribute__((always_inline))
#ifdef __x86_64__
#define TARGET_AVX2 __attribute__((target("avx2,bmi2,popcnt")))
#define TARGET_AVX512 __attribute__((target("avx2,bmi2,popcnt,avx512f,avx512bw,avx512vl")))
#define TARGET_VPOPCNTDQ __attribute__((target("avx2,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512vpopcntdq")))
#endif

/* ---- Permuting ---- */

/* A function of this type gathers the bits of a mask, or puts them back. */
typedef uint64_t move_function(uint64_t value, uint64_t mask);

static uint64_t extract_plain(uint64_t value, uint64_t mask) {
    uint64_t extracted = 0;
    for (unsigned to = 0; mask != 0; mask &= mask - 1, to++) extracted |= (value >> __builtin_ctzll(mask) & 1) << to;
    return extracted;
}

static uint64_t deposit_plain(uint64_t value, uint64_t mask) {
    uint64_t deposited = 0;
    for (unsigned from = 0; mask != 0; mask &= mask - 1, from++)
        deposited |= (value >> from & 1) << __builtin_ctzll(mask);
    return deposited;
}

#ifdef __x86_64__
TARGET_AVX2 INLINE uint64_t extract_bmi2(uint64_t value, uint64_t mask) { return _pext_u64(value, mask); }
TARGET_AVX2 INLINE uint64_t deposit_bmi2(uint64_t value, uint64_t mask) { return _pdep_u64(value, mask); }
#endif

INLINE unsigned rest_bits(uint64_t mask) { return 64 - (unsigned)__builtin_popcountll(mask); }

INLINE uint64_t permute(uint64_t fingerprint, uint64_t mask, move_function *extract) {
    return extract(fingerprint, mask) << rest_bits(mask) | extract(fingerprint, ~mask);
}

INLINE uint64_t unpermute(uint64_t permuted, uint64_t mask, move_function *deposit) {
    return deposit(permuted >> rest_bits(mask), mask) | deposit(permuted, ~mask);
}

/* ---- Comparing: which of a line's values, among those of the set `lanes`, are within k bits of the query ---- */

typedef unsigned compare_function(const uint64_t *line, unsigned lanes, uint64_t query, unsigned k);

INLINE unsigned compare_plain(const uint64_t *line, unsigned lanes, uint64_t query, unsigned k) {
    unsigned near = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        near |= (unsigned)((unsigned)__builtin_popcountll(line[lane] ^ query) <= k) << lane;
    }
    return near;
}

#ifdef __x86_64__
TARGET_AVX512 INLINE unsigned compare_avx512(const uint64_t *line, unsigned lanes, uint64_t query, unsigned k) {
    __m512i errors = _mm512_xor_si512(_mm512_load_si512(line), _mm512_set1_epi64((long long)query));
    for (unsigned bit = 0; bit < k; bit++)
        errors = _mm512_and_si512(errors, _mm512_add_epi64(errors, _mm512_set1_epi64(-1)));
    return _mm512_mask_testn_epi64_mask((__mmask8)lanes, errors, errors);
}

TARGET_VPOPCNTDQ INLINE unsigned compare_vpopcntdq(const uint64_t *line, unsigned lanes, uint64_t query, unsigned k) {
    __m512i errors = _mm512_xor_si512(_mm512_load_si512(line), _mm512_set1_epi64((long long)query));
    return _mm512_mask_cmple_epu64_mask((__mmask8)lanes, _mm512_popcnt_epi64(errors), _mm512_set1_epi64(k));
}
#endif

/* ---- Stages ---- */

INLINE size_t cell_of(const struct table *table, uint64_t permuted) { return permuted >> (64 - table->cell_bits); }

INLINE void ask_for_bounds(const struct probes *probes, struct stage *stage, uint64_t query, move_function *extract) {
    stage->query = query;
    for (size_t t = 0; t < probes->table_count; t++) {
        const struct table *table = &probes->tables[t];
        const uint32_t *flips = probes->flips + table->first_probe;
        stage->permuted[t] = permute(query, table->mask, extract);
        size_t cell = cell_of(table, stage->permuted[t]);
        for (size_t i = 0; i < table->probe_count; i++) __builtin_prefetch(&table->cells[cell ^ flips[i]]);
    }
}

/* Returns the line of element `begin`, where a line has `a_line` elements. An empty cell has none; then it returns one
 * that is always in the cache, so that no branch depends on chance. */
INLINE const void *line_of(const void *elements, struct range range, uint32_t a_line) {
    size_t bytes = (size_t)(range.begin & ~(a_line - 1)) * (LINE_BYTES / a_line);
    return range.begin == range.end ? (const char *)no_line : (const char *)elements + bytes;
}

INLINE void prefetch_cell(const void *elements, struct range range, uint32_t a_line) {
    const char *line = line_of(elements, range, a_line);
    __builtin_prefetch(line);
    uint32_t next = (range.begin & ~(a_line - 1)) + a_line;
    for (unsigned i = 1; next < range.end && i < PREFETCHED_LINES; i++, next += a_line)
        __builtin_prefetch(line + (size_t)i * LINE_BYTES);
}

INLINE void ask_for_cells(const struct probes *probes, const struct stage *stage) {
    for (size_t t = 0; t < probes->table_count; t++) {
        const struct table *table = &probes->tables[t];
        const uint32_t *flips = probes->flips + table->first_probe;
        struct range *ranges = stage->ranges + table->first_probe;
        size_t cell = cell_of(table, stage->permuted[t]);
        for (size_t i = 0; i < table->probe_count; i++) {
            const uint32_t *bounds = &table->cells[cell ^ flips[i]];
            ranges[i] = (struct range){bounds[0], bounds[1]};
            if (probes->by_number)
                prefetch_cell(table->numbers, ranges[i], LINE_BYTES / sizeof *table->numbers);
            else
                prefetch_cell(table->values, ranges[i], LINE_VALUES);
        }
    }
}

/* Compares the fingerprints whose numbers the cells have. */
INLINE void ask_for_fingerprints(const struct probes *probes, const struct stage *stage) {
    for (size_t t = 0; t < probes->table_count; t++) {
        const struct table *table = &probes->tables[t];
        for (size_t i = 0; i < table->probe_count; i++) {
            struct range range = stage->ranges[table->first_probe + i];
            for (uint32_t j = range.begin; j < range.end; j++)
                __builtin_prefetch(&probes->data->fingerprints[table->numbers[j]]);
        }
    }
}

/* Adds a match if this table is the first one whose probes find it, so that it is added once: each fingerprint is in
 * one cell, and the probes of a table are of different cells. */
INLINE void add_if_owned(const struct probes *probes, size_t table, uint64_t fingerprint, uint64_t query, size_t number,
                         struct answers *answers) {
    for (size_t t = 0; t <= table; t++) {
        uint64_t errors = (fingerprint ^ query) & probes->tables[t].mask;
        if ((unsigned)__builtin_popcountll(errors) > probes->tables[t].radius) continue;
        if (t == table) add_match(answers, number, fingerprint);
        return;
    }
}

/* Each line is loaded on its own, because a load that crosses into the next line waits for that one, too. */
INLINE void compare_cell(const struct probes *probes, size_t t, struct range range, const struct stage *stage,
                         size_t number, struct answers *answers, move_function *deposit, compare_function *compare) {
    const struct table *table = &probes->tables[t];
    const uint64_t *line = line_of(table->values, range, LINE_VALUES);
    uint32_t begin = range.begin & ~(uint32_t)(LINE_VALUES - 1);
    unsigned lanes = 0xffu << (range.begin - begin) & 0xff;
    do {
        unsigned width = range.end - begin < LINE_VALUES ? range.end - begin : LINE_VALUES;
        unsigned near = compare(line, lanes & ((1u << width) - 1), stage->permuted[t], probes->data->k);
        for (; __builtin_expect(near != 0, 0); near &= near - 1)
            add_if_owned(probes, t, unpermute(line[__builtin_ctz(near)], table->mask, deposit), stage->query, number,
                         answers);
        lanes = 0xff;
        begin += LINE_VALUES;
        line += LINE_VALUES;
    } while (begin < range.end);
}

INLINE void compare_cells(const struct probes *probes, const struct stage *stage, size_t number,
                          struct answers *answers, move_function *deposit, compare_function *compare) {
    for (size_t t = 0; t < probes->table_count; t++) {
        const struct table *table = &probes->tables[t];
        const struct range *ranges = stage->ranges + table->first_probe;
        for (size_t i = 0; i < table->probe_count; i++)
            compare_cell(probes, t, ranges[i], stage, number, answers, deposit, compare);
    }
}

INLINE void compare_fingerprints(const struct probes *probes, const struct stage *stage, size_t number,
                                 struct answers *answers) {
    unsigned k = probes->data->k;
    for (size_t t = 0; t < probes->table_count; t++) {
        const struct table *table = &probes->tables[t];
        for (size_t i = 0; i < table->probe_count; i++) {
            struct range range = stage->ranges[table->first_probe + i];
            for (uint32_t j = range.begin; j < range.end; j++) {
                uint64_t fingerprint = probes->data->fingerprints[table->numbers[j]];
                if ((unsigned)__builtin_popcountll(fingerprint ^ stage->query) <= k)
                    add_if_owned(probes, t, fingerprint, stage->query, number, answers);
            }
        }
    }
}

/* Answers queries, each of which enters its next stage `lag` queries later. If `lag` is 0, it is answered before the
 * next one begins. */
INLINE void answer_in_stages(const struct probes *probes, struct stage *stages, size_t lag, const uint64_t *queries,
                             size_t count, struct answers *answers, move_function *extract, move_function *deposit,
                             compare_function *compare) {
    size_t to_last = probes->by_number ? 3 * lag : 2 * lag;
    for (size_t step = 0; step < count + to_last; step++) {
        if (step < count) ask_for_bounds(probes, &stages[step % STAGES], queries[step], extract);
        if (step >= lag && step - lag < count) ask_for_cells(probes, &stages[(step - lag) % STAGES]);
        if (probes->by_number && step >= 2 * lag && step - 2 * lag < count)
            ask_for_fingerprints(probes, &stages[(step - 2 * lag) % STAGES]);
        if (step < to_last) continue;
        size_t query = step - to_last;
        if (probes->by_number)
            compare_fingerprints(probes, &stages[query % STAGES], query, answers);
        else
            compare_cells(probes, &stages[query % STAGES], query, answers, deposit, compare);
    }
}

typedef void answer_function(const struct probes *probes, struct stage *stages, size_t lag, const uint64_t *queries,
                             size_t count, struct answers *answers);

static void answer_plain(const struct probes *probes, struct stage *stages, size_t lag, const uint64_t *queries,
                         size_t count, struct answers *answers) {
    answer_in_stages(probes, stages, lag, queries, count, answers, extract_plain, deposit_plain, compare_plain);
}

#ifdef __x86_64__
TARGET_AVX2 static void answer_avx2(const struct probes *probes, struct stage *stages, size_t lag,
                                    const uint64_t *queries, size_t count, struct answers *answers) {
    answer_in_stages(probes, stages, lag, queries, count, answers, extract_bmi2, deposit_bmi2, compare_plain);
}

TARGET_AVX512 static void answer_avx512(const struct probes *probes, struct stage *stages, size_t lag,
                                        const uint64_t *queries, size_t count, struct answers *answers) {
    answer_in_stages(probes, stages, lag, queries, count, answers, extract_bmi2, deposit_bmi2, compare_avx512);
}

TARGET_VPOPCNTDQ static void answer_vpopcntdq(const struct probes *probes, struct stage *stages, size_t lag,
                                              const uint64_t *queries, size_t count, struct answers *answers) {
    answer_in_stages(probes, stages, lag, queries, count, answers, extract_bmi2, deposit_bmi2, compare_vpopcntdq);
}

static answer_function *const answer_functions[] = {answer_plain, answer_avx2, answer_avx512, answer_vpopcntdq};
#else
static answer_function *const answer_functions[] = {answer_plain, answer_plain, answer_plain, answer_plain};
#endif

/* Answers several queries at once, except in MODE_SINGLE. */
static void answer(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                   struct answers *answers) {
    const struct probes *probes = system->state;
    struct stage stages[STAGES];
    struct range *ranges = malloc(STAGES * probes->probe_count * sizeof *ranges);
    if (ranges == NULL) die("out of memory");
    for (size_t i = 0; i < STAGES; i++) stages[i].ranges = ranges + i * probes->probe_count;
    answer_functions[probes->instructions](probes, stages, mode == MODE_SINGLE ? 0 : 1, queries, count, answers);
    free(ranges);
}

/* ---- Making tables ---- */

static size_t table_bytes(size_t count, const struct probe_table_plan *plan, bool by_number) {
    return count * (by_number ? 4 : 8) + (((size_t)1 << plan->cell_bits) + 1) * 4;
}

static double probes_bytes(size_t count, const struct probe_table_plan *plans, size_t table_count, bool by_number) {
    double bytes = by_number ? (double)count * 8 : 0;
    for (size_t t = 0; t < table_count; t++) bytes += (double)table_bytes(count, &plans[t], by_number);
    return bytes;
}

/* Adds all ways to flip up to `radius` of the lowest `bits` bits of a cell's number. */
static void add_flips(struct probes *probes, unsigned bits, unsigned radius, uint32_t flip) {
    uint32_t *flips = realloc(probes->flips, (probes->probe_count + 1) * sizeof *flips);
    if (flips == NULL) die("out of memory");
    probes->flips = flips;
    flips[probes->probe_count++] = flip;
    if (radius == 0) return;
    for (unsigned bit = 0; bit < bits; bit++) add_flips(probes, bit, radius - 1, flip | UINT32_C(1) << bit);
}

/* Fingerprints ascend, so a stable sort by the prefix puts them in the table's order. */
static void fill_values(struct table *table, const struct data *data, uint64_t **spare, uint64_t **values,
                        move_function *extract) {
    unsigned prefix = (unsigned)__builtin_popcountll(table->mask);
    for (size_t i = 0; i < data->count; i++) (*values)[i] = permute(data->fingerprints[i], table->mask, extract);
    uint64_t *sorted = sort_by_bits(*values, *spare, data->count, 64 - prefix, prefix);
    if (sorted == *spare) *spare = *values;
    table->values = sorted;
    size_t next = 0;
    for (size_t cell = 0; cell <= (size_t)1 << table->cell_bits; cell++) {
        while (next < data->count && cell_of(table, sorted[next]) < cell) next++;
        table->cells[cell] = (uint32_t)next;
    }
}

/* This is a counting sort. Cells are filled from their ends, and so the ends become the beginnings. */
static void fill_numbers(struct table *table, const struct data *data, move_function *extract) {
    size_t cells = (size_t)1 << table->cell_bits;
    for (size_t i = 0; i < data->count; i++)
        table->cells[cell_of(table, permute(data->fingerprints[i], table->mask, extract))]++;
    for (size_t cell = 1; cell <= cells; cell++) table->cells[cell] += table->cells[cell - 1];
    for (size_t i = data->count; i-- > 0;) {
        uint64_t permuted = permute(data->fingerprints[i], table->mask, extract);
        table->numbers[--table->cells[cell_of(table, permuted)]] = (uint32_t)i;
    }
}

/* Fills a table, with fingerprints or with their numbers. `spare` and `values` are room for sorting. */
static void make_table(struct probes *probes, const struct probe_table_plan *plan, uint64_t **spare,
                       move_function *extract) {
    const struct data *data = probes->data;
    struct table *table = &probes->tables[probes->table_count++];
    *table = (struct table){.mask = plan->mask, .radius = plan->radius, .cell_bits = plan->cell_bits};
    table->first_probe = probes->probe_count;
    add_flips(probes, plan->cell_bits, plan->radius, 0);
    table->probe_count = probes->probe_count - table->first_probe;
    table->cells = huge_new((((size_t)1 << plan->cell_bits) + 1) * sizeof *table->cells);
    if (probes->by_number) {
        table->numbers = huge_new(data->count * sizeof *table->numbers);
        fill_numbers(table, data, extract);
    } else {
        uint64_t *values = huge_new(data->count * sizeof *values);
        fill_values(table, data, spare, &values, extract);
    }
}

static void free_probes(struct system *system) {
    struct probes *probes = system->state;
    for (size_t t = 0; t < probes->table_count; t++) {
        struct table *table = &probes->tables[t];
        huge_free(table->cells, (((size_t)1 << table->cell_bits) + 1) * sizeof *table->cells);
        huge_free(table->values, probes->data->count * sizeof *table->values);
        huge_free(table->numbers, probes->data->count * sizeof *table->numbers);
    }
    free(probes->flips);
    free(probes);
}

/* Returns false if there is too little memory. */
static bool make_probes(struct system *system, const struct data *data, const struct probe_table_plan *plans,
                        size_t table_count, bool by_number, enum instructions instructions) {
    system->table_bytes = probes_bytes(data->count, plans, table_count, by_number);
    if (!memory_suffices(system->name, system->scheme, system->table_bytes + (double)data->count * 8)) return false;
    struct probes *probes = allocate(1, sizeof *probes);
    uint64_t *spare = by_number ? NULL : huge_new(data->count * sizeof *spare);
    probes->data = data;
    probes->by_number = by_number;
    probes->instructions = instructions;
    move_function *extract = extract_plain;
#ifdef __x86_64__
    if (instructions >= INSTRUCTIONS_AVX2) extract = extract_bmi2;
#endif
    for (size_t t = 0; t < table_count; t++) make_table(probes, &plans[t], &spare, extract);
    huge_free(spare, data->count * sizeof *spare);
    system->state = probes;
    system->answer = answer;
    system->free = free_probes;
    return true;
}

/* Returns the logarithm to base 2, rounded down, but 1 at least and 31 at most. */
static unsigned log2_floor(size_t count) {
    unsigned bits = 1;
    while (bits < 31 && count >> (bits + 1) != 0) bits++;
    return bits;
}

/* ---- idx's schemes, uncompressed: sorted tables, each with a directory of its top bits ---- */

bool uncompressed_build(struct system *system, const struct data *data, const char *scheme, unsigned directory_bits,
                        enum instructions instructions) {
    struct probe_table_plan plans[MAX_PROBE_TABLES];
    struct idx_scheme parsed;
    struct idx_error error;
    try(idx_scheme_parse(&parsed, scheme, 64, data->k, data->count, &error), &error);
    /* One to two fingerprints a cell. Twice to four times as many cells measure within 3 % of that, as do half as many;
     * a quarter is slower. Cells are then so small that nothing is left to interpolate. */
    if (directory_bits == 0) directory_bits = log2_floor(data->count);
    for (size_t t = 0; t < parsed.table_count; t++) {
        unsigned prefix = (unsigned)__builtin_popcountll(parsed.tables[t].mask);
        plans[t] = (struct probe_table_plan){parsed.tables[t].mask, parsed.tables[t].radius,
                                             prefix < directory_bits ? prefix : directory_bits};
    }
    *system = (struct system){.name = "uncompressed"};
    snprintf(system->scheme, sizeof system->scheme, "%.63s", scheme);
    return make_probes(system, data, plans, parsed.table_count, false, instructions);
}

/* ---- Multi-index hashing (Norouzi, Punjani, Fleet, CVPR 2012) in its strongest form ----
 *
 * Buckets of each substring in a counting-sorted array, queries flipped, nothing reset between queries, waits for
 * memory overlapped. By the pigeonhole refinement only some substrings need the larger radius: where k = parts · r + a,
 * the first a + 1. */

/* A bucket is chosen by the first bits of a substring, no more than there are fingerprints for. Returns how many
 * substrings are probed. */
static size_t plan_substrings(struct probe_table_plan *plans, unsigned parts, unsigned k, unsigned most_bucket_bits) {
    unsigned radius = k / parts, larger = k % parts + 1, end = 64;
    size_t count = 0;
    for (unsigned part = 0; part < parts; part++) {
        unsigned bits = 64 / parts + (part < 64 % parts);
        end -= bits;
        if (part >= larger && radius == 0) break;
        plans[count++] =
            (struct probe_table_plan){((UINT64_C(1) << bits) - 1) << end, part < larger ? radius : radius - 1,
                                      bits < most_bucket_bits ? bits : most_bucket_bits};
    }
    return count;
}

bool mih_build(struct system *system, const struct data *data, unsigned parts, bool wide,
               enum instructions instructions) {
    struct probe_table_plan plans[MAX_PROBE_TABLES];
    size_t count = plan_substrings(plans, parts, data->k, log2_floor(data->count));
    *system = (struct system){.name = wide ? "mih wide" : "mih"};
    snprintf(system->scheme, sizeof system->scheme, "m=%u", parts);
    return make_probes(system, data, plans, count, !wide, instructions);
}
