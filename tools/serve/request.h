/* request.h: a request that is being answered, the index that it is answered from, and the ways to read and to answer
 * it. */
#ifndef IDX_TOOLS_SERVE_REQUEST_H
#define IDX_TOOLS_SERVE_REQUEST_H

#include "tools/shared/json.h"
#include "tools/shared/library.h"

#include <idx.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

/* ---- Views ---- */

/* The open index, which a newer view replaces while requests go on: each request keeps the view that it began with,
 * which is closed when the last of them has ended. A thread opens newer views. */

struct view {
    struct idx_index *index;
    struct idx_properties properties;

    /* The mutex of the views protects these. */
    unsigned references;
    struct view *next; /* The next retired view. */
};

struct views {
    pthread_mutex_t mutex;
    pthread_mutex_t refreshing; /* A thread holds it while it refreshes. */
    struct view *current;
    struct view *retired; /* These were replaced, and may still be in use. */
    atomic_ullong refreshes, failures;
    bool started, asked, ended; /* The mutex protects the last two. */
    pthread_t thread;
    pthread_cond_t changed; /* A refresh was asked for, or the service ends. */
    unsigned seconds;       /* 0: only views_ask causes a refresh. */
    bool failing;           /* The last refresh failed, and a message said so. `refreshing` protects it. */
};

/* Opens the index. */
bool views_open(struct views *views, const char *path, const struct idx_open_options *options);

/* Opens a newer view if the index has changed, and closes the views that nobody uses any more. Returns false after an
 * error. Then the view stays as it is, and a message says so, but only once if errors repeat. */
bool views_refresh(struct views *views);

/* Returns the current view, which stays open until the caller releases it. */
struct view *views_acquire(struct views *views);
void views_release(struct views *views, struct view *view);

/* Starts the thread that refreshes every `seconds` seconds, unless that is 0, and when views_ask is called. */
bool views_start(struct views *views, unsigned seconds);
void views_ask(struct views *views);

/* Ends the thread if it was started. */
void views_stop(struct views *views);

/* Closes all views, once no view is held. */
void views_close(struct views *views);

/* ---- A request that is being answered, and its answer ---- */

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

/* ---- Writes matches and their documents as JSON, in the form of `idx lookup --format json` ---- */

/* An answer comes from one view, even if the index changes while it is made. */
struct answers {
    struct request *request;
    struct view *view; /* NULL: `index` is the writer's, not a view. */
    const struct idx_index *index;
    const struct idx_properties *properties;
    unsigned distance;
    struct idx_documents *cursor; /* NULL until the first document is written. */
    uint64_t queries, matches;    /* Counts of what was answered so far. */
};

/* Begins an answer from the current view. Returns false if the request failed, for example because its k is too large.
 * The caller calls answers_end in either case. */
bool answers_begin(struct answers *answers, struct request *request);

/* The largest distance that look-ups in the service's views take: these may be unpacked for more than the k of the
 * index, unlike the view of a writer. */
unsigned answers_farthest(const struct service *service, const struct idx_properties *properties);

/* Sets the distance that the request asks for. Returns false, and fails the request, if the index can't answer it. */
bool answers_set_distance(struct answers *answers);

/* Returns whether the index has a map from IDs. Fails the request if not. */
bool answers_by_id(struct request *request, const struct idx_properties *properties);

void answers_end(struct answers *answers);

/* Reads a fingerprint of as many bits as the index has. Returns false and sets *problem if the text is none. */
bool answers_read_fingerprint(const struct answers *answers, const char *text, size_t length, uint64_t *fingerprint,
                              struct problem *problem);

/* Writes "query":…,"count":…,"matches":[…]. `matches` has the nearest of the query's `count` matches: all of them, or
 * as many as the request wants. Returns false where the request failed. */
bool answers_put(struct answers *answers, uint64_t query, const struct idx_match *matches, size_t count);

/* Writes "count":…,"matches":[…] alone. */
bool answers_put_matches(struct answers *answers, const struct idx_match *matches, size_t count);

/* Looks a fingerprint up, and writes what answers_put writes as an object. */
bool answers_put_query(struct answers *answers, uint64_t query);

/* ---- Reads the head of a request ---- */

/* A head that a proxy could read in another way than this service is refused, so that nobody smuggles a request past
 * the proxy. So is a name that has a NUL byte, since C would end it there. */

/* Notes the URL as it came, before libmicrohttpd decodes it in place. */
void head_take_uri(struct request *request, const char *uri);

/* Checks the whole head, which has `length` bytes and begins with `method`. Returns false where the request failed.
 * Then the connection is closed, because nobody knows where the request's body ends. */
bool head_check(struct request *request, const char *method, const char *version, size_t length);

/* Reads the parameters that the route takes. Any other parameter fails the request, and false is returned. */
bool parameters_read(struct request *request);

/* ---- Reads bodies of JSON, one value per line, and documents that such lines describe ---- */

/* A function that gets each value. It returns false and sets *problem if the value is wrong. */
typedef bool (*line_visitor)(void *context, json_t *value, struct problem *problem);

/* Visits the values of the body's lines, and skips blank lines. Stops once the request has failed; the answer names a
 * bad line by its number, counted from 1. */
void lines_read(struct request *request, line_visitor visit, void *context);

enum item_keys { ITEM_FINGERPRINT = 1, ITEM_ID = 2, ITEM_BOTH = 3 };

struct items {
    const struct idx_properties *properties;
    struct idx_item *list;
    size_t count, capacity;
    struct output ids;
    int keys;          /* Every line has these keys, of enum item_keys; 0 before the first line. */
    bool may_lack_key; /* The caller sets this where either key alone is enough. */
};

/* Reads the documents in the body of a request. Returns false where the request failed. */
bool items_read(struct items *items, struct request *request);

void items_free(struct items *items);

#endif
