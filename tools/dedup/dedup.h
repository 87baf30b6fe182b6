/* dedup.h: what `idx dedup` does beyond clusters: it takes documents in, confirms clusters by texts, and writes
 * records. */
#ifndef IDX_TOOLS_DEDUP_DEDUP_H
#define IDX_TOOLS_DEDUP_DEDUP_H

#include "tools/answers/cluster_listing.h"
#include "tools/input/input.h"
#include "tools/shared/files.h"
#include "tools/shared/library.h"
#include "tools/text/documents.h"
#include "tools/text/text.h"

#include <sys/stat.h>

/* ---- A bit for each document that was compared, by its number ---- */

static inline bool bit_is_set(const uint64_t *bits, uint64_t number) {
    return (bits[number / 64] >> number % 64 & 1) != 0;
}

static inline void bit_set(uint64_t *bits, uint64_t number) { bits[number / 64] |= UINT64_C(1) << number % 64; }

/* Returns `count` bits or more, none of them set, which the caller frees. Returns NULL after a complaint. */
uint64_t *bits_make(uint64_t count);

/* ---- Journal ---- */

/* A command that reads its inputs twice notes, at the first time, which files there are, and where each document is in
 * them. */

/* What became of a document. */
enum fate {
    FATE_COMPARED, /* It is in the index that is clustered. Such documents are numbered from 0, in the order of the
                      inputs. */
    FATE_KEPT,     /* It has too few features, is a bad record, or is no document. */
    FATE_KNOWN,    /* The index of --against has it. */
};

struct place {
    uint64_t file, begins, ends; /* As in struct raw_document. */
    enum unit unit;
    enum fate fate;
};

struct journal_file {
    const char *path;
    bool in_folder;
    struct stat status; /* What fstat said when the file was first opened. */
};

struct journal {
    struct temporary places, files;
    uint64_t place_offset, file_offset; /* Where the next place, and the record of the next file, are read. */
    uint64_t next_file;                 /* The number of the file whose record is read next. */
    struct journal_file file;           /* The file whose record was read last. */
};

#define JOURNAL_CLOSED                                                                                                 \
    { .places = TEMPORARY_CLOSED, .files = TEMPORARY_CLOSED }

/* Checks that all inputs can be read twice. Returns false after a complaint. */
bool journal_check_inputs(const struct texts *paths);

/* Makes the journal's files in `scratch`, which is in `folder`, as temporary_open does. Returns false after a
 * complaint. */
bool journal_open(struct journal *journal, const struct scratch *scratch, const char *folder);

/* Notes a file. Another thread may call journal_add at the same time. Returns false after a complaint if the file can't
 * be read again. */
bool journal_add_file(struct journal *journal, const struct opened_file *file);

void journal_add(struct journal *journal, const struct place *place);

/* Ends noting, and begins to read the journal, or begins to read it once more. Returns false after a complaint. */
bool journal_rewind(struct journal *journal);

/* Reads the next place. Returns false at the end. */
bool journal_next(struct journal *journal, struct place *place);

/* Reads on to the file of this number, counted from 0, which must have been noted. Numbers ascend from call to call. */
void journal_find_file(struct journal *journal, uint64_t number);

/* Checks that the open file is still the same as when it was noted. Returns false after a complaint. */
bool journal_check_file(const struct journal_file *file, int descriptor);

void journal_close(struct journal *journal);

/* ---- Reading some of the documents that were compared once more ---- */

struct again {
    /* These are set by the caller. */
    struct journal *journal;
    const uint64_t *wanted; /* A bit for each document that was compared. */
    uint64_t compared;      /* How many documents were compared. */
    /* Called for each wanted document that can be read, in order, with its number and what is listed of it. Returns
     * false to stop, after a complaint. */
    bool (*take)(void *context, uint64_t number, const char *listed, size_t length);
    void *context;

    /* These are private. */
    struct place place; /* The place of the next document to be read. */
    uint64_t next_number, taken;
    bool is_wanting, failed;
};

/* Reads the wanted documents by the rules, but lists `listed` of them by the recipe. Returns false after a complaint,
 * or where a signal was noted. */
bool again_read(struct again *again, const struct pipeline_rules *rules, const char *recipe, enum listed listed);

/* Returns rules by which documents are listed by a recipe, and not fingerprinted, but read as `rules` say. */
struct pipeline_rules again_rules(const struct pipeline_rules *rules, const char *recipe);

/* ---- Sets ---- */

/* The features of documents, in a temporary file. The documents are read again by the journal; those of an index are
 * found among its texts by their IDs. */

/* Where the features of a document are. They ascend by hash. */
struct set {
    uint64_t number; /* The document's number, or the hash of its ID. */
    uint64_t offset; /* Where its first feature is in the file, in bytes. */
    uint64_t count;
};

struct sets {
    bool weighted; /* A feature is a struct idx_feature; otherwise, a uint64_t hash. */

    struct temporary file;
    struct set *sets; /* Sorted by number once the file is mapped. */
    size_t count, capacity;
    size_t size; /* Bytes of the file. */
};

#define SETS_CLOSED                                                                                                    \
    { .file = TEMPORARY_CLOSED }

/* Adds the features of a document; if several have the same number, the first one counts. Returns false after a
 * complaint. */
bool sets_add(struct sets *sets, uint64_t number, const char *features, size_t length);

/* Ends adding, and maps the file. Returns false after a complaint. */
bool sets_map(struct sets *sets);

/* Returns the set of a document, or NULL if it has none. */
const struct set *sets_find(const struct sets *sets, uint64_t number);

/* Returns the features of a set, struct idx_feature or uint64_t; NULL if it is empty. */
const void *sets_features(struct sets *sets, const struct set *set);

void sets_close(struct sets *sets);

/* The documents of an index whose texts are wanted. If all is zero, there are none. */
struct by_id {
    uint64_t *wanted; /* Hashes of the IDs, perhaps repeated; sorted by by_id_read. */
    size_t count, capacity;
};

/* Returns the hash of an ID, which is the number of its document in the sets. */
uint64_t by_id_hash(const void *id, size_t length);

/* Adds the document whose ID has this hash to those that are wanted. Returns false after a complaint. */
bool by_id_want(struct by_id *by_id, uint64_t hash);

/* Reads the inputs, and adds to the sets the features that the recipe makes of the wanted documents. Returns false
 * after a complaint, or if a signal was noted. */
bool by_id_read(struct by_id *by_id, const struct pipeline_rules *rules, const char *recipe, const struct texts *inputs,
                struct sets *sets);

/* Counts the wanted documents that have no text in the sets, which are mapped. */
uint64_t by_id_count_missing(const struct by_id *by_id, const struct sets *sets);

void by_id_free(struct by_id *by_id);

/* ---- IDs that repeat ---- */

/* Counts the IDs that several documents have: then a list of IDs does not say which of them are meant. It takes 8 bytes
 * per document, for a hash of its ID. */
struct repeats {
    bool is_asked_for; /* Set by the caller; otherwise no IDs are kept. */

    /* These are used by repeats.c alone. */
    uint64_t *hashes;
    size_t count, capacity;
};

/* Takes the ID of a document. Returns false after a complaint. */
bool repeats_add(struct repeats *repeats, const char *id, size_t length);

/* Sets *ids to how many IDs several documents have, and *documents to how many documents have these. */
void repeats_count(struct repeats *repeats, uint64_t *ids, uint64_t *documents);

void repeats_free(struct repeats *repeats);

/* ---- Resemble ---- */

/* Decides by the shingles of texts which documents to keep. */

/* A document that is compared. */
struct compared_text {
    int64_t value;   /* Those with greater values are preferred. */
    uint64_t offset; /* Where its ID is in the temporary file. */
    size_t id_length;
};

struct resemble {
    /* These are set by the caller. */
    int64_t threshold;               /* In units of 1/IDX_DECIMAL_WEIGHT_ONE. */
    enum idx_representative prefers; /* IDX_REPRESENTATIVE_FIRST: by the values of documents. */

    struct idx_kept_set *kept; /* Which document each one joins, once that is decided. */
    uint64_t count;

    /* These are used by resemble.c alone. */
    struct idx_sets *sets;
    struct temporary ids;
    uint64_t id_bytes; /* Bytes of that file. */
    struct compared_text *documents;
    size_t capacity;
};

#define RESEMBLE_NONE                                                                                                  \
    { .ids = TEMPORARY_CLOSED }

/* Reads the argument of an option that is a resemblance, in units of 1/IDX_DECIMAL_WEIGHT_ONE. Returns false after a
 * complaint. */
bool resemblance_read(const char *option, const char *argument, int64_t *least);

/* Makes the temporary file, and begins with no documents. Returns false after a complaint. */
bool resemble_open(struct resemble *resemble, const struct idx_sets_options *options, const struct scratch *scratch,
                   const char *folder);

/* Takes the next document. Returns false after a complaint. */
bool resemble_add(struct resemble *resemble, const struct text_set *set, int64_t value);

/* Decides which documents are kept. Returns false after a complaint, or if a signal was noted. */
bool resemble_decide(struct resemble *resemble);

/* A function that gets a document and the one of its cluster that is kept, the representative, and what both have in
 * common. The member has no fingerprints. It returns false to stop. */
typedef bool (*resemble_visitor)(void *context, const struct idx_cluster_member *member,
                                 const struct idx_kept_set *kept);

/* Visits all documents in the order in which they came; or with `clusters`, those of clusters of two or more, cluster
 * by cluster, the representative first. Sets the summary before that. Returns false after a complaint, or if a signal
 * was noted, or if `visit` did. */
bool resemble_visit(struct resemble *resemble, bool clusters, resemble_visitor visit, void *context,
                    struct idx_cluster_summary *summary);

void resemble_close(struct resemble *resemble);

/* ---- Intake ---- */

/* Takes the documents of `idx dedup`, one after the other. Those to be compared go into an index; IDs of the others are
 * kept in files. */

/* The index that new documents are compared with before they are compared with each other. */
struct against {
    const char *path; /* NULL: there is no such index. */
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

/* The values of --representative that idx_clusters does not know. The command numbers them behind those that it
 * knows. */
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

/* Returns the number of a document in the order in which documents came, from its number in the index. */
uint64_t preference_number(const struct preference *preference, uint64_t number);

/* How many documents are looked up in the index of --against together. */
enum { INTAKE_BATCH = 1024 };

struct intake {
    /* These are set by the caller. */
    struct idx_builder *builder; /* NULL: the documents are compared by their sets. */
    enum idx_id_type id_type;
    struct against *against;
    bool looks_up;           /* What is near to a document of `against` is known, whatever its text. */
    struct journal *journal; /* NULL: no journal is kept. */
    struct preference preference;

    struct repeats repeats; /* Of the text IDs of all documents, if it is asked for. */
    struct temporary apart; /* IDs of the documents that are kept without being compared, a line each. */
    uint64_t compared;      /* Documents that went into the index. */
    uint64_t apart_count, known_count;

    /* These are used by intake.c alone. */
    struct temporary known; /* Records of the documents that the other index has. */
    struct arrival {
        struct tsv_record record; /* The bytes of its ID are in `ids`. */
        struct place place;
        int64_t value;
    } arrivals[INTAKE_BATCH];
    size_t count;
    struct output ids;
    uint64_t fingerprints[INTAKE_BATCH];
    struct idx_match matches[INTAKE_BATCH];
    size_t match_counts[INTAKE_BATCH];
};

/* Takes a document. The place is for the journal, and NULL without one; among near documents, the one with the largest
 * value is preferred. Returns false after a complaint. */
bool intake_take(struct intake *intake, const struct tsv_record *record, const struct place *place, int64_t value);

/* Takes the ID of a document that is kept without being compared, because it has too few features, or because it is a
 * bad record. For what is kept but is no document, length is 0. Returns false after a complaint. */
bool intake_keep(struct intake *intake, const char *id, size_t length, const struct place *place);

/* Notes a document that is compared elsewhere. Returns false after a complaint. */
bool intake_note(struct intake *intake, const char *id, size_t length, const struct place *place);

/* Handles the last batch, and adds documents in the order of preference if there is one. Returns false after a
 * complaint. */
bool intake_end(struct intake *intake);

/* Notes that the other index has a document that was to be compared: it has `other`, by this match. After the last one,
 * intake_end_known must be called. Both return false after a complaint. */
bool intake_add_known(struct intake *intake, const struct idx_document *document, const struct idx_document *other,
                      const struct idx_match *match);
bool intake_end_known(struct intake *intake);

/* Prints the documents that the listing has not. With --keep, these are the ones that are kept without being compared;
 * otherwise, those that the other index has, as IDs to drop or as lines of clusters with - for the cluster. Returns
 * false after a complaint. */
bool intake_print(struct intake *intake, struct listing *listing);

/* Writes a line for each document that the other index has: its ID, and unless `middle` is NULL, also `middle`, the
 * other ID, a tab and the distance. Returns false after a complaint. */
bool intake_put_known(struct intake *intake, struct output *output, const char *middle);

void intake_close(struct intake *intake);

/* ---- Known ---- */

/* Finds which documents of `idx dedup` the index of --against has, once all are taken in: those within the distance of
 * one of its documents. If --documents names texts, they must also resemble each other; the texts are found by the IDs
 * of that index's documents. */

struct known {
    /* These are set by the caller. */
    bool is_asked_for;     /* Otherwise, struct intake looks documents up as they come. */
    struct texts texts;    /* Files and folders with the other index's texts. Without any, fingerprints decide. */
    struct intake *intake; /* Gets the documents that are known. */
    unsigned distance;     /* The largest distance of documents whose texts are compared. */
    int64_t threshold;     /* The least resemblance of two sets, in units of 1/IDX_DECIMAL_WEIGHT_ONE. */
    uint64_t *wanted;      /* Gets a bit for each document that is near to one of the other index. */
    const struct idx_cluster_options *options; /* For threads, memory and temporary folder. */

    uint64_t *bits; /* A bit for each document that is known, once that is decided. */

    /* These are used by known.c alone. */
    struct temporary near;           /* struct near_pair, in the order of the documents' fingerprints. */
    struct idx_documents *documents; /* A cursor in the index of `idx dedup`. */
    uint64_t *queries;               /* Fingerprints of that index that are looked up together. */
    size_t query_count, most_queries;
    uint64_t *others; /* Fingerprints of the other index that are near to some of these; in the end, sorted and without
                         repetitions. */
    size_t other_count, other_capacity;
    struct by_id by_id;
    struct sets sets; /* The features of documents of the other index. */
    bool failed;      /* A visitor complained. */
};

#define KNOWN_NONE                                                                                                     \
    { .near = TEMPORARY_CLOSED, .sets = SETS_CLOSED }

/* Makes the temporary files. Returns false after a complaint. */
bool known_open(struct known *known, const struct scratch *scratch, const char *folder);

/* Finds the documents of this index, which `idx dedup` made, that are near to some of the other index. With texts, sets
 * their bits in `wanted`. Returns false after a complaint, or if a signal was noted. */
bool known_find(struct known *known, const struct idx_index *index);

/* Decides which of these documents are known, by `sets`, which are theirs and mapped: reads the texts of the other
 * index by the rules and the recipe, hands what is known to the intake, and sets `bits`. Returns false like
 * known_find. */
bool known_decide(struct known *known, struct sets *sets, const struct pipeline_rules *rules, const char *recipe);

void known_close(struct known *known);

/* ---- Confirm ---- */

/* Finds clusters that texts confirm: a document is in the cluster of a representative only if their texts resemble each
 * other. Documents that have near-duplicates by their fingerprints are read once more, and their features are kept in a
 * temporary file. */

enum similarity { SIMILARITY_JACCARD, SIMILARITY_COSINE };
extern const char *const similarity_names[];

/* The record of a document of a cluster by fingerprints in the file of members; its ID follows the record. */
struct confirm_member {
    uint64_t cluster, fingerprint, number;
    uint64_t in_index; /* The document's number in the index that is clustered. */
    size_t id_length;
    bool is_representative;
};

struct confirm {
    /* These are set by the caller. */
    const char *threshold; /* The argument of the option, or NULL if nothing is confirmed. */
    const char *option;    /* The name of that option, for messages. */
    int similarity;
    const struct pipeline_rules *rules; /* How documents are read. */
    struct journal *journal;            /* Lists the `compared` documents in the index; NULL if they were not texts. */
    const struct texts *inputs;         /* Without a journal, texts are found here by the documents' IDs. */
    uint64_t compared;
    const struct preference *preference; /* Unless NULL, the order of the documents in the index. */
    struct known known;                  /* With a journal, decides which documents another index has. */

    /* These are used by confirm.c and regroup.c alone. */
    int64_t least;                      /* The threshold, in units of 1/IDX_DECIMAL_WEIGHT_ONE. */
    struct temporary members;           /* The members of the clusters by fingerprints, cluster by cluster. */
    uint64_t *paired;                   /* With a journal: a bit for each document that has near-duplicates. */
    struct by_id by_id;                 /* Without a journal: the documents that have near-duplicates. */
    uint64_t last_cluster, last_number; /* Those of the member before; numbers as in struct set. */
    struct sets sets;
    bool failed;
};

#define CONFIRM_NONE                                                                                                   \
    { .option = "--confirm", .members = TEMPORARY_CLOSED, .sets = SETS_CLOSED, .known = KNOWN_NONE }

/* Checks the options of confirmation. Returns false after a complaint. */
bool confirm_check(struct confirm *confirm);

/* Makes the temporary files. Returns false after a complaint. */
bool confirm_open(struct confirm *confirm, const struct scratch *scratch, const char *folder);

/* Finds the clusters that the texts confirm: a cluster_finder, whose context is a struct confirm. */
enum idx_status confirm_clusters(void *context, const struct idx_index *index,
                                 const struct idx_cluster_options *options, idx_cluster_visitor visit,
                                 void *visit_context, struct idx_cluster_summary *summary, struct idx_error *error);

void confirm_close(struct confirm *confirm);

/* ---- From clusters by fingerprints to clusters that the texts confirm: regroup.c ---- */

struct idx_text_leaders;

/* Visits the confirmed clusters, in the order of the clusters by fingerprints that they are parts of, and completes the
 * summary, in which the caller has set `documents`. Sets *missing to how many documents in clusters by fingerprints
 * have no text. Returns false after a complaint. */
bool regroup_all(struct confirm *confirm, const struct idx_cluster_options *options, idx_cluster_visitor visit,
                 void *context, struct idx_cluster_summary *summary, uint64_t *missing);

/* Offers a set to the leaders as that of document `number`, and sets *leader to the number of its leader, or to
 * IDX_TEXT_NO_LEADER. Returns false after a complaint. */
bool regroup_offer(struct idx_text_leaders *leaders, uint64_t number, struct sets *sets, const struct set *set,
                   uint64_t *leader);

/* ---- Folders ---- */

/* `idx dedup --write` and `--dropped` make folders with the records of documents to keep and to drop. The latter also
 * has a table that names the near-duplicate of each. */

/* A folder that appears as a whole or not at all: it is made in a scratch folder beside its place, and renamed in the
 * end. Files in it have the names of inputs. */
struct tree {
    const char *path;   /* Where it is published; NULL: it isn't asked for. */
    const char *option; /* The option that gave the path, for messages. */

    /* These are used by folders.c alone. */
    struct scratch scratch;
    int folder; /* The descriptor of the folder in the scratch folder. */
};

/* Makes a file under the name of an input, and the folders that it needs. The name is the input's path without what
 * leads out of the tree: a leading slash, and everything up to the last `..`. Returns its descriptor, which the caller
 * closes, or -1 after a complaint. */
int tree_create(const struct tree *tree, const char *input);

/* Goes through the journal once more, and copies each record into one of two trees: trees[0] is for what is kept,
 * trees[1] for what is dropped. `dropped` has a bit for each document that was compared. Returns false after a
 * complaint, or if a signal was noted. In kept.c. */
bool kept_write(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped);

struct folders {
    struct tree kept, dropped;               /* Their paths are NULL if they are not asked for. */
    const struct idx_properties *properties; /* Those of the index that is clustered. */

    struct output table; /* dropped.tsv, beside the documents to drop. */
};

bool folders_are_asked_for(const struct folders *folders);

/* Checks that the folders can be made of these inputs. Returns false after a complaint. */
bool folders_check(const struct folders *folders, const struct texts *paths);

/* Begins the folders that are asked for. Returns false after a complaint. */
bool folders_open(struct folders *folders);

/* Writes a line of the table for a document of a cluster that is dropped, with what it has in common with the
 * representative, or if `kept` is NULL with their distance. */
void folders_note(struct folders *folders, const struct idx_cluster_member *member, const struct idx_kept_set *kept);

/* Writes the folders, and waits until they are on the disk; `dropped` has a bit for each document that was compared.
 * Returns false after a complaint, or where a signal was noted. */
bool folders_write(struct folders *folders, struct intake *intake, const uint64_t *dropped);

/* Publishes the folders that are asked for. Returns false after a complaint. */
bool folders_publish(struct folders *folders);

/* Removes what was not published, and frees the rest. Accepts folders that were not opened. */
void folders_close(struct folders *folders);

#endif
