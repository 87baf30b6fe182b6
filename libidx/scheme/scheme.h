/* scheme.h: schemes (SPEC.md, chapter 2): made, read, proved, and the tables of one that a query probes. */
#ifndef IDX_LIBIDX_SCHEME_H
#define IDX_LIBIDX_SCHEME_H

#include <idx.h>

#include "libidx/base/base.h"

/* The text of a scheme that leaves the choice to the planner. */
#define IDXI_AUTO "auto"

/* Makes a scheme without tables, for fingerprints of `bits` bits. The name is copied. */
void idxi_scheme_init(struct idx_scheme *scheme, const char *name, unsigned bits);

/* Cuts the set bits of `bits` into `blocks` blocks, from the most significant, as even as they come, wider ones first,
 * and adds a table with this radius for each choice of `front` of them; all masks also have the bits of `fixed`.
 * Returns false where that is not possible, or makes too many tables; then it may have added some. */
bool idxi_scheme_add_tables(struct idx_scheme *scheme, uint64_t bits, uint64_t fixed, unsigned blocks, unsigned front,
                            unsigned radius);

/* Makes the scheme of a text other than `auto`, without a proof that it covers any distance. Returns false if the text
 * is no scheme for fingerprints of `bits` bits; then *scheme may have changed. */
bool idxi_scheme_parse_unproved(struct idx_scheme *scheme, const char *text, unsigned bits);

/* Checks that fingerprints may have `bits` bits, and their index this k. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_check_bits_and_k(unsigned bits, unsigned k, struct idx_error *error);

/* Returns whether a proof of at most *steps steps shows that the scheme covers k, and subtracts the steps that it took
 * from *steps. So false also means that *steps did not suffice. */
bool idxi_scheme_covers_within(const struct idx_scheme *scheme, unsigned k, uint64_t *steps);

/* Returns whether every error pattern of at most k bits leaves at most `radius` errors in the prefix of some table.
 * Also false if the proof would take more than about three seconds, which only unusual lists of masks cause. */
bool idxi_scheme_covers(const struct idx_scheme *scheme, unsigned k);

/* ---- Which tables a query probes ---- */

struct idxi_probed {
    uint64_t mask;
    unsigned radius; /* up to the scheme's */
    uint32_t table;  /* its number in the scheme */
};

/* The tables that together find every error pattern of a distance. */
struct idxi_probing {
    size_t count;
    struct idxi_probed *tables;
};

/* Sets *result to the probings of a scheme that covers k, an array by distance, 0 to k: for k all its tables, for a
 * smaller distance as many as suffice. The caller frees it by idxi_probings_free. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_probings_make(struct idxi_probing **result, const struct idx_scheme *scheme, unsigned k,
                                   struct idx_error *error);

/* Returns whether a table lets an error pattern through: `errors` has at most table->radius bits in its mask. Clearing
 * a few bits is faster than counting all. */
static inline bool idxi_table_lets_through(const struct idxi_probed *table, uint64_t errors) {
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
