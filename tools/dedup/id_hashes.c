/* id_hashes.c: keeps a hash of each ID, and sorts them. */
#include "tools/dedup/id_hashes.h"

#include "tools/shared/array.h"
#include "tools/shared/wording.h"

#include <idx_simhash.h>

#include <inttypes.h>
#include <stdlib.h>

/* Below this number of hashes, they are sorted by insertion. */
enum { MIN_RADIX_SORTED = 16 };

bool id_hashes_add(struct id_hashes *ids, const void *id, size_t length) {
    if (!array_grow(&ids->hashes, &ids->capacity, ids->count, sizeof *ids->hashes)) return complain("out of memory");
    ids->hashes[ids->count++] = idx_hash(IDX_HASH_XXH3, id, length);
    return true;
}

/* Sorts a few hashes in ascending order. */
static void sort_by_insertion(uint64_t *hashes, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t hash = hashes[i];
        size_t slot = i;
        for (; slot > 0 && hashes[slot - 1] > hash; slot--) hashes[slot] = hashes[slot - 1];
        hashes[slot] = hash;
    }
}

/* Moves the hashes in which `bit` is 0 before those in which it is 1, and returns how many the former are. */
static size_t partition_by_bit(uint64_t *hashes, size_t count, uint64_t bit) {
    size_t zero_count = 0, ones_begin = count;
    while (zero_count < ones_begin) {
        uint64_t hash = hashes[zero_count];
        if ((hash & bit) == 0) {
            zero_count++;
        } else {
            hashes[zero_count] = hashes[--ones_begin];
            hashes[ones_begin] = hash;
        }
    }
    return zero_count;
}

/* Sorts hashes that are equal in all bits above `bit`, a power of two, or in all bits if `bit` is 0. This is a radix
 * sort bit by bit, from `bit` down. Unlike qsort, it needs no memory beside the hashes. */
static void sort_from_bit(uint64_t *hashes, size_t count, uint64_t bit) {
    for (; count >= MIN_RADIX_SORTED && bit != 0; bit >>= 1) {
        size_t zero_count = partition_by_bit(hashes, count, bit);
        sort_from_bit(hashes, zero_count, bit >> 1);
        hashes += zero_count;
        count -= zero_count;
    }
    if (bit != 0) sort_by_insertion(hashes, count);
}

void id_hashes_sort(struct id_hashes *ids) { sort_from_bit(ids->hashes, ids->count, UINT64_C(1) << 63); }

void id_hashes_count_repeated(const struct id_hashes *ids, uint64_t *repeated_ids, uint64_t *document_count) {
    *repeated_ids = *document_count = 0;
    for (size_t i = 0, next; i < ids->count; i = next) {
        for (next = i + 1; next < ids->count && ids->hashes[next] == ids->hashes[i];) next++;
        *repeated_ids += next > i + 1;
        *document_count += next > i + 1 ? next - i : 0;
    }
}

bool id_hashes_report_repeated(struct id_hashes *ids, const char *advice) {
    uint64_t repeated_ids, document_count;
    id_hashes_sort(ids);
    id_hashes_count_repeated(ids, &repeated_ids, &document_count);
    id_hashes_free(ids);
    if (repeated_ids == 0) return false;
    complain("%" PRIu64 " %s, %" PRIu64 " in all: a list of IDs does not tell these apart%s", repeated_ids,
             repeated_ids == 1 ? "ID is that of several documents" : "IDs are those of several documents",
             document_count, advice);
    return true;
}

void id_hashes_free(struct id_hashes *ids) {
    free(ids->hashes);
    *ids = (struct id_hashes){0};
}
