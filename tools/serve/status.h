/* status.h: what the service serves, and that it does. */
#ifndef IDX_TOOLS_SERVE_STATUS_H
#define IDX_TOOLS_SERVE_STATUS_H

#include "tools/serve/request.h"

/* GET /info: as `idx info --format json`, and what the service itself can do. */
void status_answer_info(struct request *request);

/* GET /healthz. */
bool status_answer_health(struct request *request);

#endif
