/* clock.h: the time that passed, and that of processors. */
#ifndef IDX_TOOLS_SHARED_CLOCK_H
#define IDX_TOOLS_SHARED_CLOCK_H

#include <stdint.h>

/* Returns the time of a clock that never jumps, in nanoseconds since a moment that is fixed while the machine runs.
 * Only differences of two such times mean anything. */
uint64_t read_nanoseconds(void);

/* Returns the processor time that all threads of the process have used so far, in nanoseconds. */
uint64_t read_processor_nanoseconds(void);

#endif
