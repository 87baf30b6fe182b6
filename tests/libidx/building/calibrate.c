/* calibrate.c: tests of measuring the machine: that what is found is plausible, and leaves nothing behind. */
#include <idx.h>
#include <idx_planning.h>

#include <sys/stat.h>

#include "tests/libidx/support.h"

/* Whatever the machine: probes take time, and lines that are far away more than near ones, most of all when each is
 * waited for. */
static void test_what_is_found(void **state) {
    struct idx_calibration found = IDX_CALIBRATION_INIT;
    const char *folder = path_in(*state, "empty");
    size_t last = IDX_CALIBRATION_SIZES - 1;
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_ok(idx_calibrate(&found, folder, &failure));
    assert_int_equal(count_entries(folder), 0);
    assert_true(found.probe > 1 && found.probe < 10000);
    assert_true(found.block + found.candidate > 0.1 && found.block < 1000 && found.candidate < 1000);
    assert_true(found.table >= 0 && found.byte >= 0 && found.single >= 0);
    assert_true(found.loaded_latencies[last] > 5 * found.loaded_latencies[0]);
    assert_true(found.mapped_latencies[last] > 5 * found.mapped_latencies[0]);
    assert_true(found.loaded_latencies[last] > found.loaded_waits[last]);
    assert_true(found.mapped_latencies[last] > found.mapped_waits[last]);
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    struct idx_plan plan[64];
    size_t count;
    options.count = 1000000;
    options.calibration = &found;
    assert_ok(idx_plan(&options, plan, LENGTH(plan), &count, &failure));
}

static void test_a_folder_that_is_not_there(void **state) {
    struct idx_calibration found = IDX_CALIBRATION_INIT;
    found.probe = 7;
    assert_status(IDX_NOT_FOUND, idx_calibrate(&found, path_in(*state, "nothing/here"), &failure));
    assert_true(found.probe == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_what_is_found),
        in_folder(test_a_folder_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
