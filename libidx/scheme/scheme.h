/* scheme.h: schemes (SPEC.md, chapter 2): made, read, proved, and the tables of one that a query probes. */
#ifndef IDX_LIBIDX_SCHEME_H
#define IDX_LIBIDX_SCHEME_H

#include <idx.h>

#include "libidx/base/base.h"

/* The text of a scheme that leaves the choice to the planner. */
#define IDXI_AUTO "auto"

/* Sets *scheme to one without tables, for fingerprints of `bits` bits. The name is copied, cut if it is too long. */
void idxi_scheme_init(struct idx_scheme *scheme, const char *name, unsigned bits);

/* Cuts the bits that are set in `bits` into `blocks` blocks from the most significant bit on. Widths differ by one at
 * most, wider blocks first. Adds a table with this radius for each choice of `front` blocks, whose mask has their bits
 * and those of `fixed`. Returns false if there are fewer bits than blocks, if `front` is not 1 to `blocks`, if the
 * radius is above IDX_MAX_RADIUS, or if the scheme would have more than IDX_MAX_TABLES tables; then it may have added
 * some. */
bool idxi_scheme_add_tables(struct idx_scheme *scheme, uint64_t bits, uint64_t fixed, unsigned blocks, unsigned front,
                            unsigned radius);

/* Sets *scheme to that of a text other than `auto`, such as `5:2`, without a proof that it covers any distance. Returns
 * false if the text is no scheme for fingerprints of `bits` bits (1 to 64); then *scheme is unspecified. */
bool idxi_scheme_parse_unproved(struct idx_scheme *scheme, const char *text, unsigned bits);

/* Checks that `bits` is 1 to IDX_MAX_BITS, and that k is at most IDX_MAX_K and below `bits`. Errors:
 * IDX_INVALID_ARGUMENT. */
enum idx_status idxi_check_bits_and_k(unsigned bits, unsigned k, struct idx_error *error);

/* Returns whether a proof of at most *steps steps shows that the scheme covers k. Subtracts the steps that it took from
 * *steps. False can also mean that they did not suffice. A step looks at all tables of the scheme. */
bool idxi_scheme_covers_within(const struct idx_scheme *scheme, unsigned k, uint64_t *steps);

/* Returns whether the scheme covers k: whether every error pattern of at most k bits has, in the prefix of some table,
 * at most as many errors as its radius. Also returns false if the proof would take more than about three seconds, which
 * happens only for unusual lists of masks. */
bool idxi_scheme_covers(const struct idx_scheme *scheme, unsigned k);

/* ---- Which tables a query probes ---- */

/* A table to be probed. */
struct idxi_probed_table {
    uint64_t mask;
    unsigned radius; /* at most that of the table in the scheme */
    uint32_t table;  /* the table's number in the scheme */
};

/* The tables that are probed for a distance: together they find every error pattern of at most so many bits. */
struct idxi_probing {
    size_t count;
    struct idxi_probed_table *tables;
};

/* Sets *result to an array of k + 1 probings of a scheme that covers k: (*result)[distance] is for that distance. For k
 * it has all tables of the scheme, for a smaller distance only those that are needed, as far as a short proof shows.
 * The caller frees it by idxi_probings_free. Errors: IDX_OUT_OF_MEMORY; then *result is unchanged. */
enum idx_status idxi_probings_make(struct idxi_probing **result, const struct idx_scheme *scheme, unsigned k,
                                   struct idx_error *error);

/* Returns whether a table lets an error pattern through: whether at most table->radius bits of `errors` are in its
 * mask. Clears so many bits in place of counting all, which is faster. */
static inline bool idxi_table_lets_through(const struct idxi_probed_table *table, uint64_t errors) {
    errors &= table->mask;
    for (unsigned i = 0; i < table->radius; i++) errors &= errors - 1;
    return errors == 0;
}

/* Returns whether table number `place` of the probing is the first to let an error pattern through, so that it must
 * report a fingerprint that differs from the query by `errors`. */
static inline bool idxi_owns_match(const struct idxi_probing *probing, size_t place, uint64_t errors) {
    for (size_t i = 0; i < place; i++) {
        if (idxi_table_lets_through(&probing->tables[i], errors)) return false;
    }
    return idxi_table_lets_through(&probing->tables[place], errors);
}

/* Frees an array that idxi_probings_make made. Accepts NULL. */
void idxi_probings_free(struct idxi_probing *probings);

#endif
