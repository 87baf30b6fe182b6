/* signals.h: the signals that a service goes by: SIGHUP refreshes, SIGINT and SIGTERM end it. */
#ifndef IDX_TOOLS_SERVE_SIGNALS_H
#define IDX_TOOLS_SERVE_SIGNALS_H

#include <stdbool.h>

/* From now on they are noted. Returns a descriptor to poll, readable once one was noted; -1 after a complaint. */
int signals_catch(void);

/* Whether such a signal came since it was asked last. */
bool signals_take_refresh(void);

/* Whether one came that ends the service. */
bool signals_end(void);

/* From now on, a second one ends the process at once; so does one that came already. */
void signals_end_at_once(void);

#endif
