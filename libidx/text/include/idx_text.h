/* idx_text.h: the public header of libidxtext, which makes fingerprints from texts. Optional; needs ICU.
 *
 * A fingerprinter makes fingerprints by a recipe, a string that says how; idx_text_recipe returns the one that an index
 * is to be built with, so that fingerprints of different recipes are not compared by mistake. The recipes, and the
 * shingles by which texts are compared, are defined at the end of this header.
 *
 * Calls
 *   idx_text_open                  makes a fingerprinter by a recipe
 *   idx_text_recipe                returns its recipe in canonical form
 *   idx_text_fingerprint           makes the fingerprint of a text
 *   idx_text_fingerprints          makes the fingerprints of a document with several fields
 *   idx_text_fingerprint_many      makes those of many documents, on several threads
 *   idx_text_signature             returns what was hashed for the last fingerprint
 *   idx_text_weight_distance       says how far the weights of two documents are apart
 *   idx_text_close                 closes the fingerprinter
 *   idx_text_icu_version           returns the version of ICU
 *   idx_text_shingles              lists the hashes of a text's shingles
 *   idx_text_jaccard               returns how much two sets of hashes resemble each other
 *   idx_text_resemblance           says how much two texts resemble each other
 *   idx_text_visit_words           calls a function for each word of a text
 *   idx_text_find_part             finds the first paragraph or line of a text
 *   idx_text_unquote               makes what is compared of such a part
 *   idx_text_table_open            makes an empty table of document frequencies
 *   idx_text_table_add             adds a document to it
 *   idx_text_table_get_properties  says what a table holds
 *   idx_text_table_write           writes it to a file
 *   idx_text_table_read            reads one, or a list of words of another program
 *   idx_text_table_close           releases it
 *
 * Conventions
 * The conventions are those of idx.h. A struct idx_text belongs to one thread at a time. Threads
 * may share a struct idx_text_table while none of them changes it. All other functions may be called by any
 * number of threads. Calls of this header take up to 256 KiB of the caller's stack, besides what a visitor takes.
 */
#ifndef IDX_TEXT_H
#define IDX_TEXT_H

#include <idx_simhash.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IDX_TEXT_DEFAULT_RECIPE "words:1;nfkc-cf;w=logtf;v2"

/* The most fingerprints that a recipe makes of one document. */
#define IDX_TEXT_MAX_FINGERPRINTS 64

struct idx_text;
struct idx_text_table;

/* ---- Fingerprints ------------------------------------------------------------------------------------------------ */

struct idx_text_options {
    size_t size;
    const char *recipe;                 /* NULL: the default one */
    const struct idx_text_table *table; /* for w=tfidf and w=idf; not copied: close it after the fingerprinter */
};

#define IDX_TEXT_OPTIONS_INIT                                                                                          \
    { sizeof(struct idx_text_options), NULL, NULL }

/* Makes a fingerprinter. The caller closes *text.
 * Errors: IDX_INVALID_ARGUMENT, IDX_BAD_RECIPE (also if the recipe needs a table, and none or another one is given),
 * IDX_OUT_OF_MEMORY, IDX_UNSUPPORTED (ICU lacks its data). */
IDX_API enum idx_status idx_text_open(struct idx_text **text, const struct idx_text_options *options,
                                      struct idx_error *error);

/* The recipe in canonical form, which ends with ;icu= and the major version of ICU if it asks dictionaries. Store it in
 * the index. Valid as long as `text`. */
IDX_API const char *idx_text_recipe(const struct idx_text *text);

/* Makes the fingerprint of `bits` bits (1 to 64) of a text of `length` bytes (below 2^30), without other fields. Sets
 * *features, which may be NULL, to the number of distinct features. A text without features has fingerprint 0.
 * Errors: IDX_INVALID_ARGUMENT (also for segments:N and minhash:M, which make several fingerprints), IDX_LIMIT (the
 * text is too long, or has 2^31 UTF-16 units or more once it is normalised), IDX_OUT_OF_MEMORY, IDX_UNSUPPORTED (ICU
 * fails; the sentence says how. Or the text has scripts that are written without spaces, and ICU lacks a dictionary by
 * which version 1 cuts them). */
IDX_API enum idx_status idx_text_fingerprint(struct idx_text *text, const void *utf8, size_t length, unsigned bits,
                                             uint64_t *fingerprint, uint64_t *features, struct idx_error *error);

/* A field of a document. The names are "body" (or NULL), "title" and "description". Fields that a recipe does not use
 * are ignored. If several fields have the same name, they are used one after another; of descriptions, only
 * the first one is used, even if it is empty. */
struct idx_text_field {
    const char *name;
    const void *utf8; /* may be NULL where length is 0 */
    size_t length;    /* bytes; all fields together are below 2^30 */
};

struct idx_text_counts {
    uint64_t features; /* distinct features of the document, or shingles, or sentences; for description 1, or 0 if it is
                          empty */
    int64_t weight;    /* sum of the weights of the features that make the fingerprint, in units of 1/IDX_WEIGHT_ONE; 0
                          for sentences, description and minhash */
    uint64_t reserved[8];
};

/* Makes the fingerprints of a document of `field_count` fields, and sets *count to how many there are, at most
 * IDX_TEXT_MAX_FINGERPRINTS: one for every recipe except segments:N, which makes one for each segment that has words,
 * and minhash:M. `fingerprints` has room for `capacity` of them, at least N for segments:N and M for minhash:M.
 * `counts` may be NULL.
 * Errors: as idx_text_fingerprint; IDX_INVALID_ARGUMENT also for an unknown field name, if `capacity` is too small, or
 * for minhash with other than 64 bits. */
IDX_API enum idx_status idx_text_fingerprints(struct idx_text *text, const struct idx_text_field *fields,
                                              size_t field_count, unsigned bits, uint64_t *fingerprints,
                                              size_t capacity, size_t *count, struct idx_text_counts *counts,
                                              struct idx_error *error);

struct idx_text_document {
    const struct idx_text_field *fields;
    size_t field_count;
};

/* As idx_text_fingerprints for each of `count` documents, on `threads` threads (1 to IDX_MAX_THREADS), the caller's
 * included: `texts` has a fingerprinter for each, all of one recipe. The fingerprints of documents[i] begin at
 * fingerprints[i · capacity], and the room that they leave is set to 0; fingerprint_counts[i] is their number, and
 * features[i] that of the distinct features. Both arrays may be NULL, and so may `visit`: it is called as by
 * idx_run_tasks, with 64 documents a task. After an error all results are unspecified. Errors: as
 * idx_text_fingerprints, and idx_run_tasks. */
IDX_API enum idx_status idx_text_fingerprint_many(struct idx_text *const *texts, unsigned threads,
                                                  const struct idx_text_document *documents, size_t count,
                                                  unsigned bits, uint64_t *fingerprints, size_t capacity,
                                                  uint64_t *fingerprint_counts, uint64_t *features,
                                                  idx_progress_visitor visit, void *visit_context,
                                                  struct idx_error *error);

/* The bytes that were hashed for the last fingerprint, for sentences, description, terms and idf; compare them to
 * confirm that equal fingerprints mean equal texts. *length bytes, valid until the next fingerprint. NULL for other
 * recipes. */
IDX_API const char *idx_text_signature(const struct idx_text *text, size_t *length);

/* The distance of two documents' summed weights: (a - b)^2 / (a^2 + b^2), from 0 to 1, and 0 if both are 0. It confirms
 * equal hashes of terms if it is below a tolerance that the user chooses. Weights are not negative. */
IDX_API double idx_text_weight_distance(int64_t a, int64_t b);

/* Closes the fingerprinter. Accepts NULL. */
IDX_API void idx_text_close(struct idx_text *text);

/* The version of ICU, such as "72.1". Static storage. */
IDX_API const char *idx_text_icu_version(void);

/* ---- Resemblance ------------------------------------------------------------------------------------------------- */

#define IDX_TEXT_MAX_SHINGLE_WIDTH 16

/* The most words, and the most characters, that a text of `length` bytes has. A character of 3 bytes may become 6 words
 * (U+3316), or 18 characters (U+FDFA). ASCII has at most `length` / 2 + 1 words and `length` characters. */
#define IDX_TEXT_MAX_WORDS(length) (2 * (length))
#define IDX_TEXT_MAX_CHARACTERS(length) (6 * (length))

enum idx_text_shingle_unit {
    IDX_TEXT_WORDS,
    IDX_TEXT_CHARACTERS,
};

struct idx_text_shingle_options {
    size_t size;
    unsigned width; /* how many words or characters a shingle has: 1 to IDX_TEXT_MAX_SHINGLE_WIDTH */
    enum idx_text_shingle_unit unit;
    bool in_text_order; /* list the hashes in the order of the text, repetitions included, as idx_sets_add takes them */
};

#define IDX_TEXT_SHINGLE_OPTIONS_INIT                                                                                  \
    { sizeof(struct idx_text_shingle_options), 5, IDX_TEXT_WORDS, false }

/* Stores the hashes of a text's shingles, ascending and each once unless `options` say otherwise, in `hashes`, and sets
 * *count to how many there are. The text has `length` bytes, of any content. By default, shingles have 5
 * words. The array needs room for all shingles, repetitions included: `capacity` is in hashes. If it is too small, the
 * call fails, sets *count to the room that is needed, and leaves `hashes` unspecified; to ask for that, `hashes` may be
 * NULL with capacity 0. Allocates nothing. Errors: IDX_INVALID_ARGUMENT, IDX_UNSUPPORTED (ICU fails, or lacks its data
 * for NFKC_Casefold). */
IDX_API enum idx_status idx_text_shingles(const void *utf8, size_t length,
                                          const struct idx_text_shingle_options *options, uint64_t *hashes,
                                          size_t capacity, size_t *count, struct idx_error *error);

/* The Jaccard coefficient of two sets of hashes, each ascending and without repetitions: 0 to 1, and 1 if both are
 * empty. It is the nearest double, so that comparing it with a threshold, such as `>= 0.8`, is exact. Arrays of count 0
 * may be NULL. */
IDX_API double idx_text_jaccard(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

/* Sets *resemblance to that of two texts: the Jaccard coefficient of their shingles, 0 to 1, and 1 if neither has any.
 * Takes 4 times the memory of the texts, of characters 8 times; of texts whose characters become several, up to 16 and
 * 48 times. Errors: as idx_text_shingles; IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_text_resemblance(const void *a, size_t a_length, const void *b, size_t b_length,
                                             const struct idx_text_shingle_options *options, double *resemblance,
                                             struct idx_error *error);

/* A word of a text, as shingles have them. Characters that fold together, such as a letter and its accents, have one
 * place, and so have all words that come of one character: two such words, one after the other, begin at the same byte,
 * or one begins before the other ends. */
struct idx_text_word {
    size_t begin, end; /* bytes of the text: where it begins, and behind it */
    uint64_t hash;     /* the same for words that are the same once they are normalised */
};

/* Called for each word. Returns false to stop. */
typedef bool (*idx_text_word_visitor)(void *context, const struct idx_text_word *word);

/* Calls `visit` for all words of a text, in their order. Allocates nothing. Errors: as idx_text_shingles. */
IDX_API enum idx_status idx_text_visit_words(const void *utf8, size_t length, idx_text_word_visitor visit,
                                             void *context, struct idx_error *error);

/* ---- Parts of texts ---------------------------------------------------------------------------------------------- */

enum idx_text_part {
    IDX_TEXT_PARAGRAPH, /* lines up to a blank one, and the blank ones behind; the first also has those before it */
    IDX_TEXT_LINE,      /* up to a \n, which it includes */
};

/* Returns the length of the first part of a text, in bytes; 0 if the text is empty. The next part begins behind it, so
 * that each byte of the text is in one part. A blank line has nothing but white space, as Unicode defines it, and marks
 * of quotation, `>`. The text has `length` bytes, of any content; if `escaped`, they are written as between the quotes
 * of a JSON string. Never fails. */
IDX_API size_t idx_text_find_part(const void *utf8, size_t length, enum idx_text_part part, bool escaped);

/* Stores in `unquoted` what is compared of a part, which is not escaped: without the marks of quotation that its lines
 * begin with, and the blanks among these. Returns its length. It needs room for `length` bytes, and may be the part
 * itself. Never fails. */
IDX_API size_t idx_text_unquote(const void *part, size_t length, char *unquoted);

/* ---- Document-frequency tables ----------------------------------------------------------------------------------- */

/* Makes an empty table for the features (method, N, stop words, cut) of `text`, single words unless its method is words
 * or chars. Its weights must not need a table. The caller closes *table. A table keeps up to 2^22 terms; when it would
 * exceed that, it drops the rarest quarter. Errors: IDX_INVALID_ARGUMENT (sentences, description and minhash have
 * none), IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_text_table_open(struct idx_text_table **table, const struct idx_text *text,
                                            struct idx_error *error);

/* Adds a document: adds 1 to the document frequency of each of its features, in all fields that the recipe of `text`
 * uses. Errors: as idx_text_fingerprints; IDX_INVALID_ARGUMENT also if `text` makes other features than the table has;
 * IDX_LIMIT (2^32 documents). After IDX_OUT_OF_MEMORY the table can only be closed. */
IDX_API enum idx_status idx_text_table_add(struct idx_text_table *table, struct idx_text *text,
                                           const struct idx_text_field *fields, size_t field_count,
                                           struct idx_error *error);

struct idx_text_table_properties {
    uint64_t documents;
    uint64_t terms;
    uint64_t dropped;     /* the most by which a term's document frequency may be too low; 0: nothing was dropped */
    const char *features; /* which features, as a recipe; valid as long as the table */
    uint64_t reserved[8];
};

/* Says what a table holds. */
IDX_API void idx_text_table_get_properties(const struct idx_text_table *table,
                                           struct idx_text_table_properties *properties);

/* Writes the table to a file atomically: the bytes go to another file in its folder, which has no name or is called
 * `.idx-table-` and 16 hex digits, and which is synced before it gets the name `path`, in place of any former file. The
 * format is described in libidx/text/table.c. Errors: IDX_OUT_OF_MEMORY, IDX_NOT_FOUND (the folder),
 * IDX_NO_ACCESS, IDX_DISK_FULL, IDX_IO_ERROR. */
IDX_API enum idx_status idx_text_table_write(const struct idx_text_table *table, const char *path,
                                             struct idx_error *error);

/* Reads the table at `path`. The file may be damaged, or something else. The caller closes *table.
 *
 * The file may also be a list of words that another program made: UTF-8 text, with a term, a tab and a number per line.
 * Without a tab, the only space of the line separates the two. The first line may say what the numbers are:
 *
 *   #documents, tab, D   the numbers of documents, of all D (below 2^32), that have the term
 *   #idf                 idf, 0 to 1000, in any unit, as decimal numbers; 9 digits after the point count
 *
 * A list that begins with neither has idf, and each of its numbers must have a point, as in the idf.txt of jieba. Words
 * that a list of idf lacks have the median of its numbers (of an even number of them the upper one). Terms are
 * normalised as texts are, but `:` and `@` stay; if several are then equal, the most frequent one counts. A list weighs
 * the single words of any recipe, whatever its stop words and cut are, but one with words of scripts that are written
 * without spaces needs v1 or cut=spaces. It takes no further documents. idx_text_table_write writes it as a table,
 * which counts as one with such words, since it has only hashes. The property `documents` of a list of idf is 0.
 *
 * Errors: IDX_NOT_FOUND, IDX_NO_ACCESS, IDX_IO_ERROR, IDX_BAD_CONTENT (the sentence says what), IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_text_table_read(struct idx_text_table **table, const char *path, struct idx_error *error);

/* Closes the table. Accepts NULL. */
IDX_API void idx_text_table_close(struct idx_text_table *table);

/* ---- Definitions ------------------------------------------------------------------------------------------------- */

/* Recipes
 * A recipe is a string that names every step from a text to its fingerprint, so that fingerprints of different
 * definitions are not compared by mistake. Its parts are separated by semicolons. The first part is the method:
 *
 *   words:N         The SimHash of the shingles of N words, 1 to 8. words:1, the default, is for documents that differ
 *                   by edits. More words distinguish texts about the same subject, but tolerate fewer edits within k
 *                   bits.
 *   words:N,stop=L  As words:N, but only with the shingles that contain a stop word of the languages L. Sentences
 *                   contain them, menus and advertisements hardly do. For web pages whose main text matters.
 *   chars:N         The SimHash of the n-grams of N characters, 1 to 32. Tolerates typing errors and inflection.
 *   segments:N      Cuts the words into N segments (1 to 64) of equal size: word i of n goes to segment floor(i N / n).
 *                   Makes a SimHash of the words of each segment, so N fingerprints per document; a segment without
 *                   words has none. For documents that copy passages: the user decides how many segments must agree to
 *                   make two documents duplicates. k = 0 to 3.
 *   sentences:N     The hash of the N (1 to 64) longest sentences; 3 is usual. For web pages whose frame changes around
 *                   the same article. k = 0, as for all following methods: such hashes are either equal or unrelated.
 *   description     The hash of the first 512 bytes of the field `description`, or of the text if there is no such
 *                   field. Cheap; for pages that have a description.
 *   terms:N         The hash of the N (1 to 1000) heaviest words. For copies whose common words are edited.
 *                   idx_text_weight_distance detects documents that agree by chance.
 *   idf:P           The hash of the P % of a text's words that are rarest in a corpus (I-Match); 70 is usual. For large
 *                   collections of one kind, with a document-frequency table made from the collection.
 *   minhash:M       The M (1 to 64) smallest hashes of the text's shingles, its bottom-k sketch (Broder 1997): up to M
 *                   fingerprints of 64 bits per document, ascending; a text with fewer distinct shingles has one for
 *                   each, and a text without words none. For finding texts by resemblance: two texts with the
 *                   resemblance J share the smallest hash of both with probability J, and none of the M with
 *                   probability at most (1 - J)^M. k = 0.
 *
 * The other parts, in the order of the canonical form:
 *
 * - nfkc-cf: how text is normalised, see below.
 * - cut=spaces: words are what white space separates, for texts that another program segmented; see below. For all
 *   methods but chars, sentences, description and minhash.
 * - stop=L: drop stop words of the languages L before everything else. L has some of de en es fr it nl pt ru zh, joined
 *   by +. Not for chars, sentences, description and minhash.
 * - w=1: every feature has weight 1. Weights are not for sentences, description and minhash.
 * - w=tf: the weight is tf, the number of times that the feature occurs in the text.
 * - w=logtf: 1 + log2(tf), the default.
 * - w=tfidf:HASH: tf times idf. idf = log2((D + 1) / (d + 1)) for a feature that occurs in d of the D documents from
 *   which a document-frequency table was made. HASH, 16 hexadecimal digits, is the hash of that table.
 * - w=idf:HASH: idf alone. The default for idf:P, and its only weight.
 * - top=N: only the N (1 to 1000000) heaviest features. For words and chars.
 * - title=W: also use the field `title`; its features have W times (1 to 100) the weight that they have there. If a
 *   feature is in both fields, its weights are added up. For words, chars and terms.
 * - order=weight: terms are hashed in the order of their weights, the heaviest first. The default.
 * - order=sorted: terms are hashed in the order of their bytes.
 * - hash=H: a SimHash is made of the features' hashes H, as other programs make them: xxh3 (the default), fnv1, fnv1a
 *   or md5; see enum idx_hash_kind in idx.h. For words, chars and segments.
 * - ties=1: a bit of a SimHash is 1, and not 0, if the features with a 1 there weigh as much as those with a 0, as in
 *   other programs. For words, chars and segments.
 * - words=N, chars=N: shingles have N (1 to 16) words, the default, with 5, or characters. For minhash, whose shingles
 *   are those of Resemblance below.
 * - man=2: there may be manual pages among the texts, whose text was made as `idx fingerprint` makes it, version 2. It
 *   changes nothing else, but fingerprints with and without it don't match (idx_recipe_matches). By man=1, the headers
 *   and footers of pages were text.
 * - v1, v2: the version of these definitions. Version 2 is one of the methods with words (words, segments, terms, idf)
 *   and their default; the others have version 1 alone. The versions differ in the words of scripts that are written
 *   without spaces, and in forms of one word (Definitions, below), and in nothing else: a text without these has the
 *   same fingerprints by both. With version 2, stop=zh needs cut=spaces.
 * - icu=72: the major version of the ICU that made the fingerprints. It is not part of the definition, but by version 1
 *   words of scripts without spaces come from ICU's dictionaries, which may change between its releases. Recipes that
 *   ask no dictionary don't have it.
 *
 * The parts after the method may come in any order. A part that has its default value may be left out, and so may HASH
 * if the table is given. idx_text_recipe returns the canonical form, which leaves out stop=, top=, title=, hash= and
 * ties= where they change nothing. That of minhash has no nfkc-cf: `minhash:8;words=5;v1`.
 *
 * Definitions
 * They hold for all methods but minhash, which the shingles of Resemblance define.
 * The text is read as UTF-8, with each ill-formed sequence as U+FFFD, and normalised by NFKC_Casefold. A run without a
 * normalisation boundary is cut before the first character that begins 256 or more UTF-16 units after the start of the
 * run; the rest is treated likewise. `:` and `@` become spaces, because releases of ICU differ in how they segment
 * there.
 * - Forms of one word: with version 2, three things are done before a text is normalised. U+0640 (Arabic tatweel) is
 *   left out, also from U+FCF2 to U+FCF4, U+FE71, U+FE77, U+FE79, U+FE7B, U+FE7D and U+FE7F, whose marks stay. Each
 *   chillu of Malayalam (U+0D7A to U+0D7F, U+0D54 to U+0D56) becomes its letter and U+0D4D. Then the text is decomposed
 *   canonically (NFD), which only makes a difference where U+0345 is: Unicode's identifier caseless matching (D147).
 *   None of these characters, nor U+0345, begins a run.
 *   Letters that some languages write for each other, such as alef with and without hamza, or yeh and alef maksura,
 *   stay different letters: in other languages they distinguish words.
 * - Words, version 2: characters of scripts that are written without spaces form runs: they are the letters, digits
 *   and marks that are words by themselves where texts are compared (Resemblance, below). A run's words are its
 *   characters and its overlapping pairs of characters where the features are single words (words:1, segments, terms,
 *   idf), and its pairs alone in shingles; a run of one character is one word. A character weighs half, and a pair a
 *   quarter of what another word weighs, rounded down; shingles weigh the same. The rest of the text is segmented as if
 *   each run, and each other character of these scripts, were a space: the segments of ICU's word segmentation for the
 *   root locale are words if they are letters or numbers; other segments are dropped. No dictionary is asked. The marks
 *   U+0600 to U+0605, U+06DD, U+070F, U+0890, U+0891, U+08E2, U+110BD and U+110CD become spaces as well, since ICU 74
 *   segments them otherwise than 73 did. A feature is the bytes of a word in UTF-8. A text has the same fingerprint by
 *   every version of ICU that has its characters; ICU 72, 74 and 76 were compared.
 * - Words, version 1: the segments of ICU's word segmentation for the root locale, if they are letters, numbers, kana
 *   or ideographs; other segments are dropped. Dictionaries cut Chinese, Japanese, Thai, Lao, Khmer and Burmese.
 * - Words with cut=spaces, in both versions: the runs of characters between white space (Unicode's White_Space, of the
 *   normalised text) with a letter or a decimal digit in them; `:` and `@` stay as they are.
 * - Shingles: N consecutive words, in UTF-8, with a space between them. A text with fewer than N words, but at least
 *   one, is a single shingle. Words that were dropped as stop words do not count.
 * - Characters: each run of white space (Unicode's White_Space) becomes one space; white space at the start and at the
 *   end is dropped. An n-gram is N consecutive code points, in UTF-8. A text with fewer, but at least one, is a
 *   single n-gram.
 * - Hashes are XXH3, 64 bits, seed 0, unless hash= says otherwise. A fingerprint of f bits is the low f bits. A
 *   feature's hash is the hash of its bytes. Shingles of 2 or more words, and n-grams, are identified by their XXH3
 *   hashes alone. Tables go by XXH3 hashes whatever hash= says.
 * - Weights are in fixed point with 16 fraction bits, computed by integers alone. Logarithms are rounded down; idf is
 *   the difference of two logarithms. SimHash is defined by idx_simhash_finish. Among features of equal weight, the one
 *   with the smaller XXH3 hash counts as the heavier one.
 * - Sentences: ICU's sentence segmentation for the root locale, of the text with white space folded as above. The text
 *   is not normalised for this, because sentences begin with capitals. A final space is dropped. The length is in code
 *   points; of sentences of equal length, the first counts as the longest. The chosen sentences are normalised, their
 *   white space is folded, and they are joined by line feeds in the order of the text, and hashed.
 * - Description: normalised, white space folded, then cut to 512 bytes of UTF-8; a character that does not fit
 *   completely is dropped.
 * - Terms: joined by line feeds. Of n distinct words, idf:P keeps n P / 100, rounded up: those with the greatest idf,
 *   in descending order of idf.
 *
 * A text without features has fingerprint 0.
 *
 * Resemblance
 * Fingerprints propose near-duplicates, and texts decide: the resemblance of two texts is the Jaccard coefficient of
 * their sets of shingles, the share of shingles that both have among all that either has. The words of such shingles
 * are not those of recipes, and no recipe changes them:
 * - The text is read as UTF-8 and normalised as recipes of version 2 do it, forms of one word included, by
 *   NFKC_Casefold, which drops what is ignorable, such as soft hyphens and joiners: texts that are canonically equal,
 *   or differ only in case, in compatibility forms, in tatweel or in how a chillu is written, have the same words. An
 *   ill-formed sequence is U+FFFD, and so ends a word.
 * - A word is a run of letters (general category L), decimal digits (Nd) and marks (M) of the normalised text. In
 *   scripts that are written without spaces, each of these is a word by itself: ideographs, other characters of Han,
 *   kana (U+3040 to U+30FF, the scripts Hiragana and Katakana, and the word breaking class Katakana), and Thai, Lao,
 *   Khmer, Burmese and other scripts of Unicode's line breaking class SA. No dictionary is needed, so all data of ICU
 *   give the same words; only characters that a release of Unicode adds depend on the version of ICU.
 * - A shingle of words is `width` consecutive words. A shingle of characters is `width` consecutive characters of
 *   the normalised text, symbols and punctuation included, where white space is as in the recipe chars: one space for
 *   each run, and none at the start and at the end.
 * - A text with fewer words or characters, but at least one, is a single shingle. A text without any has none.
 * - Shingles are compared by 64-bit hashes, in arithmetic modulo 2^64. Let mix(v) be v after v = (v ^ v >> 30) *
 *   0xbf58476d1ce4e5b9, v = (v ^ v >> 27) * 0x94d049bb133111eb, v = v ^ v >> 31. The hash of a word is mix(w): w is 0
 *   at first, and becomes (w + 1) * 0x100000001b3 ^ c for each of its code points c in turn, or 1 where that is 0. The
 *   hash of a character c is mix(c). The hash of a shingle of n words or characters is mix(s): s is n at first, and
 *   becomes s * 0x9e3779b97f4a7c15 + h for the hash h of each of them in turn.
 * - These hashes are the same on all machines and in all releases, so that they can be stored. They are not made to
 *   withstand somebody who looks for texts of equal hashes, or makes texts that seem to resemble others.
 */

#ifdef __cplusplus
}
#endif

#endif
