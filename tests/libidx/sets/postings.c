/* postings.c: what an index of sets finds by signatures, once it was emptied and other sets were added. */
#include "libidx/sets/postings.h"

#include "tests/libidx/support.h"

enum { MEMBERS = 8, BEFORE = 300, AFTER = 150 };

/* Adds `count` equal sets. They share one list, which is so long that it is searched by signatures. */
static void add_sets(struct idxi_postings *postings, const struct idxi_query *query, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) assert_ok(idxi_postings_add(postings, query, 1, &failure));
}

/* This is an idxi_candidate_visitor. */
static enum idx_status pass_over(void *context, struct idx_error *error) {
    struct idxi_candidates *candidates = context;
    (void)error;
    candidates->compared = candidates->count;
    return IDX_OK;
}

/* Returns how many sets are found that have all members of the query. */
static size_t count_found(const struct idxi_postings *postings, const struct idxi_query *query) {
    struct idxi_candidates candidates = {0};
    struct idxi_set_search search = {.postings = postings,
                                     .query = query,
                                     .least = {UINT64_MAX, {1, 1}, IDXI_ANY, UINT32_MAX},
                                     .candidates = &candidates,
                                     .compare = pass_over,
                                     .context = &candidates,
                                     .end = UINT32_MAX};
    assert_ok(idxi_postings_find(&search, &failure));
    assert_true(candidates.visits[MEMBERS].count == UINT64_MAX); /* Signatures were looked through. */
    size_t count = candidates.count;
    idxi_candidates_free(&candidates);
    return count;
}

/* No signature stays of the sets that were there before, whose places other sets have now, or none. */
static void test_cleared(void **state) {
    const uint32_t tag = 7, members[MEMBERS] = {1, 2, 3, 4, 5, 6, 7, 8};
    const struct idxi_query query = {.size = MEMBERS,
                                     .shared = MEMBERS,
                                     .prefix = 1,
                                     .listed = 1,
                                     .min_to_contain = UINT64_MAX,
                                     .tags = &tag,
                                     .members = members};
    struct idxi_postings postings;
    (void)state;
    assert_ok(idxi_postings_init(&postings, 1, &failure));
    assert_ok(idxi_postings_make_signatures(&postings, &failure));
    add_sets(&postings, &query, BEFORE);
    assert_int_equal(count_found(&postings, &query), BEFORE);
    idxi_postings_clear(&postings);
    add_sets(&postings, &query, AFTER);
    assert_int_equal(count_found(&postings, &query), AFTER);
    idxi_postings_close(&postings);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cleared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
