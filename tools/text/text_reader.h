/* text_reader.h: makes fingerprints of texts, one by one or with several threads, and has the options for that. */
#ifndef IDX_TOOLS_TEXT_TEXT_READER_H
#define IDX_TOOLS_TEXT_TEXT_READER_H

#include "tools/shared/command.h"
#include "tools/text/documents.h"
#include "tools/text/extract.h"
#include "tools/text/parts.h"

#include <string.h>

/* ---- Whether memory ran out for a library that reads texts: jansson, libxml2 or ICU ---- */

/* Some of these libraries crash or hang when memory runs out, and not all of them report it. So they get a little more
 * memory then, with which the command can end properly. */

/* Makes these libraries allocate by functions that don't fail, but note when malloc does. It must be called before any
 * of them is used, and may be called again. */
void memory_watch(void);

/* Returns whether malloc failed for one of them, in this thread, since the last call. If so, what they made since then
 * must not be used. */
bool memory_ran_out(void);

/* ---- Fingerprints of documents, by libidxtext if this build has it ---- */

struct idx_text;
struct idx_text_table;

/* What a thread needs to read texts and fingerprint them; each thread has its own. */
struct text_reader {
    struct idx_text *fingerprinter; /* NULL: all documents are of FORMAT_FEATURES. */
    unsigned bits;
    struct extractor extractor;
};

/* The recipe that is used if none is asked for. */
extern const char text_default_recipe[];

/* Returns a recipe in canonical form, or as it is given where libidxtext can't parse it, or it names another version of
 * ICU. The caller frees it. */
char *text_canonical_recipe(const char *recipe);

/* Opens a fingerprinter for a recipe, or for documents of FORMAT_FEATURES if that is NULL. `table`, which is NULL
 * unless the recipe weighs by one, and `rules` must stay valid. Returns false also if this build has no libidxtext. */
bool text_reader_open(struct text_reader *reader, const char *recipe, const struct idx_text_table *table, unsigned bits,
                      const struct extract_rules *rules);

/* Does the same, but sets *error in place of a complaint. Only a build with libidxtext has this function. */
bool text_reader_try_open(struct text_reader *reader, const char *recipe, const struct idx_text_table *table,
                          unsigned bits, const struct extract_rules *rules, struct idx_error *error);

/* Returns the recipe in canonical form, with the version of ICU. The reader must have a fingerprinter. */
const char *text_reader_recipe(const struct text_reader *reader);

/* The most fingerprints that a recipe makes of a document. */
enum { TEXT_MOST_FINGERPRINTS = 64 };

struct text_result {
    struct span id;   /* Valid as long as the document, and until the reader is used again. That of a bad record
                       as well. */
    struct span body; /* The text, valid as long as the ID. Of FORMAT_FEATURES there is none. */
    uint64_t fingerprints[TEXT_MOST_FINGERPRINTS];
    size_t count;
    uint64_t features; /* How many distinct ones there are; of FORMAT_FEATURES, all. */
    int64_t weight;    /* The sum of their weights, in units of 1/IDX_WEIGHT_ONE; 0: not known. */
    struct span
        signature; /* What the fingerprint is the hash of; NULL: it is no hash. Valid until the reader's next use. */
};

/* Fingerprints a document. Sets *bad and returns false if it is bad, or if memory ran out. */
bool text_reader_fingerprint(struct text_reader *reader, struct raw_document *raw, struct text_result *result,
                             struct bad *bad);

/* Takes the ID and the text out of a document; both are valid as those of struct text_result are. Sets *bad and returns
 * false if it is bad, or if memory ran out; a bad record may have an ID as well. */
bool text_reader_read(struct text_reader *reader, struct raw_document *raw, struct span *id, struct span *body,
                      struct bad *bad);

/* Fingerprints the file at `path`, or standard input for `-`, as one document of plain text, HTML or a manual page,
 * perhaps compressed. Appends its text to `body`, which keeps it, unless that is NULL. */
bool text_reader_fingerprint_file(struct text_reader *reader, const char *path, struct text_result *result,
                                  struct output *body);

/* What the shingles of a text are. If all is zero, they are the default ones, each once and ascending. */
struct shingling {
    unsigned width; /* Words or characters, up to TEXT_MOST_WIDTH; 0: five words. */
    bool of_characters;
    bool in_text_order; /* They are in the order of the text, repetitions included. */
};
enum { TEXT_MOST_WIDTH = 16 };

/* Appends the hashes of a text's shingles to `list`, which keeps them. Sets *bad and returns false if that fails. */
bool text_list_shingles(const struct span *body, const struct shingling *shingling, struct output *list,
                        struct bad *bad);

/* Sets *words to how many words a text has that has so many of these shingles, repetitions included. Sets *bad and
 * returns false if that fails. */
bool text_count_words(const struct span *body, const struct shingling *shingling, size_t shingles, uint64_t *words,
                      struct bad *bad);

/* ---- How much a text resembles those of documents that are files: resembling.c ---- */

struct resembling {
    const char *folder;     /* IDs of documents are names of files below it, or paths that begin with it. */
    const uint64_t *hashes; /* Those of the text's shingles. */
    size_t count;
};

/* Whether a document's file was found. */
enum file_set {
    FILE_SET_FOUND,
    FILE_SET_UNKNOWN, /* There is no such file, or, after a complaint, it can't be read as a text. */
    FILE_SET_NO_MEMORY,
};

/* Appends the shingles of the document with this ID, a file below the folder, to a list that keeps them. */
enum file_set resembling_list(struct text_reader *reader, const char *folder, const struct shingling *shingling,
                              struct span id, struct output *list);

/* What is returned in place of a resemblance. */
enum { RESEMBLANCE_UNKNOWN = -1, RESEMBLANCE_NO_MEMORY = -2 };

/* Returns how much the text resembles that of the document with this ID; RESEMBLANCE_UNKNOWN if that is no file, or,
 * after a complaint, if it can't be read as a text; or RESEMBLANCE_NO_MEMORY. */
double resembling_compare(struct text_reader *reader, const struct resembling *resembling, struct span id);

/* Rounds a resemblance down to four digits, so that texts have the one that is printed, or more. */
double resemblance_round(double resemblance);

/* Reads a table of document frequencies, which text_table_free frees. */
bool text_table_read(struct idx_text_table **table, const char *path);

/* Makes an empty table for the features of a text's recipe. */
bool text_table_create(struct idx_text_table **table, const struct text_reader *reader);

/* Counts a document in the table. Sets *bad and returns false if it is bad, or if memory ran out. */
bool text_table_add(struct idx_text_table *table, struct text_reader *reader, struct raw_document *raw,
                    struct bad *bad);

/* Writes the table, and warns if rare terms were dropped from it. */
bool text_table_write(const struct idx_text_table *table, const char *path);

void text_table_free(struct idx_text_table *table);

void text_reader_close(struct text_reader *reader);

/* ---- The documents in a folder and below it, one after the other, as `idx lookup --text` wants them: folder_texts.c
 * ---- */

struct below;

enum below_status {
    BELOW_ONE,
    BELOW_END,
    BELOW_PARTLY, /* The end; a file or folder could not be read, as a complaint said. */
    BELOW_FAILED, /* Memory ran out, as a complaint said. */
};

/* Lists the files in the folder at `path` and below it that `globs` admits. `reader` and `path` are used until
 * below_free. */
struct below *below_new(struct text_reader *reader, const char *path, const struct globs *globs);

/* Sets the next fingerprint, the ID of its document, and the bytes of the hashes of its shingles unless `shingles` is
 * NULL, as it then is in all calls; both are valid until the next call. Bad records are left out, as by `idx
 * fingerprint`, and a message at the end counts them. */
enum below_status below_next(struct below *below, uint64_t *fingerprint, struct span *id, struct span *shingles);

/* Accepts NULL. */
void below_free(struct below *below);

/* ---- Making lines of fingerprints of inputs, with several threads, in the order of the documents ---- */

/* The most bytes of memory that fingerprinting takes for each byte of a document: reached where no word repeats. */
enum { PIPELINE_BYTES_PER_BYTE = 16 };

/* The memory if no other is asked for. */
#define PIPELINE_MEMORY_BYTES ((uint64_t)1 << 30)

/* What may be made of a document for a visitor: the bits of pipeline_rules.makes. */
enum {
    MAKES_FINGERPRINTS = 1,
    MAKES_SHINGLES = 2,
    MAKES_BODY = 4,
};

/* A part of a text that is compared by itself (parts.h). */
struct made_part {
    uint32_t number; /* Among all parts of the text, from 1. */
    uint32_t bytes;  /* Of its text in UTF-8. */
    uint32_t words;
    uint32_t shingles; /* How many of its document's are its own; those of the parts follow each other. */
};

/* The most bytes of a text that are kept for a visitor. */
enum { PIPELINE_BODY = 1 << 18 };

/* What was made of a document. Of a bad record, there is only the ID, if it has one. */
struct made {
    struct span id; /* Of length 0 if there is none. */
    const uint64_t *fingerprints;
    size_t fingerprint_count; /* 0 if it has too few features. */
    const uint64_t *shingles; /* Their hashes. */
    size_t shingle_count;
    const struct made_part *parts; /* Unless whole documents are compared: those with enough words. */
    size_t part_count;
    uint64_t other_words; /* The words of its other parts. */
    struct span body;     /* The first PIPELINE_BODY bytes of the text. */
    uint64_t body_bytes;  /* How many the whole text has. */
};

/* A function that gets each document, in order, with what was made of it, which is valid until it returns. One thread
 * calls it. It returns false to stop. */
typedef bool (*made_visitor)(void *context, const struct raw_document *raw, const struct made *made);

/* Has files read once more in place of the paths. */
struct pipeline_again {
    /* Sets the next file, and the number that it had before. Returns false at the end. */
    bool (*next_file)(void *context, struct opened_file *file, uint64_t *number);
    /* Returns whether a document is wanted by its place. The thread that reads files calls it. */
    bool (*is_wanted)(void *context, const struct raw_document *raw);
    uint64_t documents; /* How many are wanted, for the progress. */
};

struct pipeline_rules {
    const char *recipe; /* NULL: that of documents of FORMAT_FEATURES is not known. */
    const char *table;  /* The file of a table of document frequencies, or NULL. */
    const char *train;  /* The file of such a table that one thread makes in place of fingerprints, or NULL. */
    unsigned bits;
    enum document_format format;
    struct extract_rules extract;
    struct globs globs; /* Which files of folders are read. */
    unsigned threads;
    uint64_t memory_bytes; /* About the most memory for documents that are being fingerprinted, unless a single one of
                              extract.max_text bytes takes more. */
    uint64_t min_features; /* Documents with fewer are left out. */
    bool strict;           /* The first bad record ends the work. */
    bool progress;
    made_visitor visit; /* Unless NULL, called in place of printing. */
    unsigned prints; /* Unless 0, there is a visitor, and of each document so many shingles are printed as a sketch. */
    void (*before_wait)(void *context); /* Called by the thread of `visit` before it waits. May be NULL. */
    unsigned makes;                     /* What the visitor gets: MAKES_FINGERPRINTS and others, added up. */
    enum parts_by by;                   /* Of what shingles are made: of texts, or of their parts. */
    uint64_t min_words;                 /* Parts with fewer words have none. */
    struct shingling shingling;         /* With MAKES_SHINGLES, what shingles are. */
    file_visitor
        visit_file; /* Called before the documents of a file are read, by another thread than `visit`. May be NULL. */
    bool others;    /* WARC records without a document are visited as well, with nothing made of them. */
    void *context;  /* The context of the visitors. */
    const char *expected_recipe;        /* The recipe of the texts must match it. May be NULL. */
    const struct pipeline_again *again; /* NULL: the paths are read. */
    const char *of_bad;                 /* How the message that counts bad records begins. NULL: they are left out. */
};

enum pipeline_status {
    PIPELINE_WELL,
    PIPELINE_PARTLY, /* An input can't be read, or all records are bad; all others were read. */
    PIPELINE_FAILED, /* It did not get to the end, for example because of a bad record with `strict`, or a visitor. */
};

/* Reads all documents of the inputs and prints a line for each, fingerprint<TAB>ID, behind #recipe<TAB>RECIPE, with the
 * recipe in canonical form. With `train`, counts all documents in a table instead, and writes that if there was no
 * error. Says on standard error what was left out. */
enum pipeline_status pipeline_run(const struct pipeline_rules *rules, const struct strings *paths);

/* Visits the formats of all files that pipeline_run would read, as documents_visit_formats does. */
void pipeline_visit_formats(const struct pipeline_rules *rules, const struct strings *paths, format_visitor visit,
                            void *context);

/* Prints a line that compares the texts in two files, by the recipe, table, bits and extraction of `rules`, for `idx
 * compare` and `idx fingerprint --compare`. Sets *same to whether they are the same, by their fingerprints at least. In
 * compare.c. */
bool compare_files(const struct pipeline_rules *rules, char *const paths[2], bool *same);

/* ---- The options by which texts become fingerprints, of `idx fingerprint` and `idx dedup` ---- */

struct text_options {
    struct pipeline_rules rules;
    bool features; /* The input is features; text_options_settle also sets it for --hashes and --tokens. */
    int hash;      /* Of enum idx_hash_kind. Like the ties, it becomes a part of the recipe. */
    unsigned ties;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* The recipe with these parts, to which rules.recipe points then. */
};

/* The values of --format, from FORMAT_AUTO to FORMAT_MAN, ended by NULL. */
extern const char *const text_format_names[];

/* The values of --hash, in the order of enum idx_hash_kind, ended by NULL. */
extern const char *const text_hash_names[];

/* Sets the defaults. */
void text_options_init(struct text_options *options);

/* Completes the rules once the options are read. The format is FORMAT_AUTO if none was given. */
bool text_options_settle(struct text_options *options, enum document_format format);

#endif
