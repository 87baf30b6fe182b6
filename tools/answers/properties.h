/* properties.h: what `idx info` knows of an index: its properties, the sizes of its tables beside the least that they
 * need, and all of it as JSON. */
#ifndef IDX_TOOLS_PROPERTIES_H
#define IDX_TOOLS_PROPERTIES_H

#include "tools/shared/output.h"
#include "tools/shared/wording.h"

#include <idx.h>

/* These are a table's properties, and its size beside the limit. */
struct measured {
    struct idx_table_properties table;
    struct density density;
};

/* Returns false after an error. */
bool properties_measure(const struct idx_index *index, const struct idx_properties *properties, size_t segment,
                        size_t table, struct measured *measured, struct idx_error *error);

/* Returns how many bits of a block's key (its last fingerprint) are in memory on average. */
double properties_key_bits(const struct idx_table_properties *table);

/* This is printed of the fingerprints of the whole index. */
struct whole {
    uint64_t dead;
    uint64_t heaviest, documents; /* The heaviest fingerprint has so many documents. */
};

/* Returns false after an error. */
bool properties_find_whole(const struct idx_index *index, const struct idx_properties *properties, struct whole *whole,
                           struct idx_error *error);

/* Returns how many documents, or with IDX_ID_NONE fingerprints, the index answers for, at most. */
uint64_t properties_live(const struct idx_properties *properties);

/* Returns whether exactly so many: nothing was removed, and nothing can be there twice, as one document. Else only
 * going through the document maps would tell. */
bool properties_live_is_exact(const struct idx_properties *properties);

/* Writes a line with all of it as JSON. Returns false after an error of the library; then nothing is written. */
bool properties_put_json(const struct idx_index *index, struct output *output, struct idx_error *error);

#endif
