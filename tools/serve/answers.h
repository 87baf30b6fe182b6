/* answers.h: writes matches and their documents as JSON, in the form of `idx lookup --format json`. */
#ifndef IDX_TOOLS_SERVE_ANSWERS_H
#define IDX_TOOLS_SERVE_ANSWERS_H

#include "tools/serve/request.h"
#include "tools/serve/views.h"
#include "tools/shared/rows.h"
#include "tools/shared/wording.h"

#include <idx_text.h>

/* An answer comes from one view, even if the index changes while it is made. */
struct answers {
    struct request *request;
    struct rows rows;  /* Those of the request's answer. */
    struct view *view; /* NULL: `index` is the writer's, not a view. */
    const struct idx_index *index;
    const struct idx_properties *properties;
    unsigned distance;
    struct idx_documents *cursor; /* NULL until the first document is written. */
    uint64_t queries, matches;    /* Counts of what was answered so far. */
};

/* Begins an answer from the current view. Returns false where the request failed, as it does if its k is too large.
 * The caller calls answers_end in either case. */
bool answers_begin(struct answers *answers, struct request *request);

/* Returns the largest distance that look-ups in the service's views take: these may be unpacked for more than the k of
 * the index, unlike the view of a writer. */
unsigned answers_find_max_distance(const struct service *service, const struct idx_properties *properties);

/* Sets `distance` to what the request asks for, or to the k of the index if it does not ask. Returns false, and fails
 * the request, if the index can't look up so far. */
bool answers_set_distance(struct answers *answers);

/* Returns whether the index has a map from IDs to fingerprints, and fails the request if it has none. */
bool answers_require_map_from_ids(struct request *request, const struct idx_properties *properties);

/* Closes the cursor, releases the view, and adds what was answered to the counts of the service. Does not finish the
 * answer of the request. */
void answers_end(struct answers *answers);

/* Writes "query":…,"count":…,"matches":[…], with their documents, and counts the query as answered. `matches` has the
 * nearest of the query's `match_count` matches: all of them, or as many as the request wants. Returns false where the
 * request failed. */
bool answers_put_query_and_matches(struct answers *answers, uint64_t query, const struct idx_match *matches,
                                   size_t match_count);

/* Writes what answers_put_query_and_matches writes, but without "query":…. */
bool answers_put_matches(struct answers *answers, const struct idx_match *matches, size_t match_count);

/* Looks a fingerprint up, and writes what answers_put_query_and_matches writes. Returns false where the request
 * failed. */
bool answers_look_up_and_put(struct answers *answers, uint64_t query);

/* Ends a row, which the caller began, with "answers":[…], an object for each of the fingerprints in `queries`, unless
 * the request fails. */
void answers_look_up_all(struct answers *answers, const uint64_t *queries, size_t query_count);

/* ---- By resemblance ---- */

/* Sets *shingling to what the shingles of the index are, and *options to the threshold and the limit that the request
 * asks for. Returns false where the request failed, as it does if the index has no sets. */
bool answers_begin_resembling(struct answers *answers, struct idx_text_shingle_options *shingling,
                              struct idx_resembling_options *options);

/* Writes "resembling":[…], the stored texts that resemble the text of this number, from 0, in the lists. Counts that
 * text as an answered query. */
void answers_put_resembling(struct answers *answers, const struct idx_resembling_lists *lists, size_t text_number);

/* Looks up which stored texts resemble a set of shingles, and writes the object that lists them, unless the request
 * fails. */
void answers_look_up_set(struct answers *answers, const struct idx_set *set,
                         const struct idx_resembling_options *options);

#endif
