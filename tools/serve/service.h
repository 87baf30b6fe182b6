/* service.h: what the parts of a running service share: who may use it, its connections, its threads, and what they
 * answer. */
#ifndef IDX_TOOLS_SERVE_SERVICE_H
#define IDX_TOOLS_SERVE_SERVICE_H

#include "tools/serve/options.h"
#include "tools/serve/request.h"
#include "tools/text/extract.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Guard ---- */

/* Decides who may use the service, by the name that a client calls it by, by the origin of a page, and by the token
 * for writing. */

/* A token has at least TOKEN_LEAST bytes and fewer than TOKEN_MOST. */
enum { TOKEN_LEAST = 16, TOKEN_MOST = 512 };

/* This environment variable holds the token if no file does. */
#define TOKEN_VARIABLE "IDX_TOKEN"

struct guard {
    const struct strings *hosts, *origins;
    char token[TOKEN_MOST]; /* All bytes behind the token are 0. */
    size_t token_length;    /* 0: the service does not write. */
};

/* Reads the token if the service is to write. */
bool guard_open(struct guard *guard, const struct serve_options *options);

/* Returns whether a client may call the service by this value of the header Host, a host and perhaps a port. A name
 * that somebody else's DNS leads to this machine is refused. */
bool guard_takes_host(const struct guard *guard, const char *host);

/* Returns whether a page of this origin may use the service: one of the service's own, or one that --allow-origin
 * names. */
bool guard_takes_origin(const struct guard *guard, const char *origin, const char *host);

/* Returns whether --allow-origin names this origin. */
bool guard_named_origin(const struct guard *guard, const char *origin);

/* Returns whether a header Authorization has the token. The time that this takes does not depend on the header's
 * value. */
bool guard_takes_token(const struct guard *guard, const char *authorization);

/* ---- Jobs ---- */

/* Answers long requests in the order in which they came, in threads of their own, so that they do not keep the threads
 * of libmicrohttpd from other connections. */

/* How many requests may wait for a thread, and for how many seconds each of them may. */
enum { JOBS_MOST_WAITING = 256, JOBS_WAIT_SECONDS = 30 };

struct jobs {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct request *first, **last;
    unsigned waiting;
    atomic_bool ended;
    unsigned threads; /* Threads that were started. */
    pthread_t *thread;
};

/* Starts threads. The other functions must be called even if this fails. */
bool jobs_start(struct jobs *jobs, unsigned threads);

/* Suspends the connection of a request until the request was answered. Returns false where too many requests wait, and
 * after jobs_stop. */
bool jobs_submit(struct jobs *jobs, struct request *request);

/* Refuses the requests that have waited too long or whose clients have gone. The service calls it several times a
 * second. */
void jobs_reap(struct jobs *jobs);

/* Takes no more requests, and refuses those that wait. From now on request_goes_on refuses those that are being
 * answered. */
void jobs_stop(struct jobs *jobs);
bool jobs_ended(const struct jobs *jobs);

/* Waits for the threads to end, which they do once they have answered. jobs_stop must come first. */
void jobs_end(struct jobs *jobs);

/* Frees the rest, once nobody can submit any more. */
void jobs_close(struct jobs *jobs);

/* ---- The open connections ---- */

/* A connection that waits for its client is closed after a fixed time, even if the client keeps sending or receiving
 * slowly: libmicrohttpd and proxies limit only the time between two bytes. If there are too many connections, those
 * that have waited longest for a request are closed first. */

/* The seconds that a client may take between two bytes, for a head with the pause before it, for a body, and to receive
 * an answer. */
enum { PEER_SILENCE_SECONDS = 30, PEER_HEAD_SECONDS = 40, PEER_BODY_SECONDS = 60, PEER_ANSWER_SECONDS = 300 };

enum peer_phase {
    PEER_WAITS,   /* It waits for the head of a request. */
    PEER_SENDS,   /* The client sends a body. */
    PEER_WORKS,   /* The service computes the answer; the client has no limit here. */
    PEER_RECEIVES /* The client takes the answer. */
};

struct peer {
    atomic_int socket; /* -1: it is being closed. */
    bool local;        /* It is a UNIX socket. */
    atomic_int phase;
    atomic_bool begun;          /* In PEER_WAITS, the first line of a request has come. */
    atomic_uint_fast64_t since; /* When the phase began, in nanoseconds. */
    struct peer *previous, *next;
};

struct peers {
    pthread_mutex_t mutex;
    struct peer *first;
    atomic_uint count;
    unsigned most;
    atomic_bool ending;
};

void peers_open(struct peers *peers, unsigned most);

/* Add a connection that begins, and remove one that ends, whose socket must still be open. peers_add returns NULL if
 * memory ran out. */
struct peer *peers_add(struct peers *peers, int socket);
void peers_remove(struct peers *peers, struct peer *peer);

void peer_enter(struct peer *peer, enum peer_phase phase);

/* Returns whether the client has closed the whole connection, rather than its own side alone. */
bool peer_has_gone(const struct peer *peer);

unsigned peers_count(const struct peers *peers);

/* Closes the connections whose time is over, and enough others to keep to the limit. */
void peers_reap(struct peers *peers);

/* Closes the connections that wait for a request, and has the others closed after their answer. */
void peers_end(struct peers *peers);

void peers_close(struct peers *peers);

/* ---- What a service counts, as Prometheus reads it, and what it says of itself and of its index ---- */

enum { METRICS_ROUTES = 16, METRICS_STATUSES = 600, METRICS_BUCKETS = 16 };

/* These are the counts of one route. */
struct route_metrics {
    atomic_ullong statuses[METRICS_STATUSES]; /* Answers of each status. */
    atomic_ullong buckets[METRICS_BUCKETS]; /* Answers by time: above the bound of the bucket before, and up to that of
                                               this one. */
    atomic_ullong nanoseconds;
};

struct metrics {
    struct route_metrics routes[METRICS_ROUTES]; /* The last one counts requests without a route. */
    atomic_ullong queries, matches, added, removed;
};

/* Counts a request that was answered. */
void metrics_count(struct metrics *metrics, unsigned route, unsigned status, uint64_t nanoseconds);

/* Returns the name of a route. */
typedef const char *(*route_namer)(unsigned route);

/* Answers GET /metrics. */
bool metrics_answer(struct request *request, route_namer name);

/* Answers GET /info as `idx info --format json` does. */
void status_answer_info(struct request *request);

/* Answers GET /healthz, with what the service can do. */
bool status_answer_health(struct request *request);

/* ---- Looks texts up, and shows the texts of documents ---- */

struct texts_service {
    pthread_key_t key; /* Each answering thread keeps its fingerprinter under it, because opening one takes a while. */
    bool has_key;
    struct idx_text_table *table; /* NULL: the recipe needs none. */
    struct extract_rules rules;
    pthread_mutex_t mutex; /* It protects the next member. */
    bool warned_of_icu;
    struct sets_file *sets; /* The file of sets of --documents, or NULL. */
};

/* Opens this part of the service, for an index, before any other thread is started. */
bool texts_open(struct texts_service *texts, const struct serve_options *options, const struct idx_index *index);

/* Answers POST /text. */
void texts_answer(struct request *request);

/* Appends the text of a document's file to the answer, in UTF-8 and without the tags of HTML. `name` is the name of the
 * file. */
void texts_put(struct request *request, struct output *file, const char *name);

void texts_close(struct texts_service *texts);

/* Makes the shingles of a document's file, as texts_put reads it. Returns false if it can't be read as a text. The
 * caller frees the hashes in either case. */
bool texts_list_shingles(const struct texts_service *texts, struct output *file, const char *name,
                         const struct sketch *sketch, struct output *hashes);

/* ---- Looks texts up by resemblance: resembling.c ---- */

/* Opens the file of sets at `path`, for an index. Leaves *file NULL where there is no file. */
bool sets_file_open(struct sets_file **file, const char *path, const struct idx_index *index);

/* NULL is accepted. */
void sets_file_close(struct sets_file *file);

/* Returns whether the index answers by resemblance, and how. If not, the request failed. */
bool resembling_check(struct answers *answers, struct sketch *sketch);

/* Answers with the documents that resemble the text whose set this is. */
void resembling_put(struct answers *answers, const struct idx_set *set, const struct sketch *sketch);

/* ---- Adds and removes documents, in the one thread that has the index's writer ---- */

struct writes {
    const struct serve_options *options;
    struct idx_writer *writer; /* NULL: no writer is open. */
};

/* Opens the writer if the service is to write. */
bool writes_open(struct writes *writes, const struct serve_options *options);

/* Answers POST /check-and-add. */
void writes_answer_add(struct request *request);

/* Answers POST /remove. */
void writes_answer_remove(struct request *request);

void writes_close(struct writes *writes);

/* ---- Finds what a request asks for, checks who asks, and has it answered ---- */

/* libmicrohttpd calls these with the service as their context: when the first line of a request has come, for each
 * further part, and at its end. */
void *router_begin(void *service, const char *uri, struct MHD_Connection *connection);
enum MHD_Result router_handle(void *service, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request);
void router_end(void *service, struct MHD_Connection *connection, void **request,
                enum MHD_RequestTerminationCode reason);

/* lookups.c: GET /lookup/HEX; POST /lookup with lines of JSON, or with fingerprints as they are in memory; and
 * GET /documents?id=ID. Fingerprints in memory have 8 bytes each, little-endian. The answer to n of them is n + 1
 * offsets and as many fingerprints as the last offset says, of 8 bytes each as well, and then one byte for the distance
 * of each fingerprint. The matches of query i begin at offset i and end before offset i + 1. */
void lookups_answer_one(struct request *request);
bool lookups_answer_one_quickly(struct request *request);
void lookups_answer_many(struct request *request);
void lookups_answer_id(struct request *request);

/* files.c: answers GET /document?id=ID with the text of the file that the ID names, below the folder of the documents.
 * files_open_folder returns the descriptor of that folder, or -1 if it fails. */
void files_answer(struct request *request);
int files_open_folder(const char *path);

/* Appends the file that an ID names to `bytes`. Returns false if there is none, or it can't be read or is too large. */
bool files_read(const struct service *service, const char *id, struct output *bytes);

/* embed.cmake writes the bytes of the page, and of the description of the service, into a C file of the build. */
extern const unsigned char asset_page_html[], asset_page_js[], asset_page_css[], asset_openapi_json[];
extern const size_t asset_page_html_length, asset_page_js_length, asset_page_css_length, asset_openapi_json_length;

/* ---- Opens the sockets at which a service listens ---- */

/* The service listens here if nothing else is asked for, so that only this machine reaches it. */
#define DEFAULT_ADDRESS "127.0.0.1:8470"

enum { MOST_SOCKETS = 16 };

struct sockets {
    int list[MOST_SOCKETS];
    const char *paths[MOST_SOCKETS]; /* Paths of the UNIX sockets that sockets_open made; NULL for others. */
    unsigned count;
};

/* Listens at the given addresses, or else at the sockets that systemd passed, or else at the default address. */
bool sockets_open(struct sockets *sockets, const struct strings *addresses);

/* Says at which addresses the service listens. */
void sockets_say(const struct sockets *sockets);

/* Closes the sockets, and removes those of UNIX that were made. */
void sockets_close(struct sockets *sockets);

/* Sends systemd a line such as READY=1, if systemd asked for that. */
void sockets_notify(const char *line);

/* ---- What the parts of a running service share ---- */

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
    int documents;      /* The descriptor of the folder of --documents, or -1. */
    atomic_size_t held; /* Bytes of all bodies and answers together. */
};

#endif
