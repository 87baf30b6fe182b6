/* idx_text.h: the public header of libidxtext: from a text to its fingerprint, by recipe. Optional, over ICU.
 *
 * Recipes
 * A recipe is a string that names every step, so that fingerprints made by different definitions can't be mixed unseen.
 * Its parts are separated by semicolons. The first one is the method:
 *
 *   words:N         SimHash of the shingles of N words, 1 to 8. words:1, the default, for documents that differ by
 *                   edits; more words tell apart texts about one thing, but bear fewer edits within k bits.
 *   words:N,stop=L  the same of those shingles alone that hold a stop word of the languages L: sentences do, while
 *                   menus and advertisements hardly do. For pages whose main text is the matter.
 *   chars:N         SimHash of the n-grams of N characters, 1 to 32: bears typing errors and inflection.
 *   segments:N      The words cut into N parts (1 to 64) of equal numbers, word i of n to part floor(i N / n), and
 *                   a SimHash of the words of each, so N fingerprints a document; parts without words have none. For
 *                   parts that are copied; documents are duplicates when so many parts agree as the user says. k = 0
 *                   to 3.
 *   sentences:N     The hash of the N (1 to 64) longest sentences; 3 is usual. For pages whose frame changes around one
 *                   article. k = 0, as all of the following: a hash is equal, or tells nothing.
 *   description     The hash of the field `description`, or of the text's first 512 bytes. Cheap; for pages with one.
 *   terms:N         The hash of the N (1 to 1000) heaviest words. For copies whose common words are edited;
 *                   idx_text_weight_distance tells chance agreements apart.
 *   idf:P           The hash of the P % of a text's words that are rarest in a corpus (I-Match). For large collections
 *                   of one kind, with a table made from it; 70 is usual.
 *
 * Then, in the order of the canonical form:
 *
 * - nfkc-cf: how text is normalised, below.
 * - stop=L: stop words of the languages L are dropped before all else: de en es fr it nl pt ru zh, joined by +.
 *   Not for chars, sentences, description.
 * - w=1: every feature weighs 1. Not for sentences, description, as all weights.
 * - w=tf: as often as it occurs in the text, tf.
 * - w=logtf: 1 + log2(tf), the default.
 * - w=tfidf:HASH: tf times idf, where idf = log2((D + 1) / (d + 1)) for a feature that d of the D documents have which
 *   a table was made from, and HASH, 16 hexadecimal digits, is that table's.
 * - w=idf:HASH: idf alone. The default for idf:P, and all that it can have.
 * - top=N: the N (1 to 1000000) heaviest features alone. For words and chars.
 * - title=W: the field `title` is taken too, its features W times (1 to 100) the weight that they have there; a feature
 *   of both fields has the sum. For words, chars and terms.
 * - order=weight: terms are hashed the heaviest first, the default.
 * - order=sorted: terms are hashed in the order of their bytes.
 * - v1: the version of all these definitions.
 * - icu=72: the major version of ICU where fingerprints were made: no part of their definition, but words of scripts
 *   without spaces come from ICU's dictionaries, which may change with its release.
 *
 * Parts behind the method may be left out, where their defaults stand for them, and come in any order; HASH where the
 * table is given. idx_text_recipe prints the canonical form.
 *
 * Definitions, version 1
 * The text is read as UTF-8, each ill-formed sequence as U+FFFD, and normalised by NFKC_Casefold (a run without a
 * normalisation boundary is cut before the first character that begins 256 or more UTF-16 units after its start, and so
 * on). `:` and `@` become spaces, since releases of ICU differ in how they cut at them.
 * - Words: ICU's word segmentation for the root locale; segments that are neither letters, numbers, kana nor ideographs
 *   are dropped. A feature is the word's bytes in UTF-8.
 * - Shingles: N words that follow one another, in UTF-8, with a space between. A text of fewer words, but some, is one
 *   shingle. Dropped stop words are not there at all.
 * - Characters: each run of white space (Unicode's White_Space) becomes one space, and none at the start and the end;
 *   an n-gram is N code points that follow one another, in UTF-8. A text of fewer, but some, is one n-gram.
 * - Hashes are XXH3, 64 bits, seed 0; a fingerprint of f bits is the low f ones. Features have the hash of their bytes;
 *   shingles of 2 or more words and n-grams are told apart by it alone.
 * - Weights are in fixed point with 16 fraction bits, logarithms rounded down, by integers alone; idf is the difference
 *   of two of them. SimHash is idx_simhash_finish's. Of features of one weight, that of the smaller hash counts as the
 *   heavier one.
 * - Sentences: ICU's sentence segmentation for the root locale, of the text with white space folded as above but not
 *   normalised, since sentences begin with capitals; a final space is dropped. Length is in code points; of equal ones
 *   the first is longer. Those chosen are normalised, folded, joined by line feeds in the order of the text,
 *   and hashed.
 * - Description: normalised, white space folded, the first 512 bytes of UTF-8, less a character that these cut.
 * - Terms: joined by line feeds. idf:P keeps, of n distinct words, n P / 100 rounded up, the greatest idf first.
 * A text without features has fingerprint 0.
 *
 * Conventions are those of idx.h. A struct idx_text belongs to one thread at a time. A struct idx_text_table may be
 * shared while no one changes it.
 */
#ifndef IDX_TEXT_H
#define IDX_TEXT_H

#include <idx.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IDX_TEXT_DEFAULT_RECIPE "words:1;nfkc-cf;w=logtf;v1"

/* How many fingerprints a recipe makes of a text, at most. */
#define IDX_TEXT_MAX_FINGERPRINTS 64

struct idx_text;
struct idx_text_table;

/* ---- Fingerprints ------------------------------------------------------------------------------------------------ */

struct idx_text_options {
    size_t size;
    const char *recipe;                 /* NULL: the default one */
    const struct idx_text_table *table; /* for w=tfidf and w=idf: not copied, so it outlives the fingerprinter */
};

#define IDX_TEXT_OPTIONS_INIT                                                                                          \
    { sizeof(struct idx_text_options), NULL, NULL }

/* Makes a fingerprinter; `options` may be NULL. The caller closes *text.
 * Errors: IDX_INVALID_ARGUMENT, IDX_BAD_RECIPE (also for another table than the recipe's, or none),
 * IDX_OUT_OF_MEMORY, IDX_UNSUPPORTED (ICU lacks its data). */
IDX_API enum idx_status idx_text_open(struct idx_text **text, const struct idx_text_options *options,
                                      struct idx_error *error);

/* Its recipe in canonical form, ended by ;icu= and the major version of ICU, as an index is to store it. Lives as long
 * as `text`. */
IDX_API const char *idx_text_recipe(const struct idx_text *text);

/* The fingerprint of `bits` bits (1 to 64) of a text of `length` bytes (below 2^30), without other fields. *features
 * (may be NULL) is set to the number of distinct features; a text without any has fingerprint 0.
 * Errors: IDX_INVALID_ARGUMENT (also for segments:N, which makes several), IDX_LIMIT (too long, also once normalised:
 * 2^31 UTF-16 units), IDX_OUT_OF_MEMORY, IDX_UNSUPPORTED (ICU fails; the sentence says how). */
IDX_API enum idx_status idx_text_fingerprint(struct idx_text *text, const void *utf8, size_t length, unsigned bits,
                                             uint64_t *fingerprint, uint64_t *features, struct idx_error *error);

/* A part of a document. Names that recipes know: "body" (also NULL), "title", "description". Fields that a recipe does
 * not take are passed over; several of one name are counted one after another, but of descriptions the first. */
struct idx_text_field {
    const char *name;
    const void *utf8; /* may be NULL where length is 0 */
    size_t length;    /* bytes; all fields together are below 2^30 */
};

struct idx_text_counts {
    uint64_t features; /* distinct ones in the document, or sentences; for description 1, or 0 when it is empty */
    int64_t weight;    /* sum of the weights of those that the fingerprint is made of, in units of 1/IDX_WEIGHT_ONE; 0
                          for sentences and description */
};

/* The fingerprints of a document of `field_count` fields, *count of them, at most IDX_TEXT_MAX_FINGERPRINTS: one for
 * every recipe but segments:N, which makes one for each part that has words. `capacity` is what `fingerprints` has room
 * for. `counts` may be NULL.
 * Errors: as idx_text_fingerprint; IDX_INVALID_ARGUMENT also for a field's name that is not known and too small a
 * capacity. */
IDX_API enum idx_status idx_text_fingerprints(struct idx_text *text, const struct idx_text_field *fields,
                                              size_t field_count, unsigned bits, uint64_t *fingerprints,
                                              size_t capacity, size_t *count, struct idx_text_counts *counts,
                                              struct idx_error *error);

/* What the last fingerprint is the hash of, for sentences, description, terms and idf: equal fingerprints are confirmed
 * on it. *length bytes, valid until the next fingerprint; NULL for other recipes. */
IDX_API const char *idx_text_signature(const struct idx_text *text, size_t *length);

/* How far apart two documents' summed weights are: (a - b)^2 / (a^2 + b^2), from 0 to 1, and 0 when both are 0. Equal
 * hashes of terms are confirmed where it is below a tolerance of the user's. Weights are not negative. */
IDX_API double idx_text_weight_distance(int64_t a, int64_t b);

IDX_API void idx_text_close(struct idx_text *text);

/* ICU's version, as "72.1". Static storage. */
IDX_API const char *idx_text_icu_version(void);

/* ---- Tables of document frequencies ------------------------------------------------------------------------------ */

/* Makes an empty table for the features (method, N, stop words) of `text`, which may be of any weights but by table.
 * The caller frees it. It keeps 2^22 terms: when there would be more, the rarest quarter is forgotten.
 * Errors: IDX_INVALID_ARGUMENT (no features: sentences, description), IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_text_table_create(struct idx_text_table **table, const struct idx_text *text,
                                              struct idx_error *error);

/* Adds a document: 1 to each of its features, in all fields that the recipe of `text` takes.
 * Errors: as idx_text_fingerprints; IDX_INVALID_ARGUMENT also where the features of `text` are others; IDX_LIMIT
 * (2^32 documents). After IDX_OUT_OF_MEMORY the table can only be freed. */
IDX_API enum idx_status idx_text_table_add(struct idx_text_table *table, struct idx_text *text,
                                           const struct idx_text_field *fields, size_t field_count,
                                           struct idx_error *error);

/* Adds all documents of another table of the same features: the same as if they had been added here, but for terms that
 * are forgotten. Errors: as idx_text_table_add. */
IDX_API enum idx_status idx_text_table_merge(struct idx_text_table *table, const struct idx_text_table *other,
                                             struct idx_error *error);

struct idx_text_table_properties {
    uint64_t documents;
    uint64_t terms;
    uint64_t dropped;     /* how much lower than the truth a term's document frequency may be; 0: nothing was dropped */
    const char *features; /* which features: a recipe; lives as long as the table */
};

IDX_API void idx_text_table_get_properties(const struct idx_text_table *table,
                                           struct idx_text_table_properties *properties);

/* Writes the table to a file, atomically: `path` with .tmp and the process's number behind it, synced, then renamed.
 * The format stands in libidx/text/table_bytes.c. Errors: IDX_OUT_OF_MEMORY, IDX_NOT_FOUND (the folder), IDX_NO_ACCESS,
 * IDX_DISK_FULL, IDX_IO_ERROR. */
IDX_API enum idx_status idx_text_table_write(const struct idx_text_table *table, const char *path,
                                             struct idx_error *error);

/* Reads the table at `path`, which may be damaged or something else. The caller frees *table.
 * Errors: IDX_NOT_FOUND, IDX_NO_ACCESS, IDX_IO_ERROR, IDX_BAD_CONTENT (the sentence says what), IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_text_table_read(struct idx_text_table **table, const char *path, struct idx_error *error);

IDX_API void idx_text_table_free(struct idx_text_table *table);

#ifdef __cplusplus
}
#endif

#endif
