/* sets.c: what bench/sets.py calls from C, as a library that the script loads into its process: shingles, what idx
 * keeps of sets of hashes, and how many hashes the sets of proposed pairs share. Each returns false, or 0, where it
 * failed. */
#include <idx_text.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"

/* Stores the shingles of texts, each set ascending, in `hashes`, and where each set begins in `begins`, which has one
 * element more. Text i is bytes[ends[i - 1]] to bytes[ends[i]]. There must be room for as many hashes as bytes. */
bool make_sets(const char *bytes, const uint64_t *ends, size_t count, uint64_t *hashes, uint64_t *begins) {
    size_t used = 0, room = count > 0 ? ends[count - 1] : 0;
    for (size_t i = 0, begin = 0; i < count; begin = ends[i++]) {
        size_t found;
        begins[i] = used;
        if (idx_text_shingles(bytes + begin, ends[i] - begin, NULL, hashes + used, room - used, &found, NULL) != IDX_OK)
            return false;
        used += found;
    }
    begins[count] = used;
    return true;
}

struct idx_sets *open_sets(void) {
    struct idx_sets *sets;
    return idx_sets_open(&sets, NULL, NULL) == IDX_OK ? sets : NULL;
}

bool add_sets(struct idx_sets *sets, const uint64_t *hashes, const uint64_t *begins, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (idx_sets_add(sets, hashes + begins[i], begins[i + 1] - begins[i], NULL) != IDX_OK) return false;
    return true;
}

/* Stores which set each one joins, or its own number if it is kept. `threshold` is in units of 1/10000. */
bool keep_sets(struct idx_sets *sets, uint32_t threshold, uint64_t *kept, size_t count) {
    struct idx_kept_set *found = allocate(count, sizeof *found);
    struct idx_keep_options options = IDX_KEEP_OPTIONS_INIT;
    options.threshold = (int64_t)threshold * IDX_THRESHOLD_ONE / 10000;
    const bool done = idx_sets_keep(sets, &options, found, NULL, NULL) == IDX_OK;
    for (size_t i = 0; i < count && done; i++) kept[i] = found[i].kept;
    free(found);
    return done;
}

void close_sets(struct idx_sets *sets) { idx_sets_close(sets); }

/* Stores how many hashes the sets of each pair share. */
void count_shared(const uint64_t *hashes, const uint64_t *begins, const uint32_t *pairs, size_t count,
                  uint32_t *shared) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t *a = hashes + begins[pairs[2 * i]], *a_end = hashes + begins[pairs[2 * i] + 1];
        const uint64_t *b = hashes + begins[pairs[2 * i + 1]], *b_end = hashes + begins[pairs[2 * i + 1] + 1];
        shared[i] = 0;
        while (a < a_end && b < b_end) {
            const uint64_t x = *a, y = *b;
            shared[i] += x == y;
            a += x <= y;
            b += y <= x;
        }
    }
}
