/* interrupt.h: SIGHUP, SIGINT and SIGTERM during a build or a merge, which has to clean up before it ends. */
#ifndef IDX_TOOLS_INTERRUPT_H
#define IDX_TOOLS_INTERRUPT_H

#include <stdbool.h>

/* From now on these signals are only noted. */
void interrupt_catch(void);

bool interrupt_noted(void);

/* A descriptor to poll, readable once a signal was noted; -1 before interrupt_catch. */
int interrupt_descriptor(void);

/* Ends the process by the signal that was noted; returns when there was none. */
void interrupt_obey(void);

#endif
