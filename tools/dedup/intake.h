/* intake.h: takes the documents of a dedup, one after the other: those to be compared go into the index that is built
 * of them, others are kept aside. */
#ifndef IDX_TOOLS_INTAKE_H
#define IDX_TOOLS_INTAKE_H

#include "tools/answers/cluster_listing.h"
#include "tools/dedup/against.h"
#include "tools/dedup/journal.h"
#include "tools/dedup/preference.h"
#include "tools/input/tsv.h"

/* How many documents are looked up together. */
enum { INTAKE_BATCH = 1024 };

struct intake {
    /* Set by the caller. */
    struct idx_builder *builder;
    enum idx_id_type id_type;
    struct against *against;
    bool looks_up;           /* documents that are near to one of its index are known, whatever their texts */
    struct journal *journal; /* NULL: none is kept */
    struct preference preference;

    struct temporary few; /* lines: the IDs of the documents with too few features */
    uint64_t compared;    /* how many documents went into the index */
    uint64_t few_count, known_count;

    /* Within. */
    struct temporary known; /* of the documents that the other index has */
    struct arrival {
        struct tsv_record record; /* its ID in `ids` */
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
 * any are. False after a complaint. */
bool intake_take(struct intake *intake, const struct tsv_record *record, const struct place *place, int64_t value);

/* Takes the ID of a document with too few features, or none at all (length 0), of what is kept without comparing it. */
bool intake_keep(struct intake *intake, const char *id, size_t length, const struct place *place);

/* Ends taking. False after a complaint. */
bool intake_end(struct intake *intake);

/* Takes a document of those that were to be compared, once it turns out that the other index has it: `other`, by this
 * match. After the last one comes intake_end_known. False after a complaint. */
bool intake_add_known(struct intake *intake, const struct idx_document *document, const struct idx_document *other,
                      const struct idx_match *match);
bool intake_end_known(struct intake *intake);

/* Prints documents that were not compared with each other, as the listing does: those that the other index has to drop,
 * or as lines of clusters, with - for the cluster; those with too few features to keep. False after a complaint. */
bool intake_print(struct intake *intake, struct listing *listing);

/* Writes the documents that the other index has: the ID; and unless `middle` is NULL, that, the other ID, a tab and the
 * distance. False after a complaint. */
bool intake_put_known(struct intake *intake, struct output *output, const char *middle);

void intake_close(struct intake *intake);

#endif
