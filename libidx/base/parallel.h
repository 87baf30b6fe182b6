/* parallel.h: work that several threads share. */
#ifndef IDX_LIBIDX_PARALLEL_H
#define IDX_LIBIDX_PARALLEL_H

#include "libidx/base/progress.h"

/* Runs one of several tasks. */
typedef enum idx_status (*idxi_task)(void *context, size_t number, struct idx_error *error);

/* Runs the tasks 0 to count - 1, each once, on up to `threads` threads, the calling one included. Each thread takes the
 * next task until there is none, or one has failed; then its error is returned. While the calling thread waits for the
 * others, it keeps reporting `progress` (may be NULL). */
enum idx_status idxi_parallel(size_t count, unsigned threads, idxi_task task, void *context,
                              struct idxi_progress *progress, struct idx_error *error);

#endif
