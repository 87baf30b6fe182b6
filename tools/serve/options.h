/* options.h: what `idx serve` is asked for on its command line. */
#ifndef IDX_TOOLS_SERVE_OPTIONS_H
#define IDX_TOOLS_SERVE_OPTIONS_H

#include "tools/shared/arguments.h"

#include <stdbool.h>
#include <stdint.h>

struct serve_options {
    const char *path;     /* of the index */
    struct texts listen;  /* ADDRESS:PORT, or unix:PATH; none: as systemd passes them, or the default */
    struct texts hosts;   /* names by which clients may call the service */
    struct texts origins; /* that other pages may have, and read its answers */
    unsigned threads;
    unsigned connections;
    uint64_t max_body;
    unsigned refresh_seconds; /* 0: only on SIGHUP */
    bool unpacked;
    unsigned distance; /* the largest of look-ups, if above the k of the index; UINT_MAX: not given */
    bool writable;
    const char *token_file; /* NULL: the environment has the token */
    const char *documents;  /* a folder, or NULL */
    const char *table_path; /* of document frequencies, or NULL */
    bool main_text;
};

/* The largest bodies that --max-body may allow. */
#define SERVE_MOST_BODY ((uint64_t)256 << 20)

/* Serves until a signal ends it. Returns the status of the process. */
int serve_run(const struct serve_options *options);

#endif
