/* intake.h: takes the documents of `idx dedup`, one after the other. Those to be compared go into an index, or as sets
 * of shingles to resemble.h; IDs of the others are kept in files. */
#ifndef IDX_TOOLS_DEDUP_INTAKE_H
#define IDX_TOOLS_DEDUP_INTAKE_H

#include "tools/answers/cluster_listing.h"
#include "tools/dedup/against.h"
#include "tools/dedup/divided.h"
#include "tools/dedup/id_hashes.h"
#include "tools/dedup/journal.h"
#include "tools/dedup/resemble.h"
#include "tools/input/tsv.h"
#include "tools/text/pipeline.h"

/* The values of --representative that idx_clusters does not know; the command numbers them behind the others. */
enum preferred { PREFERRED_NONE, PREFERRED_LONGEST, PREFERRED_NEWEST, PREFERRED_BEST };

/* If representatives are chosen by texts, dates or scores, all documents are kept in a temporary file, and go into the
 * index in the order of preference, because the first one of a cluster represents the others. */
struct preferred_document {
    int64_t value;
    uint64_t number; /* Counted from 0, in the order in which documents came. */
    uint64_t offset; /* Where its record is in the temporary file. */
};

struct preference {
    enum preferred preferred;

    /* These are used by intake.c alone. */
    struct temporary documents;
    struct preferred_document *order;
    size_t count, capacity;
    uint64_t length; /* Bytes of the temporary file. */
};

#define PREFERENCE_NONE                                                                                                \
    { .documents = TEMPORARY_CLOSED }

/* Returns the number of a document in the order in which documents came, from its number in the index; these are the
 * same unless there is an order of preference. */
uint64_t preference_input_number(const struct preference *preference, uint64_t number);

/* How many documents are looked up in the index of --against together, or so many bytes of shingles. */
enum { INTAKE_BATCH = 1024, INTAKE_BYTES = 1 << 22 };

/* A document that is to be compared. */
struct arrival {
    struct tsv_record record;
    bool has_fingerprint;
    const uint64_t *shingles;
    size_t shingle_count;
    const struct made *made; /* Has the parts, where parts of documents are compared. They are not looked up then. */
    struct place place;      /* All zero without a journal, but for the fate. */
    int64_t value;           /* Of near documents, the one with the largest is preferred. */
};

struct intake {
    /* These are set by the caller. */
    struct idx_builder *builder; /* NULL: `resemble` takes the documents. */
    struct resemble *resemble;
    struct divided *divided; /* It takes documents and hands their parts to `resemble`; NULL: documents are compared. */
    enum idx_id_type id_type;
    struct against *against;
    bool looks_up;           /* Documents near to one of `against` are known, and not compared. */
    bool notes_ids;          /* Hashes of all text IDs are kept in `all_ids`. */
    struct journal *journal; /* NULL: no journal is kept. */
    struct preference preference;

    struct id_hashes all_ids;
    struct temporary apart; /* IDs of the documents that are kept without being compared, a line each. */
    uint64_t compared;      /* Documents that are compared. */
    uint64_t apart_count, known_count;

    /* These are used by intake.c alone. */
    struct temporary known; /* Records of the documents that the other index has. */
    struct arrival arrivals[INTAKE_BATCH];
    size_t count;
    struct output ids, shingles; /* Those of the arrivals. */
    uint64_t fingerprints[INTAKE_BATCH];
    struct idx_match matches[INTAKE_BATCH];
    size_t match_counts[INTAKE_BATCH];
};

/* Takes a document that is to be compared; what the arrival points to is copied. */
bool intake_take(struct intake *intake, const struct arrival *arrival);

/* Takes the ID of a document that is kept without being compared, because it has too few features or no words, or
 * because it is a bad record. For what is kept but is no document, length is 0. */
bool intake_keep_apart(struct intake *intake, const char *id, size_t length, const struct place *place);

/* Handles the last batch, and adds documents in the order of preference. Returns false also if a signal was noted. */
bool intake_end(struct intake *intake);

/* Prints the documents that the listing has not. With --keep, these are the ones that are kept without being compared;
 * otherwise, those that the other index has, as IDs to drop or as lines of clusters with - for the cluster. */
bool intake_print(struct intake *intake, struct listing *listing);

/* Writes a line for each document that the other index has: its ID, and unless `middle` is NULL, also `middle`, the ID
 * of the document that it is near to, a tab and the distance. */
bool intake_put_known(struct intake *intake, struct output *output, const char *middle);

void intake_close(struct intake *intake);

#endif
