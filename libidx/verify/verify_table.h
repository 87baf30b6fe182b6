/* verify_table.h: checks a table file. */
#ifndef IDX_LIBIDX_VERIFY_TABLE_H
#define IDX_LIBIDX_VERIFY_TABLE_H

#include "libidx/segment/table_reader.h"
#include "libidx/verify/fingerprint_set.h"

/* Checks all that SPEC.md requires of an open table by itself, and counts its fingerprints into *set. Errors:
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_verify_table(const struct idxi_table *table, struct idxi_fingerprint_set *set,
                                  struct idx_error *error);

#endif
