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
    MAX_LIMIT = 10000,           /* The upper limit of both. */
    MAX_SMALL_LIMIT = 16,        /* The upper limit of the matches of a document that /check-and-add did not add. */
};

/* Beyond these limits, in seconds and bytes, an error replaces the answer. */
enum { MAX_SECONDS = 60 };
#define MAX_ANSWER_BYTES ((size_t)64 << 20)

/* All bodies and answers may take this much memory together. Beyond it, a body or a large answer gets status 503. */
#define MAX_HELD_BYTES ((size_t)512 << 20)

/* A route takes some of these parameters of a URL. */
enum parameters {
    TAKES_DISTANCE = 1 << 0,    /* The parameter is k. */
    TAKES_LIMIT = 1 << 1,       /* The parameter is limit. */
    TAKES_DOCUMENTS = 1 << 2,   /* The parameter is max-documents. */
    TAKES_SMALL_LIMIT = 1 << 3, /* The parameter is limit, up to MAX_SMALL_LIMIT. */
    TAKES_ID = 1 << 4,          /* The parameter is id, which must be given. */
    TAKES_RESEMBLE = 1 << 5,    /* The parameter is resemble. */
};

enum { TAKES_MATCHES = TAKES_DISTANCE | TAKES_LIMIT | TAKES_DOCUMENTS };

/* The most types that the body of a request to one path may have. */
enum { MAX_TYPES = 3 };

/* A path that clients may ask for, the method by which they do, and the function that answers. */
struct route {
    const char *path;                        /* A path that ends in /, but not / itself, means all paths below it. */
    bool post;                               /* false: the methods are GET and HEAD. */
    bool writes;                             /* The writing thread answers, and the client needs the token. */
    unsigned takes;                          /* The parameters that it has: bits of enum parameters. */
    const char *name;                        /* The metrics use this name. */
    const char *types[MAX_TYPES];            /* Bodies have one of these; those behind the last are NULL. */
    void (*answer)(struct request *request); /* Sets the status, or fails the request. */
    /* NULL, or answers at once if that takes almost no time; returns false to leave it to `answer`, as a long job. */
    bool (*answer_quickly)(struct request *request);
};

/* What libmicrohttpd calls for next: the head; the body, in parts, and its end; or the answer, which is ready then. */
enum stage { STAGE_HEAD, STAGE_BODY, STAGE_ANSWERED };

struct request {
    struct service *service;
    struct MHD_Connection *connection;
    struct peer *peer;
    const struct route *route; /* NULL: there is no such path. */
    enum stage stage;
    uint64_t started;        /* When the request began, by read_nanoseconds. */
    uint64_t received;       /* When the whole request had come. */
    uint64_t client_checked; /* When it was last checked that the client is still there. */
    size_t uri_length;       /* Bytes of the URL before it was decoded. */
    const char *uri_end;     /* Where the URL ended in the head before it was decoded. */
    const char *uri_fault;   /* Says what is wrong with the URL; NULL: nothing is. */
    const char *path_rest;   /* What follows the route's path in the URL. */
    bool preflight;          /* The method is OPTIONS, by which browsers ask what pages of another origin may do. */
    bool closes;             /* The connection is closed after the answer, without waiting for the body's end. */
    const char *origin;      /* Pages of this origin may read the answer; it may be NULL. */
    const char *allow;       /* The methods that an answer to OPTIONS or of status 405 lists; NULL: none. */

    unsigned distance;           /* UINT_MAX: it is the k of the index. */
    size_t limit, max_documents; /* Matches of a query, and documents of a match, that are written. */
    int64_t resemble;            /* In units of 1/IDX_THRESHOLD_ONE; 0: it is not given. */
    const char *id;              /* The ID, of id_length bytes; NULL: there is none. */
    size_t id_length;
    int body_type; /* The body has this one, from 0, of the route's types. */

    struct output body;
    size_t held_bytes; /* The bytes that request_count_held_bytes counted. */

    unsigned status; /* 0: it is not yet known. */
    bool committed;  /* What the request asked for is on disk, so that it can't fail any more. */
    const char *answer_type;
    struct output answer;

    struct request *next; /* The request that waits for a thread behind this one. */
};

/* Returns the seconds since the whole request had come. They include the time that it waited for a thread. */
double request_get_age_seconds(const struct request *request);

/* Fails the request: replaces what was answered so far by an error of this HTTP status, {"error":"…"}. The sentence is
 * formatted as by printf, and what is not printable in it is escaped. Does nothing to a request that is committed.
 * Returns false always, so that a check can return it. */
__attribute__((format(printf, 3, 4))) bool request_fail(struct request *request, unsigned status, const char *format,
                                                        ...);

/* Fails the request like request_fail, by the status and the sentence of an error of the library. If the request is
 * committed, complains of the error instead. Returns false always. */
bool request_fail_by_error(struct request *request, const struct idx_error *error);

/* Ends an answer with status 200 and this Content-Type, unless the request has failed. An answer that is too long, or
 * for which memory ran out, fails the request instead, unless it is committed. `type` is not copied. */
void request_finish_answer(struct request *request, const char *type);

/* Returns whether the answer may go on. If not, fails the request: the answer is too long or takes too long, memory ran
 * out, the service ends, or the client has gone. Returns false as well if the request has failed before. Call this
 * before and while a long answer is made. */
bool request_check_limits(struct request *request);

/* Counts `bytes` more bytes as held by this request until it ends. Returns false, without failing the request, if all
 * requests together then hold more than MAX_HELD_BYTES; the bytes count even then. */
bool request_count_held_bytes(struct request *request, size_t bytes);

/* Hands the answer to libmicrohttpd, which sends and frees it, and begins the phase PEER_RECEIVES of the connection. A
 * large answer becomes an error if all requests together hold more than MAX_HELD_BYTES, unless the request is
 * committed. Returns MHD_NO, which closes the connection, if memory ran out. */
enum MHD_Result request_queue_answer(struct request *request);

#endif
