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

/* The metrics count a request whose client has gone under this status. */
enum { CLIENT_HAS_GONE = 499 };

/* These bound what a request may ask for each query. */
enum {
    DEFAULT_LIMIT = 1000,        /* This is a number of matches. */
    DEFAULT_MAX_DOCUMENTS = 100, /* This is a number of documents per match. */
    MOST_LIMIT = 10000,          /* Neither matches nor documents may be more. */
    MOST_FEW = 16,               /* So many matches of a document that is not added may be asked for. */
};

/* An answer may take so many seconds, and have so many bytes. */
enum { MOST_SECONDS = 60 };
#define MOST_ANSWER_BYTES ((size_t)64 << 20)

/* All bodies and answers together may hold so many bytes. */
#define MOST_HELD_BYTES ((size_t)512 << 20)

/* A route takes some of these parameters of a URL. */
enum parameters {
    TAKES_DISTANCE = 1 << 0,  /* The parameter is k. */
    TAKES_LIMIT = 1 << 1,     /* The parameter is limit. */
    TAKES_DOCUMENTS = 1 << 2, /* The parameter is max-documents. */
    TAKES_FEW = 1 << 3,       /* The parameter is limit, up to MOST_FEW. */
    TAKES_ID = 1 << 4,        /* The parameter is id, which must be given. */
};

enum { TAKES_MATCHES = TAKES_DISTANCE | TAKES_LIMIT | TAKES_DOCUMENTS };

/* A client may ask for a path by a method. */
struct route {
    const char *path; /* A path that ends in /, but not / itself, means all paths below it. */
    bool post;        /* false: the methods are GET and HEAD. */
    bool writes;      /* The writing thread answers, and the client needs the token. */
    unsigned takes;
    const char *name;                        /* The metrics use this name. */
    const char *types[3];                    /* Bodies have one of these types; the list ends with NULL. */
    void (*answer)(struct request *request); /* It sets the status, or fails the request. */
    /* Answers at once if that takes no time to speak of; may be NULL. It returns false if `answer` is to do it, as a
     * long job. */
    bool (*answer_quickly)(struct request *request);
};

enum stage { STAGE_HEAD, STAGE_BODY, STAGE_ANSWERED };

struct request {
    struct service *service;
    struct MHD_Connection *connection;
    struct peer *peer;
    const struct route *route; /* NULL: there is no such path. */
    enum stage stage;
    uint64_t started;  /* The request began at this time of now_nanoseconds. */
    uint64_t whole;    /* The whole request had come at this time. */
    uint64_t looked;   /* Whether the client is still there was last looked at at this time. */
    size_t uri_length; /* The URL had so many bytes before it was decoded. */
    const char *uri_end;
    const char *uri_fault; /* This sentence says what is wrong with the URL; it may be NULL. */
    const char *rest;      /* This is what follows the route's own path. */
    bool preflight;        /* The method is OPTIONS. */
    bool closes;           /* The connection is closed, because the answer comes before the body was read. */
    const char *origin;    /* Pages of this origin may read the answer; it may be NULL. */
    const char *allow;     /* An answer of status 405 lists these methods. */

    unsigned distance; /* UINT_MAX: it is the k of the index. */
    size_t limit, max_documents;
    const char *id; /* It has id_length bytes; NULL if there is none. */
    size_t id_length;
    int type; /* The body has this one of the route's types. */

    struct output body;
    size_t held; /* The service counts so many bytes for this request. */

    unsigned status; /* 0: it is not yet known. */
    bool committed;  /* What the request asked for is on disk, so that it can't fail any more. */
    const char *answer_type;
    struct output answer;

    struct request *next; /* This request waits behind it. */
};

uint64_t now_nanoseconds(void);

/* Returns how long ago the whole request had come. The time that it waited for a thread is included. */
double request_seconds(const struct request *request);

/* Makes the answer an error, {"error":"…"}, in place of what was answered so far. Nothing happens to a request that is
 * committed. What is not printable in the sentence is escaped. */
__attribute__((format(printf, 3, 4))) void request_fail(struct request *request, unsigned status, const char *format,
                                                        ...);

/* Does the same with an error of the library. */
void request_fail_by(struct request *request, const struct idx_error *error);

/* Ends an answer with status 200. An answer that is too long fails the request instead, unless it is committed. */
void request_end(struct request *request, const char *type);

/* Returns whether the answer may still grow, and fails the request if not. It is called before an answer is made, and
 * now and then while it is made. */
bool request_goes_on(struct request *request);

/* Counts bytes as held. Returns false if there is no room for them. */
bool request_hold(struct request *request, size_t bytes);

/* Queues the answer of a request. */
enum MHD_Result reply(struct request *request);

#endif
