/* interrupt.h: notes SIGHUP, SIGINT and SIGTERM while a command runs that has to clean up before it ends. */
#ifndef IDX_TOOLS_INTERRUPT_H
#define IDX_TOOLS_INTERRUPT_H

#include <stdbool.h>

/* Notes these signals from now on, in place of ending the process. */
void interrupt_catch(void);

bool interrupt_noted(void);

/* Returns a descriptor that is readable once a signal was noted, or -1 before interrupt_catch. */
int interrupt_descriptor(void);

/* Ends the process by the signal that was noted. Returns if there was none. */
void interrupt_obey(void);

#endif
