/* pending.c: makes, frees and appends records; how they are kept is in pending_records.h. */
#include "libidx/log/pending.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/log/pending_records.h"

#define FIRST_TABLE_BITS 10
#define MAX_BUCKET_BITS 16

/* ---- Making and freeing ---- */

/* Cuts the bits into k + 1 parts as even as they come, wider ones first, from the most significant. With k = 0 there is
 * nothing to cut: the hash table answers. */
static void cut_parts(struct idxi_pending *pending) {
    unsigned bits = pending->rules.bits, count = pending->k + 1, above = bits;
    pending->part_count = pending->k == 0 ? 0 : count;
    for (unsigned i = 0; i < pending->part_count; i++) {
        unsigned width = bits / count + (i < bits % count), used = width < MAX_BUCKET_BITS ? width : MAX_BUCKET_BITS;
        pending->parts[i] = (struct idxi_pending_part){.mask = idxf_low_bits(used) << (above - used),
                                                       .shift = above - used,
                                                       .last_bucket = (uint32_t)idxf_low_bits(used)};
        above -= width;
    }
}

static bool allocate(struct idxi_pending *pending) {
    pending->chunks = calloc(IDXI_RECORD_CHUNKS, sizeof *pending->chunks);
    if (pending->chunks == NULL) return false;
    struct idxi_pending_table *fingerprints = idxi_pending_new_table(pending, FIRST_TABLE_BITS, NULL);
    struct idxi_pending_table *ids = idxi_pending_new_table(pending, FIRST_TABLE_BITS, NULL);
    atomic_init(&pending->fingerprints.table, fingerprints);
    atomic_init(&pending->ids.table, ids);
    if (fingerprints == NULL || ids == NULL) return false;
    for (unsigned i = 0; i < pending->part_count; i++) {
        struct idxi_pending_part *part = &pending->parts[i];
        part->buckets = calloc((size_t)part->last_bucket + 1, sizeof *part->buckets);
        if (part->buckets == NULL) return false;
        pending->bytes += ((size_t)part->last_bucket + 1) * sizeof *part->buckets;
    }
    return true;
}

static void free_pending(struct idxi_pending *pending) {
    for (size_t i = 0; pending->chunks != NULL && i < IDXI_RECORD_CHUNKS && pending->chunks[i] != NULL; i++)
        free(pending->chunks[i]);
    free(pending->chunks);
    for (unsigned i = 0; i < pending->part_count; i++) free(pending->parts[i].buckets);
    idxi_pending_free_tables(atomic_load(&pending->fingerprints.table));
    idxi_pending_free_tables(atomic_load(&pending->ids.table));
    idxi_arena_free(&pending->arrays);
    idxi_arena_free(&pending->id_bytes);
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

static void *take_counted(struct idxi_pending *pending, struct idxi_arena *arena, size_t size, size_t alignment) {
    atomic_fetch_add_explicit(&pending->bytes, size, memory_order_relaxed);
    return idxi_arena_take(arena, size, alignment);
}

/* Makes sure that a bucket has room for one fingerprint more. */
static bool reserve_in_bucket(struct idxi_pending *pending, struct idxi_pending_bucket *place) {
    struct idxi_pending_array *old = atomic_load_explicit(&place->array, memory_order_relaxed);
    uint32_t count = old == NULL ? 0 : atomic_load_explicit(&old->count, memory_order_relaxed);
    if (old != NULL && count < old->capacity) return true;
    size_t lines = old == NULL ? 1 : 2 * ((old->capacity + 1) / 8);
    struct idxi_pending_array *array =
        take_counted(pending, &pending->arrays, lines * IDXI_CACHE_LINE, IDXI_CACHE_LINE);
    if (array == NULL) return false;
    atomic_init(&array->count, count);
    array->capacity = (uint32_t)((lines * IDXI_CACHE_LINE - sizeof *array) / IDXI_PENDING_ENTRY_BYTES);
    if (count > 0) {
        memcpy(array->folded, old->folded, count * sizeof *old->folded);
        memcpy(array->folded + array->capacity, idxi_pending_links(old), count * sizeof *old->folded);
    }
    atomic_store_explicit(&place->array, array, memory_order_release);
    return true;
}

static bool reserve_record(struct idxi_pending *pending, uint32_t number) {
    struct idxi_pending_record **chunk = &pending->chunks[number / IDXI_RECORDS_OF_CHUNK];
    if (*chunk != NULL) return true;
    *chunk = calloc(IDXI_RECORDS_OF_CHUNK, sizeof **chunk);
    if (*chunk == NULL) return false;
    atomic_fetch_add_explicit(&pending->bytes, IDXI_RECORDS_OF_CHUNK * sizeof **chunk, memory_order_relaxed);
    return true;
}

/* Whether a record is about a document, which it names by an ID. */
static bool has_id(const struct idxi_pending *pending, enum idxf_operation operation) {
    return pending->rules.id_type != IDXF_ID_NONE && operation != IDXF_REMOVE_FINGERPRINT;
}

static bool reserve(struct idxi_pending *pending, const struct idxf_record *record, uint32_t number, uint8_t **id) {
    if (!reserve_record(pending, number) || !idxi_pending_reserve_key(pending, &pending->fingerprints) ||
        !idxi_pending_reserve_key(pending, &pending->ids))
        return false;
    for (unsigned i = 0; i < pending->part_count && record->operation == IDXF_ADD; i++) {
        if (!reserve_in_bucket(pending, idxi_pending_bucket(&pending->parts[i], record->fingerprint))) return false;
    }
    static uint8_t empty;
    *id = has_id(pending, record->operation) ? &empty : NULL;
    if (record->id_size == 0) return true;
    *id = take_counted(pending, &pending->id_bytes, record->id_size, 1);
    if (*id != NULL) memcpy(*id, record->id, record->id_size);
    return *id != NULL;
}

static void prefetch_slot(const struct idxi_pending_keys *keys, uint64_t hash) {
    const struct idxi_pending_table *table = atomic_load_explicit(&keys->table, memory_order_relaxed);
    __builtin_prefetch(&table->slots[idxi_pending_place(table, hash)], 1);
}

static uint64_t hash_id_of(const struct idxf_record *record) {
    return record->id_size == 0 ? idxi_pending_hash_id("", 0) : idxi_pending_hash_id(record->id, record->id_size);
}

void idxi_pending_expect(const struct idxi_pending *pending, const struct idxf_record *record) {
    struct idxi_pending_bucket *places[IDXI_PENDING_MAX_PARTS];
    uint64_t fingerprint = record->fingerprint;
    prefetch_slot(&pending->fingerprints, idxi_pending_hash(fingerprint));
    prefetch_slot(&pending->ids, hash_id_of(record));
    for (unsigned i = 0; i < pending->part_count; i++) {
        places[i] = idxi_pending_bucket(&pending->parts[i], fingerprint);
        __builtin_prefetch(places[i]);
    }
    for (unsigned i = 0; i < pending->part_count; i++) {
        const struct idxi_pending_array *array = atomic_load_explicit(&places[i]->array, memory_order_relaxed);
        if (array != NULL) __builtin_prefetch(array, 1);
    }
}

/* Links a removal with those of its fingerprint, whose first record this is. */
static void link_removal(const struct idxi_pending *pending, struct idxi_pending_record *first,
                         struct idxi_pending_record *record, uint32_t number) {
    record->previous_removal = atomic_load_explicit(&first->newest_removal, memory_order_relaxed);
    if (record->operation == IDXF_REMOVE_FINGERPRINT)
        record->whole = number + 1;
    else if (record->previous_removal != 0)
        record->whole = idxi_pending_record(pending, record->previous_removal - 1)->whole;
    atomic_store_explicit(&first->newest_removal, number + 1, memory_order_release);
}

/* Links a record with those of its fingerprint. */
static void link_fingerprint(struct idxi_pending *pending, struct idxi_pending_record *record, uint32_t number) {
    uint32_t link = idxi_pending_find_first(pending, record->fingerprint);
    record->first = link == 0 ? number : link - 1;
    struct idxi_pending_record *first = idxi_pending_record(pending, record->first);
    if (link != 0) {
        uint32_t newest = atomic_load_explicit(&first->newest, memory_order_relaxed);
        struct idxi_pending_record *last = idxi_pending_record(pending, newest - 1);
        record->previous = last->operation == IDXF_REMOVE_DOCUMENT ? last->previous : newest;
        atomic_store_explicit(&last->next, number + 1, memory_order_release);
    }
    if (record->operation != IDXF_ADD) link_removal(pending, first, record, number);
    atomic_store_explicit(&first->newest, number + 1, memory_order_release);
    if (link != 0) return;
    uint64_t value = idxi_pending_slot(idxi_pending_hash(record->fingerprint), number);
    idxi_pending_insert(atomic_load_explicit(&pending->fingerprints.table, memory_order_relaxed), value);
    pending->fingerprints.count++;
}

/* Notes with the documents that a record removes that it does. */
static void mark_removed(struct idxi_pending *pending, const struct idxi_pending_record *record, uint32_t number) {
    for (uint32_t link = record->previous_id; link != 0;) {
        struct idxi_pending_record *older = idxi_pending_record(pending, link - 1);
        link = older->previous_id;
        if (older->fingerprint != record->fingerprint) continue;
        if (older->operation != IDXF_ADD) return; /* those before it are marked */
        atomic_store_explicit(&older->removal, number + 1, memory_order_release);
    }
}

/* Links a record with those of its ID. */
static void link_id(struct idxi_pending *pending, struct idxi_pending_record *record, uint32_t number, uint64_t hash) {
    _Atomic uint64_t *slot = idxi_pending_find_id_slot(pending, record->id, record->id_size, hash);
    record->previous_id = (uint32_t)atomic_load_explicit(slot, memory_order_relaxed);
    pending->ids.count += record->previous_id == 0;
    if (record->operation == IDXF_REMOVE_DOCUMENT) mark_removed(pending, record, number);
    atomic_store_explicit(slot, idxi_pending_slot(hash, number), memory_order_release);
}

static void add_to_buckets(struct idxi_pending *pending, uint64_t fingerprint, uint32_t number) {
    for (unsigned i = 0; i < pending->part_count; i++) {
        struct idxi_pending_bucket *place = idxi_pending_bucket(&pending->parts[i], fingerprint);
        struct idxi_pending_array *array = atomic_load_explicit(&place->array, memory_order_relaxed);
        uint32_t count = atomic_load_explicit(&array->count, memory_order_relaxed);
        array->folded[count] = idxi_pending_fold(fingerprint);
        array->folded[array->capacity + count] = number + 1;
        atomic_store_explicit(&array->count, count + 1, memory_order_release);
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
    struct idxi_pending_record *ours = idxi_pending_record(pending, number);
    *ours = (struct idxi_pending_record){.fingerprint = record->fingerprint,
                                         .id = id,
                                         .id_size = (uint32_t)record->id_size,
                                         .operation = (uint8_t)record->operation};
    if (has_id(pending, record->operation)) link_id(pending, ours, number, id_hash);
    link_fingerprint(pending, ours, number);
    struct idxi_pending_record *first = idxi_pending_record(pending, ours->first);
    if (record->operation == IDXF_ADD && !first->found) {
        first->found = true;
        add_to_buckets(pending, record->fingerprint, ours->first);
    }
    atomic_store_explicit(&pending->count, count + 1, memory_order_release);
    return IDX_OK;
}
