/* set_recipe.c: a recipe that a writer gives to an empty index: what it holds for, and who sees it. */
#include <string.h>

#include "tests/libidx/support.h"

#define assert_recipe(view, wanted)                                                                                    \
    do {                                                                                                               \
        struct idx_properties properties;                                                                              \
        idx_get_properties(view, &properties);                                                                         \
        assert_string_equal(properties.recipe, wanted);                                                                \
    } while (0)

static const struct idx_item item = {.fingerprint = 7, .id = "a", .id_length = 1};

static struct idx_writer *open_empty(const char *path, const char *recipe) {
    struct idx_build_options options = options_for(64, 1, "2:1");
    options.recipe = recipe;
    build_index(path, &options, NULL, 0);
    return open_simple_writer(path);
}

static bool is_empty(const struct idx_index *view) {
    struct idx_properties properties;
    idx_get_properties(view, &properties);
    return properties.is_empty;
}

/* The recipe is there before the first document, older views see it once they are refreshed, and it stays. */
static void test_given(void **state) {
    const char *path = path_in(*state, "x.idx");
    struct idx_writer *writer = open_empty(path, NULL);
    struct idx_index *elder = open_index(path, IDX_RESIDENCE_NONE), *newer, *newest;
    bool replaced;
    assert_true(is_empty(elder));
    assert_ok(idx_writer_set_recipe(writer, "mine", &failure));
    assert_ok(idx_replaced(elder, &replaced, &failure));
    assert_true(replaced);
    assert_ok(idx_refresh(elder, &newer, &failure));
    assert_recipe(elder, "");
    assert_recipe(newer, "mine");
    assert_recipe(idx_writer_view(writer), "mine");
    assert_ok(idx_writer_set_recipe(writer, "mine", &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_set_recipe(writer, "other", &failure));
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    assert_ok(idx_writer_set_recipe(writer, "mine", &failure));
    assert_ok(idx_refresh(newer, &newest, &failure));
    assert_recipe(newest, "mine");
    assert_false(is_empty(newest));
    idx_writer_close(writer);
    assert_ok(idx_compact(path, NULL, NULL, &failure));
    idx_close(newest);
    newest = open_index(path, IDX_RESIDENCE_NONE);
    assert_recipe(newest, "mine");
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    idx_close(newest);
    idx_close(newer);
    idx_close(elder);
}

/* An index that has had documents does not take one, whether they are pending, compacted, removed, or built. */
static void test_not_empty(void **state) {
    const char *path = path_in(*state, "x.idx"), *built = path_in(*state, "y.idx");
    static const uint64_t fingerprints[] = {1};
    struct idx_removal removal;
    struct idx_writer *writer = open_empty(path, NULL);
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_set_recipe(writer, "mine", &failure));
    assert_ok(idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, &item, 1, &removal, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_set_recipe(writer, "mine", &failure));
    idx_writer_close(writer);
    assert_ok(idx_compact(path, NULL, NULL, &failure));
    writer = open_simple_writer(path);
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_set_recipe(writer, "mine", &failure));
    assert_recipe(idx_writer_view(writer), "");
    idx_writer_close(writer);
    build_index(built, NULL, fingerprints, 1);
    writer = open_simple_writer(built);
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_set_recipe(writer, "mine", &failure));
    idx_writer_close(writer);
}

/* Without a recipe it stays unknown, or another one stays. */
static void test_unknown(void **state) {
    struct idx_writer *writer = open_empty(path_in(*state, "x.idx"), NULL);
    assert_ok(idx_writer_set_recipe(writer, NULL, &failure));
    assert_recipe(idx_writer_view(writer), "");
    assert_ok(idx_writer_set_recipe(writer, "mine", &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_set_recipe(writer, NULL, &failure));
    assert_recipe(idx_writer_view(writer), "mine");
    idx_writer_close(writer);
}

/* An index for distances above 0 takes no recipe whose fingerprints are hashes. */
static void test_too_far(void **state) {
    struct idx_writer *writer = open_empty(path_in(*state, "x.idx"), NULL);
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_set_recipe(writer, "minhash:8;words=5;v1", &failure));
    assert_string_equal(failure.sentence,
                        "fingerprints of the recipe 'minhash:8;words=5;v1' are hashes, which are equal or unrelated, "
                        "so an index of them has k = 0, not 1");
    assert_recipe(idx_writer_view(writer), "");
    idx_writer_close(writer);
}

/* What a builder refuses is refused, and a builder's recipe stays. */
static void test_refused(void **state) {
    char longest[IDX_MAX_RECIPE_BYTES + 2];
    struct idx_writer *writer = open_empty(path_in(*state, "x.idx"), "built");
    memset(longest, 'r', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_set_recipe(writer, longest, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_set_recipe(writer, "a\nb", &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_set_recipe(writer, "mine", &failure));
    assert_recipe(idx_writer_view(writer), "built");
    idx_writer_close(writer);
    writer = open_empty(path_in(*state, "y.idx"), NULL);
    longest[sizeof longest - 2] = '\0';
    assert_ok(idx_writer_set_recipe(writer, longest, &failure));
    assert_recipe(idx_writer_view(writer), longest);
    idx_writer_close(writer);
}

int main(void) {
    const struct CMUnitTest tests[] = {in_folder(test_given), in_folder(test_not_empty), in_folder(test_unknown),
                                       in_folder(test_too_far), in_folder(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
