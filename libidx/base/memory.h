/* memory.h: how much memory builds and merges may take, and what for. */
#ifndef IDX_LIBIDX_MEMORY_H
#define IDX_LIBIDX_MEMORY_H

#include <idx.h>

/* Checks what the caller allows, or where it is 0 sets it to half of what is free. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_memory_settle(uint64_t *bytes, struct idx_error *error);

/* Of `memory` bytes, those for keys, for each of the threads that write tables. */
size_t idxi_memory_of_keys(uint64_t memory, unsigned threads);

/* Those for arrays of entries, of all threads together: what keys, and the buffers of files, leave. */
uint64_t idxi_memory_of_arrays(uint64_t memory, unsigned threads);

/* Whether so many fingerprints can be held while each thread sorts all of them for a table. */
bool idxi_memory_holds_tables(uint64_t memory, uint64_t fingerprints, unsigned threads);

/* ---- Arrays ---- */

/* Makes an array of `count` numbers, 0 at first, of which memory is taken only as they are written. NULL where there is
 * no room for it. */
uint64_t *idxi_array_reserve(size_t count);

/* Hints that `count` numbers from here on, which may be in the midst of an array, are all written next: their memory is
 * taken at once, where the system can, rather than page by page. */
void idxi_array_expect(uint64_t *array, size_t count);

/* Gives back the memory that was taken, and keeps the array, whose numbers are 0 again. NULL is accepted. */
void idxi_array_clear(uint64_t *array, size_t count);

/* Gives it back; `count` as when it was made. NULL is accepted. */
void idxi_array_release(uint64_t *array, size_t count);

#endif
