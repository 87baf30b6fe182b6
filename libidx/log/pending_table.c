/* pending_table.c: the hash tables that find the records of a fingerprint or of an ID. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libidx/log/pending_records.h"

static size_t table_bytes(unsigned bits) {
    return sizeof(struct idxi_pending_table) + ((size_t)1 << bits) * sizeof(uint64_t);
}

#define HUGE_PAGE ((size_t)2 << 20)

/* Zeros. In small pages, most of what searching a large table takes is finding its pages. */
static void *allocate(size_t bytes) {
    if (bytes < HUGE_PAGE) return calloc(1, bytes);
    size_t size = (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    void *memory = aligned_alloc(HUGE_PAGE, size);
    if (memory == NULL) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(memory, size, MADV_HUGEPAGE);
#endif
    return memset(memory, 0, bytes);
}

struct idxi_pending_table *idxi_pending_new_table(struct idxi_pending *pending, unsigned bits,
                                                  struct idxi_pending_table *older) {
    struct idxi_pending_table *table = allocate(table_bytes(bits));
    if (table == NULL) return NULL;
    table->older = older;
    table->bits = bits;
    atomic_fetch_add_explicit(&pending->bytes, table_bytes(bits), memory_order_relaxed);
    return table;
}

void idxi_pending_free_tables(struct idxi_pending_table *table) {
    while (table != NULL) {
        struct idxi_pending_table *older = table->older;
        free(table);
        table = older;
    }
}

static size_t place_behind(const struct idxi_pending_table *table, size_t place) {
    return (place + 1) & (((size_t)1 << table->bits) - 1);
}

void idxi_pending_insert(struct idxi_pending_table *table, uint64_t value) {
    size_t place = idxi_pending_place(table, value);
    while (atomic_load_explicit(&table->slots[place], memory_order_relaxed) != 0) place = place_behind(table, place);
    atomic_store_explicit(&table->slots[place], value, memory_order_release);
}

bool idxi_pending_reserve_key(struct idxi_pending *pending, struct idxi_pending_keys *keys) {
    struct idxi_pending_table *old = atomic_load_explicit(&keys->table, memory_order_relaxed);
    if (2 * (keys->count + 1) <= (size_t)1 << old->bits) return true;
    if (old->bits == 32) return false;
    struct idxi_pending_table *table = idxi_pending_new_table(pending, old->bits + 1, old);
    if (table == NULL) return false;
    for (size_t i = 0; i < (size_t)1 << old->bits; i++) {
        uint64_t value = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
        if (value != 0) idxi_pending_insert(table, value);
    }
    atomic_store_explicit(&keys->table, table, memory_order_release);
    return true;
}

uint32_t idxi_pending_find_first(const struct idxi_pending *pending, uint64_t fingerprint) {
    const struct idxi_pending_table *table = atomic_load_explicit(&pending->fingerprints.table, memory_order_acquire);
    uint64_t hash = idxi_pending_hash(fingerprint);
    for (size_t place = idxi_pending_place(table, hash);; place = place_behind(table, place)) {
        uint64_t value = atomic_load_explicit(&table->slots[place], memory_order_acquire);
        if (value == 0) return 0;
        if (value >> 32 != hash >> 32) continue;
        if (idxi_pending_record(pending, (uint32_t)value - 1)->fingerprint == fingerprint) return (uint32_t)value;
    }
}

_Atomic uint64_t *idxi_pending_find_id_slot(const struct idxi_pending *pending, const void *id, size_t id_size,
                                            uint64_t hash) {
    struct idxi_pending_table *table = atomic_load_explicit(&pending->ids.table, memory_order_acquire);
    for (size_t place = idxi_pending_place(table, hash);; place = place_behind(table, place)) {
        uint64_t value = atomic_load_explicit(&table->slots[place], memory_order_acquire);
        if (value == 0) return &table->slots[place];
        if (value >> 32 != hash >> 32) continue;
        const struct idxi_pending_record *record = idxi_pending_record(pending, (uint32_t)value - 1);
        if (record->id_size == id_size && (id_size == 0 || memcmp(record->id, id, id_size) == 0))
            return &table->slots[place];
    }
}

uint32_t idxi_pending_find_id(const struct idxi_pending *pending, const void *id, size_t id_size) {
    return (uint32_t)atomic_load_explicit(
        idxi_pending_find_id_slot(pending, id, id_size, idxi_pending_hash_id(id, id_size)), memory_order_acquire);
}
