/* memory.h: whether a library that reads texts ran out of memory. Not all of them say so: what jansson, libxml2 or ICU
 * make of an input then can be another than it would have been, so that nothing may come of it. */
#ifndef IDX_TOOLS_MEMORY_H
#define IDX_TOOLS_MEMORY_H

#include <stdbool.h>

/* Has these libraries allocate by functions that note a failure. Once or more often, before any of them is used. */
void memory_watch(void);

/* Whether one of them failed to allocate, in this thread, since the last call. */
bool memory_ran_out(void);

#endif
