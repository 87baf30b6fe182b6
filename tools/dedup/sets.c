/* sets.c: writes the features of documents to a temporary file, and maps it to look them up. */
#include "tools/dedup/dedup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t feature_size(const struct sets *sets) {
    return sets->weighted ? sizeof(struct idx_feature) : sizeof(uint64_t);
}

bool sets_add(struct sets *sets, uint64_t number, const char *features, size_t length) {
    if (!array_grow(&sets->sets, &sets->capacity, sets->count, sizeof *sets->sets)) return complain("out of memory");
    sets->sets[sets->count++] =
        (struct set){.number = number, .offset = sets->size, .count = length / feature_size(sets)};
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
    if (!temporary_map(&sets->file)) return false;
    if (sets->count > 0) qsort(sets->sets, sets->count, sizeof *sets->sets, by_number);
    if (sets->size > 0) posix_madvise((void *)(uintptr_t)sets->file.mapped, sets->size, POSIX_MADV_RANDOM);
    return true;
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

const void *sets_features(struct sets *sets, const struct set *set) {
    uint64_t offset = set->offset;
    return set->count == 0 ? NULL : temporary_take(&sets->file, &offset, set->count * feature_size(sets));
}

void sets_close(struct sets *sets) {
    temporary_close(&sets->file);
    free(sets->sets);
    *sets = (struct sets)SETS_CLOSED;
}

/* ---- Documents that are found by their IDs ---- */

struct reading_by_id {
    const struct by_id *by_id;
    struct sets *sets;
};

/* Hashes an ID by FNV-1a, and mixes the bits. */
uint64_t by_id_hash(const void *id, size_t length) {
    const unsigned char *bytes = id;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

bool by_id_want(struct by_id *by_id, uint64_t hash) {
    if (!array_grow(&by_id->wanted, &by_id->capacity, by_id->count, sizeof hash)) return complain("out of memory");
    by_id->wanted[by_id->count++] = hash;
    return true;
}

static bool is_wanted_id(void *context, struct span id, uint64_t *key) {
    const struct by_id *by_id = ((const struct reading_by_id *)context)->by_id;
    *key = by_id_hash(id.bytes, id.length);
    return by_id->count > 0 && bsearch(key, by_id->wanted, by_id->count, sizeof *key, compare_u64) != NULL;
}

/* Adds the features of a document to the sets. This is a result_visitor. */
static bool add_listed(void *context, const struct raw_document *raw, const char *made, size_t length) {
    const struct reading_by_id *reading_by_id = context;
    uint64_t key;
    if (interrupt_noted()) return false;
    if (raw->bad.kind != BAD_NONE || length == 0) return true;
    memcpy(&key, made, sizeof key);
    return sets_add(reading_by_id->sets, key, made + sizeof key, length - sizeof key);
}

bool by_id_read(struct by_id *by_id, const struct pipeline_rules *rules, const char *recipe, const struct texts *inputs,
                struct sets *sets) {
    struct reading_by_id reading_by_id = {by_id, sets};
    const struct pipeline_features features = {.listed = sets->weighted ? LISTED_WEIGHTED : LISTED_SHINGLES,
                                               .is_wanted_id = is_wanted_id};
    struct pipeline_rules listing = again_rules(rules, recipe);
    listing.visit = add_listed;
    listing.context = &reading_by_id;
    listing.features = &features;
    if (by_id->count > 0) qsort(by_id->wanted, by_id->count, sizeof *by_id->wanted, compare_u64);
    return pipeline_run(&listing, inputs) == PIPELINE_WELL && !interrupt_noted();
}

uint64_t by_id_count_missing(const struct by_id *by_id, const struct sets *sets) {
    uint64_t missing = 0;
    for (size_t i = 0; i < by_id->count; i++) {
        bool repeated = i > 0 && by_id->wanted[i] == by_id->wanted[i - 1];
        missing += !repeated && sets_find(sets, by_id->wanted[i]) == NULL;
    }
    return missing;
}

void by_id_free(struct by_id *by_id) {
    free(by_id->wanted);
    *by_id = (struct by_id){0};
}
