/* id_hashes.c: keeps a hash of each ID, and sorts them. */
#include "tools/dedup/id_hashes.h"

#include "tools/shared/array.h"
#include "tools/shared/wording.h"

#include <idx_simhash.h>

#include <inttypes.h>
#include <stdlib.h>

/* Below this number of hashes, they are sorted by insertion. */
enum { FEW_HASHES = 16 };

bool id_hashes_add(struct id_hashes *ids, const void *id, size_t length) {
    if (!array_grow(&ids->hashes, &ids->capacity, ids->count, sizeof *ids->hashes)) return complain("out of memory");
    ids->hashes[ids->count++] = idx_hash(IDX_HASH_XXH3, id, length);
    return true;
}

static void insertion_sort(uint64_t *hashes, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t hash = hashes[i];
        size_t at = i;
        for (; at > 0 && hashes[at - 1] > hash; at--) hashes[at] = hashes[at - 1];
        hashes[at] = hash;
    }
}

/* Moves the hashes without this bit before those with it, and returns how many are without it. */
static size_t partition(uint64_t *hashes, size_t count, uint64_t bit) {
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

/* A radix sort bit by bit, from `bit` on, of hashes that are equal in all bits above it. `bit` is a power of two, or 0
 * if all bits are equal. Unlike qsort, it needs no memory beside them. */
static void sort_from_bit(uint64_t *hashes, size_t count, uint64_t bit) {
    for (; count >= FEW_HASHES && bit != 0; bit >>= 1) {
        size_t without = partition(hashes, count, bit);
        sort_from_bit(hashes, without, bit >> 1);
        hashes += without;
        count -= without;
    }
    if (bit != 0) insertion_sort(hashes, count);
}

void id_hashes_sort(struct id_hashes *ids) { sort_from_bit(ids->hashes, ids->count, UINT64_C(1) << 63); }

void id_hashes_count_repeated(const struct id_hashes *ids, uint64_t *repeated, uint64_t *documents) {
    *repeated = *documents = 0;
    for (size_t i = 0, end; i < ids->count; i = end) {
        for (end = i + 1; end < ids->count && ids->hashes[end] == ids->hashes[i];) end++;
        *repeated += end > i + 1;
        *documents += end > i + 1 ? end - i : 0;
    }
}

bool id_hashes_say_repeated(struct id_hashes *ids, const char *advice) {
    uint64_t repeated, documents;
    id_hashes_sort(ids);
    id_hashes_count_repeated(ids, &repeated, &documents);
    id_hashes_free(ids);
    if (repeated == 0) return false;
    complain("%" PRIu64 " %s, %" PRIu64 " in all: a list of IDs does not tell these apart%s", repeated,
             repeated == 1 ? "ID is that of several documents" : "IDs are those of several documents", documents,
             advice);
    return true;
}

void id_hashes_free(struct id_hashes *ids) {
    free(ids->hashes);
    *ids = (struct id_hashes){0};
}
