/* entries.h: growable arrays of fingerprints, with or without values. */
#ifndef IDX_LIBIDX_ENTRIES_H
#define IDX_LIBIDX_ENTRIES_H

#include <idx.h>

/* Zeroed: none. Either all have values, or `values` is NULL. */
struct idxi_entries {
    uint64_t *fingerprints, *values;
    size_t count, capacity;
};

/* Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_entries_add(struct idxi_entries *entries, uint64_t fingerprint, uint64_t value,
                                 struct idx_error *error);

/* To entries without values. */
enum idx_status idxi_entries_add_alone(struct idxi_entries *entries, uint64_t fingerprint, struct idx_error *error);

/* By fingerprint, then by value. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_entries_sort(struct idxi_entries *entries, struct idx_error *error);

/* Leaves each entry once, of those that are sorted. */
void idxi_entries_unite(struct idxi_entries *entries);

void idxi_entries_free(struct idxi_entries *entries);

#endif
