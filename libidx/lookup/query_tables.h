/* query_tables.h: queries in memory, in tables, and fingerprints that pass them: each is compared with the queries that
 * have its bits of a table's mask. Fingerprints wait until there are many for a part of a table, which stays in the
 * caches then. */
#ifndef IDX_LIBIDX_QUERY_TABLES_H
#define IDX_LIBIDX_QUERY_TABLES_H

#include "libidx/lookup/results.h"

struct idxi_query_tables;

/* What it takes, expected on uniform fingerprints. */
struct idxi_passing_cost {
    double nanoseconds; /* a fingerprint, on one thread */
    uint64_t bytes;     /* of the tables */
};

struct idxi_passing_cost idxi_passing_cost(size_t queries, unsigned bits, unsigned distance);

/* Makes the tables of queries of `bits` bits, numbered from `first` on, for a distance of up to IDX_MAX_K. The queries
 * can go then. The caller frees *tables. Errors: IDX_LIMIT (2^32 queries or more), IDX_OUT_OF_MEMORY (also: more than
 * `memory` bytes). */
enum idx_status idxi_query_tables_make(struct idxi_query_tables **tables, const uint64_t *queries, size_t count,
                                       size_t first, unsigned bits, unsigned distance, uint64_t memory,
                                       struct idx_error *error);

/* NULL is accepted. */
void idxi_query_tables_free(struct idxi_query_tables *tables);

/* What one thread needs to let fingerprints pass. */
struct idxi_passing;

/* The caller closes *passing. Takes about 16 MiB, or less where `memory` is less. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_passing_open(struct idxi_passing **passing, const struct idxi_query_tables *tables,
                                  struct idxi_results *results, uint64_t memory, struct idx_error *error);

/* Lets fingerprints pass. Errors: IDX_INVALID_ARGUMENT (a fingerprint of too many bits), and of idxi_results_put. */
enum idx_status idxi_passing_add(struct idxi_passing *passing, const uint64_t *fingerprints, size_t count,
                                 struct idx_error *error);

/* Compares those that wait, and puts all matches. */
enum idx_status idxi_passing_end(struct idxi_passing *passing, struct idx_error *error);

/* NULL is accepted. */
void idxi_passing_close(struct idxi_passing *passing);

/* The ways that this processor has to compare, the fastest last; returns their number. For tests. */
struct idxi_meeting;
typedef void (*idxi_meet)(struct idxi_meeting *meeting, const uint64_t *fingerprints, size_t count);
#define IDXI_MAX_MEETS 3
size_t idxi_meets(idxi_meet meets[IDXI_MAX_MEETS]);

/* For tests. */
void idxi_passing_set_meet(struct idxi_passing *passing, idxi_meet way);

#endif
