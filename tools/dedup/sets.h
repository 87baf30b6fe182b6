/* sets.h: the features of documents, in a temporary file; and those of documents of an index whose texts are among some
 * inputs, found by their IDs. */
#ifndef IDX_TOOLS_SETS_H
#define IDX_TOOLS_SETS_H

#include "tools/shared/temporary.h"
#include "tools/text/pipeline.h"

#include <idx.h>

/* Where the features of a document are, which ascend by hash. */
struct set {
    uint64_t number; /* the document's number, or the hash of its ID */
    uint64_t offset; /* of its first feature in the file, in bytes */
    uint64_t count;
};

struct sets {
    bool weighted; /* whether the file has struct idx_feature, and not uint64_t */

    struct temporary file;
    struct set *sets; /* sorted by number once the file is mapped */
    size_t count, capacity;
    const char *mapped; /* the mapped file; NULL if it is empty or not mapped */
    size_t size;
    size_t touched; /* how many of its bytes may be in memory */
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

/* Returns the features of a set, struct idx_feature or uint64_t, until the next call; NULL if it is empty. */
const void *sets_features(struct sets *sets, const struct set *set);

void sets_close(struct sets *sets);

/* The documents of an index whose texts are wanted. If all is zero, none is. */
struct by_id {
    uint64_t *wanted; /* hashes of the IDs, some of them several times; ascending once the texts were read */
    size_t count, capacity;
};

/* Returns the hash of an ID, which is the number of its document in the sets. */
uint64_t by_id_hash(const void *id, size_t length);

/* Wants the document whose ID has this hash. Returns false after a complaint. */
bool by_id_want(struct by_id *by_id, uint64_t hash);

/* Reads the inputs, and adds what the recipe makes of the documents that are wanted to the sets. False after a
 * complaint, or where a signal was noted. */
bool by_id_read(struct by_id *by_id, const struct pipeline_rules *rules, const char *recipe, const struct texts *inputs,
                struct sets *sets);

/* Counts the wanted documents that have no text in the sets, which are mapped. */
uint64_t by_id_count_missing(const struct by_id *by_id, const struct sets *sets);

void by_id_free(struct by_id *by_id);

#endif
