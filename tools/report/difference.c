/* difference.c: finds the words that differ by Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its
 * Variations", 1986). A path through the words of both texts goes along equal words, and makes an edit where it leaves
 * out a word of one of them. On each diagonal, where as many more words of `a` than of `b` were passed, the paths of
 * one edit more continue those that went farthest with one edit less. */
#include "tools/report/difference.h"

#include <stdlib.h>
#include <string.h>

/* After this many edits a path stays as it is, and the next one begins where it ends, so that memory is bounded. */
enum { MOST_EDITS = 1024 };

struct comparison {
    struct words a, b; /* The words that no path has passed yet. */
    int32_t *ends;     /* The word of `a` at which each path ends; -1: there is none on this diagonal. */
};

/* Returns the ends of the edits + 1 paths with `edits` edits. Path i is on diagonal 2 i - edits. */
static int32_t *ends_after(const struct comparison *comparison, int32_t edits) {
    return comparison->ends + edits * (edits + 1) / 2;
}

/* Returns the word of `a` that path i, of `edits` edits, reaches by its last edit, or -1 if there is no such path. The
 * edit leaves out a word of `b` if *of_b is set, and otherwise a word of `a`. */
static int32_t reach_by_edit(const struct comparison *comparison, int32_t edits, int32_t i, bool *of_b) {
    const int32_t *before = ends_after(comparison, edits - 1);
    int32_t by_a = -1, by_b = -1, diagonal = 2 * i - edits;
    if (i > 0 && before[i - 1] >= 0 && before[i - 1] < (int32_t)comparison->a.count) by_a = before[i - 1] + 1;
    if (i < edits && before[i] >= 0 && before[i] - diagonal - 1 < (int32_t)comparison->b.count) by_b = before[i];
    *of_b = by_b >= by_a;
    return *of_b ? by_b : by_a;
}

/* Returns the first word of `a` from x on, along the diagonal, that differs from its counterpart or has none. */
static int32_t pass_equal_words(const struct comparison *comparison, int32_t x, int32_t diagonal) {
    const struct words *a = &comparison->a, *b = &comparison->b;
    while (x >= 0 && (size_t)x < a->count && (size_t)(x - diagonal) < b->count &&
           a->hashes[x] == b->hashes[x - diagonal])
        x++;
    return x;
}

/* Finds the ends of all paths with `edits` edits. Returns the number of the path that passes most words of both texts
 * together, and sets *most_passed to how many these are. */
static int32_t extend_paths(const struct comparison *comparison, int32_t edits, int64_t *most_passed) {
    int32_t *ends = ends_after(comparison, edits), farthest = 0;
    bool of_b;
    *most_passed = -1;
    for (int32_t i = 0; i <= edits; i++) {
        int32_t diagonal = 2 * i - edits, reached = edits == 0 ? 0 : reach_by_edit(comparison, edits, i, &of_b);
        ends[i] = pass_equal_words(comparison, reached, diagonal);
        int64_t passed = ends[i] < 0 ? -1 : 2 * (int64_t)ends[i] - diagonal;
        if (passed <= *most_passed) continue;
        *most_passed = passed;
        farthest = i;
    }
    return farthest;
}

/* Finds the shortest path that passes all words; or where that takes more than MOST_EDITS edits, the one that passes
 * most words with so many. Returns its edits, and sets *path to its number. */
static int32_t find_path(const struct comparison *comparison, int32_t *path) {
    const int64_t word_count = (int64_t)(comparison->a.count + comparison->b.count);
    int64_t passed = -1;
    for (int32_t edits = 0;; edits++) {
        *path = extend_paths(comparison, edits, &passed);
        if (passed == word_count || edits == MOST_EDITS) return edits;
    }
}

/* Goes back along a path, and marks the word that each of its edits leaves out. */
static void mark_edits(struct comparison *comparison, int32_t edits, int32_t path) {
    bool of_b;
    for (; edits > 0; edits--) {
        int32_t x = reach_by_edit(comparison, edits, path, &of_b), diagonal = 2 * path - edits;
        if (of_b) {
            comparison->b.differs[x - diagonal - 1] = true; /* The path before has the same number. */
        } else {
            comparison->a.differs[x - 1] = true;
            path--;
        }
    }
}

/* Leaves out the first words, which a path has passed. */
static void skip_words(struct words *words, size_t passed) {
    words->hashes += passed;
    words->differs += passed;
    words->count -= passed;
}

bool difference_find(struct words *a, struct words *b) {
    struct comparison comparison = {*a, *b, malloc((MOST_EDITS + 1) * (MOST_EDITS + 2) / 2 * sizeof(int32_t))};
    bool ok = comparison.ends != NULL;
    if (a->count > 0) memset(a->differs, 0, a->count);
    if (b->count > 0) memset(b->differs, 0, b->count);
    while (ok && comparison.a.count + comparison.b.count > 0) {
        int32_t path = 0, edits = find_path(&comparison, &path), diagonal = 2 * path - edits;
        int32_t end = ends_after(&comparison, edits)[path];
        mark_edits(&comparison, edits, path);
        skip_words(&comparison.a, (size_t)end);
        skip_words(&comparison.b, (size_t)(end - diagonal));
    }
    free(comparison.ends);
    return ok;
}
