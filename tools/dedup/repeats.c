/* repeats.c: counts the IDs that several documents have, by a hash of each ID. */
#include "tools/dedup/dedup.h"

#include <stdlib.h>

/* Below this number of hashes, they are sorted by insertion. */
enum { FEW_HASHES = 16 };

bool repeats_add(struct repeats *repeats, const char *id, size_t length) {
    if (!repeats->is_asked_for) return true;
    if (!array_grow(&repeats->hashes, &repeats->capacity, repeats->count, sizeof *repeats->hashes))
        return complain("out of memory");
    repeats->hashes[repeats->count++] = idx_hash(IDX_HASH_XXH3, id, length);
    return true;
}

static void insert_all(uint64_t *hashes, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t hash = hashes[i];
        size_t at = i;
        for (; at > 0 && hashes[at - 1] > hash; at--) hashes[at] = hashes[at - 1];
        hashes[at] = hash;
    }
}

/* Moves the hashes without this bit before those with it, and returns how many have it not. */
static size_t divide(uint64_t *hashes, size_t count, uint64_t bit) {
    size_t without = 0, end = count;
    while (without < end) {
        uint64_t hash = hashes[without];
        if ((hash & bit) == 0) {
            without++;
        } else {
            hashes[without] = hashes[--end];
            hashes[end] = hash;
        }
    }
    return without;
}

/* Sorts hashes that are equal above this bit, which is 0 behind the last one. It needs no memory beside them, which
 * qsort may do. */
static void sort(uint64_t *hashes, size_t count, uint64_t bit) {
    for (; count >= FEW_HASHES && bit != 0; bit >>= 1) {
        size_t without = divide(hashes, count, bit);
        sort(hashes, without, bit >> 1);
        hashes += without;
        count -= without;
    }
    if (bit != 0) insert_all(hashes, count);
}

void repeats_count(struct repeats *repeats, uint64_t *ids, uint64_t *documents) {
    *ids = *documents = 0;
    if (repeats->count == 0) return;
    sort(repeats->hashes, repeats->count, UINT64_C(1) << 63);
    for (size_t i = 0, end; i < repeats->count; i = end) {
        for (end = i + 1; end < repeats->count && repeats->hashes[end] == repeats->hashes[i];) end++;
        *ids += end > i + 1;
        *documents += end > i + 1 ? end - i : 0;
    }
}

void repeats_free(struct repeats *repeats) {
    free(repeats->hashes);
    *repeats = (struct repeats){0};
}
