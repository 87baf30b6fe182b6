/* answers.h: looks queries up, one by one, many at once or in a stream, and writes the answers. */
#ifndef IDX_TOOLS_ANSWERS_ANSWERS_H
#define IDX_TOOLS_ANSWERS_ANSWERS_H

#include "tools/input/queries.h"
#include "tools/shared/library.h"
#include "tools/shared/output.h"

#include <idx.h>

/* ---- Looks queries up and writes the answers as `idx lookup` prints them, or as records (agree.c) ---- */

/* This is asked of every query. */
struct question {
    const struct idx_index *index;
    struct idx_properties properties;
    enum notation notation;
    unsigned distance;
    uint64_t limit;         /* Each query has so many matches at most. */
    uint64_t max_documents; /* Each match has so many documents at most. */
    uint64_t agree; /* So many fingerprints of a query ID have to agree, and records are written (agree.c); 0: there is
                       no such option. */
    bool exists;    /* It is only asked whether there is a match. */
    bool json;
};

/* The most queries that are looked up together, and the matches that there is room for then: a query with more is
 * looked up again. */
enum { ANSWER_QUERIES = 64, ANSWER_MATCHES = 16 };

/* One thread needs this to answer one query after the other. */
struct answerer {
    const struct question *question;
    struct idx_documents *documents; /* The first match opens them. */
    struct idx_match group[ANSWER_QUERIES * ANSWER_MATCHES];
    struct found_matches matches; /* They are of one query. */
    struct output front;          /* It has the columns before the document. */
    bool found;                   /* A query had a match so far. */
    struct idx_error error;
};

void answerer_init(struct answerer *answerer, const struct question *question);

/* Writes the answers to `count` queries, up to ANSWER_QUERIES, to `output`, in their order. Returns false when the
 * library failed, after what had been found until then: `error`. */
bool answerer_answer(struct answerer *answerer, const struct query *queries, size_t count, struct output *output);

/* Writes the answer to a query that has `count` matches, 1 or more, the nearest of them at `matches`. Returns false as
 * above.
 */
bool answerer_print(struct answerer *answerer, const struct query *query, const struct idx_match *matches, size_t count,
                    struct output *output);

/* Closes what is open of the question's index. */
void answerer_forget(struct answerer *answerer);

void answerer_free(struct answerer *answerer);

/* ---- `idx lookup --agree`: agree.c ---- */

/* Of recipes that make several fingerprints of a document, `--agree` counts which documents are near to how many of
 * them. Answerers keep records of what they find, which are counted in the order of the queries. */

/* Appends the record of a query, or of a document near to the query before it, to an output that keeps them. */
void agree_put_query(const struct question *question, const struct query *query, struct output *records);
void agree_put_document(const struct idx_document *document, struct output *records);

/* Consecutive queries of one ID are a run, and one without an ID is a run of its own. Made with AGREE_INIT; one
 * thread's. */
struct agree {
    const struct question *question;
    struct output records; /* They are still to be taken. */
    bool found;            /* A document was printed so far. */

    /* The run that is counted; used by agree.c alone. */
    struct output query, ids, entries;
    bool has_id;
    uint64_t ordinal; /* Its last query has this number, from 1; 0: there is no run yet. */
};

#define AGREE_INIT(question)                                                                                           \
    { question, OUTPUT_KEPT, false, OUTPUT_KEPT, OUTPUT_KEPT, OUTPUT_KEPT, false, 0 }

/* Takes the records, and writes of each run that they end the documents that enough of its queries are near to. Where
 * memory runs out, that is an error of `output`. */
void agree_take(struct agree *agree, struct output *output);

/* Does the same for the last run, once there are no more records. */
void agree_end(struct agree *agree, struct output *output);

void agree_free(struct agree *agree);

/* ---- Queries that several threads answer together; prints the answers in the queries' order ---- */

struct query_batch;

/* A batch that is answered by `threads` threads, this one included. The caller frees it. Returns NULL when memory runs
 * out. */
struct query_batch *query_batch_new(const struct question *question, unsigned threads);

/* Copies a query into the batch. Returns false when memory runs out. */
bool query_batch_add(struct query_batch *batch, const struct query *query);

bool query_batch_is_full(const struct query_batch *batch);

/* Answers the queries, writes to `output`, and empties it. Returns false when the library failed, after the answers to
 * the queries before: *error. */
bool query_batch_answer(struct query_batch *batch, struct output *output, struct idx_error *error);

/* Returns whether any query had a match so far. */
bool query_batch_found(const struct query_batch *batch);

/* Lets go of the question's index, so that it may be closed, and the question may get another. */
void query_batch_forget(struct query_batch *batch);

void query_batch_free(struct query_batch *batch);

/* ---- Stream answers ---- */

/* What `idx batch --stream` prints: query, fingerprint, distance, in the order of LC_ALL=C sort, each line once. A
 * query goes by its ID, or else by its fingerprint; several queries may have one ID. */

struct stream_answers {
    struct output *output;
    unsigned bits;
    const uint64_t *fingerprints; /* They are the queries, in the order of their lines. */
    size_t count;
    struct query *queries; /* They are the same ones, all with an ID as it is printed; NULL: none has one. */
    char *names;           /* They are the fingerprints that are printed in place of IDs. */

    /* Matches of the queries that share an ID: those of each come sorted, but not those of all. */
    struct idx_match *matches;
    size_t kept, capacity, last; /* The last one is the number of one of the queries. */
    bool found;                  /* A query had a match so far. */
    bool failed;                 /* Memory ran out. */
};

/* Sorts queries as their lines will be, and leaves out repeated ones. `ids`: as they are printed, one after the other,
 * that of query i before id_ends[i]; an empty one is none. Queries and IDs remain the caller's. Returns false when
 * memory runs out. */
bool stream_answers_begin(struct stream_answers *answers, uint64_t *fingerprints, size_t *count,
                          const struct output *ids, const size_t *id_ends);

/* This is an idx_batch_visitor for idx_stream_finish, whose context is a struct stream_answers. */
bool stream_answers_visit(void *context, size_t number, const struct idx_match *matches, size_t count);

/* Prints what is still kept. */
void stream_answers_end(struct stream_answers *answers);

void stream_answers_free(struct stream_answers *answers);

#endif
