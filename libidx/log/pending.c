/* pending.c: makes, frees and appends records. pending_records.h describes the structures: a link to a record is its
 * number plus 1, and 0 is no link. */
#include "libidx/log/pending.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/log/pending_buckets.h"
#include "libidx/log/pending_records.h"
#include "libidx/log/pending_table.h"

#define MIN_SPARE_RECORDS ((uint64_t)256) /* at least so many records can follow those that are expected, or copied */

#define MAX_TABLE_FACTOR 8 /* hash tables are made for at most so many times the capacity for records */

#define PREFETCH_AHEAD 16 /* new hash tables are prefetched so many records ahead of adding these */

/* A text ID follows four bytes, and this mask selects those bits of them that say how long it is. */
#define ID_SIZE_BYTES 4
#define ID_SIZE_MASK 0xffffff

/* ---- Making and freeing ---- */

/* Releases a hold of a store. The last holder frees it. NULL is fine. */
static void release_store(struct idxi_pending_store *store) {
    if (store == NULL || atomic_fetch_sub_explicit(&store->holders, 1, memory_order_acq_rel) != 1) return;
    for (size_t i = 0; store->chunks != NULL && i < IDXI_RECORD_CHUNKS && store->chunks[i] != NULL; i++)
        free(store->chunks[i]);
    for (size_t i = 0; store->links != NULL && i < IDXI_RECORD_CHUNKS && store->links[i] != NULL; i++)
        free(store->links[i]);
    free(store->chunks);
    free(store->links);
    for (size_t i = 0; i < store->map_count; i++) idxi_log_map_release(store->maps[i]);
    free(store->maps);
    idxi_arena_free(&store->id_bytes);
    free(store);
}

/* Returns an empty store, held once, or NULL when memory runs out. */
static struct idxi_pending_store *new_store(void) {
    struct idxi_pending_store *store = calloc(1, sizeof *store);
    if (store == NULL) return NULL;
    atomic_init(&store->holders, 1);
    store->chunks = calloc(IDXI_RECORD_CHUNKS, sizeof *store->chunks);
    store->links = calloc(IDXI_RECORD_CHUNKS, sizeof *store->links);
    if (store->chunks != NULL && store->links != NULL) return store;
    release_store(store);
    return NULL;
}

/* Returns the number of records to make hash tables for: pending->expected_total, but at least pending->capacity, and
 * at most MAX_TABLE_FACTOR times that. */
static uint64_t choose_table_capacity(const struct idxi_pending *pending) {
    uint64_t limit = MAX_TABLE_FACTOR * pending->capacity, expected = pending->expected_total;
    if (expected > limit) return limit;
    return expected > pending->capacity ? expected : pending->capacity;
}

/* Frees pending records that nobody holds any more. Members that make_pending could not make are NULL. */
static void free_pending(struct idxi_pending *pending) {
    idxi_pending_free_buckets(pending);
    idxi_pending_release_tables(pending->tables);
    release_store(pending->store);
    free(pending);
}

/* Returns a `struct idxi_pending` for up to `capacity` records behind sequence number `after`, held once, or NULL when
 * memory runs out. It shares the store of `old`, unless that is NULL, and its hash tables if these are large enough. */
static struct idxi_pending *make_pending(const struct idxf_record_rules *rules, unsigned k, uint64_t after,
                                         uint64_t capacity, uint64_t expected_total, const struct idxi_pending *old) {
    idxi_pending_scan *scans[IDXI_PENDING_SCANS];
    struct idxi_pending *pending = calloc(1, sizeof *pending);
    if (pending == NULL) return NULL;
    pending->rules = *rules;
    pending->k = k;
    pending->base = after;
    pending->lacks_runs = true;
    pending->capacity = capacity < UINT32_MAX ? capacity : UINT32_MAX; /* A link, a number plus 1, has 32 bits. */
    pending->expected_total = expected_total < UINT32_MAX ? expected_total : UINT32_MAX;
    pending->scan = scans[idxi_pending_list_scans(scans) - 1]; /* The fastest one is the last. */
    atomic_init(&pending->holders, 1);
    pending->store = old != NULL ? old->store : new_store();
    if (old != NULL) atomic_fetch_add_explicit(&old->store->holders, 1, memory_order_relaxed);
    if (old != NULL && old->tables->capacity >= pending->capacity) {
        pending->tables = old->tables;
        atomic_fetch_add_explicit(&old->tables->holders, 1, memory_order_relaxed);
    } else {
        pending->tables = idxi_pending_make_tables(choose_table_capacity(pending), rules->id_type != IDXF_ID_NONE);
    }
    if (pending->store != NULL && pending->tables != NULL) return pending;
    free_pending(pending);
    return NULL;
}

enum idx_status idxi_pending_new(struct idxi_pending **result, const struct idxf_record_rules *rules, unsigned k,
                                 uint64_t after, uint64_t expected, uint64_t expected_total, struct idx_error *error) {
    *result = make_pending(rules, k, after, expected + expected / 16 + MIN_SPARE_RECORDS, expected_total, NULL);
    return *result == NULL ? idxi_fail_memory(error) : IDX_OK;
}

enum idx_status idxi_pending_make_runs(struct idxi_pending *pending, struct idx_error *error) {
    for (bool is_complete = false; !is_complete;) IDXI_TRY(idxi_pending_make_next_run(pending, &is_complete, error));
    return IDX_OK;
}

void idxi_pending_hold(struct idxi_pending *pending) {
    if (pending != NULL) atomic_fetch_add_explicit(&pending->holders, 1, memory_order_relaxed);
}

void idxi_pending_release(struct idxi_pending *pending) {
    if (pending != NULL && atomic_fetch_sub_explicit(&pending->holders, 1, memory_order_acq_rel) == 1)
        free_pending(pending);
}

uint64_t idxi_pending_get_last_sequence(const struct idxi_pending *pending) {
    return pending->base + atomic_load_explicit(&pending->count, memory_order_acquire);
}

size_t idxi_pending_get_bytes(const struct idxi_pending *pending) {
    if (pending == NULL) return 0;
    return sizeof *pending + atomic_load_explicit(&pending->bytes, memory_order_relaxed) + pending->tables->bytes +
           sizeof *pending->store + atomic_load_explicit(&pending->store->bytes, memory_order_relaxed);
}

/* ---- Records ---- */

const uint8_t *idxi_pending_read_id(const struct idxi_pending *pending, uint32_t number, size_t *id_size) {
    const struct idxi_pending_links *links = idxi_pending_get_links(pending, number);
    *id_size = 0;
    if (pending->rules.id_type == IDXF_ID_NONE || (links != NULL && links->operation == IDXF_REMOVE_FINGERPRINT))
        return NULL;
    uint64_t *id = &pending->store->chunks[number / IDXI_RECORDS_OF_CHUNK]->ids[number % IDXI_RECORDS_OF_CHUNK];
    *id_size = sizeof *id;
    /* An integer ID is stored itself. Of a text with sets, which starts with its ID, the address is stored. */
    if (pending->rules.id_type == IDXF_ID_U64 && pending->rules.sketch == 0) return (const uint8_t *)id;
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)*id;
    if (pending->rules.id_type == IDXF_ID_U64) return bytes;
    *id_size = idxf_load32(bytes) & ID_SIZE_MASK;
    return bytes + ID_SIZE_BYTES;
}

bool idxi_pending_has_id(const struct idxi_pending *pending, uint32_t number, const void *id, size_t id_size) {
    size_t size;
    const uint8_t *record_id = idxi_pending_read_id(pending, number, &size);
    return record_id != NULL && size == id_size && (size == 0 || memcmp(record_id, id, size) == 0);
}

/* Returns whether a record of this operation has an ID. */
static bool operation_has_id(const struct idxi_pending *pending, enum idxf_operation operation) {
    return pending->rules.id_type != IDXF_ID_NONE && operation != IDXF_REMOVE_FINGERPRINT;
}

struct idxi_log_map *idxi_pending_find_map_of_id(const struct idxi_pending *pending, const struct idxf_record *record) {
    const struct idxi_pending_store *store = pending->store;
    uintptr_t id = (uintptr_t)record->id;
    for (size_t i = store->map_count; i-- > 0;) {
        uintptr_t begin = (uintptr_t)store->maps[i]->bytes;
        /* An empty ID may be at the end of a map, but none at its begin: the ID's length comes before it. */
        if (id > begin && id - begin <= store->maps[i]->size) return store->maps[i];
    }
    return NULL;
}

/* Makes the store hold a map, unless it does already. The search begins with the newest map, which is mostly the one.
 * Returns false when memory runs out. */
static bool hold_map(struct idxi_pending_store *store, struct idxi_log_map *map) {
    for (size_t i = store->map_count; i-- > 0;)
        if (store->maps[i] == map) return true;
    struct idxi_log_map **maps = realloc(store->maps, (store->map_count + 1) * sizeof(struct idxi_log_map *));
    if (maps == NULL) return false;
    atomic_fetch_add_explicit(&map->holders, 1, memory_order_relaxed);
    store->maps = maps;
    store->maps[store->map_count++] = map;
    return true;
}

/* Returns `size` bytes, unaligned, that live as long as the store, and counts them in store->bytes. Returns NULL when
 * memory runs out. */
static uint8_t *allocate_id_bytes(struct idxi_pending_store *store, size_t size) {
    uint8_t *bytes = idxi_arena_allocate(&store->id_bytes, size, 1);
    if (bytes != NULL) atomic_fetch_add_explicit(&store->bytes, size, memory_order_relaxed);
    return bytes;
}

/* Returns a copy, owned by the store, of a record's ID. Its length is in the four bytes before it. NULL when memory
 * runs out. */
static const uint8_t *copy_id(struct idxi_pending_store *store, const struct idxf_record *record) {
    uint8_t *copy = allocate_id_bytes(store, ID_SIZE_BYTES + record->id_size);
    if (copy == NULL) return NULL;
    idxf_store32(copy, (uint32_t)record->id_size);
    if (record->id_size > 0) memcpy(copy + ID_SIZE_BYTES, record->id, record->id_size);
    return copy + ID_SIZE_BYTES;
}

/* Stores a record's fingerprint and ID under a number that no view has yet. Copies text IDs, and all IDs of texts with
 * sets, unless they stay valid: an ID in `map` (NULL: there is none), which the store then holds, and an ID in the copy
 * of a text that idxi_pending_append_text made. Returns false when memory runs out. */
static bool store_record(struct idxi_pending *pending, const struct idxf_record *record, struct idxi_log_map *map,
                         uint32_t number) {
    struct idxi_pending_store *store = pending->store;
    struct idxi_pending_chunk **chunk = &store->chunks[number / IDXI_RECORDS_OF_CHUNK];
    uint32_t place_in_chunk = number % IDXI_RECORDS_OF_CHUNK;
    bool has_ids = pending->rules.id_type != IDXF_ID_NONE;
    if (*chunk == NULL) {
        size_t bytes = sizeof **chunk + (has_ids ? IDXI_RECORDS_OF_CHUNK * sizeof *(*chunk)->ids : 0);
        *chunk = calloc(1, bytes);
        if (*chunk == NULL) return false;
        atomic_fetch_add_explicit(&store->bytes, bytes, memory_order_relaxed);
    }
    (*chunk)->fingerprints[place_in_chunk] = record->fingerprint;
    if (!operation_has_id(pending, record->operation)) return true;
    if (pending->rules.id_type == IDXF_ID_U64 && pending->rules.sketch == 0) {
        memcpy(&(*chunk)->ids[place_in_chunk], record->id, sizeof(uint64_t));
        return true;
    }
    if (map != NULL && !hold_map(store, map)) return false;
    bool stays_valid = map != NULL || (pending->rules.sketch > 0 && record->operation == IDXF_ADD);
    const uint8_t *id = stays_valid ? record->id : copy_id(store, record);
    if (id == NULL) return false;
    (*chunk)->ids[place_in_chunk] = (uintptr_t)(pending->rules.id_type == IDXF_ID_TEXT ? id - ID_SIZE_BYTES : id);
    return true;
}

/* Allocates links for two more records, the most that one append needs: the new record's, and those of the first one of
 * its fingerprint. Returns false when memory runs out. */
static bool reserve_links(struct idxi_pending_store *store) {
    for (uint32_t i = 0; i < 2; i++) {
        struct idxi_pending_links **chunk = &store->links[(store->link_count + i) / IDXI_RECORDS_OF_CHUNK];
        if (*chunk != NULL) continue;
        *chunk = calloc(IDXI_RECORDS_OF_CHUNK, sizeof **chunk);
        if (*chunk == NULL) return false;
        atomic_fetch_add_explicit(&store->bytes, IDXI_RECORDS_OF_CHUNK * sizeof **chunk, memory_order_relaxed);
    }
    return true;
}

/* Returns the links of record `number`, which has this operation. If it has none yet, it gets those of a record that is
 * the only one of its fingerprint and of its ID. reserve_links must have succeeded. */
static struct idxi_pending_links *ensure_links(struct idxi_pending *pending, uint32_t number,
                                               enum idxf_operation operation) {
    struct idxi_pending_links *links = idxi_pending_get_links(pending, number);
    if (links != NULL) return links;
    struct idxi_pending_store *store = pending->store;
    uint32_t links_number = store->link_count++;
    links = &store->links[links_number / IDXI_RECORDS_OF_CHUNK][links_number % IDXI_RECORDS_OF_CHUNK];
    links->first = number;
    atomic_init(&links->newest, number + 1);
    links->operation = (uint8_t)operation;
    links->in_buckets = operation == IDXF_ADD;
    struct idxi_pending_chunk *chunk = store->chunks[number / IDXI_RECORDS_OF_CHUNK];
    atomic_store_explicit(&chunk->links[number % IDXI_RECORDS_OF_CHUNK], links_number + 1, memory_order_release);
    return links;
}

/* ---- Appending: whatever may fail comes first, so that nothing has to be undone ---- */

/* Returns the hash of a record's ID, which may be NULL if it has no bytes. */
static uint64_t hash_record_id(const struct idxf_record *record) {
    return idxi_pending_hash_id(record->id_size == 0 ? (const uint8_t *)"" : record->id, record->id_size);
}

void idxi_pending_prefetch_append(const struct idxi_pending *pending, const struct idxf_record *record) {
    idxi_pending_prefetch_slot(&pending->tables->fingerprints, idxi_pending_hash_u64(record->fingerprint));
    if (operation_has_id(pending, record->operation))
        idxi_pending_prefetch_slot(&pending->tables->ids, hash_record_id(record));
    idxi_pending_prefetch_buckets(pending, record->fingerprint);
}

/* Links a removal, record `number`, to the older removals of its fingerprint. `own` are the links of the removal, and
 * `head` those of the fingerprint's first record, which may be the same. */
static void link_to_older_removals(const struct idxi_pending *pending, struct idxi_pending_links *head,
                                   struct idxi_pending_links *own, uint32_t number) {
    own->previous_removal = atomic_load_explicit(&head->newest_removal, memory_order_relaxed);
    if (own->operation == IDXF_REMOVE_FINGERPRINT)
        own->newest_whole_removal = number + 1;
    else if (own->previous_removal != 0)
        own->newest_whole_removal = idxi_pending_get_links(pending, own->previous_removal - 1)->newest_whole_removal;
    atomic_store_explicit(&head->newest_removal, number + 1, memory_order_release);
}

/* Links record `number` to the older records of its fingerprint, as the newest of them. `own` are the links of the
 * record, and `head` those of the fingerprint's first record, which may be the same. */
static void link_to_same_fingerprint(struct idxi_pending *pending, struct idxi_pending_links *head,
                                     struct idxi_pending_links *own, uint32_t number) {
    if (own != head) {
        uint32_t newest = atomic_load_explicit(&head->newest, memory_order_relaxed);
        struct idxi_pending_links *newest_links = idxi_pending_get_links(pending, newest - 1);
        own->first = head->first;
        own->previous = newest_links->operation == IDXF_REMOVE_DOCUMENT ? newest_links->previous : newest;
        atomic_store_explicit(&newest_links->next, number + 1, memory_order_release);
    }
    if (own->operation != IDXF_ADD) link_to_older_removals(pending, head, own, number);
    atomic_store_explicit(&head->newest, number + 1, memory_order_release);
}

/* Sets the `removal` of the older documents that a removal of one document, record `number`, concerns: those with its
 * fingerprint and its ID. `links` are those of the removal. Follows the records of the ID from the newest to the
 * oldest; a record without links has no older one. */
static void mark_documents_removed(struct idxi_pending *pending, const struct idxi_pending_links *links,
                                   uint32_t number) {
    uint64_t fingerprint = idxi_pending_get_fingerprint(pending, number);
    for (uint32_t link = links->previous_id; link != 0;) {
        struct idxi_pending_links *older_links = idxi_pending_get_links(pending, link - 1);
        bool has_same_fingerprint = idxi_pending_get_fingerprint(pending, link - 1) == fingerprint;
        link = older_links == NULL ? 0 : older_links->previous_id;
        if (!has_same_fingerprint) continue;
        /* `older_links` is not NULL, since the record shares its fingerprint. An older removal has marked all before
         * it. */
        if (older_links->operation != IDXF_ADD) return;
        atomic_store_explicit(&older_links->removal, number + 1, memory_order_release);
    }
}

/* Adds record `number` of the store to the hash tables, which have all records before it and none after. The table of
 * fingerprints leads to the first record of a fingerprint, the table of IDs to the newest record of an ID. */
static void add_to_tables(struct idxi_pending *pending, uint32_t number) {
    const struct idxi_pending_links *links = idxi_pending_get_links(pending, number);
    uint64_t fingerprint = idxi_pending_get_fingerprint(pending, number);
    size_t id_size;
    const uint8_t *id = idxi_pending_read_id(pending, number, &id_size);
    if (links == NULL || links->first == number)
        idxi_pending_add_to_table(&pending->tables->fingerprints, idxi_pending_hash_u64(fingerprint), number);
    if (id == NULL) return;
    uint64_t hash = idxi_pending_hash_id(id, id_size);
    if (links == NULL || links->previous_id == 0)
        idxi_pending_add_to_table(&pending->tables->ids, hash, number);
    else
        idxi_pending_set_id_slot(pending, idxi_pending_find_id_slot(pending, id, id_size, hash), hash, number);
}

/* Prefetches the slots of the hash tables that add_to_tables will read and write for record `number`. */
static void prefetch_table_slots(const struct idxi_pending *pending, uint32_t number) {
    size_t id_size;
    const uint8_t *id = idxi_pending_read_id(pending, number, &id_size);
    idxi_pending_prefetch_slot(&pending->tables->fingerprints,
                               idxi_pending_hash_u64(idxi_pending_get_fingerprint(pending, number)));
    if (id != NULL) idxi_pending_prefetch_slot(&pending->tables->ids, idxi_pending_hash_id(id, id_size));
}

/* Replaces *pending, which is full, by one with the same records and a larger capacity. The caller's hold passes to the
 * new one. *pending is unchanged after an error. Errors: IDX_OUT_OF_MEMORY. */
static enum idx_status replace_full_pending(struct idxi_pending **pending, struct idx_error *error) {
    struct idxi_pending *old = *pending;
    uint64_t count = atomic_load_explicit(&old->count, memory_order_relaxed);
    uint64_t capacity = count + (count < MIN_SPARE_RECORDS ? MIN_SPARE_RECORDS : count);
    struct idxi_pending *larger = make_pending(&old->rules, old->k, old->base, capacity, old->expected_total, old);
    if (larger == NULL) return idxi_fail_memory(error);
    atomic_init(&larger->count, count);
    for (uint32_t i = 0; i < count && larger->tables != old->tables; i++) {
        if (count - i > PREFETCH_AHEAD) prefetch_table_slots(larger, i + PREFETCH_AHEAD);
        add_to_tables(larger, i);
    }
    enum idx_status status = old->lacks_runs ? IDX_OK : idxi_pending_make_runs(larger, error);
    idxi_pending_release(status == IDX_OK ? old : larger);
    if (status == IDX_OK) *pending = larger;
    return status;
}

enum idx_status idxi_pending_append_record(struct idxi_pending **current, const struct idxf_record *record,
                                           struct idxi_log_map *map, struct idx_error *error) {
    uint64_t count = atomic_load_explicit(&(*current)->count, memory_order_relaxed);
    if (count == UINT32_MAX)
        return idxi_fail(error, IDX_LIMIT, NULL, "%llu documents are pending: compact the index",
                         (unsigned long long)count);
    if (count == (*current)->capacity) IDXI_TRY(replace_full_pending(current, error));
    struct idxi_pending *pending = *current;
    uint32_t number = (uint32_t)count;
    if (!store_record(pending, record, map, number) || !reserve_links(pending->store)) return idxi_fail_memory(error);
    bool has_id = operation_has_id(pending, record->operation);
    uint32_t first_link = idxi_pending_find_first_link(pending, record->fingerprint), previous_id = 0;
    uint64_t id_hash = has_id ? hash_record_id(record) : 0;
    _Atomic uint32_t *id_slot = NULL;
    if (has_id) {
        id_slot = idxi_pending_find_id_slot(pending, record->id, record->id_size, id_hash);
        previous_id = atomic_load_explicit(id_slot, memory_order_relaxed) & pending->tables->ids.link_mask;
    }
    struct idxi_pending_links *links = NULL, *head_links = NULL;
    /* A record gets links if it removes something, or shares its fingerprint or its ID with an older one. */
    bool is_alone = first_link == 0 && previous_id == 0 && record->operation == IDXF_ADD;
    if (first_link != 0) head_links = idxi_pending_get_links(pending, first_link - 1);
    /* A fingerprint enters the buckets with its first addition, before which there may be removals of it. */
    bool enters_buckets =
        record->operation == IDXF_ADD && (first_link == 0 || (head_links != NULL && !head_links->in_buckets));
    if (enters_buckets && !pending->lacks_runs && !idxi_pending_reserve_bucket_entries(pending, record->fingerprint))
        return idxi_fail_memory(error);
    if (!is_alone) {
        links = ensure_links(pending, number, record->operation);
        head_links = first_link == 0 ? links : ensure_links(pending, first_link - 1, IDXF_ADD);
        links->previous_id = previous_id;
        if (record->operation == IDXF_REMOVE_DOCUMENT) mark_documents_removed(pending, links, number);
        link_to_same_fingerprint(pending, head_links, links, number);
        if (enters_buckets) head_links->in_buckets = true;
    }
    if (has_id) idxi_pending_set_id_slot(pending, id_slot, id_hash, number);
    if (first_link == 0)
        idxi_pending_add_to_table(&pending->tables->fingerprints, idxi_pending_hash_u64(record->fingerprint), number);
    if (enters_buckets && !pending->lacks_runs)
        idxi_pending_add_to_buckets(pending, record->fingerprint, first_link == 0 ? number : first_link - 1);
    atomic_store_explicit(&pending->count, count + 1, memory_order_release);
    return IDX_OK;
}

enum idx_status idxi_pending_append_text(struct idxi_pending **pending, const struct idxf_record *record,
                                         struct idxi_log_map *map, struct idx_error *error) {
    const struct idxf_record_rules *rules = &(*pending)->rules;
    struct idxf_record addition = {.operation = IDXF_ADD, .id = record->id, .id_size = record->id_size};
    size_t value_count = (size_t)idxf_count_sequence_numbers(rules, record);
    if (map == NULL) {
        size_t size = idxf_get_record_size(rules, record);
        uint8_t *copy = allocate_id_bytes((*pending)->store, size);
        if (copy == NULL) return idxi_fail_memory(error);
        /* The copy ends with the ID and the members. `fingerprint` is how many members there are, of 8 bytes each. */
        addition.id = idxf_record_write(rules, record, copy) - (size_t)record->fingerprint * 8 - record->id_size;
    }
    for (size_t i = 0; i < value_count; i++) {
        addition.fingerprint = idxf_load64(record->members + 8 * i);
        IDXI_TRY(idxi_pending_append_record(pending, &addition, map, error));
    }
    return IDX_OK;
}
