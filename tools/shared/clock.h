/* clock.h: the time that passed. */
#ifndef IDX_TOOLS_SHARED_CLOCK_H
#define IDX_TOOLS_SHARED_CLOCK_H

#include <stdint.h>

/* Returns the time of a clock that never jumps, in nanoseconds. */
uint64_t now_nanoseconds(void);

#endif
