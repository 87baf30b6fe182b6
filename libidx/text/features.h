/* features.h: what a recipe makes of a text: its features and their weights, and the fingerprints of a document. */
#ifndef IDX_LIBIDX_TEXT_FEATURES_H
#define IDX_LIBIDX_TEXT_FEATURES_H

#include "libidx/text/resemblance.h"
#include "libidx/text/words.h"

#include <idx.h>
#include <idx_text.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Recipe ---- */

/* A recipe is a string that says how fingerprints are made; idx_text.h has its grammar. */

enum idxt_method {
    IDXT_WORDS,
    IDXT_CHARS,
    IDXT_SEGMENTS,
    IDXT_SENTENCES,
    IDXT_DESCRIPTION,
    IDXT_TERMS,
    IDXT_IDF,
    IDXT_MINHASH,
};

enum idxt_weighing { IDXT_WEIGHT_LOGTF, IDXT_WEIGHT_ONE, IDXT_WEIGHT_TF, IDXT_WEIGHT_TFIDF, IDXT_WEIGHT_IDF };

struct idxt_recipe {
    enum idxt_method method;
    unsigned number;       /* the number after the colon of the method; 0 if that has none */
    uint32_t needed_stop;  /* if not 0, only shingles with a stop word of these languages (words.h) are taken */
    uint32_t dropped_stop; /* languages whose stop words are dropped */
    enum idxt_weighing weighing;
    bool has_table;
    uint64_t table_hash; /* of the table of document frequencies, if has_table */
    unsigned top;        /* how many features are taken, the heaviest; 0: all are */
    unsigned title;      /* the weight of the field `title`; 0: it is not taken */
    bool sorted;         /* order=sorted */
    bool by_spaces;      /* cut=spaces: words are what white space separates */
    unsigned version;    /* 1 or 2; of methods without words 1 */
    unsigned width;      /* for minhash: of how many words or characters a shingle is made, and of which: */
    enum idx_text_shingle_unit unit;
    enum idx_hash_kind hash; /* the hash of features in a SimHash */
    unsigned manuals;        /* how the texts of manual pages were made, if there are any; 0: there are none */
    bool ties;               /* whether a bit of a SimHash is 1 if the weights for 0 and 1 are equal */
};

/* Reads a recipe. Returns NULL if it is valid, or else the end of a sentence that begins with the recipe. */
const char *idxt_recipe_parse(struct idxt_recipe *recipe, const char *string);

/* Returns whether a recipe makes weighted features of a text, which can be listed, and counted in a table. */
bool idxt_recipe_has_features(const struct idxt_recipe *recipe);

/* Returns the most fingerprints that a recipe makes of a document. */
size_t idxt_recipe_most_fingerprints(const struct idxt_recipe *recipe);

/* Prints a recipe in its canonical form, with a NUL byte. It always fits. */
void idxt_recipe_print(const struct idxt_recipe *recipe, char string[IDX_MAX_RECIPE_BYTES + 1]);

/* Returns whether the weights of a recipe come from a table of document frequencies. */
bool idxt_recipe_needs_table(const struct idxt_recipe *recipe);

/* Returns whether the words of a recipe are those that ICU cuts by its dictionaries. */
bool idxt_recipe_asks_dictionaries(const struct idxt_recipe *recipe);

/* Returns whether the features of a recipe are single words, so that a list of words can weigh them. */
bool idxt_recipe_has_single_words(const struct idxt_recipe *recipe);

/* Returns the part of a recipe that says which features there are, with the weight tf. A table of document frequencies
 * is made for such a part. */
struct idxt_recipe idxt_recipe_of_features(const struct idxt_recipe *recipe);

/* ---- The features of a text, as a recipe defines them, and their weights ---- */

enum { IDXT_WINDOW_ITEMS = 32 };

/* The last few items of a text, words or characters, contiguous in memory, so that they can be hashed together as a
 * shingle or n-gram. It starts as {0}, and keeps its buffer from text to text. */
struct idxt_window {
    char *bytes;
    size_t byte_count;
    size_t capacity;
    size_t starts[IDXT_WINDOW_ITEMS]; /* where items begin, oldest first */
    size_t item_count;
};

struct idx_text_table;

/* A feature with what it is ranked by. */
struct idxt_ranked {
    int64_t weight;
    uint64_t hash;
    size_t number; /* its number in idxt_features.words */
};

/* The features of a text. It starts as {0}, and keeps its buffers from text to text. */
struct idxt_features {
    struct idxt_recipe recipe;
    const struct idx_text_table *table; /* document frequencies; NULL if the recipe needs none */
    struct idxt_segmenter segmenter;
    struct idxt_words needed_stop, dropped_stop;

    struct idxt_words words; /* the distinct features; those other than single words are known by hash alone */
    uint64_t *hashes; /* hashes of `words` for a SimHash, in their order; unused if the recipe uses words[].hash */
    size_t hash_count;
    size_t hash_capacity;
    struct idxt_window window;
    struct idxt_folding folding;

    uint32_t *sequence; /* for segments: the numbers of all words, in the order of the text */
    size_t sequence_length;
    size_t sequence_capacity;

    struct idxt_ranked *ranked;
    size_t ranked_capacity;
};

/* Opens features whose `recipe` and `table` are set. Errors, here and below, are the ICU errors of the segmenter. */
UErrorCode idxt_features_open(struct idxt_features *features);

/* Forgets the features of the text before. Must be called before the first one, too. */
UErrorCode idxt_features_begin(struct idxt_features *features);

/* Finds the features of a text, or of one field of a document, and adds how often each occurs to words[].count. */
UErrorCode idxt_features_count_text(struct idxt_features *features, const char *utf8, size_t length);

/* Returns the hash that represents feature `number` in a SimHash. */
uint64_t idxt_features_hash(const struct idxt_features *features, size_t number);

/* Adds to words[].weight the weight that each count gives times `factor`, and sets the counts to 0. */
void idxt_features_weigh(struct idxt_features *features, int64_t factor);

/* Adds the words from `start` to before `end` of the sequence to a SimHash, weighed by how often each occurs there.
 * Returns the sum of their weights. The counts must be 0, and are 0 again afterwards. */
int64_t idxt_features_add_range(struct idxt_features *features, size_t start, size_t end, struct idx_simhash *simhash);

/* Fills `ranked` with all features by descending weight, then ascending hash. Returns false if memory runs out. */
bool idxt_features_rank(struct idxt_features *features);

void idxt_features_close(struct idxt_features *features);

/* ---- A document and its fingerprints, for the public functions ---- */

/* The bytes that represent a text in recipes that hash them: terms, sentences or a description. It starts as {0}, and
 * keeps its buffers from text to text. */
struct idxt_signature {
    char *bytes;
    size_t length;
    size_t capacity;
    UBreakIterator *sentence_iterator;   /* NULL until a text is cut into sentences */
    struct idxt_folding normal_sentence; /* the sentence at hand */
};

void idxt_signature_free(struct idxt_signature *signature);

struct idx_text {
    struct idxt_features features; /* including the recipe */
    struct idxt_signature signature;
    struct idxt_hashes shingles; /* for minhash */
    struct idx_feature *listed;  /* what idx_text_features returns */
    size_t listed_capacity;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* the recipe as text, with the version of ICU */
};

struct idxt_result {
    unsigned bits;          /* how many bits a fingerprint is to have */
    uint64_t *fingerprints; /* with room for as many as the recipe can make */
    size_t fingerprint_count;
    struct idx_text_counts counts;
};

/* Checks the names, texts and total length of fields. Errors, here and below: those of idx_text_fingerprints. */
enum idx_status idxt_check_fields(const struct idx_text_field *fields, size_t count, struct idx_error *error);

/* Makes text->features those of a document, weighed, whose fields were checked. */
enum idx_status idxt_count_document(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                                    struct idx_error *error);

/* Sets text->listed to the features of a document that the recipe takes, and *count to their number. */
enum idx_status idxt_list_document(struct idx_text *text, const struct idx_text_field *fields, size_t field_count,
                                   size_t *count, struct idx_error *error);

/* Makes the fingerprints of a document, whose fields were checked. The result's `bits` and `fingerprints` are set. */
enum idx_status idxt_fingerprint_document(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                                          struct idxt_result *result, struct idx_error *error);

/* ---- A document-frequency table: in how many documents of a corpus each feature occurs ---- */

/* Returns 1 + log2(count) in units of 1/65536, rounded down: 65536 + floor(log2(count) * 65536). `count` is at least 1.
 * It is exact for every power of two, and for every count below 2^32, more than a text can have. */
int64_t idxt_log_weight(uint64_t count);

/* The most terms of a table while it grows, in 128 MiB of memory. */
#define IDXT_MAX_TERMS ((size_t)1 << 22)

enum idxt_table_kind {
    IDXT_COUNTED,    /* counted by training */
    IDXT_COUNT_LIST, /* a list of another program, of words and in how many documents they occur */
    IDXT_IDF_LIST,   /* a list of another program, of words and their idf */
};

/* The greatest idf of a list: 1000, in units of 1/65536. The sum of the weights of a text then stays far below 2^63,
 * since a text has fewer than 2^29 words, and a title counts up to 100 times. */
#define IDXT_MOST_IDF ((uint32_t)1000 << 16)

struct idxt_term {
    uint64_t hash;
    uint32_t documents; /* 0 if the slot is empty. With IDXT_IDF_LIST, the idf in units of 1/65536, plus 1 */
};

struct idx_text_table {
    char features[IDX_MAX_RECIPE_BYTES + 1]; /* what it is made for: idxt_recipe_of_features, printed */
    enum idxt_table_kind kind;
    uint32_t unknown_idf; /* with IDXT_IDF_LIST, the idf of words that the list lacks */
    uint64_t documents;   /* how many documents were counted; 0 with IDXT_IDF_LIST */
    uint64_t dropped;     /* the most by which a term's documents may be too low */
    uint64_t hash;        /* the hash with which its file ends; valid if `hashed` */
    bool hashed;
    bool has_unspaced; /* whether a list may have words of scripts that are written without spaces */
    size_t most_terms; /* IDXT_MAX_TERMS, except in tests */

    struct idxt_term *slots; /* a hash table with open addressing */
    size_t slot_mask;        /* number of slots, a power of two, less one */
    size_t term_count;
};

/* Returns an empty table, which idx_text_table_free frees, or NULL if memory runs out. */
struct idx_text_table *idxt_table_new(void);

/* Adds `documents` to those of a term, and drops rare terms if there are too many. The sum must stay below 2^32, as
 * table->documents does. Returns false if memory runs out. */
bool idxt_table_add(struct idx_text_table *table, uint64_t hash, uint32_t documents);

/* Sets the `documents` of a term. If it has some already, those that mean the more frequent term stay. No terms are
 * dropped, so there must be room for one more. Returns false if memory runs out. */
bool idxt_table_put(struct idx_text_table *table, uint64_t hash, uint32_t documents);

/* Returns the idf of a term in units of 1/65536: log2((documents of the corpus + 1) / (documents of the term + 1)),
 * which is 0 for a term of all documents; or with IDXT_IDF_LIST what the list says. */
int64_t idxt_table_idf(const struct idx_text_table *table, uint64_t hash);

/* Sets *documents to a quantile of the documents of all terms: more than one in `part` of the terms have at most so
 * many, and it is the smallest such number. There must be a term. Returns false if memory runs out. */
bool idxt_table_quantile(const struct idx_text_table *table, size_t part, uint32_t *documents);

/* Returns all terms, in ascending order of hash, for the caller to free, or NULL if memory runs out. */
struct idxt_term *idxt_table_sorted(const struct idx_text_table *table);

/* Returns the bytes of a table's file, with its hash at the end, for the caller to free. NULL if memory runs out. */
unsigned char *idxt_table_encode(const struct idx_text_table *table, size_t *length);

/* Returns whether bytes begin as those of a table's file do. */
bool idxt_table_is_encoded(const unsigned char *bytes, size_t length);

/* Reads the bytes of a table's file into an empty table. Errors: IDX_BAD_CONTENT, with *fault set to the end of a
 * sentence that begins with the name of the file; IDX_OUT_OF_MEMORY. */
enum idx_status idxt_table_decode(struct idx_text_table *table, const unsigned char *bytes, size_t length,
                                  const char **fault);

/* Sets *hash to the hash of a table. Returns false if memory runs out. */
bool idxt_table_hash(const struct idx_text_table *table, uint64_t *hash);

/* Reads a list of words with their document frequencies or idf (idx_text.h) into an empty table. Messages use `path`.
 * Errors: IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY, IDX_UNSUPPORTED (ICU fails). */
enum idx_status idxt_list_read(struct idx_text_table *table, const char *bytes, size_t length, const char *path,
                               struct idx_error *error);

#endif
