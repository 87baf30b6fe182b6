/* query_tables.c: see query_tables.h. If B parts of the bits have d errors, B - d parts have none, so there is a table
 * for each choice of B - d parts. A table groups its queries by the bits of these parts, and stores each query as 32
 * bits: the XOR of its two halves. Fingerprints that differ in few bits also differ in few bits of that XOR, so it
 * rejects most candidates. */
#include "libidx/batch/query_tables.h"

#include <math.h>
#include <stdlib.h>

#include "libidx/base/base.h"

/* What a fingerprint takes, on a core of a typical server, in nanoseconds. */
#define TABLE_TIME 5.0   /* a table */
#define COMPARE_TIME 0.5 /* so many comparisons: */
#define COMPARED 16
#define ALWAYS 2            /* as often they are compared anyway; */
#define MORE_TIME 12.0      /* where there are more, the processor mispredicts */
#define SEEMING_TIME 100.0  /* queries whose XOR of both halves is near: where there are any, */
#define CANDIDATE_TIME 15.0 /* and each */

/* Queries that share a key, at least, on average: fewer are compared as fast. */
#define GROUP 8

/* Bytes of a table's bucket, so that it stays in the caches with what comes by, and how many buckets there may be. A
 * table up to WHOLE_BYTES stays there as a whole while many fingerprints pass. */
#define BUCKET_BYTES ((uint64_t)128 << 10)
#define WHOLE_BYTES ((uint64_t)512 << 10)
#define MAX_BUCKET_BITS 8

#define FOLD_BITS 32

/* ---- Which tables ---- */

struct choice {
    unsigned parts, chosen; /* chosen 0: one table, of no bits */
    unsigned key_bits, tables;
    struct idxi_passing_cost cost;
};

static unsigned count_tables(unsigned parts, unsigned chosen) {
    double tables = idxi_choose(parts, chosen);
    return tables > IDXI_MAX_QUERY_TABLES ? IDXI_MAX_QUERY_TABLES + 1 : (unsigned)(tables + 0.5);
}

/* What it takes to compare a fingerprint with so many queries; some seem near by chance. */
static double get_meeting_time(double queries, unsigned bits, unsigned distance) {
    unsigned folded = bits < FOLD_BITS ? bits : FOLD_BITS;
    double seeming = queries * idxi_count_patterns(folded, distance) / exp2(folded), times = queries / COMPARED;
    double compare = times <= ALWAYS ? ALWAYS * COMPARE_TIME : times * COMPARE_TIME + MORE_TIME;
    return compare + SEEMING_TIME * (1 - exp(-seeming)) + CANDIDATE_TIME * seeming;
}

static struct choice weigh(size_t queries, unsigned bits, unsigned distance, unsigned parts, unsigned chosen) {
    unsigned most = 0, mask_bits = chosen == 0 ? 0 : bits / parts * chosen;
    while (most < 32 && queries >> (most + 1) >= GROUP) most++;
    struct choice choice = {parts, chosen, mask_bits < most ? mask_bits : most, count_tables(parts, chosen), {0, 0, 0}};
    double met = (double)queries / (double)((uint64_t)1 << choice.key_bits);
    choice.cost.tables = choice.tables;
    choice.cost.nanoseconds = choice.tables * (TABLE_TIME + get_meeting_time(met, bits, distance));
    choice.cost.bytes =
        (uint64_t)queries * (20 + 16 * choice.tables) + (((uint64_t)4 * choice.tables) << choice.key_bits);
    return choice;
}

static struct choice choose_tables(size_t queries, unsigned bits, unsigned distance, uint64_t memory) {
    struct choice best = weigh(queries, bits, distance, 1, 0);
    for (unsigned parts = distance + 1; parts <= distance + 3 && parts <= bits && parts <= IDXI_MAX_QUERY_PARTS;
         parts++) {
        struct choice choice = weigh(queries, bits, distance, parts, parts - distance);
        if (choice.tables > IDXI_MAX_QUERY_TABLES || choice.cost.bytes > memory) continue;
        if (choice.cost.nanoseconds < best.cost.nanoseconds) best = choice;
    }
    return best;
}

struct idxi_passing_cost idxi_passing_cost(size_t queries, unsigned bits, unsigned distance) {
    return choose_tables(queries, bits, distance, UINT64_MAX).cost;
}

/* ---- Making the tables ---- */

/* The bits of a choice of parts. */
static uint64_t get_mask(unsigned bits, unsigned parts, uint64_t chosen) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < parts; i++) {
        if ((chosen >> i & 1) != 0) mask |= idxf_low_bits(bits * (i + 1) / parts) & ~idxf_low_bits(bits * i / parts);
    }
    return mask;
}

static void set_mask(struct idxi_query_table *table, uint64_t mask, unsigned bits) {
    struct idxf_permutation permutation;
    idxf_permutation_init(&permutation, mask, bits);
    table->mask = mask;
    for (unsigned i = 0; i < permutation.move_count; i++) {
        struct idxf_move move = {permutation.moves[i].bits & mask, permutation.moves[i].rotate};
        if (move.bits != 0) table->moves[table->move_count++] = move;
    }
}

static void set_masks(struct idxi_query_tables *tables, const struct choice *choice) {
    uint64_t end = idxf_low_bits(choice->parts) + 1;
    for (uint64_t chosen = 0; chosen < end; chosen++) {
        if ((unsigned)__builtin_popcountll(chosen) != choice->chosen) continue;
        struct idxi_query_table *table = &tables->tables[tables->table_count++];
        set_mask(table, get_mask(tables->bits, choice->parts, chosen), tables->bits);
        table->key_bits = choice->key_bits;
        uint64_t bytes = (uint64_t)tables->queries.count * 4;
        while (bytes > WHOLE_BYTES && table->bucket_bits < MAX_BUCKET_BITS && table->bucket_bits < table->key_bits &&
               bytes >> table->bucket_bits > BUCKET_BYTES)
            table->bucket_bits++;
    }
}

static enum idx_status fill_table(void *context, size_t number, struct idx_error *error) {
    struct idxi_query_tables *tables = context;
    struct idxi_query_table *table = &tables->tables[number];
    size_t keys = (size_t)1 << table->key_bits;
    table->starts = calloc(keys + 2, sizeof *table->starts);
    table->folds = calloc(tables->queries.count + IDXI_QUERY_PADDING, sizeof *table->folds);
    table->queries = malloc((tables->queries.count + 1) * sizeof *table->queries);
    table->values = malloc((tables->queries.count + 1) * sizeof *table->values);
    if (table->starts == NULL || table->folds == NULL || table->queries == NULL || table->values == NULL)
        return idxi_fail_memory(error);
    for (size_t i = 0; i < tables->queries.count; i++)
        table->starts[idxi_query_key(table, tables->queries.values[i]) + 2]++;
    for (size_t key = 2; key <= keys + 1; key++) table->starts[key] += table->starts[key - 1];
    for (size_t i = 0; i < tables->queries.count; i++) {
        uint32_t at = table->starts[idxi_query_key(table, tables->queries.values[i]) + 1]++;
        table->folds[at] = idxi_fold(tables->queries.values[i]);
        table->queries[at] = (uint32_t)i;
        table->values[at] = tables->queries.values[i];
    }
    return IDX_OK;
}

static enum idx_status make(struct idxi_query_tables *tables, const uint64_t *queries, size_t count, uint64_t memory,
                            unsigned threads, struct idx_error *error) {
    IDXI_TRY(idxi_distinct_queries_make(&tables->queries, queries, count, error));
    struct choice choice = choose_tables(tables->queries.count, tables->bits, tables->distance, memory);
    if (choice.cost.bytes > memory)
        return idxi_fail(
            error, IDX_OUT_OF_MEMORY, NULL,
            "the tables of %zu queries need %llu MiB: allow that much memory, or give fewer queries at a time", count,
            (unsigned long long)(choice.cost.bytes >> 20) + 1);
    set_masks(tables, &choice);
    return idxi_parallel(tables->table_count, threads, fill_table, tables, NULL, error);
}

enum idx_status idxi_query_tables_make(struct idxi_query_tables **result, const uint64_t *queries, size_t count,
                                       unsigned bits, unsigned distance, uint64_t memory, unsigned threads,
                                       struct idx_error *error) {
    struct idxi_query_tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL) return idxi_fail_memory(error);
    tables->bits = bits;
    tables->distance = distance;
    enum idx_status status = make(tables, queries, count, memory, threads, error);
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
    idxi_distinct_queries_free(&tables->queries);
    free(tables);
}
