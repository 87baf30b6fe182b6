/* trial.c: see trial.h. */
#include "tests/libidx/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libidx/support.h"

/* The matches that are right, nearest first, and those found, with room to spare. */
struct answers {
    const struct trial *trial;
    struct idx_match *expected, *found;
    size_t expected_count, found_count, room;
};

int largest_k(const char *scheme, unsigned bits) {
    struct idx_scheme parsed;
    for (int k = 7; k >= 0; k--) {
        if (idx_scheme_parse(&parsed, scheme, bits, (unsigned)k, 1000, NULL) == IDX_OK) return k;
    }
    return -1;
}

/* ---- Building ---- */

/* Every seventh fingerprint is in all segments, some of the others are twice in theirs. */
static void build_part(const char *path, const struct trial *trial, enum idx_id_type id_type, size_t part) {
    struct idx_build_options options = options_for(trial->set->bits, trial->k, trial->scheme);
    uint64_t *items = malloc((2 * trial->set->count + 1) * sizeof *items);
    size_t count = 0;
    assert_non_null(items);
    for (size_t i = 0; i < trial->set->count; i++) {
        if (i % trial->segments != part && i % 7 != 0) continue;
        items[count++] = trial->set->items[i];
        if (i % 5 == 0) items[count++] = trial->set->items[i];
    }
    options.block_size = trial->block_size;
    options.id_type = id_type;
    options.by_id = id_type != IDX_ID_NONE;
    build_index(path, &options, items, count);
    free(items);
}

struct idx_index *open_trial(const char *folder, const struct trial *trial, enum idx_id_type id_type) {
    const char *parts[8], *path = path_in(folder, "trial.idx");
    assert_in_range(trial->segments, 1, LENGTH(parts));
    for (size_t part = 0; part < trial->segments && trial->segments > 1; part++) {
        parts[part] = path_in(folder, "part-%zu.idx", part);
        build_part(parts[part], trial, id_type, part);
    }
    if (trial->segments > 1)
        join_indexes(path, parts, trial->segments);
    else
        build_part(path, trial, id_type, 0);
    return open_index(path, trial->residence);
}

/* ---- Comparing ---- */

static void refuse(const struct trial *trial, uint64_t query, unsigned distance, const char *what) {
    fail_msg("%s; %s of %u bits, scheme %s, k = %u, blocks of %u, residence %d, %zu segments, query %016llx, "
             "distance %u",
             what, trial->name, trial->set->bits, trial->scheme, trial->k, trial->block_size, (int)trial->residence,
             trial->segments, (unsigned long long)query, distance);
}

static bool same_matches(const struct idx_match *a, const struct idx_match *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (a[i].fingerprint != b[i].fingerprint || a[i].distance != b[i].distance) return false;
    }
    return true;
}

/* The nearest `capacity`, and nothing beyond. */
static void check_lookup(struct answers *answers, const struct idx_index *index, uint64_t query, unsigned distance,
                         size_t capacity) {
    size_t count, kept = answers->expected_count < capacity ? answers->expected_count : capacity;
    memset(answers->found, 0xee, (capacity + 1) * sizeof *answers->found);
    struct idx_match beyond = answers->found[capacity];
    assert_ok(idx_lookup(index, query, distance, capacity == 0 ? NULL : answers->found, capacity, &count, &failure));
    if (count != answers->expected_count) refuse(answers->trial, query, distance, "the number of matches differs");
    if (!same_matches(answers->found, answers->expected, kept))
        refuse(answers->trial, query, distance, "matches differ");
    if (!same_matches(&beyond, &answers->found[capacity], 1))
        refuse(answers->trial, query, distance, "wrote beyond capacity");
}

static bool keep_match(void *context, const struct idx_match *match) {
    struct answers *answers = context;
    if (answers->found_count < answers->room) answers->found[answers->found_count] = *match;
    answers->found_count++;
    return true;
}

static void check_visit(struct answers *answers, const struct idx_index *index, uint64_t query, unsigned distance) {
    bool exists;
    answers->found_count = 0;
    assert_ok(idx_visit_matches(index, query, distance, keep_match, answers, &failure));
    if (answers->found_count != answers->expected_count)
        refuse(answers->trial, query, distance, "the number of visits differs");
    sort_matches(answers->found, answers->found_count);
    if (!same_matches(answers->found, answers->expected, answers->expected_count))
        refuse(answers->trial, query, distance, "visited matches differ");
    assert_ok(idx_exists(index, query, distance, &exists, &failure));
    if (exists != (answers->expected_count > 0)) refuse(answers->trial, query, distance, "idx_exists differs");
}

static void check_query(struct answers *answers, const struct idx_index *index, uint64_t query) {
    unsigned k = answers->trial->k;
    size_t all = scan(answers->trial->set, query, k, answers->expected);
    for (unsigned distance = 0; distance <= k; distance++) {
        answers->expected_count = 0;
        while (answers->expected_count < all && answers->expected[answers->expected_count].distance <= distance)
            answers->expected_count++;
        check_lookup(answers, index, query, distance, answers->room);
        check_visit(answers, index, query, distance);
    }
    check_lookup(answers, index, query, k, 0);
    check_lookup(answers, index, query, k, 1);
    check_lookup(answers, index, query, k, (all + 1) / 2);
    check_lookup(answers, index, query, k, all);
}

static int compare_fingerprints(const void *a, const void *b) {
    uint64_t x = ((const struct idx_match *)a)->fingerprint, y = ((const struct idx_match *)b)->fingerprint;
    return (x > y) - (x < y);
}

/* idx_visit_all gives each distinct fingerprint once. */
static void check_all(struct answers *answers, const struct idx_index *index) {
    const struct set *set = answers->trial->set;
    answers->found_count = 0;
    assert_ok(idx_visit_all(index, keep_match, answers, &failure));
    if (answers->found_count != set->distinct_count) refuse(answers->trial, 0, 0, "the number of all differs");
    qsort(answers->found, set->distinct_count, sizeof *answers->found, compare_fingerprints);
    for (size_t i = 0; i < set->distinct_count; i++) {
        if (answers->found[i].fingerprint != set->distinct[i] || answers->found[i].distance != 0)
            refuse(answers->trial, set->distinct[i], 0, "all fingerprints differ");
    }
}

static void *allocate(size_t count, size_t size) {
    void *memory = malloc(count * size + 1);
    assert_non_null(memory);
    return memory;
}

/* The queries together, with room for some of their matches each. */
static void check_batch(struct answers *answers, const struct idx_index *index, const uint64_t *queries, size_t count) {
    static const unsigned threads[] = {1, 2, 7};
    unsigned k = answers->trial->k;
    size_t capacity = answers->room < 100 ? answers->room : 100, *counts = allocate(count, sizeof *counts);
    struct idx_match *found = allocate(count * capacity, sizeof *found);
    assert_ok(
        look_up_many(index, queries, count, k, threads[count % LENGTH(threads)], found, capacity, counts, &failure));
    for (size_t i = 0; i < count; i++) {
        size_t all = scan(answers->trial->set, queries[i], k, answers->expected);
        if (counts[i] != all) refuse(answers->trial, queries[i], k, "the number of matches in a batch differs");
        if (!same_matches(found + i * capacity, answers->expected, all < capacity ? all : capacity))
            refuse(answers->trial, queries[i], k, "matches in a batch differ");
    }
    free(counts);
    free(found);
}

static uint64_t *list_queries(const struct trial *trial) {
    uint64_t seed = trial->set->count + trial->segments;
    uint64_t *queries = allocate(trial->queries + trial->asked_count, sizeof *queries);
    for (size_t i = 0; i < trial->queries; i++) queries[i] = make_query(trial->set, trial->k + 1, &seed);
    for (size_t i = 0; i < trial->asked_count; i++) queries[trial->queries + i] = trial->asked[i];
    return queries;
}

void run_trial(const char *folder, const struct trial *trial) {
    size_t room = trial->set->distinct_count + 2;
    struct answers answers = {.trial = trial, .room = room};
    size_t count = trial->queries + trial->asked_count;
    uint64_t *queries = list_queries(trial);
    struct idx_index *index = open_trial(folder, trial, IDX_ID_NONE);
    answers.expected = allocate(room + 1, sizeof *answers.expected);
    answers.found = allocate(room + 1, sizeof *answers.found);
    for (size_t i = 0; i < count; i++) check_query(&answers, index, queries[i]);
    check_batch(&answers, index, queries, count);
    check_all(&answers, index);
    idx_close(index);
    remove_all(path_in(folder, "trial.idx"));
    free(queries);
    free(answers.expected);
    free(answers.found);
}
