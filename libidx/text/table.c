/* table.c: a document-frequency table in memory.
 *
 * Its size is bounded. When there are too many terms, it drops those with the fewest documents, at least a quarter of
 * all (lossy counting, Manku and Motwani 2002). A count sketch of the same size would blur the frequencies of all
 * terms, and those of common terms matter most. A dropped rare term is wrong only by the few documents that it had. */
#include "libidx/text/table.h"

#include "libidx/text/weight.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024 };

struct idx_text_table *idxt_table_new(void) {
    struct idx_text_table *table = calloc(1, sizeof *table);
    if (table == NULL) return NULL;
    table->slots = calloc(FIRST_SLOTS, sizeof *table->slots);
    if (table->slots == NULL) {
        free(table);
        return NULL;
    }
    table->slot_mask = FIRST_SLOTS - 1;
    table->most_terms = IDXT_MAX_TERMS;
    return table;
}

/* The term's slot, or the empty one where it belongs. */
static struct idxt_term *find(const struct idx_text_table *table, uint64_t hash) {
    size_t slot = hash & table->slot_mask;
    while (table->slots[slot].documents != 0 && table->slots[slot].hash != hash) slot = (slot + 1) & table->slot_mask;
    return &table->slots[slot];
}

/* Enters the terms of more than `least` documents anew, in `count` slots. */
static bool rebuild(struct idx_text_table *table, size_t count, uint32_t least) {
    struct idxt_term *old = table->slots, *slots = calloc(count, sizeof *slots);
    size_t old_count = table->slot_mask + 1;
    if (slots == NULL) return false;
    table->slots = slots;
    table->slot_mask = count - 1;
    table->terms = 0;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].documents <= least) continue;
        *find(table, old[i].hash) = old[i];
        table->terms++;
    }
    free(old);
    return true;
}

static int compare_documents(const void *a, const void *b) {
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return (first > second) - (first < second);
}

/* The documents that a quarter of all terms don't exceed. False: out of memory. */
static bool find_quarter(const struct idx_text_table *table, uint32_t *quarter) {
    uint32_t *documents = malloc((table->terms + 1) * sizeof *documents);
    if (documents == NULL) return false;
    size_t count = 0;
    for (size_t i = 0; i <= table->slot_mask; i++) {
        if (table->slots[i].documents != 0) documents[count++] = table->slots[i].documents;
    }
    qsort(documents, count, sizeof *documents, compare_documents);
    *quarter = documents[count / 4];
    free(documents);
    return true;
}

static bool drop(struct idx_text_table *table) {
    uint32_t quarter;
    if (!find_quarter(table, &quarter) || !rebuild(table, table->slot_mask + 1, quarter)) return false;
    table->dropped += quarter;
    return true;
}

static bool make_room(struct idx_text_table *table) {
    if (table->terms >= table->most_terms && !drop(table)) return false;
    return table->terms * 2 <= table->slot_mask || rebuild(table, (table->slot_mask + 1) * 2, 0);
}

/* The term, which is new if its documents are 0. NULL: out of memory. */
static struct idxt_term *enter(struct idx_text_table *table, uint64_t hash) {
    struct idxt_term *term = find(table, hash);
    table->hashed = false;
    if (term->documents != 0) return term;
    if (!make_room(table)) return NULL;
    term = find(table, hash);
    term->hash = hash;
    table->terms++;
    return term;
}

bool idxt_table_add(struct idx_text_table *table, uint64_t hash, uint32_t documents) {
    struct idxt_term *term = enter(table, hash);
    if (term != NULL) term->documents += documents;
    return term != NULL;
}

bool idxt_table_put(struct idx_text_table *table, uint64_t hash, uint32_t documents) {
    struct idxt_term *term = enter(table, hash);
    if (term == NULL) return false;
    bool is_more_frequent = (table->kind == IDXT_IDF_LIST) == (documents < term->documents);
    if (term->documents == 0 || is_more_frequent) term->documents = documents;
    return true;
}

int64_t idxt_table_idf(const struct idx_text_table *table, uint64_t hash) {
    uint64_t documents = find(table, hash)->documents;
    if (table->kind != IDXT_IDF_LIST) return idxt_weight(table->documents + 1) - idxt_weight(documents + 1);
    return documents == 0 ? table->unknown_idf : (int64_t)documents - 1;
}

static int compare_hashes(const void *a, const void *b) {
    uint64_t first = ((const struct idxt_term *)a)->hash, second = ((const struct idxt_term *)b)->hash;
    return (first > second) - (first < second);
}

struct idxt_term *idxt_table_sorted(const struct idx_text_table *table) {
    struct idxt_term *sorted = malloc((table->terms + 1) * sizeof *sorted);
    if (sorted == NULL) return NULL;
    size_t count = 0;
    for (size_t i = 0; i <= table->slot_mask; i++) {
        if (table->slots[i].documents != 0) sorted[count++] = table->slots[i];
    }
    qsort(sorted, count, sizeof *sorted, compare_hashes);
    return sorted;
}
