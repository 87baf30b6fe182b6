/* against.h: what `idx dedup --against` names: an index, or texts that were kept before. New documents are compared
 * with these before they are compared with each other. */
#ifndef IDX_TOOLS_DEDUP_AGAINST_H
#define IDX_TOOLS_DEDUP_AGAINST_H

#include "tools/dedup/id_hashes.h"
#include "tools/dedup/resemble.h"
#include "tools/text/pipeline.h"

struct against {
    /* These are set by the caller. */
    const char *path;         /* NULL: there is nothing. */
    struct strings documents; /* Files and folders with the texts of the index's documents, or of sketches a file
                               of sets; none: fingerprints decide. */
    unsigned distance;        /* Of fingerprints. */

    bool is_index;
    bool has_sketches; /* The index is one of sketches, which look up nothing here: texts or sets decide. */
    struct sketch sketch;
    struct idx_properties properties;
    struct idx_index *index;

    /* These are used by against.c alone. */
    struct idx_documents *cursor;
    struct id_hashes ids;
    uint64_t *found; /* A bit for each of these IDs that a text has. */
    struct idx_kept_sets *kept;
    struct resemble *resemble;
};

/* Returns whether fingerprints decide what the index has. */
static inline bool against_looks_up(const struct against *against) {
    return against->is_index && against->documents.count == 0;
}

/* Returns the file of sets in which those of the documents are, or NULL if they are texts. */
const char *against_sets(const struct against *against);

/* Opens the index if the path is that of one. */
bool against_open(struct against *against);

/* Completes `rules` so that documents are fingerprinted as those of the index were. Returns false if the rules
 * contradict the index. */
bool against_settle(const struct against *against, struct pipeline_rules *rules, bool texts);

/* Looks up fingerprints. Sets counts[i] to how many are near to fingerprints[i], and matches[i] to the nearest of
 * these. */
bool against_look_up(const struct against *against, const uint64_t *fingerprints, size_t count,
                     struct idx_match *matches, size_t *counts);

/* Appends the ID of the first document of a match, or without documents the fingerprint. */
bool against_put_id(struct against *against, const struct idx_match *match, struct output *id);

/* Reads the texts by the rules, and adds them to those that are compared, as known ones. If there is an index, these
 * are the texts of its documents. Returns false also if a signal was noted. */
bool against_read_texts(struct against *against, const struct pipeline_rules *rules, struct resemble *resemble);

void against_close(struct against *against);

#endif
