/* memory.h: the memory limits of builds and merges, and arrays that use memory only as they are written. */
#ifndef IDX_LIBIDX_MEMORY_H
#define IDX_LIBIDX_MEMORY_H

#include <idx.h>

/* Checks the limit that the caller sets, or if it is 0, sets it to half of the free memory. Errors:
 * IDX_INVALID_ARGUMENT. */
enum idx_status idxi_memory_settle(uint64_t *bytes, struct idx_error *error);

/* The share of `memory` for keys, in bytes, for each of the threads that write tables. */
size_t idxi_memory_of_keys(uint64_t memory, unsigned threads);

/* The share for arrays of entries, of all threads together: what keys and the buffers of files leave. */
uint64_t idxi_memory_of_arrays(uint64_t memory, unsigned threads);

/* Whether so many fingerprints fit while each thread sorts all of them for a table. */
bool idxi_memory_holds_tables(uint64_t memory, uint64_t fingerprints, unsigned threads);

/* ---- Arrays ---- */

/* Makes an array of `count` numbers, all 0. It uses memory only as they are written. Returns NULL if there is no
 * room. */
uint64_t *idxi_array_reserve(size_t count);

/* Hints that `count` numbers from here on, which may be in the middle of an array, are all written next. Their memory
 * is then allocated at once, if the system can do that, not page by page. */
void idxi_array_expect(uint64_t *array, size_t count);

/* Returns the memory to the system and keeps the array; its numbers are 0 again. Accepts NULL. */
void idxi_array_clear(uint64_t *array, size_t count);

/* Frees the array; `count` as when it was made. Accepts NULL. */
void idxi_array_release(uint64_t *array, size_t count);

#endif
