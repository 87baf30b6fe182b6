/* sets.h: the features of documents, in a temporary file; and those of documents of an index whose texts are among some
 * inputs, found by their IDs. */
#ifndef IDX_TOOLS_SETS_H
#define IDX_TOOLS_SETS_H

#include "tools/shared/temporary.h"
#include "tools/text/pipeline.h"

#include <idx.h>

/* The features of a document, by ascending hash. */
struct set {
    uint64_t number; /* the document's, or what else it is known by */
    uint64_t offset; /* in the file */
    uint64_t count;
};

struct sets {
    bool weighted; /* the file has struct idx_feature, else uint64_t */

    struct temporary file;
    struct set *sets; /* by number */
    size_t count, capacity;
    const char *mapped; /* the file; NULL: it is not, or empty */
    size_t size;
    size_t touched; /* bytes of it that may be in memory */
};

#define SETS_CLOSED                                                                                                    \
    { .file = TEMPORARY_CLOSED }

/* Adds the features of a document; of several with its number, the first counts. False after a complaint. */
bool sets_add(struct sets *sets, uint64_t number, const char *features, size_t length);

/* Ends adding. False after a complaint. */
bool sets_map(struct sets *sets);

/* The set of a document; NULL: it has none. */
const struct set *sets_find(const struct sets *sets, uint64_t number);

/* Its features: struct idx_feature or uint64_t; NULL: it has none. */
const void *sets_features(struct sets *sets, const struct set *set);

void sets_close(struct sets *sets);

/* The documents of an index whose texts are wanted. If all is zero, none is. */
struct by_id {
    uint64_t *wanted; /* hashes of the IDs, some of them several times; ascending once the texts were read */
    size_t count, capacity;
};

/* What an ID is known by: also the number of its document in the sets. */
uint64_t by_id_hash(const void *id, size_t length);

/* Has the document of this ID read. False after a complaint. */
bool by_id_want(struct by_id *by_id, uint64_t hash);

/* Reads the inputs, and adds what the recipe makes of the documents that are wanted to the sets. False after a
 * complaint, or where a signal was noted. */
bool by_id_read(struct by_id *by_id, const struct pipeline_rules *rules, const char *recipe, const struct texts *inputs,
                struct sets *sets);

/* How many of the documents that are wanted have no text in the sets, which are mapped. */
uint64_t by_id_count_missing(const struct by_id *by_id, const struct sets *sets);

void by_id_free(struct by_id *by_id);

#endif
