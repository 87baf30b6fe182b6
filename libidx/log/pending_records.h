/* pending_records.h: what the files of pending.h share. Records are in an array, linked by fingerprint and by ID, under
 * two hash tables. For distances, a fingerprint has k + 1 parts, and a match agrees with the query in at least one of
 * them: each part has buckets of fingerprints, by its bits. A bucket has them folded to half their size, and beside
 * that the links to their first records: folding makes no distance longer, and hardly any that is too long short.
 *
 * The appending thread writes each thing before whatever leads to it, and publishes that with an atomic store. Nothing
 * that was published moves or is freed before everything is: what grows is copied, and the old copy stays for its
 * readers. Links are record numbers plus 1; 0 is none. A link that leads beyond a view ends there. */
#ifndef IDX_LIBIDX_PENDING_RECORDS_H
#define IDX_LIBIDX_PENDING_RECORDS_H

#include <stdatomic.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "libidx/base/arena.h"
#include "libidx/base/error.h"
#include "libidx/log/pending.h"

struct idxi_pending_record {
    uint64_t fingerprint;
    const uint8_t *id;
    uint32_t id_size;
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

/* A hash table. A slot is 0, or the upper half of a hash, and the link to a record in the lower half. */
struct idxi_pending_table {
    struct idxi_pending_table *older;
    unsigned bits;
    _Atomic uint64_t slots[];
};

struct idxi_pending_keys {
    _Atomic(struct idxi_pending_table *) table;
    size_t count;
};

/* Fingerprints that agree in bits of a part. Capacities fill whole lines. */
struct idxi_pending_array {
    _Atomic uint32_t count;
    uint32_t capacity;
    uint32_t folded[]; /* as many as the capacity, then as many links */
};

#define IDXI_PENDING_ENTRY_BYTES (2 * sizeof(uint32_t))

static inline const uint32_t *idxi_pending_links(const struct idxi_pending_array *array) {
    return array->folded + array->capacity;
}

static inline uint32_t idxi_pending_fold(uint64_t fingerprint) { return (uint32_t)(fingerprint ^ fingerprint >> 32); }

struct idxi_pending_bucket {
    _Atomic(struct idxi_pending_array *) array; /* NULL: none yet */
};

struct idxi_pending_part {
    uint64_t mask;        /* the bits that choose a bucket: the part's first */
    unsigned shift;       /* of them */
    uint32_t last_bucket; /* 2^bits - 1 */
    struct idxi_pending_bucket *buckets;
};

#define IDXI_PENDING_MAX_PARTS (IDXF_MAX_K + 1)

struct idxi_pending {
    struct idxf_record_rules rules;
    uint64_t base; /* the records are those behind this one */
    _Atomic uint64_t count;
    atomic_size_t holders;
    atomic_size_t bytes;
    unsigned k;
    unsigned part_count;
    struct idxi_pending_part parts[IDXI_PENDING_MAX_PARTS];
    idxi_pending_scan *scan;
    struct idxi_pending_keys fingerprints, ids;
    struct idxi_arena arrays, id_bytes;
    struct idxi_pending_record **chunks;
};

static inline struct idxi_pending_record *idxi_pending_record(const struct idxi_pending *pending, uint32_t number) {
    return &pending->chunks[number / IDXI_RECORDS_OF_CHUNK][number % IDXI_RECORDS_OF_CHUNK];
}

static inline struct idxi_pending_bucket *idxi_pending_bucket(const struct idxi_pending_part *part,
                                                              uint64_t fingerprint) {
    return &part->buckets[(fingerprint >> part->shift) & part->last_bucket];
}

/* ---- Hash tables: pending_table.c ---- */

static inline uint64_t idxi_pending_hash(uint64_t fingerprint) {
    uint64_t hash = (fingerprint ^ fingerprint >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static inline uint64_t idxi_pending_hash_id(const void *id, size_t id_size) { return idxf_checksum(id, id_size); }

/* Where the search for a hash begins. */
static inline size_t idxi_pending_place(const struct idxi_pending_table *table, uint64_t hash) {
    return (size_t)(hash >> (64 - table->bits));
}

/* The value of a slot. */
static inline uint64_t idxi_pending_slot(uint64_t hash, uint32_t number) {
    return (hash & ~idxf_low_bits(32)) | (number + UINT64_C(1));
}

/* Makes a table of 2^bits slots; NULL when out of memory. */
struct idxi_pending_table *idxi_pending_new_table(struct idxi_pending *pending, unsigned bits,
                                                  struct idxi_pending_table *older);

/* Frees it, and those that it took the place of. */
void idxi_pending_free_tables(struct idxi_pending_table *table);

/* Puts a slot's value, of a key that is new. */
void idxi_pending_insert(struct idxi_pending_table *table, uint64_t value);

/* Makes sure that there is room for one key more, and empty slots to end searches. */
bool idxi_pending_reserve_key(struct idxi_pending *pending, struct idxi_pending_keys *keys);

/* The link to the first record of a fingerprint. */
uint32_t idxi_pending_find_first(const struct idxi_pending *pending, uint64_t fingerprint);

/* The slot of an ID, or the empty one where it would be. */
_Atomic uint64_t *idxi_pending_find_id_slot(const struct idxi_pending *pending, const void *id, size_t id_size,
                                            uint64_t hash);

/* The link to the newest record with an ID. */
uint32_t idxi_pending_find_id(const struct idxi_pending *pending, const void *id, size_t id_size);

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
bool idxi_pending_is_held(const struct idxi_pending *pending, struct idxi_pending_range range,
                          const struct idxi_pending_record *first);

#endif
