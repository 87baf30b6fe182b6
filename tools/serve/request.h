/* request.h: a request that is being answered, and its answer. */
#ifndef IDX_TOOLS_SERVE_REQUEST_H
#define IDX_TOOLS_SERVE_REQUEST_H

#include "tools/serve/views.h"
#include "tools/shared/output.h"

#include <microhttpd.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct service;
struct peer;
struct request;

/* The status of a request whose client has gone, which the metrics count. */
enum { CLIENT_HAS_GONE = 499 };

/* What a request may ask of each query. */
enum {
    DEFAULT_LIMIT = 1000,        /* matches */
    DEFAULT_MAX_DOCUMENTS = 100, /* of a match */
    MOST_LIMIT = 10000,          /* of both */
    MOST_FEW = 16,               /* matches of a document that is not added */
};

/* Seconds that an answer may take, and bytes that it may have. */
enum { MOST_SECONDS = 60 };
#define MOST_ANSWER_BYTES ((size_t)64 << 20)

/* Bytes of all bodies and answers that are held together. */
#define MOST_HELD_BYTES ((size_t)512 << 20)

/* The parameters of a URL that a route takes. */
enum parameters {
    TAKES_NOTHING = 0,
    TAKES_DISTANCE = 1 << 0,  /* k */
    TAKES_LIMIT = 1 << 1,     /* limit */
    TAKES_DOCUMENTS = 1 << 2, /* max-documents */
    TAKES_FEW = 1 << 3,       /* limit, up to MOST_FEW */
    TAKES_ID = 1 << 4,        /* id, which has to be there */
};

enum { TAKES_MATCHES = TAKES_DISTANCE | TAKES_LIMIT | TAKES_DOCUMENTS };

/* What a client may ask for. */
struct route {
    const char *path; /* one that ends in / (but not / itself) stands for all below it */
    bool post;        /* else GET and HEAD */
    bool writes;      /* needs the token; by the writing thread */
    bool long_job;    /* answered by a thread for long jobs */
    unsigned takes;
    const char *name;                        /* for the metrics */
    const char *types[3];                    /* of bodies; ends with NULL */
    void (*answer)(struct request *request); /* sets status, or fails */
    /* Or NULL: answers at once, if that takes no time to speak of. False: `answer` is to do it, as a long job. */
    bool (*answer_quickly)(struct request *request);
};

enum stage { STAGE_HEAD, STAGE_BODY, STAGE_ANSWERED };

struct request {
    struct service *service;
    struct MHD_Connection *connection;
    struct peer *peer;
    const struct route *route; /* NULL: there is none */
    enum stage stage;
    uint64_t started;  /* nanoseconds, as now_nanoseconds */
    uint64_t whole;    /* when it had all come */
    uint64_t looked;   /* when it was last seen whether the client is still there */
    size_t uri_length; /* as it came */
    const char *uri_end;
    const char *uri_fault; /* a sentence; or NULL */
    const char *rest;      /* of the path, behind the route's own */
    bool preflight;        /* OPTIONS */
    bool closes;           /* the connection, after an answer before the body */
    const char *origin;    /* that may read the answer; or NULL */
    const char *allow;     /* the methods, for 405 */

    unsigned distance; /* UINT_MAX: the k of the index */
    size_t limit, max_documents;
    const char *id; /* of id_length bytes; NULL: none */
    size_t id_length;
    int type; /* which of the route's */

    struct output body;
    size_t held; /* bytes that are counted for it in the service */

    unsigned status; /* 0: not yet known */
    bool committed;  /* what it asked for is on disk: it can't fail any more */
    const char *answer_type;
    struct output answer;

    struct request *next; /* among those that wait */
};

uint64_t now_nanoseconds(void);

/* Since the whole request had come: what it waited for a thread included. */
double request_seconds(const struct request *request);

/* Makes it an error, in place of what was answered so far: {"error":"…"}. Nothing happens to one that is committed.
 * What is not printable in the sentence is escaped. */
__attribute__((format(printf, 3, 4))) void request_fail(struct request *request, unsigned status, const char *format,
                                                        ...);

/* The same for an error of the library. */
void request_fail_by(struct request *request, const struct idx_error *error);

/* Ends an answer: 200, unless it grew beyond what an answer may have and is not committed. */
void request_end(struct request *request, const char *type);

/* Whether the answer may still grow; fails where not. Called now and then while an answer is made, and before. */
bool request_goes_on(struct request *request);

/* Counts bytes as held. False: there is no room for them. */
bool request_hold(struct request *request, size_t bytes);

/* Queues the answer of a request. */
enum MHD_Result reply(struct request *request);

#endif
