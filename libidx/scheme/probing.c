/* probing.c: chooses the tables to probe for a distance below the index's k: those that a proof of covering needs. */
#include "libidx/scheme/scheme.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* All proofs for an index that is opened look at tables at most so often together, which takes a few milliseconds. Each
 * step looks at all tables. A table that is not proved needless by then is probed. */
#define MAX_LOOKS 1000000

/* Tables that cover a distance. Needless ones are removed. */
struct table_choice {
    unsigned bits, distance;
    size_t count;
    struct idxi_probed_table *tables;
    struct idx_scheme *trial; /* scratch: a scheme of these tables, to be proved to cover the distance */
    uint64_t *steps;          /* how many are left for proofs, of all distances together */
};

/* Returns whether the tables are proved to cover the distance. Takes steps from choice->steps; false can also mean that
 * they did not suffice. */
static bool is_distance_covered(const struct table_choice *choice) {
    choice->trial->bits = choice->bits;
    choice->trial->table_count = choice->count;
    for (size_t i = 0; i < choice->count; i++)
        choice->trial->tables[i] = (struct idx_table){choice->tables[i].mask, choice->tables[i].radius};
    return idxi_scheme_covers_within(choice->trial, choice->distance, choice->steps);
}

/* Lowers the radius of a table of the choice as far as the tables are proved to cover the distance, or not at all.
 * Takes steps from choice->steps. */
static void lower_radius(struct table_choice *choice, struct idxi_probed_table *table) {
    unsigned radius = table->radius;
    for (table->radius = 0; table->radius < radius; table->radius++) {
        if (is_distance_covered(choice)) return;
    }
}

/* Removes choice->tables[place] if the others are proved to cover the distance without it. Takes steps from
 * choice->steps. */
static void remove_if_needless(struct table_choice *choice, size_t place) {
    struct idxi_probed_table *slot = &choice->tables[place], table = *slot;
    size_t tables_behind = choice->count - place - 1;
    memmove(slot, slot + 1, tables_behind * sizeof *slot);
    choice->count--;
    if (is_distance_covered(choice)) return;
    memmove(slot + 1, slot, tables_behind * sizeof *slot);
    *slot = table;
    choice->count++;
}

/* Returns how much the mask of a table has in common with those of `count` earlier tables: for each bit of it that n of
 * them also have, 2n² + n. So one bit shared with many tables weighs more than many bits shared with one. */
static unsigned long compute_overlap(const struct idxi_probed_table *table, const struct idxi_probed_table *earlier,
                                     size_t count) {
    unsigned long overlap = 0;
    for (uint64_t bits_left = table->mask; bits_left != 0; bits_left &= bits_left - 1) {
        unsigned long shared = 0;
        for (size_t i = 0; i < count; i++) shared += earlier[i].mask >> __builtin_ctzll(bits_left) & 1;
        overlap += shared * shared * 2 + shared;
    }
    return overlap;
}

/* Orders the tables so that the next one is always that with the least overlap with those before it. Tables at the end
 * are the most likely to be needless. */
static void order_by_overlap(struct table_choice *choice) {
    for (size_t i = 0; i < choice->count; i++) {
        size_t best = i;
        unsigned long least_overlap = ULONG_MAX;
        for (size_t j = i; j < choice->count; j++) {
            unsigned long overlap = compute_overlap(&choice->tables[j], choice->tables, i);
            if (overlap >= least_overlap) continue;
            least_overlap = overlap;
            best = j;
        }
        struct idxi_probed_table table = choice->tables[best];
        memmove(&choice->tables[i + 1], &choice->tables[i], (best - i) * sizeof table);
        choice->tables[i] = table;
    }
}

/* Compares two tables by their numbers in the scheme, for qsort. */
static int compare_table_numbers(const void *a, const void *b) {
    const struct idxi_probed_table *x = a, *y = b;
    return (x->table > y->table) - (x->table < y->table);
}

/* Lowers the radii of the tables as far as the distance stays covered, and then removes tables: in this order, since
 * a larger radius costs more probes than a further table. Any table alone finds the query's own fingerprint, so one is
 * enough for distance 0. */
static void reduce_tables(struct table_choice *choice) {
    if (choice->distance == 0) choice->count = 1;
    for (size_t i = 0; i < choice->count; i++) {
        if (*choice->steps > 0) lower_radius(choice, &choice->tables[i]);
    }
    if (*choice->steps > 0) order_by_overlap(choice);
    for (size_t i = choice->count; i-- > 0 && *choice->steps > 0;) remove_if_needless(choice, i);
    qsort(choice->tables, choice->count, sizeof *choice->tables, compare_table_numbers);
}

/* Sets the choice to all tables of a scheme, for this distance. choice->tables must have space for them. Radii are at
 * most the distance, since no pattern has more errors. */
static void choose_all_tables(struct table_choice *choice, const struct idx_scheme *scheme, unsigned distance) {
    choice->distance = distance;
    choice->count = scheme->table_count;
    for (size_t i = 0; i < scheme->table_count; i++) {
        const struct idx_table *table = &scheme->tables[i];
        unsigned radius = table->radius < distance ? table->radius : distance;
        choice->tables[i] = (struct idxi_probed_table){.mask = table->mask, .radius = radius, .table = (uint32_t)i};
    }
}

/* Sets probings[distance] for all distances from 0 to k. They point into `tables`, which has space for all tables of
 * the scheme for each distance. `trial` is scratch. */
static void make_all_probings(struct idxi_probing *probings, const struct idx_scheme *scheme, unsigned k,
                              struct idxi_probed_table *tables, struct idx_scheme *trial) {
    uint64_t steps = MAX_LOOKS / (scheme->table_count + 1);
    struct table_choice choice = {.bits = scheme->bits, .trial = trial, .steps = &steps};
    for (unsigned distance = 0; distance <= k; distance++) {
        choice.tables = tables + distance * scheme->table_count;
        choose_all_tables(&choice, scheme, distance);
        if (distance < k) reduce_tables(&choice);
        probings[distance] = (struct idxi_probing){.count = choice.count, .tables = choice.tables};
    }
}

enum idx_status idxi_probings_make(struct idxi_probing **result, const struct idx_scheme *scheme, unsigned k,
                                   struct idx_error *error) {
    struct idxi_probing *probings = calloc(k + 1, sizeof *probings);
    struct idxi_probed_table *tables = calloc((k + 1) * (scheme->table_count + 1), sizeof *tables);
    struct idx_scheme *trial = calloc(1, sizeof *trial);
    bool has_memory = probings != NULL && tables != NULL && trial != NULL;
    if (has_memory) {
        make_all_probings(probings, scheme, k, tables, trial);
        *result = probings;
    } else {
        free(probings);
        free(tables);
    }
    free(trial);
    return has_memory ? IDX_OK : idxi_fail_memory(error);
}

void idxi_probings_free(struct idxi_probing *probings) {
    if (probings != NULL) free(probings[0].tables); /* those of all distances, one after the other */
    free(probings);
}
