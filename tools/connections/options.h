/* options.h: the options of `idx serve`. */
#ifndef IDX_TOOLS_CONNECTIONS_OPTIONS_H
#define IDX_TOOLS_CONNECTIONS_OPTIONS_H

#include "tools/shared/command.h"

struct serve_options {
    const char *path;       /* The path of the index. */
    struct strings listen;  /* ADDRESS:PORT or unix:PATH each. None: systemd's sockets, or else the default address. */
    struct strings hosts;   /* Clients may call the service by these names. */
    struct strings origins; /* Pages of these origins may use the service as well. */
    unsigned threads;
    unsigned connections;     /* The most that are open at once. */
    uint64_t max_body;        /* In bytes. */
    unsigned refresh_seconds; /* 0: only SIGHUP makes the service look for changes. */
    bool unpacked;
    unsigned distance; /* The largest distance of look-ups, if above the index's k; UINT_MAX: not given. */
    bool writable;
    const char *token_file; /* NULL: the environment has the token. */
    const char *documents;  /* NULL: the service shows no documents. */
    const char *table_path; /* NULL: there is no table of document frequencies. */
    bool main_text;         /* Of HTML, only the main text counts. */
};

/* The largest value that --max-body may have, in bytes. */
#define SERVE_MAX_BODY_BYTES ((uint64_t)256 << 20)

/* Serves until a signal ends the service. Returns the status of the process: ENDS_WELL after a signal, or ENDS_BADLY,
 * after a complaint, if the service can't begin. */
int serve_run(const struct serve_options *options);

#endif
