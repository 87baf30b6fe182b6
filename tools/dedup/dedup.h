/* dedup.h: what `idx dedup` does beyond clusters: it takes documents in, confirms clusters by texts, and writes
 * records. */
#ifndef IDX_TOOLS_DEDUP_DEDUP_H
#define IDX_TOOLS_DEDUP_DEDUP_H

#include "tools/answers/cluster_listing.h"
#include "tools/input/input.h"
#include "tools/shared/command.h"
#include "tools/shared/files.h"
#include "tools/shared/library.h"
#include "tools/shared/output.h"
#include "tools/text/documents.h"
#include "tools/text/text.h"

#include <idx.h>
#include <sys/stat.h>

/* ---- A bit for each document that was compared, by its number ---- */

static inline bool bit_is_set(const uint64_t *bits, uint64_t number) {
    return (bits[number / 64] >> number % 64 & 1) != 0;
}

static inline void bit_set(uint64_t *bits, uint64_t number) { bits[number / 64] |= UINT64_C(1) << number % 64; }

/* Returns bits that are not set, which the caller frees, or NULL after a complaint. */
uint64_t *bits_make(uint64_t count);

/* ---- Journal ---- */

/* A command that reads its inputs twice keeps of the first time which files there were, and where in them each document
 * is. */

/* It is what became of a document. */
enum fate {
    FATE_COMPARED, /* It is in the index that is clustered. Such documents are numbered from 0. */
    FATE_KEPT,     /* It has too few features, or is no document. */
    FATE_KNOWN,    /* Another index has it. */
};

struct place {
    uint64_t file, begins, ends; /* They are the same as in struct raw_document. */
    enum unit unit;
    enum fate fate;
};

struct journal_file {
    const char *path;
    bool in_folder;
    struct stat status; /* It is the status when the file was opened for the first time. */
};

struct journal {
    struct temporary places, files;
    uint64_t place_offset, file_offset; /* The next place is read here, and the record of the next file. */
    uint64_t next_file;                 /* It is the number of the file that is read next. */
    struct journal_file file;           /* It is the file whose record was read last. */
};

#define JOURNAL_CLOSED                                                                                                 \
    { .places = TEMPORARY_CLOSED, .files = TEMPORARY_CLOSED }

/* Checks that all inputs can be read twice. Returns false after a complaint. */
bool journal_check_inputs(const struct texts *paths);

/* Makes the journal's files in `scratch`, which is in `folder`. Returns false after a complaint. */
bool journal_open(struct journal *journal, const struct scratch *scratch, const char *folder);

/* Notes a file. Another thread may call journal_add at the same time. Returns false after a complaint if the file can't
 * be read again. */
bool journal_add_file(struct journal *journal, const struct opened_file *file);

void journal_add(struct journal *journal, const struct place *place);

/* Ends noting, and begins to read the journal, or begins to read it once more. Returns false after a complaint. */
bool journal_rewind(struct journal *journal);

/* Reads the next place. Returns false at the end. */
bool journal_next(struct journal *journal, struct place *place);

/* Reads on to the file of this number, which was noted; numbers ascend from call to call. */
void journal_find_file(struct journal *journal, uint64_t number);

/* Checks that the open file is still the same as when it was noted. Returns false after a complaint. */
bool journal_check_file(const struct journal_file *file, int descriptor);

void journal_close(struct journal *journal);

/* ---- Reading some of the documents that were compared once more ---- */

struct again {
    /* These are set by the caller. */
    struct journal *journal;
    const uint64_t *wanted; /* They have a bit for each document that was compared. */
    uint64_t compared;      /* So many documents were compared. */
    /* Called for each wanted document that can be read, in order, with its number and what is listed of it. Returns
     * false to stop, after a complaint. */
    bool (*take)(void *context, uint64_t number, const char *listed, size_t length);
    void *context;

    /* These are private. */
    struct place place; /* It is the place of the next document to be read. */
    uint64_t next_number, taken;
    bool is_wanting, failed;
};

/* Reads the wanted documents by the rules, but lists `listed` of them by the recipe. Returns false after a complaint,
 * or where a signal was noted. */
bool again_read(struct again *again, const struct pipeline_rules *rules, const char *recipe, enum listed listed);

/* Returns rules by which documents are listed by a recipe, and not fingerprinted, but read as `rules` say. */
struct pipeline_rules again_rules(const struct pipeline_rules *rules, const char *recipe);

/* ---- Sets ---- */

/* The features of documents, in a temporary file; and those of documents of an index whose texts are among some
 * inputs, found by their IDs. */

/* It says where the features of a document are, which ascend by hash. */
struct set {
    uint64_t number; /* It is the document's number, or the hash of its ID. */
    uint64_t offset; /* Its first feature is here in the file, in bytes. */
    uint64_t count;
};

struct sets {
    bool weighted; /* The file has struct idx_feature, and not uint64_t. */

    struct temporary file;
    struct set *sets; /* They are sorted by number once the file is mapped. */
    size_t count, capacity;
    size_t size; /* The file has so many bytes. */
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

/* The documents of an index whose texts are wanted. If all is zero, none is. */
struct by_id {
    uint64_t *wanted; /* They are hashes of the IDs, some of them several times, and ascend once the texts were read. */
    size_t count, capacity;
};

/* Returns the hash of an ID, which is the number of its document in the sets. */
uint64_t by_id_hash(const void *id, size_t length);

/* Wants the document whose ID has this hash. Returns false after a complaint. */
bool by_id_want(struct by_id *by_id, uint64_t hash);

/* Reads the inputs, and adds what the recipe makes of the documents that are wanted to the sets. Returns false after a
 * complaint, or where a signal was noted. */
bool by_id_read(struct by_id *by_id, const struct pipeline_rules *rules, const char *recipe, const struct texts *inputs,
                struct sets *sets);

/* Counts the wanted documents that have no text in the sets, which are mapped. */
uint64_t by_id_count_missing(const struct by_id *by_id, const struct sets *sets);

void by_id_free(struct by_id *by_id);

/* ---- Intake ---- */

/* Takes the documents of a dedup, one after the other: those to be compared go into the index that is built of them,
 * others are kept aside. */

/* The index that new documents are compared with before they are compared with each other. */
struct against {
    const char *path; /* It is NULL if there is no such index. */
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
    uint64_t number; /* It counts the documents from 0, in the order in which they came. */
    uint64_t offset; /* Its record is here in the temporary file. */
};

struct preference {
    enum preferred preferred;

    /* Used by intake.c alone. */
    struct temporary documents;
    struct preferred_document *order;
    size_t count, capacity;
    uint64_t length; /* The temporary file has so many bytes. */
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
    bool looks_up;           /* Documents near to one of `against` are known, whatever their texts. */
    struct journal *journal; /* It is NULL if no journal is kept. */
    struct preference preference;

    struct temporary few; /* It has the IDs of the documents with too few features, a line each. */
    uint64_t compared;    /* So many documents went into the index. */
    uint64_t few_count, known_count;

    /* These are used by intake.c alone. */
    struct temporary known; /* It has records of the documents that the other index has. */
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

/* ---- Known ---- */

/* Which documents of a dedup another index has, found once all are there: those within the distance of one of its
 * documents, whose text resembles theirs if there are texts. These are found by the IDs of its documents. */

struct known {
    /* These are set by the caller. */
    bool is_asked_for;  /* Otherwise documents are looked up as they come (struct intake). */
    struct texts texts; /* They are files and folders with the other index's texts. Without any, fingerprints decide. */
    struct intake *intake; /* It gets the documents that are known. */
    unsigned distance;     /* It is the largest distance of documents whose texts are compared. */
    int64_t threshold;     /* Two sets resemble each other from it on, in units of 1/IDX_DECIMAL_WEIGHT_ONE. */
    uint64_t *wanted;      /* They get a bit for each document that is near to one of the other index. */
    const struct idx_cluster_options *options; /* Its threads, memory and temporary folder are used here, too. */

    uint64_t *bits; /* They have a bit for each document that is known, once that is decided. */

    /* These are used by known.c alone. */
    struct temporary near;           /* It has struct near_pair, in the order of the documents' fingerprints. */
    struct idx_documents *documents; /* It is a cursor over those of the index of the dedup. */
    uint64_t *queries;               /* They are fingerprints of the dedup that are looked up together. */
    size_t query_count, most_queries;
    uint64_t *others; /* They are fingerprints of the other index that are near to some; in the end each is there once,
                         and they ascend. */
    size_t other_count, other_capacity;
    struct by_id by_id;
    struct sets sets; /* They have the features of documents of the other index. */
    bool failed;      /* A visitor complained. */
};

#define KNOWN_NONE                                                                                                     \
    { .near = TEMPORARY_CLOSED, .sets = SETS_CLOSED }

/* Makes the temporary files. Returns false after a complaint. */
bool known_open(struct known *known, const struct scratch *scratch, const char *folder);

/* Finds the documents of the index of the dedup that are near to some of the other index, and sets their bits in
 * `wanted`. Returns false after a complaint, or where a signal was noted. */
bool known_find(struct known *known, const struct idx_index *index);

/* Decides it by the sets of these documents, once they are mapped: reads the texts of the other index by the rules and
 * the recipe, hands what is known to the intake, and sets `bits`. Returns false likewise. */
bool known_decide(struct known *known, struct sets *sets, const struct pipeline_rules *rules, const char *recipe);

void known_close(struct known *known);

/* ---- Confirm ---- */

/* Clusters that the texts confirm: a document joins the cluster of a representative within distance k of it only if
 * their texts resemble each other. Documents that have near-duplicates by their fingerprints are read once more; their
 * features go to a temporary file. */

enum similarity { SIMILARITY_JACCARD, SIMILARITY_COSINE };
extern const char *const similarity_names[];

/* The record of a document of a cluster by fingerprints in the file of members; its ID follows the record. */
struct confirm_member {
    uint64_t cluster, fingerprint, number;
    uint64_t in_index; /* It is the document's number in the index that is clustered. */
    size_t id_length;
    bool is_representative;
};

struct confirm {
    /* These are set by the caller. */
    const char *threshold; /* It is the value of the option as it was given, or NULL if nothing is confirmed. */
    const char *option;    /* It is the name of that option, for messages. */
    int similarity;
    const struct pipeline_rules *rules; /* Documents are read by them. */
    struct journal *journal; /* It lists the `compared` documents in the index, and is NULL if they were not texts. */
    const struct texts *inputs; /* Without a journal, texts are found here by the documents' IDs. */
    uint64_t compared;
    const struct preference *preference; /* If it is not NULL, the index has its documents in its order. */
    struct known known;                  /* With a journal, it decides which documents another index has. */

    /* These are used by confirm.c and regroup.c alone. */
    int64_t least;            /* It is the threshold, in units of 1/IDX_DECIMAL_WEIGHT_ONE. */
    struct temporary members; /* It has the members of the clusters by fingerprints, in the order of these. */
    uint64_t *paired;         /* With a journal, they have a bit for each document that has near-duplicates. */
    struct by_id by_id;       /* Without a journal, they are the documents that have near-duplicates. */
    uint64_t last_cluster, last_number; /* They are those of the member before; see by_id_hash for numbers. */
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

/* Visits the confirmed clusters, in the order of those that they were part of, and completes the summary, whose
 * documents are set. *missing: how many documents of clusters by fingerprints have no text. Returns false after a
 * complaint. */
bool regroup_all(struct confirm *confirm, const struct idx_cluster_options *options, idx_cluster_visitor visit,
                 void *context, struct idx_cluster_summary *summary, uint64_t *missing);

/* Offers a set to leaders as that of `number`, and sets *leader to the number of its leader. Returns false after a
 * complaint.
 */
bool regroup_offer(struct idx_text_leaders *leaders, uint64_t number, struct sets *sets, const struct set *set,
                   uint64_t *leader);

/* ---- Folders ---- */

/* `idx dedup --write` and `--dropped`: the folders that get the records of documents to keep, and of documents to drop
 * with a table of what these are like. */

/* It is a folder that is made as a whole or not at all: in a scratch folder beside its place, from which it is renamed
 * in the end. Files in it have the names of inputs. */
struct tree {
    const char *path;   /* It is published here; NULL: it isn't asked for. */
    const char *option; /* It is the option that gave the path, for messages. */

    /* These are used by folders.c alone. */
    struct scratch scratch;
    int folder; /* It is the descriptor of the folder in the scratch folder. */
};

/* Makes a file under the name of an input, in folders as need be: the input's path without what leads out of the tree,
 * a leading slash and all up to the last `..`. Returns its descriptor; -1 after a complaint. */
int tree_create(const struct tree *tree, const char *input);

/* Goes through the journal once more, and copies each record into a tree (kept.c). `trees` are that of what is kept and
 * that of what is dropped, whose paths are NULL where they are not asked for. `dropped` has a bit for each document
 * that was compared. Returns false after a complaint, or where a signal was noted. */
bool kept_write(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped);

struct folders {
    struct tree kept, dropped;               /* Their paths are NULL if they are not asked for. */
    const struct idx_properties *properties; /* They are those of the index that is clustered. */

    struct output table; /* It is dropped.tsv, beside the documents to drop. */
};

bool folders_are_asked_for(const struct folders *folders);

/* Checks that the folders can be made of these inputs. Returns false after a complaint. */
bool folders_check(const struct folders *folders, const struct texts *paths);

/* Begins the folders that are asked for. Returns false after a complaint. */
bool folders_open(struct folders *folders);

/* Writes a line of the table for a document of a cluster that is dropped. */
void folders_note(struct folders *folders, const struct idx_cluster_member *member);

/* Writes the folders, and waits until they are on the disk; `dropped` has a bit for each document that was compared.
 * Returns false after a complaint, or where a signal was noted. */
bool folders_write(struct folders *folders, struct intake *intake, const uint64_t *dropped);

/* Publishes the folders that are asked for. Returns false after a complaint. */
bool folders_publish(struct folders *folders);

/* Removes what was not published, and frees the rest. Accepts folders that were not opened. */
void folders_close(struct folders *folders);

#endif
