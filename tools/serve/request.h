/* request.h: a request that is being answered, and its answer. */
#ifndef IDX_TOOLS_SERVE_REQUEST_H
#define IDX_TOOLS_SERVE_REQUEST_H

#include "tools/shared/output.h"

#include <idx.h>
#include <microhttpd.h>

struct service;
struct peer;
struct request;

/* The metrics count a request whose client has gone under this status. */
enum { CLIENT_HAS_GONE = 499 };

/* Defaults and upper limits of what a request may ask of each query. */
enum {
    DEFAULT_LIMIT = 1000,        /* Matches of a query. */
    DEFAULT_MAX_DOCUMENTS = 100, /* Documents of a match. */
    MOST_LIMIT = 10000,          /* The upper limit of both. */
    MOST_FEW = 16,               /* The upper limit of the matches of a document that /check-and-add did not add. */
};

/* Beyond these limits, in seconds and bytes, an error replaces the answer. */
enum { MOST_SECONDS = 60 };
#define MOST_ANSWER_BYTES ((size_t)64 << 20)

/* All bodies and answers may take this much memory together. Beyond it, a body or a large answer gets status 503. */
#define MOST_HELD_BYTES ((size_t)512 << 20)

/* A route takes some of these parameters of a URL. */
enum parameters {
    TAKES_DISTANCE = 1 << 0,  /* The parameter is k. */
    TAKES_LIMIT = 1 << 1,     /* The parameter is limit. */
    TAKES_DOCUMENTS = 1 << 2, /* The parameter is max-documents. */
    TAKES_FEW = 1 << 3,       /* The parameter is limit, up to MOST_FEW. */
    TAKES_ID = 1 << 4,        /* The parameter is id, which must be given. */
    TAKES_RESEMBLE = 1 << 5,  /* The parameter is resemble. */
};

enum { TAKES_MATCHES = TAKES_DISTANCE | TAKES_LIMIT | TAKES_DOCUMENTS };

/* A path that clients may ask for, the method by which they do, and the function that answers. */
struct route {
    const char *path; /* A path that ends in /, but not / itself, means all paths below it. */
    bool post;        /* false: the methods are GET and HEAD. */
    bool writes;      /* The writing thread answers, and the client needs the token. */
    unsigned takes;
    const char *name;                        /* The metrics use this name. */
    const char *types[3];                    /* Bodies have one of these types; the list ends with NULL. */
    void (*answer)(struct request *request); /* Sets the status, or fails the request. */
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
    uint64_t started;  /* When the request began, by now_nanoseconds. */
    uint64_t whole;    /* When the whole request had come. */
    uint64_t looked;   /* When it was last checked that the client is still there. */
    size_t uri_length; /* Bytes of the URL before it was decoded. */
    const char *uri_end;
    const char *uri_fault; /* Says what is wrong with the URL; NULL: nothing is. */
    const char *rest;      /* What follows the route's path in the URL. */
    bool preflight;        /* The method is OPTIONS. */
    bool closes;           /* The connection is closed, because the answer comes before the body was read. */
    const char *origin;    /* Pages of this origin may read the answer; it may be NULL. */
    const char *allow;     /* An answer of status 405 lists these methods. */

    unsigned distance; /* UINT_MAX: it is the k of the index. */
    size_t limit, max_documents;
    int64_t resemble; /* In units of 1/IDX_DECIMAL_WEIGHT_ONE; 0: it is not given. */
    const char *id;   /* The ID, of id_length bytes; NULL: there is none. */
    size_t id_length;
    int type; /* The body has this one of the route's types. */

    struct output body;
    size_t held; /* The bytes that request_hold counted. */

    unsigned status; /* 0: it is not yet known. */
    bool committed;  /* What the request asked for is on disk, so that it can't fail any more. */
    const char *answer_type;
    struct output answer;

    struct request *next; /* The request that waits behind this one. */
};

/* Returns the seconds since the whole request came, which include the time that it waited for a thread. */
double request_seconds(const struct request *request);

/* Makes the answer an error, {"error":"…"}, in place of what was answered so far. Nothing happens to a request that is
 * committed. What is not printable in the sentence is escaped. Returns false always, so that a check can return it. */
__attribute__((format(printf, 3, 4))) bool request_fail(struct request *request, unsigned status, const char *format,
                                                        ...);

/* Does the same with an error of the library. */
bool request_fail_by(struct request *request, const struct idx_error *error);

/* Ends an answer with status 200. An answer that is too long fails the request instead, unless it is committed. */
void request_end(struct request *request, const char *type);

/* Returns whether the answer may still grow, and fails the request if not. It is called before an answer is made, and
 * now and then while it is made. */
bool request_goes_on(struct request *request);

/* Counts bytes as held. Returns false if there is no room for them. */
bool request_hold(struct request *request, size_t bytes);

/* Hands the answer to libmicrohttpd, which sends and frees it. Returns MHD_NO if it can't, which closes the
 * connection. */
enum MHD_Result reply(struct request *request);

#endif
