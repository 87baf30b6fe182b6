/* clock.h: the time that passed, and that of processors. */
#ifndef IDX_TOOLS_SHARED_CLOCK_H
#define IDX_TOOLS_SHARED_CLOCK_H

#include <stdint.h>

/* Returns the time of a clock that never jumps, in nanoseconds. */
uint64_t read_nanoseconds(void);

/* Returns the processor time of all threads of the process, in nanoseconds. */
uint64_t read_processor_nanoseconds(void);

#endif
