/* pending_table.h: the hash tables that find the records of a fingerprint or of an ID. */
#ifndef IDX_LIBIDX_PENDING_TABLE_H
#define IDX_LIBIDX_PENDING_TABLE_H

#include "libidx/log/pending_records.h"

/* Returns the hash of an integer: a fingerprint, or an integer ID. */
static inline uint64_t idxi_pending_hash_u64(uint64_t integer) {
    uint64_t hash = (integer ^ integer >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Returns the hash of an ID, an integer or a text. Text IDs of 8 bytes are hashed as integers are, which is faster. */
static inline uint64_t idxi_pending_hash_id(const uint8_t *id, size_t id_size) {
    return id_size == sizeof(uint64_t) ? idxi_pending_hash_u64(idxf_load64(id)) : idxf_checksum(id, id_size);
}

/* Returns `bytes` bytes of zeroed memory, in huge pages if they are many, or NULL when memory runs out. Free it by
 * idxi_pending_free_memory, with the same number of bytes; `memory` may be NULL there. */
void *idxi_pending_allocate_zeroed(size_t bytes);
void idxi_pending_free_memory(void *memory, size_t bytes);

/* Returns empty tables for up to `capacity` records, held once, or NULL when memory runs out. With `has_ids`, there is
 * a table of IDs beside the one of fingerprints. */
struct idxi_pending_tables *idxi_pending_make_tables(uint64_t capacity, bool has_ids);

/* Releases a hold of tables. The last release frees them. `tables` may be NULL. */
void idxi_pending_release_tables(struct idxi_pending_tables *tables);

/* Prefetches the slot at which the search for a hash begins. */
void idxi_pending_prefetch_slot(const struct idxi_pending_table *table, uint64_t hash);

/* Adds record `number`, whose key (fingerprint or ID) has this hash, to a table. The table must have a free slot, and
 * no record with the same key. Readers may search at the same time. */
void idxi_pending_add_to_table(struct idxi_pending_table *table, uint64_t hash, uint32_t number);

/* Returns the link to the first record of a fingerprint, or 0. `pending` may be NULL. */
uint32_t idxi_pending_find_first_link(const struct idxi_pending *pending, uint64_t fingerprint);

/* Returns the slot of the table of IDs that leads to the newest record with this ID, or the empty slot where it would
 * be. `hash` is the ID's, by idxi_pending_hash_id. The index must have IDs. */
_Atomic uint32_t *idxi_pending_find_id_slot(const struct idxi_pending *pending, const void *id, size_t id_size,
                                            uint64_t hash);

/* Makes a slot of the table of IDs lead to record `number`. `hash` is that of its ID. */
void idxi_pending_set_id_slot(struct idxi_pending *pending, _Atomic uint32_t *slot, uint64_t hash, uint32_t number);

/* Returns the link to the newest record with an ID, or 0. `pending` may be NULL. */
uint32_t idxi_pending_find_newest_link(const struct idxi_pending *pending, const void *id, size_t id_size);

#endif
