/* passing.c: see passing.h. */
#include "libidx/batch/passing.h"

#include <stdlib.h>

#include "libidx/base/base.h"

/* Fingerprints that wait for a bucket of a table, and all of them, at most. */
#define MAX_WAITING ((size_t)16 << 10)
#define MIN_WAITING ((size_t)64)
#define ALL_WAITING ((size_t)2 << 20)

/* How far ahead of its use the room for one to wait is asked for: it was last used long ago. */
#define AHEAD 32

/* As many as stay in the first cache while all tables take them; and where tables have no buckets, as many as are worth
 * bringing a whole table into the second cache. */
#define CHUNK ((size_t)1024)
#define LARGE_CHUNK ((size_t)8192)

struct idxi_passing {
    const struct idxi_query_tables *tables;
    idxi_meet meet;
    size_t most;       /* that wait for a bucket: a power of two */
    uint64_t *waiting; /* `most` for each bucket of each table */
    size_t buckets;    /* of all tables */
    size_t *ends;      /* in `waiting`, of those that wait for each */
    struct idxi_finds finds;
};

enum idx_status idxi_passing_open(struct idxi_passing **result, const struct idxi_query_tables *tables,
                                  struct idxi_results *results, uint64_t memory, struct idx_error *error) {
    struct idxi_passing *passing = calloc(1, sizeof *passing);
    idxi_meet meets[IDXI_MAX_MEETS];
    if (passing == NULL) return idxi_fail_memory(error);
    passing->tables = tables;
    passing->meet = meets[idxi_meets(meets) - 1];
    passing->finds.results = results;
    for (size_t i = 0; i < tables->table_count; i++) passing->buckets += (size_t)1 << tables->tables[i].bucket_bits;
    size_t most = memory / 8 < ALL_WAITING ? (size_t)(memory / 8) : ALL_WAITING;
    passing->most = most / passing->buckets;
    if (passing->most > MAX_WAITING) passing->most = MAX_WAITING;
    if (passing->most < MIN_WAITING) passing->most = MIN_WAITING;
    while ((passing->most & (passing->most - 1)) != 0) passing->most &= passing->most - 1;
    passing->waiting = idxi_array_reserve(passing->buckets * passing->most);
    passing->ends = calloc(passing->buckets, sizeof *passing->ends);
    if (passing->waiting == NULL || passing->ends == NULL) {
        idxi_passing_close(passing);
        return idxi_fail_memory(error);
    }
    for (size_t i = 0; i < passing->buckets; i++) passing->ends[i] = i * passing->most;
    *result = passing;
    return IDX_OK;
}

void idxi_passing_set_meet(struct idxi_passing *passing, idxi_meet way) { passing->meet = way; }

void idxi_passing_close(struct idxi_passing *passing) {
    if (passing == NULL) return;
    idxi_array_release(passing->waiting, passing->buckets * passing->most);
    free(passing->ends);
    free(passing);
}

/* Fingerprints on their way through the tables. */
struct pass {
    struct idxi_passing *passing;
    struct idxi_meeting meeting;
    size_t first; /* among the buckets of all tables, the number of this one's first */
};

/* Those that wait for a bucket meet its queries. */
static void meet_bucket(struct pass *pass, size_t bucket) {
    struct idxi_passing *passing = pass->passing;
    size_t at = pass->first + bucket, begin = at * passing->most, count = passing->ends[at] - begin;
    passing->ends[at] = begin;
    if (count > 0) passing->meet(&pass->meeting, passing->waiting + begin, count);
}

/* Appends each fingerprint to those that wait for its bucket. */
IDXF_INLINE void sort_out(struct pass *pass, const uint64_t *fingerprints, size_t count, const struct idxf_move *moves,
                          unsigned move_count) {
    struct idxi_passing *passing = pass->passing;
    size_t *ends = passing->ends + pass->first, filled = passing->most - 1;
    uint64_t *waiting = passing->waiting;
    unsigned shift = 64 - pass->meeting.table->bucket_bits;
    for (size_t i = 0; i < count; i++) {
        size_t bucket = (size_t)(idxi_permute_key(moves, move_count, fingerprints[i]) >> shift), end = ends[bucket];
        waiting[end] = fingerprints[i];
        __builtin_prefetch(waiting + end + AHEAD, 1, 3);
        ends[bucket] = end + 1;
        if (__builtin_expect((end & filled) != filled, 1)) continue;
        meet_bucket(pass, bucket);
    }
}

/* `varying`: at least the bits in which any two of the fingerprints differ. Those that all fall into one bucket, such
 * as neighbours of ascending ones, need not wait. */
static void pass_table(struct pass *pass, const uint64_t *fingerprints, size_t count, uint64_t varying) {
    const struct idxi_query_table *table = pass->meeting.table;
    struct idxf_move moves[2] = {table->moves[0], table->moves[1]};
    if (idxf_first_bits(idxi_permute_key(table->moves, table->move_count, varying), table->bucket_bits) == 0)
        pass->passing->meet(&pass->meeting, fingerprints, count);
    else if (table->move_count == 1)
        sort_out(pass, fingerprints, count, moves, 1);
    else if (table->move_count == 2)
        sort_out(pass, fingerprints, count, moves, 2);
    else
        sort_out(pass, fingerprints, count, table->moves, table->move_count);
}

static struct pass begin_pass(struct idxi_passing *passing, struct idx_error *error) {
    return (struct pass){
        passing,
        {.tables = passing->tables, .table = passing->tables->tables, .finds = &passing->finds, .error = error},
        0};
}

static void go_on(struct pass *pass) {
    pass->first += (size_t)1 << pass->meeting.table->bucket_bits;
    pass->meeting.table++;
    pass->meeting.number++;
}

/* The bits in which fingerprints, at least one, differ from the first one. */
static uint64_t find_varying(const uint64_t *fingerprints, size_t count) {
    uint64_t varying = 0;
    for (size_t i = 1; i < count; i++) varying |= fingerprints[i] ^ fingerprints[0];
    return varying;
}

enum idx_status idxi_passing_add(struct idxi_passing *passing, const uint64_t *fingerprints, size_t count,
                                 struct idx_error *error) {
    const struct idxi_query_tables *tables = passing->tables;
    IDXI_TRY(idxi_check_fingerprints(fingerprints, count, tables->bits, error));
    if (tables->queries.count == 0) return IDX_OK;
    size_t most = tables->tables[0].bucket_bits == 0 ? LARGE_CHUNK : CHUNK;
    for (size_t at = 0; at < count; at += most) {
        struct pass pass = begin_pass(passing, error);
        size_t chunk = count - at < most ? count - at : most;
        uint64_t varying = find_varying(fingerprints + at, chunk);
        for (size_t i = 0; i < tables->table_count; i++, go_on(&pass))
            pass_table(&pass, fingerprints + at, chunk, varying);
        if (pass.meeting.status != IDX_OK) return pass.meeting.status;
    }
    return IDX_OK;
}

enum idx_status idxi_passing_end(struct idxi_passing *passing, struct idx_error *error) {
    struct pass pass = begin_pass(passing, error);
    for (size_t i = 0; i < passing->tables->table_count; i++, go_on(&pass)) {
        for (size_t bucket = 0; bucket < (size_t)1 << pass.meeting.table->bucket_bits; bucket++)
            meet_bucket(&pass, bucket);
    }
    return pass.meeting.status != IDX_OK ? pass.meeting.status : idxi_results_put(&passing->finds, error);
}
