/* waits.h: how long this processor waits for memory, by how much of it is in use. */
#ifndef IDX_LIBIDX_WAITS_H
#define IDX_LIBIDX_WAITS_H

#include <idx.h>

/* Fills the four arrays of waits and latencies, in about four seconds by the clock at most. What is larger than the
 * memory that can be taken in a second or so is extrapolated. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_measure_waits(struct idx_calibration *calibration, struct idx_error *error);

/* Seconds of processor time of this thread, and seconds by the clock. */
double idxi_processor_time(void);
double idxi_clock_time(void);

#endif
