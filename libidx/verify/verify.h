/* verify.h: the checks of tables, maps and sets. */
#ifndef IDX_LIBIDX_VERIFY_H
#define IDX_LIBIDX_VERIFY_H

#include <stdbool.h>

#include "libidx/base/base.h"
#include "libidx/segment/document_map.h"
#include "libidx/segment/sets_reader.h"
#include "libidx/segment/table_reader.h"

/* ---- Sets of fingerprints ---- */

/* A set of fingerprints. It keeps only their number and the sum of their hashes, so that sets can be compared in
 * whatever order fingerprints come. Different sets have equal sums with a probability of 2^-64. */
struct idxi_fingerprint_set {
    bool is_known; /* for an expected set: whether there is one to compare with */
    uint64_t count;
    uint64_t sum;
};

/* Adds a fingerprint to a set, which must not have it. A zeroed set is empty. */
static inline void idxi_fingerprint_set_add(struct idxi_fingerprint_set *set, uint64_t fingerprint) {
    set->sum += idxi_hash_fingerprint(fingerprint);
    set->count++;
}

/* ---- Tables ---- */

/* Checks all that SPEC.md requires of an open table by itself, and sets *set to its fingerprints; after an error, to
 * those before it. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_verify_table(const struct idxi_table *table, struct idxi_fingerprint_set *set,
                                  struct idx_error *error);

/* ---- Maps ---- */

/* Checks all that SPEC.md requires of an open map by itself, and if expected->is_known, that it has exactly the
 * expected fingerprints. Prepares the map for reading (idxi_map_prepare). Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT,
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_verify_map(struct idxi_map *map, const struct idxi_fingerprint_set *expected,
                                struct idx_error *error);

/* ---- Sets ---- */

/* Checks all that SPEC.md requires of an open file of sets by itself. A set's sketch is its least `sketch` members, or
 * all if it has fewer. Unless `map` is NULL, also checks that this document map of the segment, which must be ready
 * (idxi_map_prepare) and sound, has exactly the entries of the sketches. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT,
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_verify_sets(const struct idxi_sets *sets, unsigned sketch, const struct idxi_map *map,
                                 struct idx_error *error);

/* ---- Both maps of a segment ---- */

/* How many documents idxi_verify_by_id compares at a time, which takes 256 MiB. */
#define IDXI_VERIFY_CHUNK ((uint64_t)1 << 23)

/* Checks that `by_id`, the map from IDs, has exactly the entries of the document map. Both maps must be ready
 * (idxi_map_prepare) and sound. Compares `chunk_documents` (1 or more) at a time. Needs 32 bytes for each of these, and
 * one bit for each entry of the map. Errors: IDX_BAD_CONTENT (they differ), IDX_BAD_CHECKSUM, IDX_OUT_OF_MEMORY. */
enum idx_status idxi_verify_by_id(const struct idxi_map *documents, const struct idxi_map *by_id,
                                  uint64_t chunk_documents, struct idx_error *error);

#endif
