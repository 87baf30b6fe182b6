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

/* Begins an answer from the current view, which it acquires, with the distance that the request asks for. Returns false
 * where the request failed, because its k is too large. The caller calls answers_end in either case. */
bool answers_begin(struct answers *answers, struct request *request);

/* Returns the largest distance of look-ups in a view of the index with these properties. It may be above the k of the
 * index, since the service may unpack its views for more. A writer's view is never unpacked, so there the k is the
 * largest. */
unsigned answers_find_max_distance(const struct service *service, const struct idx_properties *properties);

/* Sets `distance` to what the request asks for, or to the k of the index if it does not ask. Returns false, and fails
 * the request with status 400, if look-ups in the index don't reach that far. */
bool answers_set_distance(struct answers *answers);

/* Returns whether an index with these properties has a map from IDs to fingerprints. If not, fails the request with
 * status 409. */
bool answers_require_map_from_ids(struct request *request, const struct idx_properties *properties);

/* Closes the cursor, releases the view, and adds `queries` and `matches` to the metrics of the service. Does not finish
 * the answer of the request. */
void answers_end(struct answers *answers);

/* Writes "query":…,"count":…,"matches":[…], with the documents of each match, and counts the query as answered.
 * `match_count` is how many matches the query has; `matches` has the nearest ones, at least as many as the request's
 * limit if there are so many. Returns false where the request failed, after a part of that. */
bool answers_write_query_and_matches(struct answers *answers, uint64_t query, const struct idx_match *matches,
                                     size_t match_count);

/* Writes "count":…,"matches":[…]: what answers_write_query_and_matches writes, but without the query. Returns
 * false where the request failed, after a part of that. */
bool answers_write_matches(struct answers *answers, const struct idx_match *matches, size_t match_count);

/* Looks the fingerprint `query` up at the answer's distance, and writes what answers_write_query_and_matches writes.
 * Returns false where the request failed: the look-up did, or the answer is beyond a limit. */
bool answers_look_up_and_write_one(struct answers *answers, uint64_t query);

/* Looks the fingerprints in `queries` up, and writes "answers":[…], with an object for each of them. Then ends the row,
 * which the caller began. Stops where the request fails; the error then replaces the answer. */
void answers_look_up_and_write_all(struct answers *answers, const uint64_t *queries, size_t query_count);

/* ---- By resemblance ---- */

/* Sets *shingling to how the index makes shingles, by its recipe, and *options to the threshold and the limit of the
 * request, or the threshold of the index if the request has none. Returns false where the request failed, because the
 * index has no sets of shingles. */
bool answers_set_resembling_options(struct answers *answers, struct idx_text_shingle_options *shingling,
                                    struct idx_resembling_options *options);

/* Writes "resembling":[…], the stored texts that the lists have for the query text `text_number`, from 0. Counts that
 * text as an answered query. */
void answers_write_resembling(struct answers *answers, const struct idx_resembling_lists *lists, size_t text_number);

/* Looks up which stored texts resemble a set of shingles, and writes a row that lists them: {"features":…,"missed":…,
 * "resembling":[…]}. Writes nothing if the request fails. */
void answers_look_up_and_write_resembling(struct answers *answers, const struct idx_set *set,
                                          const struct idx_resembling_options *options);

#endif
