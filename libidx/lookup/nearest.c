/* nearest.c: a heap of matches for each query. */
#include "libidx/lookup/nearest.h"

/* Returns whether `a` is farther than `b`. Of equal distances, the greater fingerprint is farther. */
static bool is_farther(const struct idx_match *a, const struct idx_match *b) {
    return a->distance != b->distance ? a->distance > b->distance : a->fingerprint > b->fingerprint;
}

/* Swaps two matches of a heap, which may be the same one. */
static void swap_matches(struct idx_match *a, struct idx_match *b) {
    struct idx_match former_a = *a;
    *a = *b;
    *b = former_a;
}

/* Restores the order of a heap of `count` matches, in which only the match at place `parent` may be nearer than its
 * children. */
static void sift_down(struct idx_match *matches, size_t count, size_t parent) {
    for (;;) {
        size_t child = 2 * parent + 1;
        if (child >= count) return;
        if (child + 1 < count && is_farther(&matches[child + 1], &matches[child])) child++;
        if (!is_farther(&matches[child], &matches[parent])) return;
        swap_matches(&matches[child], &matches[parent]);
        parent = child;
    }
}

bool idxi_nearest_add(void *context, size_t query, const struct idx_match *match) {
    struct idxi_nearest *nearest = context;
    struct idx_match *matches = nearest->matches + query * nearest->capacity;
    size_t place = nearest->counts[query]++;
    if (place < nearest->capacity) {
        matches[place] = *match;
        for (; place > 0 && is_farther(&matches[place], &matches[(place - 1) / 2]); place = (place - 1) / 2)
            swap_matches(&matches[place], &matches[(place - 1) / 2]);
    } else if (nearest->capacity > 0 && is_farther(&matches[0], match)) {
        matches[0] = *match;
        sift_down(matches, nearest->capacity, 0);
    }
    return true;
}

void idxi_nearest_sort(const struct idxi_nearest *nearest, size_t query) {
    struct idx_match *matches = nearest->matches + query * nearest->capacity;
    size_t count = nearest->counts[query];
    for (size_t unsorted = count < nearest->capacity ? count : nearest->capacity; unsorted > 1; unsorted--) {
        swap_matches(&matches[0], &matches[unsorted - 1]);
        sift_down(matches, unsorted - 1, 0);
    }
}
