/* nearest.c: a heap of matches for each query. */
#include "libidx/lookup/nearest.h"

/* Of equal distances, the greater fingerprint is farther. */
static bool is_farther(const struct idx_match *a, const struct idx_match *b) {
    return a->distance != b->distance ? a->distance > b->distance : a->fingerprint > b->fingerprint;
}

static void swap(struct idx_match *a, struct idx_match *b) {
    struct idx_match other = *a;
    *a = *b;
    *b = other;
}

/* Restores the heap below `at`, whose match may be nearer than its children. */
static void sift_down(struct idx_match *matches, size_t count, size_t at) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && is_farther(&matches[child + 1], &matches[child])) child++;
        if (!is_farther(&matches[child], &matches[at])) return;
        swap(&matches[child], &matches[at]);
        at = child;
    }
}

bool idxi_nearest_add(void *context, size_t query, const struct idx_match *match) {
    struct idxi_nearest *nearest = context;
    struct idx_match *matches = nearest->matches + query * nearest->capacity;
    size_t at = nearest->counts[query]++;
    if (at < nearest->capacity) {
        matches[at] = *match;
        for (; at > 0 && is_farther(&matches[at], &matches[(at - 1) / 2]); at = (at - 1) / 2)
            swap(&matches[at], &matches[(at - 1) / 2]);
    } else if (nearest->capacity > 0 && is_farther(&matches[0], match)) {
        matches[0] = *match;
        sift_down(matches, nearest->capacity, 0);
    }
    return true;
}

void idxi_nearest_sort(const struct idxi_nearest *nearest, size_t query) {
    struct idx_match *matches = nearest->matches + query * nearest->capacity;
    size_t count = nearest->counts[query];
    for (size_t left = count < nearest->capacity ? count : nearest->capacity; left > 1; left--) {
        swap(&matches[0], &matches[left - 1]);
        sift_down(matches, left - 1, 0);
    }
}
