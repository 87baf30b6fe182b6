/* parameters.h: what the URL of a request says behind its `?`. */
#ifndef IDX_TOOLS_SERVE_PARAMETERS_H
#define IDX_TOOLS_SERVE_PARAMETERS_H

#include "tools/serve/request.h"

/* Reads those that the route takes, and fails by any other. */
bool parameters_read(struct request *request);

#endif
