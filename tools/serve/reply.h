/* reply.h: answers on their way to the client. */
#ifndef IDX_TOOLS_SERVE_REPLY_H
#define IDX_TOOLS_SERVE_REPLY_H

#include "tools/serve/request.h"

/* Queues the answer of a request. */
enum MHD_Result reply(struct request *request);

#endif
