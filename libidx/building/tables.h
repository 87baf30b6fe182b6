/* tables.h: writes all tables of a segment. Fingerprints are sorted once in their own order, from which the orders of
 * tables are derived (SPEC.md, chapter 2). */
#ifndef IDX_LIBIDX_TABLES_H
#define IDX_LIBIDX_TABLES_H

#include "libidx/building/segment_output.h"
#include "libidx/streams/distinct.h"

/* What idxi_tables_write has written. */
struct idxi_tables_result {
    uint64_t bytes;           /* of the table files */
    uint64_t temporary_bytes; /* total written to temporary files */
};

/* Writes all tables of form->scheme from the distinct fingerprints, up to `threads` (1 or more) at a time. Sorting
 * takes up to `memory_bytes` bytes in all. Frees the disk space of `distinct` once all tables have read it. Sets
 * *result even if it fails. Progress: each fingerprint counts twice per table, when it is read and when it is written.
 * Errors: those of sorters and of idxi_table_write, IDX_CANCELLED. */
enum idx_status idxi_tables_write(struct idxi_output *output, const struct idxi_table_form *form,
                                  const struct idxi_distinct *distinct, unsigned threads, uint64_t memory_bytes,
                                  struct idxi_tables_result *result, struct idx_error *error);

/* Returns whether a mask consists of the highest of `bits` bits (1 to 64): for 8 bits for example 11100000, but also
 * none or all. Then permuting is a shift, and ascending fingerprints stay in order. */
bool idxi_is_leading_mask(uint64_t mask, unsigned bits);

#endif
