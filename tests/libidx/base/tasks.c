/* tasks.c: tests of idx_run_tasks: each task runs once, on a thread whose number no other task has meanwhile; the first
 * error ends it. */
#include <stdatomic.h>

#include "tests/libidx/support.h"

#define TASKS 1000
#define THREADS 7

struct board {
    atomic_uint runs[TASKS];   /* of each task */
    atomic_uint busy[THREADS]; /* tasks that run on each thread */
    atomic_uint clashes;
    size_t fails_at; /* TASKS: none does */
};

static enum idx_status run(void *context, size_t number, unsigned thread, struct idx_error *error) {
    struct board *board = context;
    if (thread >= THREADS || number >= TASKS) {
        board->clashes++;
        return IDX_OK;
    }
    if (atomic_fetch_add(&board->busy[thread], 1) > 0) board->clashes++;
    board->runs[number]++;
    board->busy[thread]--;
    if (number < board->fails_at) return IDX_OK;
    *error = (struct idx_error){.status = IDX_LIMIT, .sentence = "too far"};
    return IDX_LIMIT;
}

static void test_each_once(void **state) {
    static const size_t counts[] = {0, 1, 6, 7, 8, TASKS};
    (void)state;
    for (unsigned threads = 1; threads <= THREADS; threads++) {
        for (size_t i = 0; i < LENGTH(counts); i++) {
            struct board board = {.fails_at = TASKS};
            assert_ok(idx_run_tasks(counts[i], threads, run, &board, NULL, NULL, &failure));
            for (size_t task = 0; task < TASKS; task++) assert_int_equal(board.runs[task], task < counts[i]);
            assert_int_equal(board.clashes, 0);
        }
    }
}

/* All tasks before the one that fails are run, and with one thread none behind it. */
static void test_failing(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= THREADS; threads++) {
        struct board board = {.fails_at = 500};
        assert_status(IDX_LIMIT, idx_run_tasks(TASKS, threads, run, &board, NULL, NULL, &failure));
        assert_string_equal(failure.sentence, "too far");
        for (size_t task = 0; task <= 500; task++) assert_int_equal(board.runs[task], 1);
        if (threads == 1) assert_int_equal(board.runs[501], 0);
    }
}

static bool cancel(void *context, const struct idx_progress *progress) {
    *(struct idx_progress *)context = *progress;
    return false;
}

static void test_cancelling(void **state) {
    struct board board = {.fails_at = TASKS};
    struct idx_progress told;
    (void)state;
    assert_status(IDX_CANCELLED, idx_run_tasks(TASKS, 2, run, &board, cancel, &told, &failure));
    assert_int_equal(told.phase, IDX_PHASE_TASKS);
    assert_int_equal(told.done, 0);
    assert_int_equal(told.total, TASKS);
    assert_int_equal(board.runs[0], 0);
}

static void test_numbers_of_threads(void **state) {
    struct board board = {.fails_at = TASKS};
    (void)state;
    assert_status(IDX_INVALID_ARGUMENT, idx_run_tasks(1, 0, run, &board, NULL, NULL, &failure));
    assert_string_equal(failure.sentence, "0 threads: the number must be 1 to 256");
    assert_status(IDX_INVALID_ARGUMENT, idx_run_tasks(1, IDX_MAX_THREADS + 1, run, &board, NULL, NULL, &failure));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once),
        cmocka_unit_test(test_failing),
        cmocka_unit_test(test_cancelling),
        cmocka_unit_test(test_numbers_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
