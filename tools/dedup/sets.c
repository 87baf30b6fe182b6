/* sets.c: see sets.h. */
#include "tools/dedup/sets.h"

#include "tools/shared/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t get_size(const struct sets *sets) {
    return sets->weighted ? sizeof(struct idx_feature) : sizeof(uint64_t);
}

/* ---- Adding ---- */

static struct set *append(struct sets *sets) {
    if (sets->count == sets->capacity) {
        size_t capacity = sets->capacity == 0 ? 1024 : 2 * sets->capacity;
        struct set *grown = realloc(sets->sets, capacity * sizeof *grown);
        if (grown == NULL) return NULL;
        sets->sets = grown;
        sets->capacity = capacity;
    }
    return &sets->sets[sets->count++];
}

static void describe(const struct sets *sets, struct set *set, const char *features, size_t length) {
    const uint64_t *values = (const void *)features;
    set->hash = length;
    for (size_t i = 0; i < length / sizeof *values; i++)
        set->hash = (set->hash ^ values[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ set->hash >> 29;
    set->norm = 0;
    for (size_t i = 0; i < set->count && sets->weighted; i++) {
        double weight = (double)((const struct idx_feature *)(const void *)features)[i].weight;
        set->norm += weight * weight;
    }
}

bool sets_add(struct sets *sets, uint64_t number, const char *features, size_t length) {
    struct set *set = append(sets);
    if (set == NULL) {
        complain("out of memory");
        return false;
    }
    *set = (struct set){.number = number, .offset = sets->size, .count = length / get_size(sets)};
    describe(sets, set, features, length);
    sets->size += length;
    output_bytes(&sets->file.output, features, length);
    return sets->file.output.error == 0 || temporary_flush(&sets->file);
}

static int by_number(const void *first, const void *second) {
    const struct set *a = first, *b = second;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

bool sets_map(struct sets *sets) {
    if (!temporary_flush(&sets->file)) return false;
    if (sets->count > 0) qsort(sets->sets, sets->count, sizeof *sets->sets, by_number);
    if (sets->size == 0) return true;
    void *mapped = mmap(NULL, sets->size, PROT_READ, MAP_SHARED, sets->file.output.descriptor, 0);
    if (mapped != MAP_FAILED)
        sets->mapped = mapped;
    else
        complain("%s: can't read a temporary file: %s", sets->file.folder, strerror(errno));
    return sets->mapped != NULL;
}

const struct set *sets_find(const struct sets *sets, uint64_t number) {
    size_t low = 0, high = sets->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sets->sets[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sets->count && sets->sets[low].number == number ? &sets->sets[low] : NULL;
}

/* ---- Comparing ---- */

static const void *get_features(const struct sets *sets, const struct set *set) {
    return set->count == 0 ? "" : sets->mapped + set->offset;
}

uint64_t sets_hash(const struct sets *sets, const struct set *set, uint64_t i) {
    const void *features = get_features(sets, set);
    return sets->weighted ? ((const struct idx_feature *)features)[i].hash : ((const uint64_t *)features)[i];
}

bool sets_are_equal(const struct sets *sets, const struct set *a, const struct set *b) {
    return a->hash == b->hash && a->count == b->count &&
           memcmp(get_features(sets, a), get_features(sets, b), a->count * get_size(sets)) == 0;
}

/* Whether two ascending lists share so many values; gives up as soon as too few are left. */
static bool share(const uint64_t *a, uint64_t a_count, const uint64_t *b, uint64_t b_count, uint64_t needed) {
    uint64_t i = 0, j = 0, shared = 0;
    while (shared < needed) {
        uint64_t left = a_count - i < b_count - j ? a_count - i : b_count - j;
        if (shared + left < needed) return false;
        uint64_t x = a[i], y = b[j];
        shared += x == y;
        i += x <= y;
        j += y <= x;
    }
    return true;
}

/* s of the a + b - s distinct features are shared: s / (a + b - s) >= t where s >= t (a + b) / (1 + t). */
static bool is_jaccard_enough(const struct sets *sets, const struct set *a, const struct set *b) {
    uint64_t t = sets->threshold, one = IDX_DECIMAL_WEIGHT_ONE;
    uint64_t needed = (t * (a->count + b->count) + one + t - 1) / (one + t);
    return share(get_features(sets, a), a->count, get_features(sets, b), b->count, needed);
}

static bool is_cosine_enough(const struct sets *sets, const struct set *a, const struct set *b) {
    const struct idx_feature *x = get_features(sets, a), *y = get_features(sets, b);
    double sum = 0, threshold = (double)sets->threshold / (double)IDX_DECIMAL_WEIGHT_ONE;
    for (uint64_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (x[i].hash == y[j].hash) sum += (double)x[i].weight * (double)y[j].weight;
        bool ahead = x[i].hash >= y[j].hash;
        i += x[i].hash <= y[j].hash;
        j += ahead;
    }
    return sum > 0 && sum * sum >= threshold * threshold * a->norm * b->norm;
}

bool sets_are_alike(const struct sets *sets, const struct set *a, const struct set *b) {
    if (a->count == 0 || b->count == 0) return a->count == b->count;
    return sets_are_equal(sets, a, b) ||
           (sets->weighted ? is_cosine_enough(sets, a, b) : is_jaccard_enough(sets, a, b));
}

void sets_close(struct sets *sets) {
    if (sets->mapped != NULL) munmap((void *)(uintptr_t)sets->mapped, sets->size);
    temporary_close(&sets->file);
    free(sets->sets);
    *sets = (struct sets)SETS_CLOSED;
}
