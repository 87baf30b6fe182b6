/* answers.h: matches and their documents in JSON, as `idx lookup --format json` writes them. */
#ifndef IDX_TOOLS_SERVE_ANSWERS_H
#define IDX_TOOLS_SERVE_ANSWERS_H

#include "tools/serve/request.h"

/* What an answer is made of: one view, whatever comes meanwhile. */
struct answers {
    struct request *request;
    struct view *view; /* NULL: the index is somebody else's */
    const struct idx_index *index;
    const struct idx_properties *properties;
    unsigned distance;
    struct idx_documents *cursor; /* NULL: not yet opened */
    uint64_t queries, matches;    /* so far */
};

/* Begins with the current view. False where the request failed, as by a k that the index does not have; answers_end is
 * to be called all the same. */
bool answers_begin(struct answers *answers, struct request *request);

/* Sets the distance that the request asks for. False where the index can't answer it. */
bool answers_set_distance(struct answers *answers);

void answers_end(struct answers *answers);

/* Reads a fingerprint of the index. False where it is none, and says why. */
bool answers_read_fingerprint(const struct answers *answers, const char *text, size_t length, uint64_t *fingerprint,
                              struct problem *problem);

/* Writes "query":…,"count":…,"matches":[…], for a query that has `count` matches, of which the nearest ones are at
 * `matches`, as many as there are or as the request wants. False where the request failed. */
bool answers_put(struct answers *answers, uint64_t query, const struct idx_match *matches, size_t count);

/* "count":…,"matches":[…] alone. */
bool answers_put_matches(struct answers *answers, const struct idx_match *matches, size_t count);

/* Looks a fingerprint up and writes the same, as an object. */
bool answers_put_query(struct answers *answers, uint64_t query);

/* Bytes as JSON. */
void answers_put_bytes(struct output *output, const void *bytes, size_t length);

#endif
