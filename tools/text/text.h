/* text.h: fingerprints of documents, over libidxtext where this build has it. */
#ifndef IDX_TOOLS_TEXT_H
#define IDX_TOOLS_TEXT_H

#include "tools/text/extract.h"

#include <stdbool.h>
#include <stdint.h>

struct idx_text;
struct idx_text_table;

/* A thread has its own. */
struct text {
    struct idx_text *fingerprinter; /* NULL: only documents of FORMAT_FEATURES */
    unsigned bits;
    struct extractor extractor;
};

/* The recipe that is used where none is asked for. */
extern const char text_default_recipe[];

/* Opens a fingerprinter by a recipe; NULL is none, for documents of FORMAT_FEATURES. `table` (for recipes that weigh by
 * one, or NULL) and `rules` have to stay. Returns false after a complaint, also where this build has no libidxtext. */
bool text_open(struct text *text, const char *recipe, const struct idx_text_table *table, unsigned bits,
               const struct extract_rules *rules);

/* The same without the complaint: *error has it. Of a build with libidxtext. */
bool text_try_open(struct text *text, const char *recipe, const struct idx_text_table *table, unsigned bits,
                   const struct extract_rules *rules, struct idx_error *error);

/* The recipe in canonical form, with the version of ICU; of a text with a fingerprinter. */
const char *text_recipe(const struct text *text);

/* What a recipe makes of a document, at most. */
enum { TEXT_MOST_FINGERPRINTS = 64 };

struct text_result {
    struct span id; /* within the document, or the text until its next use */
    uint64_t fingerprints[TEXT_MOST_FINGERPRINTS];
    size_t count;
    uint64_t features;     /* distinct ones; of FORMAT_FEATURES, all */
    int64_t weight;        /* theirs together, in units of 1/IDX_WEIGHT_ONE; 0 where none is known */
    struct span signature; /* what the fingerprint is the hash of, until the text's next use; bytes NULL: of nothing */
};

/* Fingerprints a document. Returns false where it is bad, or where memory ran out. */
bool text_fingerprint(struct text *text, struct raw_document *raw, struct text_result *result, struct bad *bad);

/* What is listed of a document. */
enum listed {
    LISTED_SHINGLES, /* their hashes, ascending (idx_text_shingles) */
    LISTED_WEIGHTED, /* features of the recipe, as struct idx_feature, by ascending hash */
    LISTED_BODY,     /* its length in bytes, as uint64_t, and then the first TEXT_LISTED of them */
};
enum { TEXT_LISTED = 1 << 18 };

/* What is listed, and of which documents. */
struct features_wanted {
    enum listed listed;
    bool (*is_wanted_id)(void *context, struct span id, uint64_t *key); /* or NULL: all are wanted, without a key */
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

/* ---- The documents in a folder and below it, one after the other, as `idx lookup --text` wants them: below.c ---- */

struct below;

enum below_status {
    BELOW_ONE,
    BELOW_END,
    BELOW_PARTLY, /* the end, but a file or a folder could not be read, after a complaint */
    BELOW_FAILED, /* memory ran out, after a complaint */
};

/* Lists the files in the folder at `path` and below it that `globs` admits. `text` is used until below_free. NULL after
 * a complaint. */
struct below *below_new(struct text *text, const char *path, const struct globs *globs);

/* Gives a fingerprint and the ID of its document, which is valid until the next call. Bad records are left out, as by
 * `idx fingerprint`, and counted at the end on standard error. */
enum below_status below_next(struct below *below, uint64_t *fingerprint, struct span *id);

/* NULL is none. */
void below_free(struct below *below);

#endif
