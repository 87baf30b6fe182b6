/* difference.c: finds the words that differ by Myers' algorithm in linear space ("An O(ND) Difference Algorithm and Its
 * Variations", 1986): paths of edits grow from both ends until they meet, which divides the problem in two. */
#include "tools/report/page.h"

#include <stdlib.h>
#include <string.h>

/* If paths of so many edits do not meet, the longest one is taken instead. */
enum { MOST_EDITS = 1024 };

struct area {
    size_t a, a_end, b, b_end;
};

struct comparison {
    struct words *a, *b;
    int64_t *forward, *backward; /* They have where the path of each diagonal ends, as a place in `a`. */
};

static bool is_equal(const struct comparison *comparison, size_t i, size_t j) {
    return comparison->a->hashes[i] == comparison->b->hashes[j];
}

/* Removes equal words at both ends of the area. */
static void trim(const struct comparison *comparison, struct area *area) {
    while (area->a < area->a_end && area->b < area->b_end && is_equal(comparison, area->a, area->b))
        area->a++, area->b++;
    while (area->a < area->a_end && area->b < area->b_end && is_equal(comparison, area->a_end - 1, area->b_end - 1))
        area->a_end--, area->b_end--;
}

/* Returns where the path of `edits` on diagonal `d` ends, from the paths with one edit less. A backward path begins at
 * the area's end, and its places and diagonals are counted from there. */
static int64_t extend(const struct comparison *comparison, const struct area *area, bool backward, int64_t d,
                      int64_t edits) {
    const int64_t *ends = backward ? comparison->backward : comparison->forward;
    bool down = d == -edits || (d != edits && ends[d - 1] < ends[d + 1]);
    int64_t n = (int64_t)(area->a_end - area->a), m = (int64_t)(area->b_end - area->b);
    int64_t x = edits == 0 ? 0 : down ? ends[d + 1] : ends[d - 1] + 1;
    for (; x < n && x - d < m && x - d >= 0; x++) {
        size_t i = backward ? area->a_end - 1 - (size_t)x : area->a + (size_t)x;
        size_t j = backward ? area->b_end - 1 - (size_t)(x - d) : area->b + (size_t)(x - d);
        if (!is_equal(comparison, i, j)) break;
    }
    return x;
}

/* Returns where the longest path within the area ends. */
static int64_t find_longest(const struct comparison *comparison, int64_t n, int64_t m, int64_t edits, int64_t *y) {
    int64_t best = 0;
    *y = 0;
    for (int64_t d = -edits; d <= edits; d += 2) {
        int64_t x = comparison->forward[d];
        if (x > n || x - d > m || x - d < 0 || x + x - d <= best + *y) continue;
        best = x;
        *y = x - d;
    }
    return best;
}

/* Returns a place that an optimal path goes through, or one that is good enough, relative to the area's beginning. The
 * first words of the area must differ, and so must the last ones, and neither side may be empty. */
static int64_t find_middle(const struct comparison *comparison, const struct area *area, int64_t *y) {
    int64_t n = (int64_t)(area->a_end - area->a), m = (int64_t)(area->b_end - area->b), delta = n - m;
    int64_t *forward = comparison->forward, *backward = comparison->backward;
    for (int64_t edits = 0; edits <= MOST_EDITS; edits++) {
        for (int64_t d = -edits; d <= edits; d += 2) {
            int64_t x = forward[d] = extend(comparison, area, false, d, edits), other = delta - d;
            *y = x - d;
            if (delta % 2 != 0 && other > -edits && other < edits && x + backward[other] >= n) return x;
        }
        for (int64_t d = -edits; d <= edits; d += 2) {
            int64_t x = backward[d] = extend(comparison, area, true, d, edits), other = delta - d;
            *y = m - (x - d);
            if (delta % 2 == 0 && other >= -edits && other <= edits && x + forward[other] >= n) return n - x;
        }
    }
    return find_longest(comparison, n, m, MOST_EDITS, y);
}

static void mark_all(const struct comparison *comparison, const struct area *area) {
    for (size_t i = area->a; i < area->a_end; i++) comparison->a->differs[i] = true;
    for (size_t i = area->b; i < area->b_end; i++) comparison->b->differs[i] = true;
}

/* Marks what differs in an area. Only the smaller part is a call, so that calls nest no deeper than the logarithm of
 * the number of words. */
static void compare_areas(const struct comparison *comparison, struct area area) {
    for (;;) {
        trim(comparison, &area);
        int64_t n = (int64_t)(area.a_end - area.a), m = (int64_t)(area.b_end - area.b), y;
        if (n == 0 || m == 0) break;
        int64_t x = find_middle(comparison, &area, &y);
        if (x < 0 || y < 0 || x > n || y > m || x + y == 0 || x + y == n + m) break;
        struct area first = {area.a, area.a + (size_t)x, area.b, area.b + (size_t)y};
        struct area rest = {first.a_end, area.a_end, first.b_end, area.b_end};
        bool first_is_smaller = x + y < n + m - x - y;
        compare_areas(comparison, first_is_smaller ? first : rest);
        area = first_is_smaller ? rest : first;
    }
    mark_all(comparison, &area);
}

bool difference_find(struct words *a, struct words *b) {
    enum { DIAGONALS = 2 * MOST_EDITS + 3 };
    int64_t *ends = calloc(2 * DIAGONALS, sizeof *ends);
    if (ends == NULL) return false;
    struct comparison comparison = {a, b, ends + DIAGONALS / 2, ends + DIAGONALS + DIAGONALS / 2};
    if (a->count > 0) memset(a->differs, 0, a->count);
    if (b->count > 0) memset(b->differs, 0, b->count);
    compare_areas(&comparison, (struct area){0, a->count, 0, b->count});
    free(ends);
    return true;
}
