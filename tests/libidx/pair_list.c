/* pair_list.c: see pair_list.h. */
#include "tests/libidx/pair_list.h"

#include <stdlib.h>
#include <string.h>

#include "tests/libidx/support.h"

static void add(struct pair_list *list, const struct idx_pair *pairs, size_t count) {
    if (list->count + count > list->room) {
        list->room = (list->count + count) * 2;
        list->pairs = realloc(list->pairs, list->room * sizeof *list->pairs);
        assert_non_null(list->pairs);
    }
    memcpy(list->pairs + list->count, pairs, count * sizeof *pairs);
    list->count += count;
}

bool take_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct pair_list *list = context;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) assert_int_equal(pairs[i].distance, idx_distance(pairs[i].a, pairs[i].b));
    if (list->count >= list->most) list->calls++;
    add(list, pairs, count);
    return list->count < list->most;
}

int compare_pairs(const void *x, const void *y) {
    const struct idx_pair *a = x, *b = y;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

PLAIN struct pair_list compare_all(const struct set *a, const struct set *b, unsigned distance) {
    struct pair_list list = {0};
    for (size_t i = 0; i < a->distinct_count; i++) {
        for (size_t j = b == NULL ? i + 1 : 0; j < (b == NULL ? a : b)->distinct_count; j++) {
            struct idx_pair pair = {a->distinct[i], (b == NULL ? a : b)->distinct[j], 0};
            pair.distance = count_ones(pair.a ^ pair.b);
            if (pair.distance <= distance) add(&list, &pair, 1);
        }
    }
    return list;
}
