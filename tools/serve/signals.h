/* signals.h: the signals that a service obeys: SIGHUP refreshes, and SIGINT and SIGTERM end it. */
#ifndef IDX_TOOLS_SERVE_SIGNALS_H
#define IDX_TOOLS_SERVE_SIGNALS_H

#include <stdbool.h>

/* Notes these signals from now on. Returns a descriptor that is readable once a signal was noted, or -1 after a
 * complaint. */
int signals_catch(void);

/* Returns whether SIGHUP came since the last call. */
bool signals_take_refresh(void);

/* Returns whether a signal came that ends the service. */
bool signals_end(void);

/* From now on a second signal that ends the service ends the process at once. So does one that came already. */
void signals_end_at_once(void);

#endif
