/* tables.h: writes all tables of a segment. Fingerprints are sorted once in their own order, from which the orders of
 * tables are derived (SPEC.md, chapter 2). */
#ifndef IDX_LIBIDX_TABLES_H
#define IDX_LIBIDX_TABLES_H

#include "libidx/building/segment_output.h"
#include "libidx/streams/distinct.h"

struct idxi_tables_made {
    uint64_t bytes;           /* of the table files */
    uint64_t temporary_bytes; /* total written to temporary files */
};

/* Writes the tables, up to `threads` at a time, within `memory` bytes. Sets *made even if it fails. Progress: each
 * fingerprint counts twice per table, when it is read and when it is written. */
enum idx_status idxi_tables_write(struct idxi_output *output, const struct idxi_table_form *form,
                                  const struct idxi_distinct *distinct, unsigned threads, uint64_t memory,
                                  struct idxi_tables_made *made, struct idx_error *error);

/* Returns whether a mask has the highest of `bits` bits (1 to 64) and no others: for 8 bits 11100000, or none or all.
 * Then permuting is a shift, and ascending fingerprints stay in order. */
bool idxi_is_leading(uint64_t mask, unsigned bits);

#endif
