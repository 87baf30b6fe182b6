/* service.h: what the parts of a running service share. */
#ifndef IDX_TOOLS_SERVE_SERVICE_H
#define IDX_TOOLS_SERVE_SERVICE_H

#include "tools/connections/guard.h"
#include "tools/connections/peers.h"
#include "tools/serve/jobs.h"
#include "tools/serve/status.h"
#include "tools/serve/texts.h"
#include "tools/serve/views.h"
#include "tools/serve/writes.h"

struct service {
    const struct serve_options *options;
    struct views views;
    struct guard guard;
    struct metrics metrics;
    struct peers peers;
    struct jobs jobs;    /* These answer long requests. */
    struct jobs writing; /* One thread answers the requests that write. */
    struct writes writes;
    struct texts_service texts;
    int documents_folder;     /* The descriptor of the folder of --documents, or -1. */
    atomic_size_t held_bytes; /* Those of all bodies and answers together. */
};

#endif
