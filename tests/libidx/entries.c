/* entries.c: see entries.h. */
#include "tests/libidx/entries.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

const char *const kind_names[KIND_COUNT] = {[KIND_UNIFORM] = "uniform",
                                            [KIND_FEW] = "few",
                                            [KIND_EQUAL] = "equal",
                                            [KIND_EXTREMES] = "extremes",
                                            [KIND_DENSE] = "dense"};

void add_entry(struct entries *entries, uint64_t fingerprint, uint64_t value) {
    if (entries->count == entries->capacity) {
        entries->capacity = entries->capacity * 2 + 64;
        entries->fingerprints = realloc(entries->fingerprints, entries->capacity * sizeof(uint64_t));
        entries->values = realloc(entries->values, entries->capacity * sizeof(uint64_t));
        assert_non_null(entries->fingerprints);
        assert_non_null(entries->values);
    }
    entries->fingerprints[entries->count] = fingerprint;
    entries->values[entries->count++] = value;
}

static uint64_t choose_extreme(uint64_t random) {
    return random % 2 == 0 ? random / 2 % 3 : UINT64_MAX - random / 2 % 3;
}

void add_entries(struct entries *entries, enum kind kind, size_t count, uint64_t *seed) {
    for (size_t i = 0; i < count; i++) {
        uint64_t a = next_random(seed), b = next_random(seed);
        switch (kind) {
            case KIND_FEW: add_entry(entries, a % 7 * UINT64_C(0x2492492492492492), b % 3); break;
            case KIND_EQUAL: add_entry(entries, UINT64_C(0x123456789abcdef0), 42); break;
            case KIND_EXTREMES: add_entry(entries, choose_extreme(a), choose_extreme(b)); break;
            case KIND_DENSE: add_entry(entries, UINT64_C(1) << 40 | a % 5000, b % 5); break;
            default: add_entry(entries, a, b); break;
        }
    }
}

void append_entries(struct entries *entries, const struct entries *others) {
    for (size_t i = 0; i < others->count; i++) add_entry(entries, others->fingerprints[i], others->values[i]);
}

/* ---- The model ---- */

struct pair {
    uint64_t fingerprint, value;
    size_t place;
};

static int compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_pairs(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    int order = compare(x->fingerprint, y->fingerprint);
    return order != 0 ? order : compare(x->value, y->value);
}

static int compare_fingerprints(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    int order = compare(x->fingerprint, y->fingerprint);
    return order != 0 ? order : compare(x->place, y->place);
}

void sort_entries(struct entries *entries, bool with_values) {
    struct pair *pairs = malloc((entries->count + 1) * sizeof *pairs);
    assert_non_null(pairs);
    for (size_t i = 0; i < entries->count; i++)
        pairs[i] = (struct pair){entries->fingerprints[i], entries->values[i], i};
    qsort(pairs, entries->count, sizeof *pairs, with_values ? compare_pairs : compare_fingerprints);
    for (size_t i = 0; i < entries->count; i++) {
        entries->fingerprints[i] = pairs[i].fingerprint;
        entries->values[i] = pairs[i].value;
    }
    free(pairs);
}

void drop_repeated(struct entries *entries, bool with_values) {
    size_t made = 0;
    for (size_t i = 0; i < entries->count; i++) {
        uint64_t fingerprint = entries->fingerprints[i], value = entries->values[i];
        if (made > 0 && entries->fingerprints[made - 1] == fingerprint &&
            (!with_values || entries->values[made - 1] == value))
            continue;
        entries->fingerprints[made] = fingerprint;
        entries->values[made++] = value;
    }
    entries->count = made;
}

void free_entries(struct entries *entries) {
    free(entries->fingerprints);
    free(entries->values);
    *entries = (struct entries){0};
}

/* ---- Portions ---- */

static enum idx_status read_portion(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values,
                                    size_t capacity, size_t *count, struct idx_error *error) {
    static const size_t sizes[] = {1, 2, 3, 1000, 5, SIZE_MAX, 1023, 1024, 1};
    struct portions *portions = (struct portions *)stream;
    size_t left = portions->entries->count - portions->given, size = sizes[portions->reads++ % LENGTH(sizes)];
    assert_true(capacity > 0);
    if (portions->fails_at > 0 && portions->reads == portions->fails_at)
        return idxi_fail(error, IDX_IO_ERROR, NULL, "input fails");
    *count = size < left ? size : left;
    if (*count > capacity) *count = capacity;
    for (size_t i = 0; i < *count; i++, portions->given++) {
        fingerprints[i] = portions->entries->fingerprints[portions->given];
        if (values != NULL) values[i] = portions->entries->values[portions->given];
    }
    return IDX_OK;
}

static enum idx_status rewind_portions(struct idxi_stream *stream, struct idx_error *error) {
    struct portions *portions = (struct portions *)stream;
    portions->given = 0;
    return portions->fails_to_rewind ? idxi_fail(error, IDX_NO_ACCESS, NULL, "input can't be rewound") : IDX_OK;
}

void init_portions(struct portions *portions, const struct entries *entries, size_t first) {
    *portions = (struct portions){.stream = {read_portion, rewind_portions}, .entries = entries, .reads = first};
}

/* ---- Reading ---- */

#define GUARD UINT64_C(0xfeedfacecafebeef)

/* Reads once, into buffers that end where the capacity does but for a guard. */
static size_t read_guarded(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values, size_t capacity) {
    size_t count = SIZE_MAX;
    fingerprints[capacity] = GUARD;
    if (values != NULL) values[capacity] = GUARD;
    assert_ok(stream->read(stream, fingerprints, values, capacity, &count, &failure));
    assert_true(count <= capacity);
    assert_true(fingerprints[capacity] == GUARD);
    assert_true(values == NULL || values[capacity] == GUARD);
    return count;
}

static void compare_with(const struct entries *expected, size_t from, const uint64_t *fingerprints,
                         const uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (fingerprints[i] == expected->fingerprints[from + i] &&
            (values == NULL || values[i] == expected->values[from + i]))
            continue;
        fail_msg("entry %zu of %zu: %016llx, not %016llx; value %llu, not %llu", from + i, expected->count,
                 (unsigned long long)fingerprints[i], (unsigned long long)expected->fingerprints[from + i],
                 (unsigned long long)(values == NULL ? 0 : values[i]), (unsigned long long)expected->values[from + i]);
    }
}

void assert_gives(struct idxi_stream *stream, const struct entries *expected, size_t from, size_t count,
                  bool with_values, size_t capacity) {
    uint64_t *fingerprints = malloc((capacity + 1) * sizeof(uint64_t)), *values = NULL;
    assert_non_null(fingerprints);
    if (with_values) assert_non_null(values = malloc((capacity + 1) * sizeof(uint64_t)));
    for (size_t done = 0, got; done < count; done += got) {
        got = read_guarded(stream, fingerprints, values, count - done < capacity ? count - done : capacity);
        if (got == 0) fail_msg("ends after %zu entries, not %zu", from + done, expected->count);
        compare_with(expected, from + done, fingerprints, values, got);
    }
    free(fingerprints);
    free(values);
}

void assert_gives_all(struct idxi_stream *stream, const struct entries *expected, bool with_values, size_t capacity) {
    uint64_t fingerprints[2], values[2];
    assert_gives(stream, expected, 0, expected->count, with_values, capacity);
    if (read_guarded(stream, fingerprints, with_values ? values : NULL, 1) != 0)
        fail_msg("goes on after %zu entries", expected->count);
}
