/* by_id.c: see by_id.h. */
#include "tools/dedup/by_id.h"

#include "tools/dedup/again.h"
#include "tools/shared/interrupt.h"
#include "tools/shared/message.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    const struct by_id *by_id;
    struct sets *sets;
};

/* FNV-1a, and the bits mixed. */
uint64_t by_id_hash(const void *id, size_t length) {
    const unsigned char *bytes = id;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

bool by_id_want(struct by_id *by_id, uint64_t hash) {
    if (by_id->count == by_id->capacity) {
        size_t capacity = 2 * by_id->capacity + 1024;
        uint64_t *grown = realloc(by_id->wanted, capacity * sizeof *grown);
        if (grown == NULL) {
            complain("out of memory");
            return false;
        }
        by_id->wanted = grown;
        by_id->capacity = capacity;
    }
    by_id->wanted[by_id->count++] = hash;
    return true;
}

static int compare_hashes(const void *first, const void *second) {
    const uint64_t *a = first, *b = second;
    return (*a > *b) - (*a < *b);
}

static bool is_wanted(void *context, struct span id, uint64_t *key) {
    const struct by_id *by_id = ((const struct reading *)context)->by_id;
    *key = by_id_hash(id.bytes, id.length);
    return by_id->count > 0 && bsearch(key, by_id->wanted, by_id->count, sizeof *key, compare_hashes) != NULL;
}

/* A result_visitor. */
static bool take(void *context, const struct raw_document *raw, const char *made, size_t length) {
    const struct reading *reading = context;
    uint64_t key;
    if (interrupt_noted()) return false;
    if (raw->bad.kind != BAD_NONE || length == 0) return true;
    memcpy(&key, made, sizeof key);
    return sets_add(reading->sets, key, made + sizeof key, length - sizeof key);
}

bool by_id_read(struct by_id *by_id, const struct pipeline_rules *rules, const char *recipe, const struct texts *inputs,
                struct sets *sets) {
    struct reading reading = {by_id, sets};
    const struct pipeline_features features = {.listed = sets->weighted ? LISTED_WEIGHTED : LISTED_SHINGLES,
                                               .is_wanted_id = is_wanted};
    struct pipeline_rules listing = again_rules(rules, recipe);
    listing.visit = take;
    listing.context = &reading;
    listing.features = &features;
    if (by_id->count > 0) qsort(by_id->wanted, by_id->count, sizeof *by_id->wanted, compare_hashes);
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
