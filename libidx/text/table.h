/* table.h: a document-frequency table: in how many documents of a corpus each feature occurs. */
#ifndef IDX_LIBIDX_TEXT_TABLE_H
#define IDX_LIBIDX_TEXT_TABLE_H

#include <idx_text.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    uint64_t seed;           /* of the slots' order, so that no file can be made whose terms have one slot */
    size_t term_count;
};

/* Returns an empty table, which idx_text_table_close frees, or NULL if memory runs out. */
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

#endif
