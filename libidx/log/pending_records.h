/* pending_records.h: what the files of pending.h share. Records are in arrays, found by fingerprint and by ID with two
 * hash tables of record numbers. Most records are the only one of their fingerprint and of their ID; the others, and
 * all removals, have links to each other beside them.
 *
 * For distances, a fingerprint has k + 1 parts, and a match agrees with the query in at least one of them. For each
 * part, fingerprints are in buckets, by its bits: those of the first records in a run, which is sorted by bucket and
 * never changes; those that were appended after that in arrays that grow. Both have fingerprints folded to half their
 * size, and beside that the numbers of their first records: folding makes no distance longer, and hardly any that is
 * too long short.
 *
 * The appending thread writes each thing before whatever leads to it, and publishes that with an atomic store. Nothing
 * that was published moves or is freed before everything is: an array that grows is copied, and the old copy stays for
 * its readers. When as many came as the run has, another `struct idxi_pending` takes the place, with the same records
 * and a longer run; views of the old one keep it. Links are record numbers plus 1; 0 is none. A link that leads beyond
 * a view ends there. */
#ifndef IDX_LIBIDX_PENDING_RECORDS_H
#define IDX_LIBIDX_PENDING_RECORDS_H

#include <stdatomic.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "libidx/base/base.h"
#include "libidx/fingerprints/compare.h"
#include "libidx/log/pending.h"

/* Of a record that is not the only one of its fingerprint or of its ID, or removes something. */
struct idxi_pending_links {
    uint32_t first;            /* the number of the fingerprint's first record */
    uint32_t previous;         /* the fingerprint's newest one before it, but for removals of documents */
    _Atomic uint32_t next;     /* from older to newer */
    uint32_t previous_removal; /* of a removal: the one before it */
    uint32_t previous_id;      /* the one before it with the same ID, of any fingerprint */
    union {
        _Atomic uint32_t removal; /* of an added document: the first record that removes it by its ID */
        uint32_t whole;           /* of a removal: the newest one of the whole fingerprint up to it */
    };
    /* Of a fingerprint's first record: */
    _Atomic uint32_t newest, newest_removal;
    uint8_t operation;
    bool found; /* in the buckets; for who appends */
};

#define IDXI_RECORDS_OF_CHUNK ((uint32_t)1 << 15)
#define IDXI_RECORD_CHUNKS (((size_t)1 << 32) / IDXI_RECORDS_OF_CHUNK)

struct idxi_pending_chunk {
    uint64_t fingerprints[IDXI_RECORDS_OF_CHUNK];
    _Atomic uint32_t links[IDXI_RECORDS_OF_CHUNK]; /* numbers of links, plus 1; 0: an added document without any */
    /* IDXF_ID_U64: the IDs' bytes. IDXF_ID_TEXT: the addresses of four bytes with the size, before the ID. */
    uint64_t ids[];
};

/* The records, which all that follow each other share. */
struct idxi_pending_store {
    atomic_size_t holders;
    atomic_size_t bytes;
    uint32_t link_count;
    struct idxi_arena id_bytes; /* text IDs that were copied; the others are in maps */
    struct idxi_log_map **maps; /* held, the newest last */
    size_t map_count;
    struct idxi_pending_chunk **chunks;
    struct idxi_pending_links **links; /* in chunks of as many */
};

/* A hash table. A slot is 0, or the link to a record in its lower bits, and above them bits of the hash. */
struct idxi_pending_table {
    uint32_t link_mask;
    size_t slot_count;
    _Atomic uint32_t *slots;
};

/* The hash tables, which those that follow each other share as long as there is room. */
struct idxi_pending_tables {
    atomic_size_t holders;
    size_t bytes;
    uint64_t capacity; /* records */
    struct idxi_pending_table fingerprints, ids;
};

/* Fingerprints that agree in bits of a part. Capacities fill whole lines. */
struct idxi_pending_array {
    _Atomic uint32_t count;
    uint32_t capacity;
    uint32_t folded[]; /* as many as the capacity, then as many links */
};

#define IDXI_PENDING_ENTRY_BYTES (2 * sizeof(uint32_t))

static inline const uint32_t *idxi_pending_links_in(const struct idxi_pending_array *array) {
    return array->folded + array->capacity;
}

struct idxi_pending_bucket {
    _Atomic(struct idxi_pending_array *) array; /* NULL: none yet */
};

/* The bits of a part that choose a bucket. */
struct idxi_pending_bits {
    uint64_t mask;
    unsigned shift;
    uint32_t last_bucket; /* 2^bits - 1 */
};

static inline size_t idxi_pending_bucket_of(const struct idxi_pending_bits *bits, uint64_t fingerprint) {
    return (fingerprint >> bits->shift) & bits->last_bucket;
}

/* The first fingerprints by one of their parts: bucket i is from begins[i] on, before begins[i + 1]. */
struct idxi_pending_run {
    struct idxi_pending_bits bits;
    uint32_t *begins, *folded, *links;
};

/* Those that were appended after the run was made. */
struct idxi_pending_rest {
    struct idxi_pending_bits bits;
    struct idxi_pending_bucket *buckets;
};

#define IDXI_PENDING_MAX_PARTS (IDXF_MAX_K + 1)

struct idxi_pending {
    struct idxf_record_rules rules;
    uint64_t base; /* the records are those behind this one */
    _Atomic uint64_t count;
    uint64_t capacity; /* how many records there are before another one takes the place */
    uint64_t room;     /* how many are expected in all, over time */
    atomic_size_t holders;
    atomic_size_t bytes; /* without the tables and the store */
    unsigned k;
    unsigned part_count;
    bool unsettled;     /* there are no buckets yet, and no views */
    uint64_t run_count; /* records that the runs were made of */
    struct idxi_pending_run runs[IDXI_PENDING_MAX_PARTS];
    struct idxi_pending_rest rests[IDXI_PENDING_MAX_PARTS];
    idxi_pending_scan *scan;
    struct idxi_pending_tables *tables;
    struct idxi_arena arrays;
    struct idxi_pending_store *store;
};

static inline uint64_t idxi_pending_fingerprint(const struct idxi_pending *pending, uint32_t number) {
    return pending->store->chunks[number / IDXI_RECORDS_OF_CHUNK]->fingerprints[number % IDXI_RECORDS_OF_CHUNK];
}

/* A record's links; NULL: none. */
static inline struct idxi_pending_links *idxi_pending_links_of(const struct idxi_pending *pending, uint32_t number) {
    const struct idxi_pending_chunk *chunk = pending->store->chunks[number / IDXI_RECORDS_OF_CHUNK];
    uint32_t links = atomic_load_explicit(&chunk->links[number % IDXI_RECORDS_OF_CHUNK], memory_order_acquire);
    if (links == 0) return NULL;
    return &pending->store->links[(links - 1) / IDXI_RECORDS_OF_CHUNK][(links - 1) % IDXI_RECORDS_OF_CHUNK];
}

/* Whether a record that was found by its ID's hash, or has one, has this ID. */
bool idxi_pending_has_id(const struct idxi_pending *pending, uint32_t number, const void *id, size_t id_size);

/* The ID of a record; NULL, of 0 bytes, where it has none. */
const uint8_t *idxi_pending_read_id(const struct idxi_pending *pending, uint32_t number, size_t *id_size);

/* ---- Hash tables: pending_table.c ---- */

static inline uint64_t idxi_pending_hash(uint64_t fingerprint) {
    uint64_t hash = (fingerprint ^ fingerprint >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Of an ID; the integers are faster than texts. */
static inline uint64_t idxi_pending_hash_id(const uint8_t *id, size_t id_size) {
    return id_size == sizeof(uint64_t) ? idxi_pending_hash(idxf_load64(id)) : idxf_checksum(id, id_size);
}

/* Zeros, in huge pages where there are many; NULL when out of memory. To be freed with the same number of bytes. */
void *idxi_pending_allocate(size_t bytes);
void idxi_pending_free(void *memory, size_t bytes);

/* Makes tables for some records, held once, with or without one of IDs; NULL when out of memory. */
struct idxi_pending_tables *idxi_pending_make_tables(uint64_t capacity, bool has_ids);

/* Lets go of them: the last holder frees them. NULL is fine. */
void idxi_pending_release_tables(struct idxi_pending_tables *tables);

/* Asks memory for where a hash is. */
void idxi_pending_prefetch_slot(const struct idxi_pending_table *table, uint64_t hash);

/* Puts the link to a record whose key is new. */
void idxi_pending_insert(struct idxi_pending_table *table, uint64_t hash, uint32_t number);

/* The link to the first record of a fingerprint. */
uint32_t idxi_pending_find_first(const struct idxi_pending *pending, uint64_t fingerprint);

/* The slot of an ID, or the empty one where it would be. */
_Atomic uint32_t *idxi_pending_find_id_slot(const struct idxi_pending *pending, const void *id, size_t id_size,
                                            uint64_t hash);

/* Lets a slot of the table of IDs lead to a record. */
void idxi_pending_set_id_slot(struct idxi_pending *pending, _Atomic uint32_t *slot, uint64_t hash, uint32_t number);

/* The link to the newest record with an ID. */
uint32_t idxi_pending_find_id(const struct idxi_pending *pending, const void *id, size_t id_size);

/* ---- Buckets: pending_buckets.c ---- */

/* Makes the next part's run of all records, and empty arrays for those to come; with the last part, the records are
 * settled. False when out of memory. */
bool idxi_pending_make_part(struct idxi_pending *pending);
void idxi_pending_free_buckets(struct idxi_pending *pending);

/* Asks memory for the arrays that a fingerprint would be added to. */
void idxi_pending_expect_in_buckets(const struct idxi_pending *pending, uint64_t fingerprint);

/* Makes sure that there is room for a fingerprint in all arrays; and adds it then. */
bool idxi_pending_reserve_in_buckets(struct idxi_pending *pending, uint64_t fingerprint);
void idxi_pending_add_to_buckets(struct idxi_pending *pending, uint64_t fingerprint, uint32_t number);

/* ---- Views: pending_view.c ---- */

/* The numbers of a view's records: from `begin` on, below `end`. */
struct idxi_pending_range {
    uint32_t begin, end;
};

static inline struct idxi_pending_range idxi_pending_range(const struct idxi_pending_view *view) {
    uint64_t base = view->records->base;
    return (struct idxi_pending_range){(uint32_t)(view->after < base ? 0 : view->after - base),
                                       (uint32_t)(view->last - base)};
}

/* Whether the fingerprint with this first record has a document. */
bool idxi_pending_is_held(const struct idxi_pending *pending, struct idxi_pending_range range, uint32_t first);

#endif
