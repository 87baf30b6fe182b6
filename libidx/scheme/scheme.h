/* scheme.h: what the parts of libidx share about schemes (SPEC.md, chapter 2). */
#ifndef IDX_LIBIDX_SCHEME_H
#define IDX_LIBIDX_SCHEME_H

#include <idx.h>

/* The text that leaves the choice to the planner. */
#define IDXI_AUTO "auto"

/* A scheme without tables. */
void idxi_scheme_init(struct idx_scheme *scheme, const char *name, unsigned bits);

/* Cuts the set bits of `bits` into `blocks` blocks, from the most significant, as even as they come, wider ones first,
 * and adds a table for each choice of `front` of them, beside the bits of `fixed`. False where that is not possible. */
bool idxi_scheme_add(struct idx_scheme *scheme, uint64_t bits, uint64_t fixed, unsigned blocks, unsigned front,
                     unsigned radius);

/* Makes the scheme of a text other than `auto`, without proof. Returns false if the text is no scheme for `bits`
 * bits. */
bool idxi_scheme_read(struct idx_scheme *scheme, const char *text, unsigned bits);

/* Checks the number of bits, and k. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_scheme_check(unsigned bits, unsigned k, struct idx_error *error);

/* Whether the scheme covers k, by a proof of at most *steps steps, which the call counts down. Returns false if they
 * don't suffice. */
bool idxi_scheme_covers_within(const struct idx_scheme *scheme, unsigned k, uint64_t *steps);

#endif
