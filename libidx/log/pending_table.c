/* pending_table.c: the hash tables that find the records of a fingerprint or of an ID. A link to a record is its number
 * plus 1; 0 is no link. */
#include <stdlib.h>
#include <sys/mman.h>

#include "libidx/log/pending_records.h"
#include "libidx/log/pending_table.h"

#define HUGE_PAGE ((size_t)2 << 20)

/* From so many bytes on, memory gets huge pages: else a search would mostly wait for the translation of addresses. */
#define HUGE_FROM_BYTES (2 * HUGE_PAGE)

void *idxi_pending_allocate_zeroed(size_t bytes) {
    if (bytes < HUGE_FROM_BYTES) return calloc(1, bytes);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

void idxi_pending_free_memory(void *memory, size_t bytes) {
    if (bytes < HUGE_FROM_BYTES)
        free(memory);
    else if (memory != NULL)
        munmap(memory, bytes);
}

/* Makes an empty table for tables->capacity keys, with open addressing and linear probing. When it is full, an eighth
 * of its slots is empty. The link mask has as many bits as the largest link. Returns false when memory runs out. */
static bool make_table(struct idxi_pending_tables *tables, struct idxi_pending_table *table) {
    size_t slots = (size_t)tables->capacity + (size_t)tables->capacity / 7 + 1, bytes = slots * sizeof *table->slots;
    unsigned link_bits = 1;
    while (tables->capacity >> link_bits != 0) link_bits++;
    *table = (struct idxi_pending_table){.link_mask = (uint32_t)idxf_low_bits(link_bits), .slot_count = slots};
    table->slots = idxi_pending_allocate_zeroed(bytes);
    tables->bytes += bytes;
    return table->slots != NULL;
}

struct idxi_pending_tables *idxi_pending_make_tables(uint64_t capacity, bool has_ids) {
    struct idxi_pending_tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL) return NULL;
    atomic_init(&tables->holders, 1);
    tables->capacity = capacity;
    if (make_table(tables, &tables->fingerprints) && (!has_ids || make_table(tables, &tables->ids))) return tables;
    idxi_pending_release_tables(tables);
    return NULL;
}

/* Frees the slots of a table, if it has any. */
static void free_table(struct idxi_pending_table *table) {
    idxi_pending_free_memory(table->slots, table->slot_count * sizeof *table->slots);
}

void idxi_pending_release_tables(struct idxi_pending_tables *tables) {
    if (tables == NULL || atomic_fetch_sub_explicit(&tables->holders, 1, memory_order_acq_rel) != 1) return;
    free_table(&tables->fingerprints);
    free_table(&tables->ids);
    free(tables);
}

/* Returns the number of the slot where the search for a hash begins. The upper half of the hash chooses it, as slots
 * hold bits of the lower half. */
static size_t choose_first_slot(const struct idxi_pending_table *table, uint64_t hash) {
    return (size_t)((hash >> 32) * table->slot_count >> 32);
}

/* Returns the number of the slot that the search looks at after `place`; the first one follows the last one. */
static size_t get_next_slot(const struct idxi_pending_table *table, size_t place) {
    return place + 1 == table->slot_count ? 0 : place + 1;
}

/* Returns the value of a slot for record `number`: the link to it, and above that bits of the hash of its key. */
static uint32_t make_slot_value(const struct idxi_pending_table *table, uint64_t hash, uint32_t number) {
    return ((uint32_t)hash & ~table->link_mask) | (number + 1);
}

void idxi_pending_prefetch_slot(const struct idxi_pending_table *table, uint64_t hash) {
    __builtin_prefetch(&table->slots[choose_first_slot(table, hash)], 1);
}

void idxi_pending_add_to_table(struct idxi_pending_table *table, uint64_t hash, uint32_t number) {
    size_t place = choose_first_slot(table, hash);
    while (atomic_load_explicit(&table->slots[place], memory_order_relaxed) != 0) place = get_next_slot(table, place);
    atomic_store_explicit(&table->slots[place], make_slot_value(table, hash, number), memory_order_release);
}

/* Returns the link in the value of a slot if the stored bits of its key's hash agree with `hash`, and 0 otherwise. */
static uint32_t extract_link(const struct idxi_pending_table *table, uint32_t value, uint64_t hash) {
    return ((value ^ (uint32_t)hash) & ~table->link_mask) == 0 ? value & table->link_mask : 0;
}

uint32_t idxi_pending_find_first_link(const struct idxi_pending *pending, uint64_t fingerprint) {
    if (pending == NULL) return 0;
    const struct idxi_pending_table *table = &pending->tables->fingerprints;
    uint64_t hash = idxi_pending_hash_u64(fingerprint);
    for (size_t place = choose_first_slot(table, hash);; place = get_next_slot(table, place)) {
        uint32_t value = atomic_load_explicit(&table->slots[place], memory_order_acquire);
        if (value == 0) return 0;
        uint32_t link = extract_link(table, value, hash);
        if (link != 0 && idxi_pending_get_fingerprint(pending, link - 1) == fingerprint) return link;
    }
}

_Atomic uint32_t *idxi_pending_find_id_slot(const struct idxi_pending *pending, const void *id, size_t id_size,
                                            uint64_t hash) {
    const struct idxi_pending_table *table = &pending->tables->ids;
    for (size_t place = choose_first_slot(table, hash);; place = get_next_slot(table, place)) {
        uint32_t value = atomic_load_explicit(&table->slots[place], memory_order_acquire);
        if (value == 0) return &table->slots[place];
        uint32_t link = extract_link(table, value, hash);
        if (link != 0 && idxi_pending_has_id(pending, link - 1, id, id_size)) return &table->slots[place];
    }
}

void idxi_pending_set_id_slot(struct idxi_pending *pending, _Atomic uint32_t *slot, uint64_t hash, uint32_t number) {
    atomic_store_explicit(slot, make_slot_value(&pending->tables->ids, hash, number), memory_order_release);
}

uint32_t idxi_pending_find_newest_link(const struct idxi_pending *pending, const void *id, size_t id_size) {
    if (pending == NULL || pending->rules.id_type == IDXF_ID_NONE) return 0;
    const _Atomic uint32_t *slot = idxi_pending_find_id_slot(pending, id, id_size, idxi_pending_hash_id(id, id_size));
    return atomic_load_explicit(slot, memory_order_acquire) & pending->tables->ids.link_mask;
}
