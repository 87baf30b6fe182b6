/* query_tables.c: see query_tables.h. Of d errors in B parts of the bits, B - d parts have none: there is a table for
 * each choice of so many parts. A table has its queries grouped by the bits of these, as 32 bits each: the XOR of the
 * two halves. Where fingerprints differ in few bits, so do these, which is sifted by. */
#include "libidx/lookup/query_tables.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "format/permute.h"
#include "format/processor.h"
#include "libidx/base/error.h"
#include "libidx/base/memory.h"
#include "libidx/streams/sort.h"

#define MAX_TABLES 64
#define MAX_PARTS 20

/* What a fingerprint takes, on a core of a typical server, in nanoseconds. */
#define TABLE_TIME 5.0   /* a table */
#define COMPARE_TIME 0.5 /* so many comparisons: */
#define COMPARED 16

/* Queries that share a key, at least, on average: fewer are compared as fast. */
#define GROUP 8

/* Bytes of a table's part, so that it stays in the caches with what comes by, and how many parts there may be. */
#define PART_BYTES ((uint64_t)128 << 10)
#define MAX_PART_BITS 8

/* Fingerprints that wait for a part of a table, and all of them, at most. */
#define MAX_WAITING ((size_t)16 << 10)
#define MIN_WAITING ((size_t)64)
#define ALL_WAITING ((size_t)2 << 20)

/* How far ahead of its use the room for one to wait is asked for: it was last used long ago. */
#define AHEAD 32

/* Read beyond the last query. */
#define PADDING 32

struct table {
    uint64_t mask;
    unsigned move_count;
    struct idxf_move moves[MAX_PARTS]; /* of its bits alone */
    unsigned key_bits;                 /* the first of its permuted bits */
    unsigned part_bits;                /* the first of these */
    uint32_t *starts;                  /* of the queries of a key; one more */
    uint32_t *folds, *queries;         /* queries as folded, and as numbers of distinct ones */
    uint64_t *values;                  /* and as they are */
};

struct idxi_query_tables {
    unsigned bits, distance;
    size_t first; /* number of the first query */
    size_t distinct;
    uint64_t *values;  /* of distinct queries, ascending */
    uint64_t *numbers; /* of all queries, those of a distinct one together */
    uint32_t *firsts;  /* in `numbers`, of each distinct one; one more */
    size_t count;
    struct table tables[MAX_TABLES];
    size_t table_count;
};

struct idxi_passing {
    const struct idxi_query_tables *tables;
    idxi_meet meet;
    size_t most;       /* that wait for a part: a power of two */
    uint64_t *waiting; /* `most` for each part of each table */
    size_t parts;      /* of all tables */
    size_t *ends;      /* in `waiting`, of those that wait for each */
    struct idxi_finds finds;
};

/* Fingerprints that meet the queries of a table. */
struct idxi_meeting {
    struct idxi_passing *passing;
    const struct table *table;
    size_t number; /* of the table */
    enum idx_status status;
    struct idx_error *error;
};

static inline uint32_t fold(uint64_t fingerprint) { return (uint32_t)(fingerprint ^ fingerprint >> 32); }

/* The bits of the mask, left-aligned; others may stand behind them. */
IDXF_INLINE uint64_t permute(const struct idxf_move *moves, unsigned count, uint64_t fingerprint) {
    uint64_t permuted = 0;
    if (count == 1) return idxf_rotate_left(fingerprint, moves[0].rotate);
    for (unsigned i = 0; i < count; i++) permuted |= idxf_rotate_left(fingerprint & moves[i].bits, moves[i].rotate);
    return permuted;
}

/* The first `bits` bits, 0 to 63. */
static inline size_t get_first(uint64_t permuted, unsigned bits) { return (size_t)(permuted >> 1 >> (63 - bits)); }

/* ---- Which tables ---- */

struct choice {
    unsigned parts, taken; /* taken 0: one table, of no bits */
    unsigned key_bits, tables;
    struct idxi_passing_cost cost;
};

static unsigned choose(unsigned n, unsigned r) {
    double product = 1;
    for (unsigned i = 0; i < r; i++) product = product * (n - i) / (i + 1);
    return product > MAX_TABLES ? MAX_TABLES + 1 : (unsigned)(product + 0.5);
}

static struct choice weigh(size_t queries, unsigned bits, unsigned parts, unsigned taken) {
    unsigned most = 0, mask_bits = taken == 0 ? 0 : bits / parts * taken;
    while (most < 32 && queries >> (most + 1) >= GROUP) most++;
    struct choice choice = {parts, taken, mask_bits < most ? mask_bits : most, choose(parts, taken), {0, 0}};
    double met = (double)queries / (double)((uint64_t)1 << choice.key_bits) / COMPARED;
    choice.cost.nanoseconds = choice.tables * (TABLE_TIME + COMPARE_TIME * (met < 2 ? 2 : met));
    choice.cost.bytes =
        (uint64_t)queries * (20 + 16 * choice.tables) + (((uint64_t)4 * choice.tables) << choice.key_bits);
    return choice;
}

static struct choice choose_tables(size_t queries, unsigned bits, unsigned distance, uint64_t memory) {
    struct choice best = weigh(queries, bits, 1, 0);
    for (unsigned parts = distance + 1; parts <= distance + 3 && parts <= bits && parts <= MAX_PARTS; parts++) {
        struct choice choice = weigh(queries, bits, parts, parts - distance);
        if (choice.tables > MAX_TABLES || choice.cost.bytes > memory) continue;
        if (choice.cost.nanoseconds < best.cost.nanoseconds) best = choice;
    }
    return best;
}

struct idxi_passing_cost idxi_passing_cost(size_t queries, unsigned bits, unsigned distance) {
    return choose_tables(queries, bits, distance, UINT64_MAX).cost;
}

/* ---- Making the tables ---- */

/* The bits of a choice of parts. */
static uint64_t get_mask(unsigned bits, unsigned parts, uint64_t taken) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < parts; i++) {
        if ((taken >> i & 1) != 0) mask |= idxf_low_bits(bits * (i + 1) / parts) & ~idxf_low_bits(bits * i / parts);
    }
    return mask;
}

static void set_mask(struct table *table, uint64_t mask, unsigned bits) {
    struct idxf_permutation permutation;
    idxf_permutation_init(&permutation, mask, bits);
    table->mask = mask;
    for (unsigned i = 0; i < permutation.move_count; i++) {
        struct idxf_move move = {permutation.moves[i].bits & mask, permutation.moves[i].rotate};
        if (move.bits != 0) table->moves[table->move_count++] = move;
    }
}

static void set_masks(struct idxi_query_tables *tables, const struct choice *choice) {
    uint64_t part = idxf_low_bits(choice->parts) + 1;
    for (uint64_t taken = 0; taken < part; taken++) {
        if ((unsigned)__builtin_popcountll(taken) != choice->taken) continue;
        struct table *table = &tables->tables[tables->table_count++];
        set_mask(table, get_mask(tables->bits, choice->parts, taken), tables->bits);
        table->key_bits = choice->key_bits;
        while (table->part_bits < MAX_PART_BITS && table->part_bits < table->key_bits &&
               (uint64_t)tables->distinct * 4 >> table->part_bits > PART_BYTES)
            table->part_bits++;
    }
}

static size_t get_key(const struct table *table, uint64_t fingerprint) {
    return get_first(permute(table->moves, table->move_count, fingerprint), table->key_bits);
}

static enum idx_status fill_table(struct table *table, const struct idxi_query_tables *tables,
                                  struct idx_error *error) {
    size_t keys = (size_t)1 << table->key_bits;
    table->starts = calloc(keys + 2, sizeof *table->starts);
    table->folds = calloc(tables->distinct + PADDING, sizeof *table->folds);
    table->queries = malloc((tables->distinct + 1) * sizeof *table->queries);
    table->values = malloc((tables->distinct + 1) * sizeof *table->values);
    if (table->starts == NULL || table->folds == NULL || table->queries == NULL || table->values == NULL)
        return idxi_fail_memory(error);
    for (size_t i = 0; i < tables->distinct; i++) table->starts[get_key(table, tables->values[i]) + 2]++;
    for (size_t key = 2; key <= keys + 1; key++) table->starts[key] += table->starts[key - 1];
    for (size_t i = 0; i < tables->distinct; i++) {
        uint32_t at = table->starts[get_key(table, tables->values[i]) + 1]++;
        table->folds[at] = fold(tables->values[i]);
        table->queries[at] = (uint32_t)i;
        table->values[at] = tables->values[i];
    }
    return IDX_OK;
}

/* Sorts the queries, and keeps each value once. */
static enum idx_status take_queries(struct idxi_query_tables *tables, const uint64_t *queries, size_t count,
                                    struct idx_error *error) {
    uint64_t *spare = malloc((count + 1) * sizeof *spare), *spare_numbers = malloc((count + 1) * sizeof *spare);
    tables->values = malloc((count + 1) * sizeof *tables->values);
    tables->numbers = malloc((count + 1) * sizeof *tables->numbers);
    tables->firsts = malloc((count + 1) * sizeof *tables->firsts);
    bool enough = spare != NULL && spare_numbers != NULL && tables->values != NULL && tables->numbers != NULL &&
                  tables->firsts != NULL;
    if (enough) {
        if (count > 0) memcpy(tables->values, queries, count * sizeof *queries);
        for (size_t i = 0; i < count; i++) tables->numbers[i] = i;
        idxi_sort_pairs(tables->values, tables->numbers, count, false, spare, spare_numbers);
        for (size_t i = 0; i < count; i++) {
            if (i > 0 && tables->values[i] == tables->values[tables->distinct - 1]) continue;
            tables->values[tables->distinct] = tables->values[i];
            tables->firsts[tables->distinct++] = (uint32_t)i;
        }
        tables->firsts[tables->distinct] = (uint32_t)count;
        tables->count = count;
    }
    free(spare);
    free(spare_numbers);
    return enough ? IDX_OK : idxi_fail_memory(error);
}

static enum idx_status make(struct idxi_query_tables *tables, const uint64_t *queries, size_t count, uint64_t memory,
                            struct idx_error *error) {
    IDXI_TRY(take_queries(tables, queries, count, error));
    struct choice choice = choose_tables(tables->distinct, tables->bits, tables->distance, memory);
    if (choice.cost.bytes > memory)
        return idxi_fail(error, IDX_OUT_OF_MEMORY, NULL,
                         "the tables of %zu queries take %llu MiB: allow that memory, or give fewer queries at a time",
                         count, (unsigned long long)(choice.cost.bytes >> 20) + 1);
    set_masks(tables, &choice);
    for (size_t i = 0; i < tables->table_count; i++) IDXI_TRY(fill_table(&tables->tables[i], tables, error));
    return IDX_OK;
}

enum idx_status idxi_query_tables_make(struct idxi_query_tables **result, const uint64_t *queries, size_t count,
                                       size_t first, unsigned bits, unsigned distance, uint64_t memory,
                                       struct idx_error *error) {
    if (count >= UINT32_MAX) return idxi_fail(error, IDX_LIMIT, NULL, "%zu queries: there can be 2^32 - 2", count);
    struct idxi_query_tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL) return idxi_fail_memory(error);
    tables->bits = bits;
    tables->first = first;
    tables->distance = distance;
    enum idx_status status = make(tables, queries, count, memory, error);
    if (status == IDX_OK)
        *result = tables;
    else
        idxi_query_tables_free(tables);
    return status;
}

void idxi_query_tables_free(struct idxi_query_tables *tables) {
    if (tables == NULL) return;
    for (size_t i = 0; i < tables->table_count; i++) {
        free(tables->tables[i].starts);
        free(tables->tables[i].folds);
        free(tables->tables[i].queries);
        free(tables->tables[i].values);
    }
    free(tables->values);
    free(tables->numbers);
    free(tables->firsts);
    free(tables);
}

/* ---- Comparing ---- */

/* Whether no table before has all of its bits the same: then this one reports the match. */
static bool owns(const struct idxi_meeting *meeting, uint64_t errors) {
    const struct table *tables = meeting->passing->tables->tables;
    for (size_t i = 0; i < meeting->number; i++) {
        if ((errors & tables[i].mask) == 0) return false;
    }
    return (errors & meeting->table->mask) == 0;
}

/* Compares a fingerprint with one of the table's queries, all bits of it. */
static void check(struct idxi_meeting *meeting, uint64_t fingerprint, size_t at) {
    struct idxi_passing *passing = meeting->passing;
    const struct idxi_query_tables *tables = passing->tables;
    uint64_t errors = meeting->table->values[at] ^ fingerprint;
    if ((unsigned)__builtin_popcountll(errors) > tables->distance || !owns(meeting, errors)) return;
    uint32_t query = meeting->table->queries[at];
    for (size_t i = tables->firsts[query]; i < tables->firsts[query + 1] && meeting->status == IDX_OK; i++)
        meeting->status =
            idxi_results_find(&passing->finds, tables->first + (size_t)tables->numbers[i], fingerprint, meeting->error);
}

IDXF_INLINE void meet(struct idxi_meeting *meeting, const uint64_t *fingerprints, size_t count) {
    const struct table *table = meeting->table;
    unsigned distance = meeting->passing->tables->distance;
    for (size_t i = 0; i < count && meeting->status == IDX_OK; i++) {
        size_t key = get_first(permute(table->moves, table->move_count, fingerprints[i]), table->key_bits);
        uint32_t folded = fold(fingerprints[i]);
        for (size_t at = table->starts[key], end = table->starts[key + 1]; at < end; at++) {
            if (idxf_count_bits(table->folds[at] ^ folded) <= distance) check(meeting, fingerprints[i], at);
        }
    }
}

static void meet_portably(struct idxi_meeting *meeting, const uint64_t *fingerprints, size_t count) {
    meet(meeting, fingerprints, count);
}

#ifdef IDXF_X86
#include <immintrin.h>

IDXF_BMI2 static void meet_bmi2(struct idxi_meeting *meeting, const uint64_t *fingerprints, size_t count) {
    meet(meeting, fingerprints, count);
}

IDXF_AVX512 static inline __m512i count_errors(const uint32_t *folds, __m512i folded) {
    return _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_loadu_si512(folds), folded));
}

/* A fingerprint that is near to a query, or has more of them to meet than were compared at once. */
IDXF_AVX512 static void meet_all(struct idxi_meeting *meeting, uint64_t fingerprint, size_t begin, size_t end) {
    __m512i most = _mm512_set1_epi32((int)meeting->passing->tables->distance);
    __m512i folded = _mm512_set1_epi32((int)fold(fingerprint));
    for (size_t at = begin; at < end; at += 16) {
        unsigned near = _mm512_cmple_epu32_mask(count_errors(meeting->table->folds + at, folded), most);
        /* What is beyond the end, or not near, is not taken at the mask's word; see sweep.c. */
        for (; near != 0; near &= near - 1) {
            size_t seems_near = at + (size_t)__builtin_ctz(near);
            if (seems_near < end) check(meeting, fingerprint, seems_near);
        }
    }
}

/* Reads two vectors of queries without asking how many there are: seldom more, and others don't matter. */
IDXF_AVX512 static inline __attribute__((always_inline)) void meet_wide(struct idxi_meeting *meeting,
                                                                        const uint64_t *fingerprints, size_t count,
                                                                        const struct idxf_move *moves,
                                                                        unsigned move_count) {
    const uint32_t *starts = meeting->table->starts, *folds = meeting->table->folds;
    unsigned key_bits = meeting->table->key_bits;
    __m512i most = _mm512_set1_epi32((int)meeting->passing->tables->distance);
    for (size_t i = 0; i < count; i++) {
        size_t key = get_first(permute(moves, move_count, fingerprints[i]), key_bits);
        size_t begin = starts[key], end = starts[key + 1];
        __m512i folded = _mm512_set1_epi32((int)fold(fingerprints[i]));
        __m512i errors =
            _mm512_min_epu32(count_errors(folds + begin, folded), count_errors(folds + begin + 16, folded));
        unsigned near = _mm512_cmple_epu32_mask(errors, most);
        if (__builtin_expect(near != 0 || end - begin > 32, 0)) meet_all(meeting, fingerprints[i], begin, end);
        if (__builtin_expect(meeting->status != IDX_OK, 0)) return;
    }
}

IDXF_AVX512 static void meet_avx512(struct idxi_meeting *meeting, const uint64_t *fingerprints, size_t count) {
    const struct table *table = meeting->table;
    struct idxf_move moves[2] = {table->moves[0], table->moves[1]};
    if (table->move_count == 1)
        meet_wide(meeting, fingerprints, count, moves, 1);
    else if (table->move_count == 2)
        meet_wide(meeting, fingerprints, count, moves, 2);
    else
        meet_wide(meeting, fingerprints, count, table->moves, table->move_count);
}
#endif

size_t idxi_meets(idxi_meet meets[IDXI_MAX_MEETS]) {
    size_t count = 0;
    meets[count++] = meet_portably;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) meets[count++] = meet_bmi2;
    if (idxf_has_avx512()) meets[count++] = meet_avx512;
#endif
    return count;
}

/* ---- Passing ---- */

enum idx_status idxi_passing_open(struct idxi_passing **result, const struct idxi_query_tables *tables,
                                  struct idxi_results *results, uint64_t memory, struct idx_error *error) {
    struct idxi_passing *passing = calloc(1, sizeof *passing);
    idxi_meet meets[IDXI_MAX_MEETS];
    if (passing == NULL) return idxi_fail_memory(error);
    passing->tables = tables;
    passing->meet = meets[idxi_meets(meets) - 1];
    passing->finds.results = results;
    for (size_t i = 0; i < tables->table_count; i++) passing->parts += (size_t)1 << tables->tables[i].part_bits;
    size_t most = memory / 8 < ALL_WAITING ? (size_t)(memory / 8) : ALL_WAITING;
    passing->most = most / passing->parts;
    if (passing->most > MAX_WAITING) passing->most = MAX_WAITING;
    if (passing->most < MIN_WAITING) passing->most = MIN_WAITING;
    while ((passing->most & (passing->most - 1)) != 0) passing->most &= passing->most - 1;
    passing->waiting = idxi_array_reserve(passing->parts * passing->most);
    passing->ends = calloc(passing->parts, sizeof *passing->ends);
    if (passing->waiting == NULL || passing->ends == NULL) {
        idxi_passing_close(passing);
        return idxi_fail_memory(error);
    }
    for (size_t i = 0; i < passing->parts; i++) passing->ends[i] = i * passing->most;
    *result = passing;
    return IDX_OK;
}

void idxi_passing_set_meet(struct idxi_passing *passing, idxi_meet way) { passing->meet = way; }

void idxi_passing_close(struct idxi_passing *passing) {
    if (passing == NULL) return;
    idxi_array_release(passing->waiting, passing->parts * passing->most);
    free(passing->ends);
    free(passing);
}

/* `first`: the number, among the parts of all tables, of this one's first. */
struct pass {
    struct idxi_meeting meeting;
    size_t first;
};

/* Those that wait for a part meet its queries. */
static void meet_part(struct pass *pass, size_t part) {
    struct idxi_passing *passing = pass->meeting.passing;
    size_t at = pass->first + part, begin = at * passing->most, count = passing->ends[at] - begin;
    passing->ends[at] = begin;
    if (count > 0) passing->meet(&pass->meeting, passing->waiting + begin, count);
}

/* Appends each fingerprint to those that wait for its part. */
IDXF_INLINE void sort_out(struct pass *pass, const uint64_t *fingerprints, size_t count, const struct idxf_move *moves,
                          unsigned move_count) {
    struct idxi_passing *passing = pass->meeting.passing;
    size_t *ends = passing->ends + pass->first, filled = passing->most - 1;
    uint64_t *waiting = passing->waiting;
    unsigned shift = 64 - pass->meeting.table->part_bits;
    for (size_t i = 0; i < count; i++) {
        size_t part = (size_t)(permute(moves, move_count, fingerprints[i]) >> shift), end = ends[part];
        waiting[end] = fingerprints[i];
        __builtin_prefetch(waiting + end + AHEAD, 1, 3);
        ends[part] = end + 1;
        if (__builtin_expect((end & filled) != filled, 1)) continue;
        meet_part(pass, part);
    }
}

/* `varying`: at least the bits in which any two of the fingerprints differ. Those that all fall into one part, such as
 * neighbours of ascending ones, need not wait. */
static void pass_table(struct pass *pass, const uint64_t *fingerprints, size_t count, uint64_t varying) {
    const struct table *table = pass->meeting.table;
    struct idxf_move moves[2] = {table->moves[0], table->moves[1]};
    if (get_first(permute(table->moves, table->move_count, varying), table->part_bits) == 0)
        pass->meeting.passing->meet(&pass->meeting, fingerprints, count);
    else if (table->move_count == 1)
        sort_out(pass, fingerprints, count, moves, 1);
    else if (table->move_count == 2)
        sort_out(pass, fingerprints, count, moves, 2);
    else
        sort_out(pass, fingerprints, count, table->moves, table->move_count);
}

static struct pass begin_pass(struct idxi_passing *passing, struct idx_error *error) {
    return (struct pass){{passing, passing->tables->tables, 0, IDX_OK, error}, 0};
}

static void go_on(struct pass *pass) {
    pass->first += (size_t)1 << pass->meeting.table->part_bits;
    pass->meeting.table++;
    pass->meeting.number++;
}

static enum idx_status check_bits(const struct idxi_query_tables *tables, const uint64_t *fingerprints, size_t count,
                                  struct idx_error *error) {
    uint64_t all = 0, over = ~idxf_low_bits(tables->bits);
    for (size_t i = 0; i < count; i++) all |= fingerprints[i];
    for (size_t i = 0; i < count && (all & over) != 0; i++) {
        if ((fingerprints[i] & over) != 0)
            return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "fingerprint %016llx has more than %u bits",
                             (unsigned long long)fingerprints[i], tables->bits);
    }
    return IDX_OK;
}

/* The bits in which fingerprints, at least one, differ from the first one. */
static uint64_t find_varying(const uint64_t *fingerprints, size_t count) {
    uint64_t varying = 0;
    for (size_t i = 1; i < count; i++) varying |= fingerprints[i] ^ fingerprints[0];
    return varying;
}

/* As many as stay in the first cache while all tables take them. */
#define TAKEN ((size_t)1024)

enum idx_status idxi_passing_add(struct idxi_passing *passing, const uint64_t *fingerprints, size_t count,
                                 struct idx_error *error) {
    const struct idxi_query_tables *tables = passing->tables;
    IDXI_TRY(check_bits(tables, fingerprints, count, error));
    if (tables->distinct == 0) return IDX_OK;
    for (size_t at = 0; at < count; at += TAKEN) {
        struct pass pass = begin_pass(passing, error);
        size_t taken = count - at < TAKEN ? count - at : TAKEN;
        uint64_t varying = find_varying(fingerprints + at, taken);
        for (size_t i = 0; i < tables->table_count; i++, go_on(&pass))
            pass_table(&pass, fingerprints + at, taken, varying);
        if (pass.meeting.status != IDX_OK) return pass.meeting.status;
    }
    return IDX_OK;
}

enum idx_status idxi_passing_end(struct idxi_passing *passing, struct idx_error *error) {
    struct pass pass = begin_pass(passing, error);
    for (size_t i = 0; i < passing->tables->table_count; i++, go_on(&pass)) {
        for (size_t part = 0; part < (size_t)1 << pass.meeting.table->part_bits; part++) meet_part(&pass, part);
    }
    return pass.meeting.status != IDX_OK ? pass.meeting.status : idxi_results_put(&passing->finds, error);
}
