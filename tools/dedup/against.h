/* against.h: the index that new documents are compared with before they are compared with each other. */
#ifndef IDX_TOOLS_AGAINST_H
#define IDX_TOOLS_AGAINST_H

#include "tools/text/pipeline.h"

#include <idx.h>

struct against {
    const char *path; /* NULL: there is none */
    unsigned distance;

    struct idx_properties properties;
    struct idx_index *index;
    struct idx_documents *documents;
};

/* Opens the index. False after a complaint. */
bool against_open(struct against *against);

/* Has documents fingerprinted as the index says, unless `rules` say how; and texts alone by its recipe. False after a
 * complaint: they don't match. */
bool against_settle(const struct against *against, struct pipeline_rules *rules, bool texts);

/* Looks up fingerprints: counts[i] is how many are near to fingerprints[i], matches[i] the nearest. False after a
 * complaint. */
bool against_look_up(const struct against *against, const uint64_t *fingerprints, size_t count,
                     struct idx_match *matches, size_t *counts);

/* Appends the ID of the first document of a match, or without documents the fingerprint. False after a complaint. */
bool against_put_id(struct against *against, const struct idx_match *match, struct output *id);

void against_close(struct against *against);

#endif
