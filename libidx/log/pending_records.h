/* pending_records.h: the structures behind pending.h, which the files pending*.c share. Records are in arrays. Two hash
 * tables of record numbers find them by fingerprint and by ID. Most records are the only one of their fingerprint and
 * of their ID. Only the others, and all removals, have links to each other.
 *
 * To be found by distance, a fingerprint is cut into k + 1 parts: a match agrees with the query in at least one of
 * them. For each part, fingerprints are in buckets, which some bits of the part choose. The first records are in a run,
 * which is sorted by bucket and never changes. Those that were appended after the run was made are in arrays that grow.
 * Both have folded fingerprints of half the size, and links to the first records of these. A fold is never farther from
 * the fold of a query than the fingerprint is from the query, and seldom nearer by so much that it is a false hit.
 *
 * The appending thread writes a thing before it publishes, with an atomic store, what leads readers to that. What was
 * published is neither moved nor freed as long as anybody holds the records: an array that grows is copied, and the old
 * copy stays for its readers. Once as many records were appended as the run has, a new `struct idxi_pending` with the
 * same records and a longer run takes the place of the old one, which its views keep. Links are record numbers plus 1,
 * and 0 is no link. A link to a record behind those of a view is the end of the chain for that view. */
#ifndef IDX_LIBIDX_PENDING_RECORDS_H
#define IDX_LIBIDX_PENDING_RECORDS_H

#include <stdatomic.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "libidx/base/base.h"
#include "libidx/fingerprints/compare.h"
#include "libidx/log/pending.h"
#include "libidx/log/pending_find.h"
#include "libidx/log/pending_view.h"

/* The links of a record that removes something, or is not the only one of its fingerprint or of its ID. */
struct idxi_pending_links {
    uint32_t first;            /* the number, which is no link, of the fingerprint's first record */
    uint32_t previous;         /* to the fingerprint's newest older record that is no removal of a document */
    _Atomic uint32_t next;     /* to the fingerprint's next newer record */
    uint32_t previous_removal; /* from a removal to the fingerprint's newest older removal */
    uint32_t previous_id;      /* to the newest older record with the same ID, of any fingerprint */
    union {
        _Atomic uint32_t removal;      /* from an added document to the first record that removes it by its ID */
        uint32_t newest_whole_removal; /* from a removal to the newest one of the whole fingerprint, maybe itself */
    };
    _Atomic uint32_t newest, newest_removal; /* used in the links of a fingerprint's first record only */
    uint8_t operation;                       /* enum idxf_operation */
    bool in_buckets; /* whether the fingerprint is in the buckets; used by the appending thread only */
};

#define IDXI_RECORDS_OF_CHUNK ((uint32_t)1 << 15)
#define IDXI_RECORD_CHUNKS (((size_t)1 << 32) / IDXI_RECORDS_OF_CHUNK)

struct idxi_pending_chunk {
    uint64_t fingerprints[IDXI_RECORDS_OF_CHUNK];
    _Atomic uint32_t links[IDXI_RECORDS_OF_CHUNK]; /* numbers of links plus 1; 0: an added document that has none */
    /* With IDXF_ID_U64, the bytes of the IDs. With IDXF_ID_TEXT, addresses: of four bytes with the size of the ID,
     * which the ID follows. */
    uint64_t ids[];
};

/* The records. Each `struct idxi_pending` that takes the place of another one shares its store. */
struct idxi_pending_store {
    atomic_size_t holders;
    atomic_size_t bytes;
    uint32_t link_count;
    struct idxi_arena id_bytes; /* text IDs that were copied; the others are in maps */
    struct idxi_log_map **maps; /* held by the store, the newest last */
    size_t map_count;
    struct idxi_pending_chunk **chunks;
    struct idxi_pending_links **links; /* in chunks of IDXI_RECORDS_OF_CHUNK */
};

/* A hash table. A slot has a link to a record in its lower bits, and bits of the hash above; 0 if it is empty. */
struct idxi_pending_table {
    uint32_t link_mask;
    size_t slot_count;
    _Atomic uint32_t *slots;
};

/* The hash tables. A `struct idxi_pending` that takes the place of another one shares them if they have room enough. */
struct idxi_pending_tables {
    atomic_size_t holders;
    size_t bytes;
    uint64_t capacity; /* records */
    struct idxi_pending_table fingerprints, ids;
};

/* The fingerprints of a bucket. Its capacity is such that the array fills whole cache lines. */
struct idxi_pending_array {
    _Atomic uint32_t count;
    uint32_t capacity;
    uint32_t folded[]; /* room for as many folded fingerprints as the capacity, followed by as many links */
};

#define IDXI_PENDING_ENTRY_BYTES (2 * sizeof(uint32_t))

/* Returns the links of an array, behind its folded fingerprints. */
static inline const uint32_t *idxi_pending_get_array_links(const struct idxi_pending_array *array) {
    return array->folded + array->capacity;
}

struct idxi_pending_bucket {
    _Atomic(struct idxi_pending_array *) array; /* NULL while the bucket is empty */
};

/* The bits of a part that choose a bucket. */
struct idxi_pending_bits {
    uint64_t mask;
    unsigned shift;
    uint32_t last_bucket; /* 2^bits - 1 */
};

/* Returns the number of the bucket that the bits choose for a fingerprint. */
static inline size_t idxi_pending_choose_bucket(const struct idxi_pending_bits *bits, uint64_t fingerprint) {
    return (fingerprint >> bits->shift) & bits->last_bucket;
}

/* The fingerprints of the first records, sorted by bucket. Bucket i is from begins[i] to before begins[i + 1]. */
struct idxi_pending_run {
    struct idxi_pending_bits bits;
    uint32_t *begins, *folded, *links;
};

/* The fingerprints that were appended after the run of the same part was made. */
struct idxi_pending_rest {
    struct idxi_pending_bits bits;
    struct idxi_pending_bucket *buckets;
};

#define IDXI_PENDING_MAX_PARTS (IDXF_MAX_K + 1)

struct idxi_pending {
    struct idxf_record_rules rules;
    uint64_t base; /* record number 0 has the sequence number base + 1 */
    _Atomic uint64_t count;
    uint64_t capacity;       /* with so many records it is full, and another one takes its place */
    uint64_t expected_total; /* records, over time; 0 where that is unknown */
    atomic_size_t holders;
    atomic_size_t bytes; /* allocated, without the tables and the store */
    unsigned k;
    unsigned part_count;
    bool lacks_runs;    /* whether runs are still to be made; there are no views until then */
    uint64_t run_count; /* so many records were there when the runs were made */
    struct idxi_pending_run runs[IDXI_PENDING_MAX_PARTS];
    struct idxi_pending_rest rests[IDXI_PENDING_MAX_PARTS];
    idxi_pending_scan *scan;
    struct idxi_pending_tables *tables;
    struct idxi_arena arrays;
    struct idxi_pending_store *store;
};

/* Returns the fingerprint of a record. */
static inline uint64_t idxi_pending_get_fingerprint(const struct idxi_pending *pending, uint32_t number) {
    return pending->store->chunks[number / IDXI_RECORDS_OF_CHUNK]->fingerprints[number % IDXI_RECORDS_OF_CHUNK];
}

/* Returns the links of a record, or NULL where it has none. */
static inline struct idxi_pending_links *idxi_pending_get_links(const struct idxi_pending *pending, uint32_t number) {
    const struct idxi_pending_chunk *chunk = pending->store->chunks[number / IDXI_RECORDS_OF_CHUNK];
    uint32_t links = atomic_load_explicit(&chunk->links[number % IDXI_RECORDS_OF_CHUNK], memory_order_acquire);
    if (links == 0) return NULL;
    return &pending->store->links[(links - 1) / IDXI_RECORDS_OF_CHUNK][(links - 1) % IDXI_RECORDS_OF_CHUNK];
}

/* Returns whether a record has an ID, and the ID is `id`, of id_size bytes. */
bool idxi_pending_has_id(const struct idxi_pending *pending, uint32_t number, const void *id, size_t id_size);

/* Returns the ID of a record, which stays valid as long as the records are held, and sets *id_size to its bytes.
 * Returns NULL, and sets 0, for a record that has none. An integer ID is 8 bytes, little-endian. */
const uint8_t *idxi_pending_read_id(const struct idxi_pending *pending, uint32_t number, size_t *id_size);

/* Returns which record numbers a view has; an empty range if nothing is pending. */
static inline struct idxi_pending_range idxi_pending_get_range(const struct idxi_pending_view *view) {
    if (view->records == NULL) return (struct idxi_pending_range){0, 0};
    uint64_t base = view->records->base;
    return (struct idxi_pending_range){(uint32_t)(view->after < base ? 0 : view->after - base),
                                       (uint32_t)(view->last - base)};
}

#endif
