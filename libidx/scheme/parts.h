/* parts.h: schemes of parts. The bits are cut into parts, which share the k errors. Tables of part i cover e_i errors
 * in it. If the sum of all e_i + 1 is above k, some part has no more errors than its tables cover. A part is cut like a
 * scheme B:C:R. For example, two halves, each 3:2, make 6 tables for k = 3. Parts may differ in width and radius, to
 * suit the number of fingerprints. */
#ifndef IDX_LIBIDX_PARTS_H
#define IDX_LIBIDX_PARTS_H

#include <idx.h>

#include "libidx/scheme/price.h"

/* The most tables of a scheme of parts: beyond, for 64 bits, B:C is as fast, and its text is shorter. */
#define IDXI_MAX_PARTS_TABLES 40

/* The most errors that B:C:R covers, on any number of bits. */
unsigned idxi_parts_cover(unsigned blocks, unsigned front, unsigned radius);

typedef void (*idxi_scheme_visitor)(void *context, const struct idx_scheme *scheme);

/* Calls `visit` for the fastest scheme of parts of each number of tables, of those that cover k on fingerprints of
 * `bits` bits and have only bits of `live` in their masks. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_parts_find(unsigned bits, uint64_t live, unsigned k, const struct idxi_times *times,
                                idxi_scheme_visitor visit, void *context, struct idx_error *error);

#endif
