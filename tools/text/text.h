/* text.h: from texts to fingerprints, one by one or by several threads, and the options for that. */
#ifndef IDX_TOOLS_TEXT_TEXT_H
#define IDX_TOOLS_TEXT_TEXT_H

#include "tools/shared/command.h"
#include "tools/text/documents.h"
#include "tools/text/extract.h"

#include <idx.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- Whether memory ran out for a library that reads texts: jansson, libxml2 or ICU ---- */

/* Not all of them say so, and some crash or hang then; so they are given a little more, for the command to end in good
 * order. */

/* Has these libraries allocate by functions that don't fail, and note where malloc does. Once or more often, before any
 * of them is used. */
void memory_watch(void);

/* Returns whether malloc failed for one of them, in this thread, since the last call. What came of the input since then
 * is not to be used. */
bool memory_ran_out(void);

/* ---- Fingerprints of documents, over libidxtext where this build has it ---- */

struct idx_text;
struct idx_text_table;

/* A thread has its own. */
struct text {
    struct idx_text *fingerprinter; /* It is NULL if all documents are of FORMAT_FEATURES. */
    unsigned bits;
    struct extractor extractor;
};

/* The recipe that is used where none is asked for. */
extern const char text_default_recipe[];

/* Opens a fingerprinter by a recipe; NULL is none, for documents of FORMAT_FEATURES. `table` (for recipes that weigh by
 * one, or NULL) and `rules` have to stay. Returns false after a complaint, also where this build has no libidxtext. */
bool text_open(struct text *text, const char *recipe, const struct idx_text_table *table, unsigned bits,
               const struct extract_rules *rules);

/* Does the same without the complaint: *error has it. Only a build with libidxtext has it. */
bool text_try_open(struct text *text, const char *recipe, const struct idx_text_table *table, unsigned bits,
                   const struct extract_rules *rules, struct idx_error *error);

/* The recipe in canonical form, with the version of ICU; of a text with a fingerprinter. */
const char *text_recipe(const struct text *text);

/* A recipe makes so many fingerprints of a document at most. */
enum { TEXT_MOST_FINGERPRINTS = 64 };

struct text_result {
    struct span id; /* It is within the document, or stays valid until the next use of the text. */
    uint64_t fingerprints[TEXT_MOST_FINGERPRINTS];
    size_t count;
    uint64_t features;     /* They are the distinct ones; of FORMAT_FEATURES, all. */
    int64_t weight;        /* They have it together, in units of 1/IDX_WEIGHT_ONE; 0: it is not known. */
    struct span signature; /* The fingerprint is its hash. It stays valid until the text's next use; if its bytes are
                              NULL, there is none. */
};

/* Fingerprints a document. Returns false where it is bad, or where memory ran out. */
bool text_fingerprint(struct text *text, struct raw_document *raw, struct text_result *result, struct bad *bad);

/* This is listed of a document. */
enum listed {
    LISTED_SHINGLES, /* They are the hashes of its shingles, ascending (idx_text_shingles). */
    LISTED_WEIGHTED, /* They are its features by the recipe, as struct idx_feature, by ascending hash. */
    LISTED_BODY,     /* It is its length in bytes, as uint64_t, and then the first TEXT_LISTED of them. */
};
enum { TEXT_LISTED = 1 << 18 };

/* It says what is listed, and of which documents. */
struct features_wanted {
    enum listed listed;
    bool (*is_wanted_id)(void *context, struct span id,
                         uint64_t *key); /* If it is NULL, all are wanted, without a key. */
    void *context;
};

/* Appends the key of a document, if there is one, and what is listed of it to an output that keeps them; nothing where
 * it isn't wanted. Returns false where it is bad, or where memory ran out. */
bool text_list_features(struct text *text, struct raw_document *raw, const struct features_wanted *wanted,
                        struct output *list, struct bad *bad);

/* Fingerprints the file at `path` (`-`: standard input), one document, which is plain text or HTML, perhaps compressed.
 * By a recipe that makes one fingerprint. Returns false after a complaint. */
bool text_fingerprint_file(struct text *text, const char *path, struct text_result *result);

/* The distance at which to compare fingerprints, as idx_text_distance has it. */
unsigned text_distance(double resemblance, uint64_t features, const char *recipe, unsigned bits, bool *measured);

/* Reads a table of document frequencies, which text_table_free frees. Returns false after a complaint. */
bool text_table_read(struct idx_text_table **table, const char *path);

/* Makes an empty one for the features of a text's recipe. Returns false after a complaint. */
bool text_table_create(struct idx_text_table **table, const struct text *text);

/* Counts a document. Returns false where it is bad, or where memory ran out. */
bool text_table_add(struct idx_text_table *table, struct text *text, struct raw_document *raw, struct bad *bad);

/* Writes it, and says how much of it was forgotten, if any. Returns false after a complaint. */
bool text_table_write(const struct idx_text_table *table, const char *path);

void text_table_free(struct idx_text_table *table);

void text_close(struct text *text);

/* ---- The documents in a folder and below it, one after the other, as `idx lookup --text` wants them: folder_texts.c
 * ---- */

struct below;

enum below_status {
    BELOW_ONE,
    BELOW_END,
    BELOW_PARTLY, /* It is the end, but a file or a folder could not be read, which was complained of. */
    BELOW_FAILED, /* Memory ran out, which was complained of. */
};

/* Lists the files in the folder at `path` and below it that `globs` admits. `text` is used until below_free. Returns
 * NULL after a complaint. */
struct below *below_new(struct text *text, const char *path, const struct globs *globs);

/* Gives a fingerprint and the ID of its document, which is valid until the next call. Bad records are left out, as by
 * `idx fingerprint`, and counted at the end on standard error. */
enum below_status below_next(struct below *below, uint64_t *fingerprint, struct span *id);

/* NULL is none. */
void below_free(struct below *below);

/* ---- From inputs to lines of fingerprints, by several threads, in the order of the documents ---- */

/* A byte of a document may take so many while it is fingerprinted: of JSON, or of a text whose words are all new. */
enum { PIPELINE_BYTES_PER_BYTE = 16 };

/* It is the memory if nothing else is asked for. */
#define PIPELINE_MEMORY_BYTES ((uint64_t)1 << 30)

/* Called for each document, in order, with what was made of it: its line, with its end, or its features; nothing where
 * it is bad. By one thread. Returns false to stop. */
typedef bool (*result_visitor)(void *context, const struct raw_document *raw, const char *made, size_t length);

/* In place of lines, features or texts are listed, and of some documents alone. */
struct pipeline_features {
    enum listed listed; /* It is what text_list_features lists. */
    /* Files are read once more, not the paths given: sets the next one, and the number that it had before. Returns
     * false where there is none. NULL: the paths are read. */
    bool (*next_file)(void *context, struct opened_file *file, uint64_t *number);
    /* Whether a document is wanted, by its place, in the thread that reads files; or NULL: by its ID, in any thread.
     * Then *key, 8 bytes, is put before the features. */
    bool (*is_wanted)(void *context, const struct raw_document *raw);
    bool (*is_wanted_id)(void *context, struct span id, uint64_t *key);
    uint64_t documents; /* With `next_file`, so many are wanted, for the progress; 0: that is not known. */
};

struct pipeline_rules {
    const char *recipe; /* It is NULL for documents of FORMAT_FEATURES that have none. */
    const char *table;  /* It has document frequencies, and is read; or it is NULL. */
    const char *train;  /* It is such a table that one thread makes in place of fingerprints; or it is NULL. */
    unsigned bits;
    enum document_format format;
    struct extract_rules extract;
    struct globs globs; /* They say what is read of folders. */
    unsigned threads;
    uint64_t memory_bytes; /* Documents may take about so many while they are fingerprinted, or what one of
                              extract.max_text takes if that is more. */
    uint64_t min_features; /* Documents with fewer are left out. */
    bool strict;           /* The first bad record ends the work. */
    bool progress;
    result_visitor visit;    /* It is called in place of printing, unless it is NULL, and the line #recipe is left out.
                                Documents with too few features are not left out then, but have a line without a
                                fingerprint, which begins with a tab. */
    file_visitor visit_file; /* One other thread calls it before the documents of a file are read. It may be NULL. */
    bool others;             /* The WARC records that hold no document are visited, too, with nothing made of them. */
    void *context;           /* It is the context of the visitors. */
    const char *expected_recipe;              /* The texts' own must match it. It may be NULL. */
    const struct pipeline_features *features; /* If it is NULL, lines are made. */
};

enum pipeline_status {
    PIPELINE_WELL,
    PIPELINE_PARTLY, /* An input can't be read; all others were. */
    PIPELINE_FAILED, /* It ended before, as at a bad record if `strict` says so, or when the visitor stopped it. */
};

/* Reads all documents of the inputs and prints a line for each, fingerprint<TAB>ID, behind #recipe<TAB>RECIPE. The
 * recipe is that of the texts in canonical form. To train, counts all documents into a table in place of that, and
 * writes it where all is well. Says on standard error what was left out. */
enum pipeline_status pipeline_run(const struct pipeline_rules *rules, const struct texts *paths);

/* Prints a line that says how the texts in two files compare, by the recipe, table, bits and extraction that `rules`
 * name, as `idx compare` and `idx fingerprint --compare` do (compare.c). Sets *same if their fingerprints are equal,
 * and what these are the hashes of, if hashes they are. Returns false after a complaint. */
bool compare_files(const struct pipeline_rules *rules, char *const paths[2], bool *same);

/* ---- The options by which texts become fingerprints, of `idx fingerprint` and `idx dedup` ---- */

struct text_options {
    struct pipeline_rules rules;
    bool features; /* The input is features; once settled, it is set with --hashes and --tokens, too. */
    int hash;      /* It is of enum idx_hash_kind. It and the ties become parts of the recipe. */
    unsigned ties;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* It is the recipe with these parts, to which rules.recipe points then. */
};

/* The values of --hash, by enum idx_hash_kind; ends with NULL. */
extern const char *const text_hash_names[];

/* Sets the defaults. */
void text_options_init(struct text_options *options);

/* Fills the list with the rules of the options, whose values they set. */
enum { TEXT_OPTIONS = 19 };
void text_options_list(struct text_options *options, struct option_rule list[TEXT_OPTIONS]);

/* Once they are read: completes the rules, for a format, which is FORMAT_AUTO where none was given. Returns false after
 * a complaint. */
bool text_options_settle(struct text_options *options, enum document_format format);

#endif
