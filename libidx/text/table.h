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
#define IDXT_MAX_IDF ((uint32_t)1000 << 16)

struct idxt_term {
    uint64_t hash;
    /* How many have the term; with IDXT_IDF_LIST, its idf in units of 1/65536, plus 1. 0: empty slot. */
    uint32_t document_count;
};

struct idx_text_table {
    char features[IDX_MAX_RECIPE_BYTES + 1]; /* what it is made for: idxt_recipe_of_features, printed */
    enum idxt_table_kind kind;
    uint32_t unknown_idf;    /* with IDXT_IDF_LIST, the idf of words that the list lacks */
    uint64_t document_count; /* how many documents were counted; 0 with IDXT_IDF_LIST */
    uint64_t dropped;        /* the most by which a term's documents may be too low */
    uint64_t hash;           /* the hash with which its file ends; valid if `hash_is_valid` */
    bool hash_is_valid;
    bool has_unspaced; /* whether a list may have words of scripts that are written without spaces */
    size_t max_terms;  /* IDXT_MAX_TERMS, except in tests */

    struct idxt_term *slots; /* a hash table with open addressing */
    size_t slot_mask;        /* number of slots, a power of two, less one */
    uint64_t seed;           /* of the slots' order, so that no file can be made whose terms have one slot */
    size_t term_count;
};

/* Returns an empty table, which idx_text_table_close frees, or NULL if memory runs out. */
struct idx_text_table *idxt_table_new(void);

/* Adds `document_count` to that of a term, by the XXH3 hash of its bytes. Adds the term if the table lacks it, after
 * dropping rare terms if there are max_terms already. The sum must stay below 2^32. Returns false if memory runs
 * out. */
bool idxt_table_add_documents(struct idx_text_table *table, uint64_t hash, uint32_t document_count);

/* Sets `document_count` (struct idxt_term) of a term, by the XXH3 hash of its bytes. Adds the term if the table lacks
 * it. If the table has the term, the value of the more frequent one counts: the larger number of documents, or the
 * smaller idf. The caller has checked that term_count is below max_terms, so that no terms are dropped. Returns false
 * if memory runs out. */
bool idxt_table_set_term(struct idx_text_table *table, uint64_t hash, uint32_t document_count);

/* Returns the idf of a term in units of 1/65536. With IDXT_IDF_LIST it is what the list says, or unknown_idf if the
 * list lacks the term. Otherwise it is log2((documents of the corpus + 1) / (documents of the term + 1)): 0 for a term
 * of all documents, and the greatest for one that the table lacks. */
int64_t idxt_table_get_idf(const struct idx_text_table *table, uint64_t hash);

/* Sorts the document counts of all terms in ascending order, and sets *document_count to the one at index
 * floor(term_count / divisor): with 2 the upper median, for example. The divisor is at least 2, and there must be a
 * term. Returns false if memory runs out. */
bool idxt_table_get_quantile(const struct idx_text_table *table, size_t divisor, uint32_t *document_count);

/* Returns an array of the term_count terms, in ascending order of hash, for the caller to free, or NULL if memory runs
 * out. */
struct idxt_term *idxt_table_sort_terms(const struct idx_text_table *table);

/* Returns the bytes of a table's file, with its hash at the end, for the caller to free, and sets *length to how many
 * there are. Returns NULL if memory runs out. */
unsigned char *idxt_table_encode(const struct idx_text_table *table, size_t *length);

/* Returns whether bytes begin with the magic of a table's file. */
bool idxt_table_has_magic(const unsigned char *bytes, size_t length);

/* Reads the bytes of a table's file, which may be damaged, into an empty table. Errors: IDX_BAD_CONTENT, with *fault
 * set to the end of a sentence that begins with the name of the file, as static text; IDX_OUT_OF_MEMORY. After an error
 * the table can only be closed. */
enum idx_status idxt_table_decode(struct idx_text_table *table, const unsigned char *bytes, size_t length,
                                  const char **fault);

/* Sets *hash to the hash with which a table's file ends, and by which recipes name the table: table->hash, or unless
 * table->hash_is_valid, by encoding the whole table. Returns false if memory runs out. */
bool idxt_table_get_hash(const struct idx_text_table *table, uint64_t *hash);

#endif
