/* against.h: what `idx dedup --against` names: an index, or texts that were kept before. New documents are compared
 * with these before they are compared with each other. */
#ifndef IDX_TOOLS_DEDUP_AGAINST_H
#define IDX_TOOLS_DEDUP_AGAINST_H

#include "tools/dedup/id_hashes.h"
#include "tools/dedup/resemble.h"
#include "tools/text/pipeline.h"

struct against {
    /* These are set by the caller. */
    const char *path;         /* What --against names; NULL: it is not given. */
    struct strings documents; /* Files and folders with the texts of the index's documents, or one file of their sets
                                 (--documents); none: fingerprints decide. */
    unsigned distance;        /* Fingerprints within this distance of those of the index are near. */

    /* These are set by against_open. */
    bool is_index;     /* Otherwise, `path` is a file or a folder of texts. */
    bool has_sketches; /* The index is one of sketches, by which nothing is looked up here: texts or sets decide. */
    struct sketch sketch;
    struct idx_properties properties;
    struct idx_index *index;

    /* These are used by against.c alone. */
    struct idx_documents *cursor; /* NULL: the index keeps no documents. */
    struct id_hashes ids;         /* Those of the index's documents, if their texts or sets are read. */
    uint64_t *found;              /* A bit for each of these IDs: its text or set was found. */
    struct idx_kept_sets *kept;
    struct resemble *resemble;
    bool failed; /* A visitor has complained; a visit of the index that it stops ends well. */
};

/* Returns whether new documents are looked up in the index by their fingerprints. */
static inline bool against_looks_up(const struct against *against) {
    return against->is_index && against->documents.count == 0;
}

/* Returns the path of the file with the sets of the index's documents, or NULL if their texts are given instead. */
const char *against_sets_path(const struct against *against);

/* Opens the index if the path is that of one. The path may be NULL. */
bool against_open(struct against *against);

/* Completes `rules` so that documents are fingerprinted as those of the index were: with as many bits, and if the
 * documents have texts, by the same recipe. Returns false if the rules contradict the index. */
bool against_complete_rules(const struct against *against, struct pipeline_rules *rules, bool has_texts);

/* Looks up fingerprints. Sets counts[i] to how many are near to fingerprints[i], and matches[i] to the nearest one. */
bool against_look_up(const struct against *against, const uint64_t *fingerprints, size_t count,
                     struct idx_match *matches, size_t *counts);

/* Appends the ID of the first document of a match, or its fingerprint if the index keeps no documents. */
bool against_put_match_id(struct against *against, const struct idx_match *match, struct output *id);

/* Adds known documents to `resemble`: the texts at `path`, or those or the sets of the index's documents, of which it
 * complains if there are none. Returns false also if a signal was noted. */
bool against_read_texts(struct against *against, const struct pipeline_rules *rules, struct resemble *resemble);

void against_close(struct against *against);

#endif
