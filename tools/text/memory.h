/* memory.h: whether memory ran out for a library that reads texts: jansson, libxml2 or ICU. Not all of them say so, and
 * some crash or hang then; so they are given a little more, for the command to end in good order. */
#ifndef IDX_TOOLS_MEMORY_H
#define IDX_TOOLS_MEMORY_H

#include <stdbool.h>

/* Has these libraries allocate by functions that don't fail, and note where malloc does. Once or more often, before any
 * of them is used. */
void memory_watch(void);

/* Whether malloc failed for one of them, in this thread, since the last call. What came of the input since then is not
 * to be used. */
bool memory_ran_out(void);

#endif
