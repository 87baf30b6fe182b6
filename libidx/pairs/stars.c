/* stars.c: see stars.h. */
#include "libidx/pairs/stars.h"

#include <stdlib.h>

#include "libidx/streams/sort.h"

bool idxi_stars_begin(struct idxi_stars *stars, uint32_t *roots, size_t count, uint64_t memory) {
    uint64_t max_pairs = (uint64_t)count * (count + 1) / 2, fitting = memory / (2 * sizeof *stars->pairs);
    *stars = (struct idxi_stars){
        .roots = roots, .capacity = (size_t)(fitting < max_pairs ? fitting : max_pairs) + 1, .below = UINT64_MAX};
    stars->pairs = malloc(stars->capacity * sizeof *stars->pairs);
    stars->spare = malloc(stars->capacity * sizeof *stars->spare);
    return stars->pairs != NULL && stars->spare != NULL;
}

/* Makes room for more pairs: sorts the stored ones, lowers `below` to the smaller number of the middle one, and drops
 * the pairs from there on, which are stored in a later round. A number can be the smaller one of fewer pairs than
 * stars->capacity. So if the pairs of the first number reach to the middle, those of others are dropped, and these
 * stay. */
static void drop_half_of_pairs(struct idxi_stars *stars) {
    const uint64_t *pairs = stars->pairs;
    idxi_sort_pairs(stars->pairs, NULL, stars->count, false, stars->spare, NULL);
    uint64_t first_smaller = pairs[0] >> 32, middle_smaller = pairs[stars->count / 2] >> 32;
    stars->below = middle_smaller > first_smaller ? middle_smaller : first_smaller + 1;
    while (pairs[stars->count - 1] >> 32 >= stars->below) stars->count--;
}

void idxi_stars_store_pair(struct idxi_stars *stars, uint32_t a, uint32_t b) {
    uint32_t smaller = a < b ? a : b, larger = a < b ? b : a;
    if (smaller < stars->from || smaller >= stars->below) return;
    if (stars->roots[smaller] != smaller || stars->roots[larger] != larger) return;
    if (stars->count == stars->capacity) drop_half_of_pairs(stars);
    if (smaller < stars->below) stars->pairs[stars->count++] = (uint64_t)smaller << 32 | larger;
}

bool idxi_stars_make_stored(struct idxi_stars *stars) {
    bool are_all_stored = stars->below == UINT64_MAX;
    idxi_sort_pairs(stars->pairs, NULL, stars->count, false, stars->spare, NULL);
    for (size_t i = 0; i < stars->count; i++)
        idxi_star_add_pair(stars->roots, (uint32_t)(stars->pairs[i] >> 32), (uint32_t)stars->pairs[i]);
    stars->from = stars->below;
    stars->below = UINT64_MAX;
    stars->count = 0;
    return are_all_stored;
}

void idxi_stars_free(struct idxi_stars *stars) {
    free(stars->pairs);
    free(stars->spare);
    *stars = (struct idxi_stars){0};
}
