/* scheme.h: what the parts of libidx share about schemes (SPEC.md, chapter 3). */
#ifndef IDX_LIBIDX_SCHEME_H
#define IDX_LIBIDX_SCHEME_H

#include <idx.h>

/* Makes the scheme of one level: `blocks` blocks as even as they come, wider ones first, each choice of `front` of them
 * a table. False where that is not possible. */
bool idxi_scheme_choose(struct idx_scheme *scheme, unsigned bits, unsigned blocks, unsigned front, unsigned radius);

/* The scheme that `auto` stands for. */
void idxi_scheme_auto(struct idx_scheme *scheme, unsigned bits, unsigned k, uint64_t count);

#endif
