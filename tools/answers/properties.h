/* properties.h: what `idx info` says of an index: its properties, the sizes of its tables beside the least possible
 * ones, and all of it as JSON. */
#ifndef IDX_TOOLS_PROPERTIES_H
#define IDX_TOOLS_PROPERTIES_H

#include "tools/shared/output.h"

#include <idx.h>

/* A table's properties, and its size beside the least possible one. */
struct table_measure {
    struct idx_table_properties table;
    struct density density;
};

/* Sets *measure to the properties and density of a table of a segment, both counted from 0. Sets *error and returns
 * false if the library fails. */
bool properties_measure_table(const struct idx_index *index, const struct idx_properties *properties, size_t segment,
                              size_t table, struct table_measure *measure, struct idx_error *error);

/* Returns how many bits of a block's key (its last fingerprint) are in memory on average, or 0 without blocks. */
double properties_compute_key_bits(const struct idx_table_properties *table);

/* Facts about the fingerprints of a whole index. */
struct index_facts {
    uint64_t dead_bits;          /* A mask of the bits that are the same in all fingerprints of each segment. */
    uint64_t heaviest;           /* The fingerprint with the most documents in one segment or among the pending ones, */
    uint64_t heaviest_documents; /* and how many these are; 0, 0: there are none. */
};

/* Sets *facts, by all segments. Sets *error and returns false, with *facts unspecified, if the library fails. */
bool properties_find_dead_bits_and_heaviest(const struct idx_index *index, const struct idx_properties *properties,
                                            struct index_facts *facts, struct idx_error *error);

/* Returns the most documents, or fingerprints if the index keeps no documents, that can be live: all that were added,
 * whether or not they were removed since. */
uint64_t properties_compute_max_live(const struct idx_properties *properties);

/* Returns whether properties_compute_max_live returns exactly how many are live: nothing was removed, and no document
 * counts twice because it is in two segments. Otherwise, the number is only known by reading the whole document maps.
 */
bool properties_max_live_is_exact(const struct idx_properties *properties);

/* Writes all properties of an index and of its tables as one line of JSON. If the library fails, sets *error, writes
 * nothing, and returns false. */
bool properties_write_json(const struct idx_index *index, struct output *output, struct idx_error *error);

#endif
