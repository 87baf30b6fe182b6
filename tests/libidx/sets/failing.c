/* failing.c: what becomes of sets that are compared when one call to the system fails, whichever it is: the status that
 * idx.h promises, nothing leaked, and the right answer to the same question afterwards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "tests/libidx/faults.h"
#include "tests/libidx/support.h"
#include "tests/random.h"

enum { SETS = 130, MEMBERS = 300 };

static uint64_t members[SETS][MEMBERS];

/* Sets of which many resemble others, and that the least memory does not hold. */
static void make_members(void) {
    uint64_t seed = 1;
    for (size_t i = 0; i < SETS; i++) {
        const uint64_t *other = i < 20 ? NULL : members[i - 1 - next_random(&seed) % 20];
        for (size_t j = 0; j < MEMBERS; j++)
            members[i][j] = other != NULL && j % 3 != i % 3 ? other[j] : next_random(&seed) % 5000;
    }
}

static bool count_pair(void *context, const struct idx_set_pair *pair) {
    *(uint64_t *)context += pair->shared;
    return true;
}

/* Adds every second set to further sets, and visits their pairs. */
static enum idx_status ask_half(struct idx_sets *sets, const struct idx_sets_options *options, uint64_t *answer) {
    uint64_t numbers[SETS / 2];
    struct idx_set_pair_options pairs = IDX_SET_PAIR_OPTIONS_INIT;
    struct idx_sets *half;
    pairs.threshold = 3000;
    for (size_t i = 0; i < SETS / 2; i++) numbers[i] = 2 * i;
    enum idx_status status = idx_sets_open(&half, options, &failure);
    if (status != IDX_OK) return status;
    status = idx_sets_add_from(half, sets, numbers, SETS / 2, &failure);
    if (status == IDX_OK) status = idx_sets_visit_pairs(half, &pairs, count_pair, answer, NULL, &failure);
    idx_sets_close(half);
    return status;
}

/* Finds which sets are needles that the first ones contain. */
static enum idx_status ask_needles(struct idx_sets *sets, uint64_t *answer) {
    const struct idx_needles_options options = {sizeof options, 3000, 0};
    const struct idx_needle_match *matches;
    struct idx_needle_finder *finder = NULL;
    struct idx_needles *needles = NULL;
    size_t count;
    enum idx_status status = idx_needles_open(&needles, sets, &options, NULL, &failure);
    if (status == IDX_OK) status = idx_needle_finder_open(&finder, needles, &failure);
    for (size_t i = 0; i < 10 && status == IDX_OK; i++) {
        status = idx_needles_find(finder, members[i], MEMBERS, &matches, &count, &failure);
        for (size_t j = 0; j < count && status == IDX_OK; j++) *answer += matches[j].needle * matches[j].shared;
    }
    idx_needle_finder_close(finder);
    idx_needles_close(needles);
    return status;
}

/* Adds all sets, and asks all questions. Sets *answer to a sum of all that is found. */
static enum idx_status ask_all(unsigned threads, uint64_t *answer) {
    static struct idx_kept_set kept[SETS];
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
    struct idx_set_pair_options pairs = {sizeof pairs, 3000, 5000, 5};
    struct idx_sets *sets;
    uint64_t ignored = 0;
    options.threads = threads;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    keep.threshold = 3000;
    keep.prefer_copies = true;
    *answer = 0;
    enum idx_status status = idx_sets_open(&sets, &options, &failure);
    if (status != IDX_OK) return status;
    for (size_t i = 0; i < SETS && status == IDX_OK; i++) status = idx_sets_add(sets, members[i], MEMBERS, &failure);
    if (status == IDX_OK) status = idx_sets_ignore_common(sets, 12, &ignored, &failure);
    if (status == IDX_OK) status = idx_sets_keep(sets, &keep, kept, NULL, &failure);
    for (size_t i = 0; i < SETS && status == IDX_OK; i++) *answer += kept[i].kept * kept[i].shared + ignored;
    keep.contained = 5000;
    if (status == IDX_OK) status = idx_sets_keep(sets, &keep, kept, NULL, &failure);
    for (size_t i = 0; i < SETS && status == IDX_OK; i++) *answer += kept[i].kept * kept[i].shared;
    if (status == IDX_OK) status = idx_sets_visit_pairs(sets, &pairs, count_pair, answer, NULL, &failure);
    if (status == IDX_OK) status = ask_half(sets, &options, answer);
    if (status == IDX_OK) status = ask_needles(sets, answer);
    idx_sets_close(sets);
    return status;
}

/* ---- Sets that are compared by signatures ---- */

/* Forms: sets of half of 20 frames each. All are compared with most of the others, and therefore get signatures at the
 * end of the block. Three large sets, which are like no other, fill the first block, so that there is a second one. */
enum { FORMS = 200, FRAMES = 20, FRAME_MEMBERS = 6, LARGE = 3, LARGE_MEMBERS = (1 << 16) + 1 };

static struct idx_sets *forms;

static void add_form(uint64_t *seed) {
    uint64_t form[FRAMES / 2 * FRAME_MEMBERS];
    size_t size = 0;
    for (uint64_t left = FRAMES, wanted = FRAMES / 2; left > 0; left--) {
        if (next_random(seed) % left >= wanted) continue;
        for (uint64_t j = 0; j < FRAME_MEMBERS; j++) form[size++] = left * FRAME_MEMBERS + j;
        wanted--;
    }
    assert_ok(idx_sets_add(forms, form, size, &failure));
}

static void open_forms(void) {
    static uint64_t large[LARGE_MEMBERS];
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    uint64_t seed = 1;
    options.threads = 1;
    assert_ok(idx_sets_open(&forms, &options, &failure));
    for (size_t i = 0; i < FORMS; i++) add_form(&seed);
    for (uint64_t i = 0; i < LARGE; i++) {
        for (uint64_t j = 0; j < LARGE_MEMBERS; j++) large[j] = (i + 1) << 32 | j;
        assert_ok(idx_sets_add(forms, large, LARGE_MEMBERS, &failure));
    }
    for (size_t i = 0; i < FORMS; i++) add_form(&seed);
}

/* Visits the pairs of the forms. */
static enum idx_status ask_forms(unsigned threads, uint64_t *answer) {
    const struct idx_set_pair_options pairs = {sizeof pairs, 6000, 0, 0};
    (void)threads;
    *answer = 0;
    return idx_sets_visit_pairs(forms, &pairs, count_pair, answer, NULL, &failure);
}

/* ---- Failing ---- */

static bool is_promised(enum fault_kind kind, enum idx_status status) {
    switch (kind) {
        case FAULT_ALLOCATION:
        case FAULT_MAP: return status == IDX_OUT_OF_MEMORY;
        case FAULT_WRITE: return status == IDX_DISK_FULL;
        default: return status == IDX_IO_ERROR;
    }
}

/* Fails each call of a kind in turn, with a sanitizer every seventh one. A call whose failure changes nothing leaves
 * the answer as it is. */
static void check_kind(enum fault_kind kind, int number, unsigned threads,
                       enum idx_status (*ask)(unsigned threads, uint64_t *answer)) {
    uint64_t expected, answer;
    assert_ok(ask(threads, &expected));
    assert_true(expected > 0);
    for (size_t after = 0;; after += is_sanitized() ? 7 : 1) {
        arm(kind, after, 1, number);
        enum idx_status status = ask(threads, &answer);
        size_t failures = disarm();
        if (failures == 0) break;
        if (status == IDX_OK && kind == FAULT_THREAD) {
            assert_int_equal(answer, expected);
            continue;
        }
        if (!is_promised(kind, status))
            fail_msg("call %zu of kind %d, %u threads: status %d, %s", after, (int)kind, threads, (int)status,
                     status == IDX_OK ? "" : failure.sentence);
        assert_int_equal(failure.status, status);
    }
    assert_ok(ask(threads, &answer));
    assert_int_equal(answer, expected);
}

static void test_memory(void **state) {
    (void)state;
    check_kind(FAULT_ALLOCATION, ENOMEM, 1, ask_all);
    check_kind(FAULT_MAP, ENOMEM, 1, ask_all);
}

static void test_signatures(void **state) {
    (void)state;
    open_forms();
    check_kind(FAULT_ALLOCATION, ENOMEM, 1, ask_forms);
    idx_sets_close(forms);
}

static void test_files(void **state) {
    (void)state;
    check_kind(FAULT_OPEN, EMFILE, 1, ask_all);
    check_kind(FAULT_READ, EIO, 1, ask_all);
    check_kind(FAULT_WRITE, ENOSPC, 1, ask_all);
    check_kind(FAULT_READ, EIO, 2, ask_all);
}

static void test_threads(void **state) {
    (void)state;
    check_kind(FAULT_THREAD, EAGAIN, 3, ask_all);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory), cmocka_unit_test(test_signatures),
                                       cmocka_unit_test(test_files), cmocka_unit_test(test_threads)};
    make_members();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
