/* lines.h: bodies of JSON, a value a line. */
#ifndef IDX_TOOLS_SERVE_LINES_H
#define IDX_TOOLS_SERVE_LINES_H

#include "tools/serve/request.h"
#include "tools/shared/json.h"

/* Called with each value. False where it can't be taken, and says why. */
typedef bool (*line_visitor)(void *context, json_t *value, struct problem *problem);

/* Visits the values of the body's lines; blank lines are passed over. Ends where the request failed, as by a bad line,
 * whose number it names. */
void lines_read(struct request *request, line_visitor visit, void *context);

#endif
