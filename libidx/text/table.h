/* table.h: a document-frequency table: in how many documents of a corpus each feature occurs. It weighs features. */
#ifndef IDX_TEXT_TABLE_H
#define IDX_TEXT_TABLE_H

#include "libidx/text/recipe.h"

#include <idx_text.h>

#include <stdint.h>

/* 1 + log2(count) in units of 1/65536, rounded down: 65536 + floor(log2(count) * 65536). `count` is at least 1. Exact
 * for every count below 2^32, which no text reaches, and for every power of two. */
int64_t idxt_weight(uint64_t count);

/* How many terms a table keeps while it grows: 128 MiB of memory. */
#define IDXT_MAX_TERMS ((size_t)1 << 22)

enum idxt_table_kind {
    IDXT_COUNTED,    /* by training */
    IDXT_COUNT_LIST, /* a list of another program, of words and in how many documents they are */
    IDXT_IDF_LIST,   /* the same, of words and their idf */
};

/* The greatest idf of a list, in units of 1/65536: 1000. So no text's sum of weights comes near 2^63: it has fewer than
 * 2^29 words, and a title counts up to 100 times. */
#define IDXT_MOST_IDF ((uint32_t)1000 << 16)

struct idxt_term {
    uint64_t hash;
    uint32_t documents; /* 0: the slot is empty; of IDXT_IDF_LIST the idf in units of 1/65536, plus 1 */
};

struct idx_text_table {
    char features[IDX_MAX_RECIPE_BYTES + 1]; /* what it is made for: idxt_recipe_features, printed */
    enum idxt_table_kind kind;
    uint32_t unknown_idf; /* of IDXT_IDF_LIST: that of words that it lacks */
    uint64_t documents;   /* 0 of IDXT_IDF_LIST */
    uint64_t dropped;     /* how much lower than the truth a term's documents may be */
    uint64_t hash;        /* that its file ends in; holds while `hashed` does */
    bool hashed;
    size_t most_terms; /* IDXT_MAX_TERMS, but in tests */

    struct idxt_term *slots; /* hash table with open addressing */
    size_t slot_mask;        /* number of slots, a power of two, less one */
    size_t terms;
};

/* An empty table, NULL when memory is out. Freed by idx_text_table_free. */
struct idx_text_table *idxt_table_new(void);

/* Adds `documents` to those of a term; drops rare terms when there are too many. Returns false if memory runs out. The
 * sum is below 2^32, as table->documents is. */
bool idxt_table_add(struct idx_text_table *table, uint64_t hash, uint32_t documents);

/* Sets the `documents` of a term; where it has some, the more frequent term's stay. Terms are not dropped: there is
 * room for one more. Returns false if memory runs out. */
bool idxt_table_put(struct idx_text_table *table, uint64_t hash, uint32_t documents);

/* log2((documents + 1) / (a term's documents + 1)) in units of 1/65536: 0 for a term of all documents. Of IDXT_IDF_LIST
 * what the list says. */
int64_t idxt_table_idf(const struct idx_text_table *table, uint64_t hash);

/* Sets *documents to what one in `part` of all terms, of which there is one at least, does not exceed. False: out of
 * memory. */
bool idxt_table_quantile(const struct idx_text_table *table, size_t part, uint32_t *documents);

/* All terms, in ascending order of hash, for the caller to free; NULL when memory is out. */
struct idxt_term *idxt_table_sorted(const struct idx_text_table *table);

/* The bytes of a table's file, whose last 8 are its hash, for the caller to free; NULL when memory is out. */
unsigned char *idxt_table_encode(const struct idx_text_table *table, size_t *length);

/* Whether bytes begin as those of a table do. */
bool idxt_table_is_encoded(const unsigned char *bytes, size_t length);

/* Reads them into an empty table. Errors: IDX_BAD_CONTENT, with the end of a sentence in *fault that begins with what
 * the bytes are; IDX_OUT_OF_MEMORY. */
enum idx_status idxt_table_decode(struct idx_text_table *table, const unsigned char *bytes, size_t length,
                                  const char **fault);

/* The table's hash. Returns false if memory runs out. */
bool idxt_table_hash(const struct idx_text_table *table, uint64_t *hash);

/* Reads the bytes of a list of words that another program made, with their document frequencies or idf (idx_text.h has
 * its form), into an empty table: list.c. `path` is for messages.
 * Errors: IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY, IDX_UNSUPPORTED (ICU fails). */
enum idx_status idxt_list_read(struct idx_text_table *table, const char *bytes, size_t length, const char *path,
                               struct idx_error *error);

#endif
