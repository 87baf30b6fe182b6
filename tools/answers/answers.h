/* answers.h: looks queries up, one by one, many at once or in a stream, and writes the answers. */
#ifndef IDX_TOOLS_ANSWERS_ANSWERS_H
#define IDX_TOOLS_ANSWERS_ANSWERS_H

#include "tools/input/queries.h"
#include "tools/shared/library.h"

/* ---- Looks queries up and writes the answers as `idx lookup` prints them, or as records (agree.c) ---- */

/* What is asked about every query. */
struct question {
    const struct idx_index *index;
    struct idx_properties properties;
    enum notation notation;
    unsigned distance;
    uint64_t limit;         /* The most matches that are written of a query, the nearest ones. */
    uint64_t max_documents; /* The most documents that are written of a match. */
    uint64_t agree;         /* How many fingerprints of a query ID have to agree; 0: --agree is not given. */
    const char
        *texts; /* The folder of the documents, whose resemblance to queries with shingles is written; or NULL. */
    const struct extract_rules *extract; /* How their texts are read. */
    bool exists;                         /* Only queries that have a match are written, without matches. */
    bool json;
};

/* The most queries that are looked up together. */
enum { ANSWER_QUERIES = 64 };

/* What one thread needs to answer one query after the other. */
struct answerer {
    const struct question *question;
    struct idx_documents *documents; /* Opened at the first match. */
    struct text_reader reader;       /* Reads the texts of documents; without a fingerprinter. */
    bool found;                      /* A query had a match so far. */
    struct idx_error error;
};

/* Makes an answerer to the question, which must stay valid. answerer_free frees it. */
void answerer_init(struct answerer *answerer, const struct question *question);

/* Writes the answers to `count` queries, up to ANSWER_QUERIES, in their order. If the library fails, sets `error` and
 * returns false; what was found before that is written. */
bool answerer_answer_queries(struct answerer *answerer, const struct query *queries, size_t count,
                             struct output *output);

/* Writes the answer to a query that has `count` matches. `matches` has the nearest ones in order, as many as the
 * question's `limit` lets be written; with `exists`, none are read. Returns false like answerer_answer_queries. */
bool answerer_print_matches(struct answerer *answerer, const struct query *query, const struct idx_match *matches,
                            size_t count, struct output *output);

/* Closes the cursor that the answerer may have on the question's index, so that the index may be closed. */
void answerer_close_documents(struct answerer *answerer);

/* Closes the cursor, and frees what the answerer holds. */
void answerer_free(struct answerer *answerer);

/* ---- `idx lookup --agree`: agree.c ---- */

/* Some recipes make several fingerprints of a document. With --agree, a document is written if it is near to enough of
 * them. Answerers write records of what they find, from which agree.c counts in the order of the queries. */

/* Appends the record of a query, or of a document near to the last query, to an output that keeps records. */
void agree_put_query(const struct question *question, const struct query *query, struct output *records);
void agree_put_document(const struct idx_document *document, struct output *records);

/* Counts by consecutive queries of one ID, which are one group; a query without an ID is a group of its own. It is made
 * with AGREE_INIT, and used by one thread. */
struct agree {
    const struct question *question;
    struct output records; /* Records that agree_take_records has not taken yet. */
    bool found;            /* A document was printed so far. */

    /* The group that is being counted. These are used by agree.c alone. */
    struct output query, ids, entries;
    bool has_id;
    uint64_t ordinal; /* The number of its last query, from 1; 0: there is no group yet. */
};

#define AGREE_INIT(question)                                                                                           \
    { question, OUTPUT_BUFFER, false, OUTPUT_BUFFER, OUTPUT_BUFFER, OUTPUT_BUFFER, false, 0 }

/* Takes the records. For each group that they end, writes the documents that are near to enough of its queries. If
 * memory runs out, `output` fails. */
void agree_take_records(struct agree *agree, struct output *output);

/* Ends the last group, once there are no more records, and writes its documents like agree_take_records. */
void agree_end_group(struct agree *agree, struct output *output);

/* Frees what the struct holds. */
void agree_free(struct agree *agree);

/* ---- Queries that several threads answer together; prints the answers in the queries' order ---- */

struct query_batch;

/* Makes a batch that `threads` threads answer, the calling one included. Returns NULL if memory ran out. */
struct query_batch *query_batch_new(const struct question *question, unsigned threads);

/* Copies a query into the batch, which must not be full. Returns false if memory ran out. */
bool query_batch_add(struct query_batch *batch, const struct query *query);

/* Returns whether the batch takes no further query: it has many, or many bytes of IDs or shingles. */
bool query_batch_is_full(const struct query_batch *batch);

/* Writes the answers to the queries of the batch, and empties the batch. If the library fails, sets *error and returns
 * false; the answers to the queries before are written. */
bool query_batch_answer(struct query_batch *batch, struct output *output, struct idx_error *error);

/* Returns whether any query of this batch or of earlier ones had a match. */
bool query_batch_has_match(const struct query_batch *batch);

/* Closes the cursors that the batch may have on the question's index, so that the question may get another index. */
void query_batch_close_documents(struct query_batch *batch);

/* Frees the batch and its cursors. NULL is accepted. */
void query_batch_free(struct query_batch *batch);

/* ---- Stream answers ---- */

/* `idx batch --stream` prints query, fingerprint and distance, in the order of LC_ALL=C sort, each line once. A query
 * is printed as its ID, or else as its fingerprint; several queries may have one ID. */

struct stream_answers {
    struct output *output;
    unsigned bits;
    const uint64_t *fingerprints; /* The queries, in the order of their lines. */
    size_t count;
    struct query *queries; /* The same ones with what is printed as their ID; NULL: none has an ID. */
    char *names;           /* The fingerprints that are printed in place of IDs. */

    /* Matches of consecutive queries that share an ID. They wait to be sorted, since only those of each query come
     * sorted. */
    struct idx_match *matches;
    size_t waiting, capacity, last; /* `last` is the number of one of these queries. */
    bool found;                     /* A query had a match so far. */
    bool failed;                    /* Memory ran out. */
};

/* Sorts queries as their lines will be, and leaves out repeated ones, which makes *count smaller. `ids` has the IDs as
 * they are printed, one after the other: that of query i ends at id_ends[i], and is empty if it has none. The caller
 * keeps queries and IDs until stream_answers_free. Returns false if memory ran out. */
bool stream_answers_begin(struct stream_answers *answers, uint64_t *fingerprints, size_t *count,
                          const struct output *ids, const size_t *id_ends);

/* Prints the matches of query `number`, or stores them if others share its ID. This is an idx_batch_visitor for
 * idx_stream_finish, whose context is a struct stream_answers. */
bool stream_answers_visit(void *context, size_t number, const struct idx_match *matches, size_t count);

/* Prints the matches that wait, sorted and each once, and forgets them. */
void stream_answers_print_waiting(struct stream_answers *answers);

/* Frees what the struct holds, but not the fingerprints and IDs. */
void stream_answers_free(struct stream_answers *answers);

#endif
