/* pending.c: records in an array, linked by fingerprint and by ID, under two hash tables; and for distances, the k + 1
 * parts of a fingerprint, of which a match agrees in one: each part has buckets of plain fingerprints, by its bits.
 *
 * Who appends writes each thing before what leads to it, and publishes that with an atomic store; nothing that was
 * published moves or goes before all do: what grows is copied, and the old copy stays for those who are reading it.
 * Links are numbers of records plus 1, 0 being none; one that leads beyond a view ends there. */
#include "libidx/log/pending.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/processor.h"
#include "libidx/base/error.h"

#ifdef IDXF_X86
#include <immintrin.h>
#endif

#define LINE 64 /* bytes that come from memory together */

/* ---- Memory: given out piece by piece, and given back as a whole ---- */

#define FIRST_CHUNK ((size_t)64 << 10)
#define LAST_CHUNK ((size_t)4 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

struct chunk {
    struct chunk *older;
    char bytes[];
};

struct arena {
    struct chunk *newest;
    char *at, *end;
    size_t next_size;
};

static bool add_chunk(struct arena *arena, size_t least) {
    if (arena->next_size == 0) arena->next_size = FIRST_CHUNK;
    size_t size = arena->next_size;
    while (size < least + sizeof(struct chunk) + LINE) size *= 2;
    struct chunk *chunk = aligned_alloc(size < HUGE_PAGE ? LINE : HUGE_PAGE, size);
    if (chunk == NULL) return false;
#ifdef MADV_HUGEPAGE
    if (size >= HUGE_PAGE) madvise(chunk, size, MADV_HUGEPAGE);
#endif
    chunk->older = arena->newest;
    arena->newest = chunk;
    arena->at = chunk->bytes;
    arena->end = (char *)chunk + size;
    if (arena->next_size < LAST_CHUNK) arena->next_size *= 2;
    return true;
}

/* Some bytes at a multiple of `alignment`, a power of two up to LINE. NULL when out of memory. */
static void *take(struct arena *arena, size_t size, size_t alignment) {
    for (;;) {
        size_t skipped = (size_t) - (uintptr_t)arena->at & (alignment - 1);
        if (arena->at != NULL && size + skipped <= (size_t)(arena->end - arena->at)) {
            char *bytes = arena->at + skipped;
            arena->at = bytes + size;
            return bytes;
        }
        if (!add_chunk(arena, size)) return NULL;
    }
}

static void free_arena(struct arena *arena) {
    while (arena->newest != NULL) {
        struct chunk *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
}

/* ---- What there is ---- */

struct record {
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

#define RECORDS_OF_CHUNK ((uint32_t)1 << 15)
#define CHUNKS (((size_t)1 << 32) / RECORDS_OF_CHUNK)

/* A hash table. A slot is 0, or the upper half of a hash, and the link to a record in the lower half. */
struct table {
    struct table *older;
    unsigned bits;
    _Atomic uint64_t slots[];
};

#define FIRST_TABLE_BITS 10

struct keys {
    _Atomic(struct table *) table;
    size_t count;
};

/* Fingerprints that agree in bits of a part. Capacities fill whole lines. */
struct block {
    _Atomic uint32_t count;
    uint32_t capacity;
    uint64_t fingerprints[];
};

struct bucket {
    _Atomic(struct block *) block; /* NULL: none yet */
};

struct part {
    uint64_t mask;        /* the bits that choose a bucket: the part's first */
    unsigned shift;       /* of them */
    uint32_t last_bucket; /* 2^bits - 1 */
    struct bucket *buckets;
};

#define MAX_BUCKET_BITS 16
#define MAX_PARTS (IDXF_MAX_K + 1)

struct idxi_pending {
    struct idxf_record_rules rules;
    uint64_t base; /* the records are those behind this one */
    _Atomic uint64_t count;
    atomic_size_t holders;
    atomic_size_t bytes;
    unsigned k;
    unsigned part_count;
    struct part parts[MAX_PARTS];
    idxi_pending_scan *scan;
    struct keys fingerprints, ids;
    struct arena blocks, id_bytes;
    struct record **chunks;
};

static struct record *get_record(const struct idxi_pending *pending, uint32_t number) {
    return &pending->chunks[number / RECORDS_OF_CHUNK][number % RECORDS_OF_CHUNK];
}

/* ---- Scanning ---- */

IDXF_INLINE uint64_t scan_each(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance) {
    uint64_t near = 0;
    for (size_t i = 0; i < count; i++) near |= (uint64_t)(idxf_count_bits(fingerprints[i] ^ query) <= distance) << i;
    return near;
}

static uint64_t scan_plain(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance) {
    return scan_each(fingerprints, count, query, distance);
}

#ifdef IDXF_X86
IDXF_BMI2 static uint64_t scan_bmi2(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance) {
    return scan_each(fingerprints, count, query, distance);
}

IDXF_AVX512 static uint64_t scan_avx512(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance) {
    const __m512i wanted = _mm512_set1_epi64((long long)query), most = _mm512_set1_epi64(distance);
    uint64_t near = 0;
    for (size_t i = 0; i < count; i += 8) {
        __mmask8 there = count - i >= 8 ? 0xff : (__mmask8)((1u << (count - i)) - 1);
        __m512i errors = _mm512_xor_si512(_mm512_maskz_loadu_epi64(there, fingerprints + i), wanted);
        near |= (uint64_t)_mm512_mask_cmple_epu64_mask(there, _mm512_popcnt_epi64(errors), most) << i;
    }
    return near;
}
#endif

size_t idxi_pending_scans(idxi_pending_scan *scans[IDXI_PENDING_SCANS]) {
    size_t count = 0;
    scans[count++] = scan_plain;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) scans[count++] = scan_bmi2;
    if (idxf_has_avx512()) scans[count++] = scan_avx512;
#endif
    return count;
}

/* ---- Hash tables ---- */

static uint64_t hash_fingerprint(uint64_t fingerprint) {
    uint64_t hash = (fingerprint ^ fingerprint >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static uint64_t hash_id(const void *id, size_t id_size) { return idxf_checksum(id, id_size); }

static size_t table_bytes(unsigned bits) { return sizeof(struct table) + ((size_t)1 << bits) * sizeof(uint64_t); }

static struct table *new_table(struct idxi_pending *pending, unsigned bits, struct table *older) {
    struct table *table = calloc(1, table_bytes(bits));
    if (table == NULL) return NULL;
    table->older = older;
    table->bits = bits;
    atomic_fetch_add_explicit(&pending->bytes, table_bytes(bits), memory_order_relaxed);
    return table;
}

static void free_tables(struct table *table) {
    while (table != NULL) {
        struct table *older = table->older;
        free(table);
        table = older;
    }
}

static size_t place_of(const struct table *table, uint64_t hash) { return (size_t)(hash >> (64 - table->bits)); }

static size_t place_behind(const struct table *table, size_t place) {
    return (place + 1) & (((size_t)1 << table->bits) - 1);
}

/* Puts a slot's value, of a key that is new. */
static void insert(struct table *table, uint64_t value) {
    size_t place = place_of(table, value);
    while (atomic_load_explicit(&table->slots[place], memory_order_relaxed) != 0) place = place_behind(table, place);
    atomic_store_explicit(&table->slots[place], value, memory_order_release);
}

static uint64_t slot_value(uint64_t hash, uint32_t number) {
    return (hash & ~idxf_low_bits(32)) | (number + UINT64_C(1));
}

/* Makes sure that there is room for one key more, and empty slots to end searches. */
static bool reserve_key(struct idxi_pending *pending, struct keys *keys) {
    struct table *old = atomic_load_explicit(&keys->table, memory_order_relaxed);
    if (2 * (keys->count + 1) <= (size_t)1 << old->bits) return true;
    if (old->bits == 32) return false;
    struct table *table = new_table(pending, old->bits + 1, old);
    if (table == NULL) return false;
    for (size_t i = 0; i < (size_t)1 << old->bits; i++) {
        uint64_t value = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
        if (value != 0) insert(table, value);
    }
    atomic_store_explicit(&keys->table, table, memory_order_release);
    return true;
}

/* The link to the first record of a fingerprint. */
static uint32_t find_first(const struct idxi_pending *pending, uint64_t fingerprint) {
    const struct table *table = atomic_load_explicit(&pending->fingerprints.table, memory_order_acquire);
    uint64_t hash = hash_fingerprint(fingerprint);
    for (size_t place = place_of(table, hash);; place = place_behind(table, place)) {
        uint64_t value = atomic_load_explicit(&table->slots[place], memory_order_acquire);
        if (value == 0) return 0;
        if (value >> 32 != hash >> 32) continue;
        if (get_record(pending, (uint32_t)value - 1)->fingerprint == fingerprint) return (uint32_t)value;
    }
}

/* The slot of an ID, or the empty one where it would be. */
static _Atomic uint64_t *find_id_slot(const struct idxi_pending *pending, const void *id, size_t id_size,
                                      uint64_t hash) {
    struct table *table = atomic_load_explicit(&pending->ids.table, memory_order_acquire);
    for (size_t place = place_of(table, hash);; place = place_behind(table, place)) {
        uint64_t value = atomic_load_explicit(&table->slots[place], memory_order_acquire);
        if (value == 0) return &table->slots[place];
        if (value >> 32 != hash >> 32) continue;
        const struct record *record = get_record(pending, (uint32_t)value - 1);
        if (record->id_size == id_size && (id_size == 0 || memcmp(record->id, id, id_size) == 0))
            return &table->slots[place];
    }
}

/* The link to the newest record with an ID. */
static uint32_t find_id(const struct idxi_pending *pending, const void *id, size_t id_size) {
    return (uint32_t)atomic_load_explicit(find_id_slot(pending, id, id_size, hash_id(id, id_size)),
                                          memory_order_acquire);
}

/* ---- Making and freeing ---- */

/* Cuts the bits into k + 1 parts as even as they come, wider ones first, from the most significant. With k = 0 there is
 * nothing to cut: the hash table answers. */
static void cut_parts(struct idxi_pending *pending) {
    unsigned bits = pending->rules.bits, count = pending->k + 1, above = bits;
    pending->part_count = pending->k == 0 ? 0 : count;
    for (unsigned i = 0; i < pending->part_count; i++) {
        unsigned width = bits / count + (i < bits % count), used = width < MAX_BUCKET_BITS ? width : MAX_BUCKET_BITS;
        pending->parts[i] = (struct part){.mask = idxf_low_bits(used) << (above - used),
                                          .shift = above - used,
                                          .last_bucket = (uint32_t)idxf_low_bits(used)};
        above -= width;
    }
}

static bool allocate(struct idxi_pending *pending) {
    pending->chunks = calloc(CHUNKS, sizeof *pending->chunks);
    if (pending->chunks == NULL) return false;
    struct table *fingerprints = new_table(pending, FIRST_TABLE_BITS, NULL);
    struct table *ids = new_table(pending, FIRST_TABLE_BITS, NULL);
    atomic_init(&pending->fingerprints.table, fingerprints);
    atomic_init(&pending->ids.table, ids);
    if (fingerprints == NULL || ids == NULL) return false;
    for (unsigned i = 0; i < pending->part_count; i++) {
        struct part *part = &pending->parts[i];
        part->buckets = calloc((size_t)part->last_bucket + 1, sizeof *part->buckets);
        if (part->buckets == NULL) return false;
        pending->bytes += ((size_t)part->last_bucket + 1) * sizeof *part->buckets;
    }
    return true;
}

static void free_pending(struct idxi_pending *pending) {
    for (size_t i = 0; pending->chunks != NULL && i < CHUNKS && pending->chunks[i] != NULL; i++)
        free(pending->chunks[i]);
    free(pending->chunks);
    for (unsigned i = 0; i < pending->part_count; i++) free(pending->parts[i].buckets);
    free_tables(atomic_load(&pending->fingerprints.table));
    free_tables(atomic_load(&pending->ids.table));
    free_arena(&pending->blocks);
    free_arena(&pending->id_bytes);
    free(pending);
}

enum idx_status idxi_pending_new(struct idxi_pending **result, const struct idxf_record_rules *rules, unsigned k,
                                 uint64_t after, struct idx_error *error) {
    idxi_pending_scan *scans[IDXI_PENDING_SCANS];
    struct idxi_pending *pending = calloc(1, sizeof *pending);
    if (pending == NULL) return idxi_fail_memory(error);
    pending->rules = *rules;
    pending->k = k;
    pending->base = after;
    pending->scan = scans[idxi_pending_scans(scans) - 1];
    atomic_init(&pending->holders, 1);
    cut_parts(pending);
    if (allocate(pending)) {
        *result = pending;
        return IDX_OK;
    }
    free_pending(pending);
    return idxi_fail_memory(error);
}

void idxi_pending_hold(struct idxi_pending *pending) {
    atomic_fetch_add_explicit(&pending->holders, 1, memory_order_relaxed);
}

void idxi_pending_release(struct idxi_pending *pending) {
    if (pending != NULL && atomic_fetch_sub_explicit(&pending->holders, 1, memory_order_acq_rel) == 1)
        free_pending(pending);
}

uint64_t idxi_pending_last(const struct idxi_pending *pending) {
    return pending->base + atomic_load_explicit(&pending->count, memory_order_acquire);
}

size_t idxi_pending_bytes(const struct idxi_pending *pending) {
    return sizeof *pending + atomic_load_explicit(&pending->bytes, memory_order_relaxed);
}

/* ---- Appending: first all that may fail, then the rest ---- */

static void *take_counted(struct idxi_pending *pending, struct arena *arena, size_t size, size_t alignment) {
    atomic_fetch_add_explicit(&pending->bytes, size, memory_order_relaxed);
    return take(arena, size, alignment);
}

static struct bucket *get_bucket(const struct part *part, uint64_t fingerprint) {
    return &part->buckets[(fingerprint >> part->shift) & part->last_bucket];
}

/* Makes sure that a bucket has room for one fingerprint more. */
static bool reserve_in_bucket(struct idxi_pending *pending, struct bucket *place) {
    struct block *old = atomic_load_explicit(&place->block, memory_order_relaxed);
    uint32_t count = old == NULL ? 0 : atomic_load_explicit(&old->count, memory_order_relaxed);
    if (old != NULL && count < old->capacity) return true;
    size_t lines = old == NULL ? 1 : 2 * ((old->capacity + 1) / 8);
    struct block *block = take_counted(pending, &pending->blocks, lines * LINE, LINE);
    if (block == NULL) return false;
    atomic_init(&block->count, count);
    block->capacity = (uint32_t)(lines * LINE - sizeof *block) / sizeof *block->fingerprints;
    if (count > 0) memcpy(block->fingerprints, old->fingerprints, count * sizeof *block->fingerprints);
    atomic_store_explicit(&place->block, block, memory_order_release);
    return true;
}

static bool reserve_record(struct idxi_pending *pending, uint32_t number) {
    struct record **chunk = &pending->chunks[number / RECORDS_OF_CHUNK];
    if (*chunk != NULL) return true;
    *chunk = calloc(RECORDS_OF_CHUNK, sizeof **chunk);
    if (*chunk == NULL) return false;
    atomic_fetch_add_explicit(&pending->bytes, RECORDS_OF_CHUNK * sizeof **chunk, memory_order_relaxed);
    return true;
}

/* Whether a record is about a document, which it names by an ID. */
static bool has_id(const struct idxi_pending *pending, enum idxf_operation operation) {
    return pending->rules.id_type != IDXF_ID_NONE && operation != IDXF_REMOVE_FINGERPRINT;
}

static bool reserve(struct idxi_pending *pending, const struct idxf_record *record, uint32_t number, uint8_t **id) {
    if (!reserve_record(pending, number) || !reserve_key(pending, &pending->fingerprints) ||
        !reserve_key(pending, &pending->ids))
        return false;
    for (unsigned i = 0; i < pending->part_count && record->operation == IDXF_ADD; i++) {
        if (!reserve_in_bucket(pending, get_bucket(&pending->parts[i], record->fingerprint))) return false;
    }
    *id = NULL;
    if (record->id_size == 0) return true;
    *id = take_counted(pending, &pending->id_bytes, record->id_size, 1);
    if (*id != NULL) memcpy(*id, record->id, record->id_size);
    return *id != NULL;
}

static void prefetch_slot(const struct keys *keys, uint64_t hash) {
    const struct table *table = atomic_load_explicit(&keys->table, memory_order_relaxed);
    __builtin_prefetch(&table->slots[place_of(table, hash)], 1);
}

static uint64_t hash_id_of(const struct idxf_record *record) {
    return record->id_size == 0 ? hash_id("", 0) : hash_id(record->id, record->id_size);
}

void idxi_pending_expect(const struct idxi_pending *pending, const struct idxf_record *record) {
    struct bucket *places[MAX_PARTS];
    uint64_t fingerprint = record->fingerprint;
    prefetch_slot(&pending->fingerprints, hash_fingerprint(fingerprint));
    prefetch_slot(&pending->ids, hash_id_of(record));
    for (unsigned i = 0; i < pending->part_count; i++) {
        places[i] = get_bucket(&pending->parts[i], fingerprint);
        __builtin_prefetch(places[i]);
    }
    for (unsigned i = 0; i < pending->part_count; i++) {
        const struct block *block = atomic_load_explicit(&places[i]->block, memory_order_relaxed);
        if (block == NULL) continue;
        __builtin_prefetch(block, 1);
        __builtin_prefetch((const char *)block + LINE, 1);
    }
}

/* Links a removal with those of its fingerprint, whose first record this is. */
static void link_removal(const struct idxi_pending *pending, struct record *first, struct record *record,
                         uint32_t number) {
    record->previous_removal = atomic_load_explicit(&first->newest_removal, memory_order_relaxed);
    if (record->operation == IDXF_REMOVE_FINGERPRINT)
        record->whole = number + 1;
    else if (record->previous_removal != 0)
        record->whole = get_record(pending, record->previous_removal - 1)->whole;
    atomic_store_explicit(&first->newest_removal, number + 1, memory_order_release);
}

/* Links a record with those of its fingerprint. */
static void link_fingerprint(struct idxi_pending *pending, struct record *record, uint32_t number) {
    uint32_t link = find_first(pending, record->fingerprint);
    record->first = link == 0 ? number : link - 1;
    struct record *first = get_record(pending, record->first);
    if (link != 0) {
        uint32_t newest = atomic_load_explicit(&first->newest, memory_order_relaxed);
        struct record *last = get_record(pending, newest - 1);
        record->previous = last->operation == IDXF_REMOVE_DOCUMENT ? last->previous : newest;
        atomic_store_explicit(&last->next, number + 1, memory_order_release);
    }
    if (record->operation != IDXF_ADD) link_removal(pending, first, record, number);
    atomic_store_explicit(&first->newest, number + 1, memory_order_release);
    if (link != 0) return;
    uint64_t value = slot_value(hash_fingerprint(record->fingerprint), number);
    insert(atomic_load_explicit(&pending->fingerprints.table, memory_order_relaxed), value);
    pending->fingerprints.count++;
}

/* Notes with the documents that a record removes that it does. */
static void mark_removed(struct idxi_pending *pending, const struct record *record, uint32_t number) {
    for (uint32_t link = record->previous_id; link != 0;) {
        struct record *older = get_record(pending, link - 1);
        link = older->previous_id;
        if (older->fingerprint != record->fingerprint) continue;
        if (older->operation != IDXF_ADD) return; /* those before it are marked */
        atomic_store_explicit(&older->removal, number + 1, memory_order_release);
    }
}

/* Links a record with those of its ID. */
static void link_id(struct idxi_pending *pending, struct record *record, uint32_t number, uint64_t hash) {
    _Atomic uint64_t *slot = find_id_slot(pending, record->id, record->id_size, hash);
    record->previous_id = (uint32_t)atomic_load_explicit(slot, memory_order_relaxed);
    pending->ids.count += record->previous_id == 0;
    if (record->operation == IDXF_REMOVE_DOCUMENT) mark_removed(pending, record, number);
    atomic_store_explicit(slot, slot_value(hash, number), memory_order_release);
}

static void add_to_buckets(struct idxi_pending *pending, uint64_t fingerprint) {
    for (unsigned i = 0; i < pending->part_count; i++) {
        struct bucket *place = get_bucket(&pending->parts[i], fingerprint);
        struct block *block = atomic_load_explicit(&place->block, memory_order_relaxed);
        uint32_t count = atomic_load_explicit(&block->count, memory_order_relaxed);
        block->fingerprints[count] = fingerprint;
        atomic_store_explicit(&block->count, count + 1, memory_order_release);
    }
}

enum idx_status idxi_pending_append(struct idxi_pending *pending, const struct idxf_record *record,
                                    struct idx_error *error) {
    uint64_t count = atomic_load_explicit(&pending->count, memory_order_relaxed);
    uint8_t *id;
    if (count == UINT32_MAX)
        return idxi_fail(error, IDX_LIMIT, NULL, "%llu documents are pending: compact the index",
                         (unsigned long long)count);
    uint32_t number = (uint32_t)count;
    uint64_t id_hash = hash_id_of(record);
    if (!reserve(pending, record, number, &id)) return idxi_fail_memory(error);
    struct record *ours = get_record(pending, number);
    *ours = (struct record){.fingerprint = record->fingerprint,
                            .id = id,
                            .id_size = (uint32_t)record->id_size,
                            .operation = (uint8_t)record->operation};
    if (has_id(pending, record->operation)) link_id(pending, ours, number, id_hash);
    link_fingerprint(pending, ours, number);
    struct record *first = get_record(pending, ours->first);
    if (record->operation == IDXF_ADD && !first->found) {
        first->found = true;
        add_to_buckets(pending, record->fingerprint);
    }
    atomic_store_explicit(&pending->count, count + 1, memory_order_release);
    return IDX_OK;
}

/* ---- Views ---- */

/* The numbers of a view's records: from `begin` on, below `end`. */
struct range {
    uint32_t begin, end;
};

static struct range range_of(const struct idxi_pending_view *view) {
    uint64_t base = view->pending->base;
    return (struct range){(uint32_t)(view->after < base ? 0 : view->after - base), (uint32_t)(view->last - base)};
}

static bool is_in(struct range range, uint32_t number) { return number >= range.begin && number < range.end; }

/* Whether an added document, of the view, is not removed by its ID. */
static bool is_kept(struct range range, const struct record *record) {
    uint32_t link = atomic_load_explicit(&record->removal, memory_order_acquire);
    return link == 0 || link - 1 >= range.end;
}

/* The first number that no removal of the whole fingerprint concerns, and what removals there are. */
static uint32_t find_floor(const struct idxi_pending *pending, struct range range, const struct record *first,
                           enum idxi_removal *removal) {
    uint32_t link = atomic_load_explicit(&first->newest_removal, memory_order_acquire);
    *removal = IDXI_REMOVED_NONE;
    while (link != 0 && link - 1 >= range.end) link = get_record(pending, link - 1)->previous_removal;
    if (link == 0 || link - 1 < range.begin) return range.begin;
    uint32_t whole = get_record(pending, link - 1)->whole;
    *removal = whole != 0 && whole - 1 >= range.begin ? IDXI_REMOVED_ALL : IDXI_REMOVED_SOME;
    return *removal == IDXI_REMOVED_ALL ? whole : range.begin;
}

/* Whether the fingerprint with this first record has a document. */
static bool is_held(const struct idxi_pending *pending, struct range range, const struct record *first) {
    uint32_t link = atomic_load_explicit(&first->newest, memory_order_acquire);
    while (link != 0 && link - 1 >= range.begin) {
        const struct record *record = get_record(pending, link - 1);
        bool counts = link - 1 < range.end;
        if (counts && record->operation == IDXF_REMOVE_FINGERPRINT) return false;
        if (counts && record->operation == IDXF_ADD && is_kept(range, record)) return true;
        link = record->previous;
    }
    return false;
}

bool idxi_pending_holds(const struct idxi_pending_view *view, uint64_t fingerprint) {
    uint32_t link = find_first(view->pending, fingerprint);
    return link != 0 && is_held(view->pending, range_of(view), get_record(view->pending, link - 1));
}

enum idxi_removal idxi_pending_removal(const struct idxi_pending_view *view, uint64_t fingerprint) {
    enum idxi_removal removal = IDXI_REMOVED_NONE;
    uint32_t link = find_first(view->pending, fingerprint);
    if (link != 0) find_floor(view->pending, range_of(view), get_record(view->pending, link - 1), &removal);
    return removal;
}

bool idxi_pending_removes(const struct idxi_pending_view *view, uint64_t fingerprint, const void *id, size_t id_size) {
    enum idxi_removal removal = idxi_pending_removal(view, fingerprint);
    if (removal != IDXI_REMOVED_SOME) return removal == IDXI_REMOVED_ALL;
    struct range range = range_of(view);
    uint32_t link = find_id(view->pending, id, id_size);
    while (link != 0) {
        const struct record *record = get_record(view->pending, link - 1);
        if (record->fingerprint == fingerprint && record->operation == IDXF_REMOVE_DOCUMENT && is_in(range, link - 1))
            return true;
        link = record->previous_id;
    }
    return false;
}

/* ---- Documents ---- */

/* The link to the newest document of a fingerprint among those with an ID that `link` leads to. */
static uint32_t find_document(const struct idxi_pending *pending, struct range range, uint32_t floor,
                              uint64_t fingerprint, uint32_t link) {
    while (link != 0 && link - 1 >= floor) {
        const struct record *record = get_record(pending, link - 1);
        if (record->fingerprint == fingerprint && record->operation == IDXF_ADD && link - 1 < range.end &&
            is_kept(range, record))
            return link;
        link = record->previous_id;
    }
    return 0;
}

/* Whether this added document is there, and not the same as one before it. */
static bool is_document(const struct idxi_pending *pending, struct range range, uint32_t floor,
                        const struct record *record) {
    if (record->operation != IDXF_ADD || !is_kept(range, record)) return false;
    return pending->rules.id_type != IDXF_ID_U64 ||
           find_document(pending, range, floor, record->fingerprint, record->previous_id) == 0;
}

bool idxi_pending_has_document(const struct idxi_pending_view *view, uint64_t fingerprint, const void *id,
                               size_t id_size) {
    const struct idxi_pending *pending = view->pending;
    struct range range = range_of(view);
    enum idxi_removal removal;
    uint32_t link = find_first(pending, fingerprint);
    if (link == 0) return false;
    uint32_t floor = find_floor(pending, range, get_record(pending, link - 1), &removal);
    return find_document(pending, range, floor, fingerprint, find_id(pending, id, id_size)) != 0;
}

void idxi_pending_documents(const struct idxi_pending_view *view, uint64_t fingerprint,
                            struct idxi_pending_cursor *cursor) {
    enum idxi_removal removal;
    *cursor = (struct idxi_pending_cursor){.view = *view};
    if (view->pending->rules.id_type == IDXF_ID_NONE) return;
    cursor->next = find_first(view->pending, fingerprint);
    if (cursor->next == 0) return;
    cursor->floor = find_floor(view->pending, range_of(view), get_record(view->pending, cursor->next - 1), &removal);
    if (removal == IDXI_REMOVED_ALL) cursor->next = cursor->floor; /* the removal itself, to go on from there */
}

bool idxi_pending_next(struct idxi_pending_cursor *cursor, const uint8_t **id, size_t *id_size) {
    const struct idxi_pending *pending = cursor->view.pending;
    struct range range = range_of(&cursor->view);
    while (cursor->next != 0 && cursor->next - 1 < range.end) {
        uint32_t number = cursor->next - 1;
        const struct record *record = get_record(pending, number);
        cursor->next = atomic_load_explicit(&record->next, memory_order_acquire);
        if (number < cursor->floor || !is_document(pending, range, cursor->floor, record)) continue;
        *id = record->id;
        *id_size = record->id_size;
        cursor->sequence = pending->base + number + 1;
        return true;
    }
    return false;
}

void idxi_pending_id(const struct idxi_pending_view *view, uint32_t number, const uint8_t **id, size_t *id_size) {
    const struct record *record = get_record(view->pending, range_of(view).begin + number);
    *id = record->id;
    *id_size = record->id_size;
}

void idxi_pending_fingerprints(const struct idxi_pending_view *view, const void *id, size_t id_size,
                               struct idxi_pending_cursor *cursor) {
    *cursor = (struct idxi_pending_cursor){.view = *view};
    if (view->pending->rules.id_type != IDXF_ID_NONE) cursor->next = find_id(view->pending, id, id_size);
}

bool idxi_pending_next_fingerprint(struct idxi_pending_cursor *cursor, uint64_t *fingerprint) {
    const struct idxi_pending *pending = cursor->view.pending;
    struct range range = range_of(&cursor->view);
    enum idxi_removal removal;
    while (cursor->next != 0 && cursor->next - 1 >= range.begin) {
        uint32_t number = cursor->next - 1;
        const struct record *record = get_record(pending, number);
        cursor->next = record->previous_id;
        if (number >= range.end) continue;
        uint32_t floor = find_floor(pending, range, get_record(pending, record->first), &removal);
        if (number < floor || !is_document(pending, range, floor, record)) continue;
        *fingerprint = record->fingerprint;
        return true;
    }
    return false;
}

enum idx_status idxi_pending_visit(const struct idxi_pending_view *view, idxi_pending_record_visitor visit,
                                   void *context, struct idx_error *error) {
    struct range range = range_of(view);
    for (uint32_t number = range.begin; number < range.end; number++) {
        const struct record *record = get_record(view->pending, number);
        struct idxf_record shown = {.operation = (enum idxf_operation)record->operation,
                                    .fingerprint = record->fingerprint,
                                    .id = record->id,
                                    .id_size = record->id_size};
        IDXI_TRY(visit(context, view->pending->base + number + 1, &shown, error));
    }
    return IDX_OK;
}

/* ---- Finding ---- */

/* Queries that are staged together, so that memory fetches for some while others are compared. */
#define STAGED 16

/* A look-up, of some queries. */
struct search {
    const struct idxi_pending *pending;
    struct range range;
    const uint64_t *queries;
    size_t count;
    size_t first; /* the number of the first query */
    unsigned distance;
    unsigned parts; /* that are looked at: in one of distance + 1, a match has no error */
    idxi_pending_visitor visit;
    void *context;
};

/* Whether the match was in the bucket of a part before this one, too. */
static bool was_before(const struct idxi_pending *pending, unsigned part, uint64_t errors) {
    while (part-- > 0) {
        if ((errors & pending->parts[part].mask) == 0) return true;
    }
    return false;
}

/* Visits a fingerprint near enough, where the view has it. */
static bool visit_near(const struct search *search, size_t query, uint64_t fingerprint) {
    const struct idxi_pending *pending = search->pending;
    uint32_t link = find_first(pending, fingerprint);
    if (link == 0 || link - 1 >= search->range.end) return true;
    if (!is_held(pending, search->range, get_record(pending, link - 1))) return true;
    struct idx_match match = {fingerprint, idxf_count_bits(fingerprint ^ search->queries[query])};
    return search->visit(search->context, search->first + query, &match);
}

/* Fingerprints that a scan takes at a time. */
#define SCANNED 64

static bool search_block(const struct search *search, size_t query, unsigned part, const struct block *block) {
    const struct idxi_pending *pending = search->pending;
    uint64_t wanted = search->queries[query];
    size_t count = atomic_load_explicit(&block->count, memory_order_acquire);
    for (size_t i = 0; i < count; i += SCANNED) {
        size_t some = count - i < SCANNED ? count - i : SCANNED;
        uint64_t near = pending->scan(block->fingerprints + i, some, wanted, search->distance);
        for (; near != 0; near &= near - 1) {
            uint64_t fingerprint = block->fingerprints[i + (size_t)__builtin_ctzll(near)];
            if (was_before(pending, part, fingerprint ^ wanted)) continue;
            if (!visit_near(search, query, fingerprint)) return false;
        }
    }
    return true;
}

static void prefetch_block(const struct block *block) {
    __builtin_prefetch(block);
    __builtin_prefetch((const char *)block + LINE);
    __builtin_prefetch((const char *)block + 2 * LINE);
}

/* The blocks of each query's parts; NULL where there is none. */
typedef const struct block *staged_blocks[STAGED][MAX_PARTS];

/* Has the buckets fetched, then the blocks. */
static void stage(const struct search *search, staged_blocks blocks) {
    const struct part *parts = search->pending->parts;
    for (size_t query = 0; query < search->count; query++) {
        for (unsigned part = 0; part < search->parts; part++)
            __builtin_prefetch(get_bucket(&parts[part], search->queries[query]));
    }
    for (size_t query = 0; query < search->count; query++) {
        for (unsigned part = 0; part < search->parts; part++) {
            struct bucket *place = get_bucket(&parts[part], search->queries[query]);
            blocks[query][part] = atomic_load_explicit(&place->block, memory_order_acquire);
            if (blocks[query][part] != NULL) prefetch_block(blocks[query][part]);
        }
    }
}

static bool search_staged(const struct search *search) {
    staged_blocks blocks;
    if (search->distance == 0) {
        for (size_t query = 0; query < search->count; query++)
            if (!visit_near(search, query, search->queries[query])) return false;
        return true;
    }
    stage(search, blocks);
    for (size_t query = 0; query < search->count; query++) {
        for (unsigned part = 0; part < search->parts; part++) {
            const struct block *block = blocks[query][part];
            if (block != NULL && !search_block(search, query, part, block)) return false;
        }
    }
    return true;
}

void idxi_pending_prefetch(const struct idxi_pending_view *view, uint64_t query, unsigned distance) {
    for (unsigned part = 0; part <= distance && distance > 0; part++) {
        struct bucket *place = get_bucket(&view->pending->parts[part], query);
        struct block *block = atomic_load_explicit(&place->block, memory_order_acquire);
        if (block != NULL) prefetch_block(block);
    }
}

bool idxi_pending_find(const struct idxi_pending_view *view, const uint64_t *queries, size_t count, unsigned distance,
                       idxi_pending_visitor visit, void *context) {
    struct search search = {.pending = view->pending,
                            .range = range_of(view),
                            .distance = distance,
                            .parts = distance + 1,
                            .visit = visit,
                            .context = context};
    for (size_t i = 0; i < count && search.range.begin < search.range.end; i += STAGED) {
        search.queries = queries + i;
        search.first = i;
        search.count = count - i < STAGED ? count - i : STAGED;
        if (!search_staged(&search)) return false;
    }
    return true;
}
