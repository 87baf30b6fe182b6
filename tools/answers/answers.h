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
    const char *texts;      /* The folder with the texts of the documents, whose resemblance to queries with shingles is
                               written; or NULL. */
    const struct extract_rules *extract; /* How their texts are read. */
    bool exists;                         /* Only queries that have a match are written, without matches. */
    bool json;
};

/* The most queries that are looked up together. */
enum { ANSWER_QUERIES = 64 };

/* What one thread needs to answer one query after the other. */
struct answerer {
    const struct question *question;
    struct idx_documents *documents; /* A cursor, opened at the first match; NULL before. */
    struct text_reader reader;       /* Reads the texts of documents; without a fingerprinter. */
    bool found;                      /* A query had a match so far. */
    struct idx_error error;          /* Of the library, if a function returned false. */
};

/* Initializes an answerer to the question, which must stay valid until answerer_free. */
void answerer_init(struct answerer *answerer, const struct question *question);

/* Looks `count` queries up, ANSWER_QUERIES or fewer, and writes the answers in their order. If the library fails, sets
 * `error` and returns false; what was found before that is written. */
bool answerer_answer_queries(struct answerer *answerer, const struct query *queries, size_t count,
                             struct output *output);

/* Writes the answer to a query that has `count` matches. `matches` has the min(count, limit) nearest ones, in order,
 * where `limit` is the question's; with `exists`, `matches` is not read. If the library fails, sets `error` and returns
 * false; what was found before that is written. */
bool answerer_print_matches(struct answerer *answerer, const struct query *query, const struct idx_match *matches,
                            size_t count, struct output *output);

/* Closes the cursor that the answerer may have on the question's index, so that the index may be closed. */
void answerer_close_documents(struct answerer *answerer);

/* Closes the cursor, and frees what the answerer holds. */
void answerer_free(struct answerer *answerer);

/* ---- `idx lookup --agree`: agree.c ---- */

/* Some recipes make several fingerprints of a document, which become several queries with one ID. With --agree, a
 * document of the index is written if it is near to enough of them. Answerers append records of what they find, and
 * agree_count_records counts them in the order of the queries. */

/* Append to `records`, an output in memory, the record of a query, or of a document that is near to the query appended
 * last. IDs are copied. If memory runs out, records->error is set. */
void agree_append_query(const struct question *question, const struct query *query, struct output *records);
void agree_append_document(const struct idx_document *document, struct output *records);

/* Counts for each document how many queries of a group it is near to. Consecutive queries of one ID are a group; a
 * query without an ID is a group of its own. AGREE_INIT initializes the struct, which one thread uses. */
struct agree {
    const struct question *question;
    struct output records; /* Records that agree_count_records has not counted yet. */
    bool found;            /* A document was printed so far. */

    /* The group that is being counted. These are used by agree.c alone. */
    struct output group;        /* The ID of the group, or else the fingerprint of its only query, as it is printed. */
    struct output entries, ids; /* A struct entry for each document near to a query, and the IDs of these. */
    bool has_id;
    uint64_t query_count; /* How many queries the group has so far; 0: there is no group yet. */
};

#define AGREE_INIT(q)                                                                                                  \
    { .question = q, .records = OUTPUT_BUFFER, .group = OUTPUT_BUFFER, .entries = OUTPUT_BUFFER, .ids = OUTPUT_BUFFER }

/* Adds agree->records to their groups, and empties them. Writes the documents of each group that ends by this, like
 * agree_write_group. If memory runs out, output->error is set. */
void agree_count_records(struct agree *agree, struct output *output);

/* Writes the documents that are near to enough queries of the current group, those near to the most queries first, and
 * sets `found` if there are any. To be called once there are no more records. If memory ran out for this group,
 * output->error is set, and nothing is written. */
void agree_write_group(struct agree *agree, struct output *output);

/* Frees what the struct holds. */
void agree_free(struct agree *agree);

/* ---- Queries that several threads answer together; prints the answers in the queries' order ---- */

struct query_batch;

/* Returns an empty batch that `threads` threads answer, 1 or more with the calling one, or NULL, without a complaint,
 * if memory ran out. The question must stay valid. query_batch_free frees the batch. */
struct query_batch *query_batch_new(const struct question *question, unsigned threads);

/* Copies a query with its ID and shingles into the batch, which must not be full. Returns false, without a complaint,
 * if memory ran out; then no further query can be added. */
bool query_batch_add(struct query_batch *batch, const struct query *query);

/* Returns whether the batch has so many queries, or so many bytes of IDs or shingles, that no more may be added. */
bool query_batch_is_full(const struct query_batch *batch);

/* Writes the answers to the queries of the batch in their order, and empties the batch. If the library fails at a
 * query, sets *error and returns false; the answers to the queries before it are written. If memory runs out,
 * output->error is set. */
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

    /* The matches of consecutive queries that share an ID are stored until all of them are known, to be sorted
     * together: the library sorts only those of each query. */
    struct idx_match *matches;
    size_t stored_count, capacity, stored_query; /* `stored_query` is the number of one of these queries. */
    bool found;                                  /* A query had a match so far. */
    bool failed;                                 /* Memory ran out. */
};

/* Sorts the *count queries in `fingerprints` as their lines will be, removes repeated ones, and sets *count to how many
 * are left. In *answers, `output` and `bits` must be set, and all else 0. `ids` has the IDs as they are printed, one
 * after the other: that of query i ends at byte id_ends[i], and is empty if the query has none. `id_ends` is not needed
 * afterwards; fingerprints and IDs must stay valid until stream_answers_free, which the caller calls in any case.
 * Returns false, without a complaint, if memory ran out. */
bool stream_answers_begin(struct stream_answers *answers, uint64_t *fingerprints, size_t *count,
                          const struct output *ids, const size_t *id_ends);

/* Prints the matches of query `number`, or stores them if another query shares its ID. The library calls this for the
 * queries in the order of their numbers. Returns false to stop: memory ran out (`failed`), the output failed, or a
 * signal was noted. This is an idx_batch_visitor for idx_stream_finish, whose context is a struct stream_answers. */
bool stream_answers_print_or_store(void *context, size_t number, const struct idx_match *matches, size_t count);

/* Prints the matches that are stored, sorted and each line once, and empties the store. To be called also once all
 * queries were visited. */
void stream_answers_print_stored(struct stream_answers *answers);

/* Frees what the struct holds, but not the fingerprints and IDs. */
void stream_answers_free(struct stream_answers *answers);

#endif
