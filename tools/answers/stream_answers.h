/* stream_answers.h: what `idx batch --stream` prints: query, fingerprint, distance, in the order of LC_ALL=C sort, each
 * line once. A query goes by its ID, or else by its fingerprint; several queries may have one ID. */
#ifndef IDX_TOOLS_STREAM_ANSWERS_H
#define IDX_TOOLS_STREAM_ANSWERS_H

#include "tools/input/queries.h"
#include "tools/shared/output.h"

#include <idx.h>

struct stream_answers {
    struct output *output;
    unsigned bits;
    const uint64_t *fingerprints; /* of the queries, in the order of their lines */
    size_t count;
    struct query *queries; /* the same ones, all with an ID as it is printed; NULL: none has one */
    char *names;           /* the fingerprints that are printed in place of IDs */

    /* Matches of the queries that share an ID: those of each come sorted, but not those of all. */
    struct idx_match *matches;
    size_t kept, capacity, last; /* `last`: the number of one of the queries */
    bool found;                  /* whether any query had a match so far */
    bool failed;                 /* no memory */
};

/* Sorts queries as their lines will be, and leaves out repeated ones. `ids`: as they are printed, one after the other,
 * that of query i before id_ends[i]; an empty one is none. Queries and IDs remain the caller's. False when memory runs
 * out. */
bool stream_answers_begin(struct stream_answers *answers, uint64_t *fingerprints, size_t *count,
                          const struct output *ids, const size_t *id_ends);

/* An idx_batch_visitor for idx_stream_finish, whose context is a struct stream_answers. */
bool stream_answers_visit(void *context, size_t number, const struct idx_match *matches, size_t count);

/* Prints what is still kept. */
void stream_answers_end(struct stream_answers *answers);

void stream_answers_free(struct stream_answers *answers);

#endif
