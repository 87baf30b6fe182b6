/* intake.h: takes the documents of a dedup, one after the other: those to be compared go into the index that is built
 * of them, others are kept aside. */
#ifndef IDX_TOOLS_INTAKE_H
#define IDX_TOOLS_INTAKE_H

#include "tools/answers/cluster_listing.h"
#include "tools/dedup/journal.h"
#include "tools/input/tsv.h"
#include "tools/shared/temporary.h"
#include "tools/text/pipeline.h"

#include <idx.h>

/* The index that new documents are compared with before they are compared with each other. */
struct against {
    const char *path; /* NULL where there is no such index */
    unsigned distance;

    struct idx_properties properties;
    struct idx_index *index;
    struct idx_documents *documents;
};

/* Opens the index at the path. Returns false after a complaint. */
bool against_open(struct against *against);

/* Completes `rules` so that documents are fingerprinted as those of the index were. Returns false after a complaint if
 * the rules contradict the index. */
bool against_settle(const struct against *against, struct pipeline_rules *rules, bool texts);

void against_close(struct against *against);

/* The values of --representative that idx_clusters does not know; the command numbers them behind those it knows. */
enum preferred { PREFERRED_NONE, PREFERRED_LONGEST, PREFERRED_NEWEST };

/* Which documents are preferred as representatives, where their texts or dates say so. All of them are kept in a
 * temporary file, and go into the index in the order of preference: of those that are near, the first one represents
 * the others then. */
struct preferred_document {
    int64_t value;
    uint64_t number; /* counts the documents from 0, in the order in which they came */
    uint64_t offset; /* of its record in the temporary file */
};

struct preference {
    enum preferred preferred;

    /* Used by intake.c alone. */
    struct temporary documents;
    struct preferred_document *order;
    size_t count, capacity;
    uint64_t length; /* of the temporary file, in bytes */
};

#define PREFERENCE_NONE                                                                                                \
    { .documents = TEMPORARY_CLOSED }

/* Returns the number of a document in the order in which documents came, from its number in the index. */
uint64_t preference_number(const struct preference *preference, uint64_t number);

/* How many documents are looked up together. */
enum { INTAKE_BATCH = 1024 };

struct intake {
    /* These are set by the caller. */
    struct idx_builder *builder;
    enum idx_id_type id_type;
    struct against *against;
    bool looks_up;           /* whether documents near to one of `against` are known, whatever their texts */
    struct journal *journal; /* NULL if no journal is kept */
    struct preference preference;

    struct temporary few; /* the IDs of the documents with too few features, a line each */
    uint64_t compared;    /* how many documents went into the index */
    uint64_t few_count, known_count;

    /* These are used by intake.c alone. */
    struct temporary known; /* records of the documents that the other index has */
    struct arrival {
        struct tsv_record record; /* the bytes of its ID are in `ids` */
        struct place place;
        int64_t value;
    } arrivals[INTAKE_BATCH];
    size_t count;
    struct output ids;
    uint64_t fingerprints[INTAKE_BATCH];
    struct idx_match matches[INTAKE_BATCH];
    size_t match_counts[INTAKE_BATCH];
};

/* Takes a document. The place is its place in the journal, if one is kept; the value is by which it is preferred, if
 * any are. Returns false after a complaint. */
bool intake_take(struct intake *intake, const struct tsv_record *record, const struct place *place, int64_t value);

/* Takes the ID of a document with too few features, or none at all (length 0), of what is kept without comparing it. */
bool intake_keep(struct intake *intake, const char *id, size_t length, const struct place *place);

/* Settles the last batch, and adds documents in the order of preference if there is one. Returns false after a
 * complaint. */
bool intake_end(struct intake *intake);

/* Takes a document of those that were to be compared, once it turns out that the other index has it: `other`, by this
 * match. After the last one comes intake_end_known. Returns false after a complaint. */
bool intake_add_known(struct intake *intake, const struct idx_document *document, const struct idx_document *other,
                      const struct idx_match *match);
bool intake_end_known(struct intake *intake);

/* Prints documents that were not compared with each other, as the listing does: those that the other index has to drop,
 * or as lines of clusters, with - for the cluster; those with too few features to keep. Returns false after a
 * complaint. */
bool intake_print(struct intake *intake, struct listing *listing);

/* Writes the documents that the other index has: the ID; and unless `middle` is NULL, that, the other ID, a tab and the
 * distance. Returns false after a complaint. */
bool intake_put_known(struct intake *intake, struct output *output, const char *middle);

void intake_close(struct intake *intake);

#endif
