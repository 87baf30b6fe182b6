/* memory.h: whether memory ran out for a library that reads texts: jansson, libxml2 or ICU. */
#ifndef IDX_TOOLS_FORMATS_MEMORY_H
#define IDX_TOOLS_FORMATS_MEMORY_H

#include <stdbool.h>

/* Some of these libraries crash or hang when memory runs out, and not all of them report it. So they get a little more
 * memory then, with which the command can end properly. */

/* Makes these libraries allocate by functions that don't fail, but note when malloc does. It must be called before any
 * of them is used, and may be called again. */
void memory_watch(void);

/* Returns whether malloc failed for these libraries in this thread since the last call of this function, and forgets
 * that. If it did, what they made since then must not be used. */
bool memory_ran_out(void);

#endif
