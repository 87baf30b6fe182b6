/* answerer.h: looks queries up and writes the answers as `idx lookup` prints them, or as records (agree.h). */
#ifndef IDX_TOOLS_ANSWERER_H
#define IDX_TOOLS_ANSWERER_H

#include "tools/input/queries.h"
#include "tools/shared/output.h"

#include <idx.h>

/* What is asked of every query. */
struct question {
    const struct idx_index *index;
    struct idx_properties properties;
    enum notation notation;
    unsigned distance;
    uint64_t limit;         /* matches a query */
    uint64_t max_documents; /* documents a match */
    uint64_t agree;         /* how many fingerprints of a query ID have to agree, to write records (agree.h); 0: no */
    bool exists;            /* only whether there is a match */
    bool json;
};

/* The most queries that are looked up together, and the matches that there is room for then: a query with more is
 * looked up again. */
enum { ANSWER_QUERIES = 64, ANSWER_MATCHES = 16 };

/* What one thread needs to answer; reused from query to query. */
struct answerer {
    const struct question *question;
    struct idx_documents *documents; /* opened at the first match */
    struct idx_match group[ANSWER_QUERIES * ANSWER_MATCHES];
    struct idx_match *matches; /* of one query */
    size_t capacity;
    struct output front; /* the columns before the document */
    bool found;          /* whether any query had a match so far */
    struct idx_error error;
};

void answerer_init(struct answerer *answerer, const struct question *question);

/* Writes the answers to `count` queries, up to ANSWER_QUERIES, to `output`, in their order. False when the library
 * failed, after what had been found until then: `error`. */
bool answerer_answer(struct answerer *answerer, const struct query *queries, size_t count, struct output *output);

/* Writes the answer to a query that has `count` matches, 1 or more, the nearest of them at `matches`. False as above.
 */
bool answerer_print(struct answerer *answerer, const struct query *query, const struct idx_match *matches, size_t count,
                    struct output *output);

/* Lets go of the question's index. */
void answerer_forget(struct answerer *answerer);

void answerer_free(struct answerer *answerer);

#endif
