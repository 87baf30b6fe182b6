/* entries.c: see entries.h. */
#include "libidx/change/entries.h"

#include <stdlib.h>

#include "libidx/base/error.h"
#include "libidx/streams/sort.h"

/* Makes room for `more` entries, with values or without. */
static enum idx_status reserve(struct idxi_entries *entries, bool with_values, size_t more, struct idx_error *error) {
    if (entries->capacity - entries->count >= more) return IDX_OK;
    size_t capacity = 2 * entries->capacity + more;
    uint64_t *fingerprints = realloc(entries->fingerprints, capacity * sizeof *fingerprints);
    if (fingerprints == NULL) return idxi_fail_memory(error);
    entries->fingerprints = fingerprints;
    uint64_t *values = with_values ? realloc(entries->values, capacity * sizeof *values) : NULL;
    if (with_values && values == NULL) return idxi_fail_memory(error);
    entries->values = values;
    entries->capacity = capacity;
    return IDX_OK;
}

enum idx_status idxi_entries_add(struct idxi_entries *entries, uint64_t fingerprint, uint64_t value,
                                 struct idx_error *error) {
    IDXI_TRY(reserve(entries, true, 1, error));
    entries->fingerprints[entries->count] = fingerprint;
    entries->values[entries->count++] = value;
    return IDX_OK;
}

enum idx_status idxi_entries_add_alone(struct idxi_entries *entries, uint64_t fingerprint, struct idx_error *error) {
    IDXI_TRY(reserve(entries, false, 1, error));
    entries->fingerprints[entries->count++] = fingerprint;
    return IDX_OK;
}

void idxi_entries_free(struct idxi_entries *entries) {
    free(entries->fingerprints);
    free(entries->values);
}

enum idx_status idxi_entries_sort(struct idxi_entries *entries, struct idx_error *error) {
    if (entries->count == 0) return IDX_OK;
    uint64_t *spare = malloc(2 * entries->count * sizeof *spare);
    if (spare == NULL) return idxi_fail_memory(error);
    idxi_sort_pairs(entries->fingerprints, entries->values, entries->count, entries->values != NULL, spare,
                    entries->values == NULL ? NULL : spare + entries->count);
    free(spare);
    return IDX_OK;
}

void idxi_entries_unite(struct idxi_entries *entries) {
    size_t kept = 0;
    for (size_t i = 0; i < entries->count; i++) {
        if (kept > 0 && entries->fingerprints[kept - 1] == entries->fingerprints[i] &&
            (entries->values == NULL || entries->values[kept - 1] == entries->values[i]))
            continue;
        entries->fingerprints[kept] = entries->fingerprints[i];
        if (entries->values != NULL) entries->values[kept] = entries->values[i];
        kept++;
    }
    entries->count = kept;
}
