/* time.c: tests of predicted times: by hand, of machines on which all but one thing takes none. */
#include <math.h>
#include <string.h>

#include "tests/libidx/plans.h"
#include "tests/libidx/support.h"

#include <idx_planning.h>

/* A machine on which all takes no time. */
static struct idx_calibration free_machine(void) {
    struct idx_calibration machine = IDX_CALIBRATION_INIT;
    machine.probe = 1e-12;
    return machine;
}

static void check_time(const struct idx_calibration *machine, uint32_t block_size, const char *text, double many,
                       double single) {
    struct idx_plan_options options = options_of(1 << 20, 64, 3);
    options.block_size = block_size;
    options.calibration = machine;
    struct idx_plan plan = price(&options, text);
    if (!is_near(plan.nanoseconds, many, 1e-6) || !is_near(plan.single_nanoseconds, single, 1e-6))
        fail_msg("%s: %g and %g, not %g and %g", text, plan.nanoseconds, plan.single_nanoseconds, many, single);
}

static void test_times_of_work(void **state) {
    (void)state;
    static const char *const texts[] = {"4:1", "5:2", "2:1:1"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct idx_plan_options options = options_of(1 << 20, 64, 3);
        struct idx_plan plan = price(&options, texts[i]);
        struct idx_calibration machine = free_machine();
        machine.table = 100;
        check_time(&machine, 64, texts[i], 100 * (double)plan.tables, 100 * (double)plan.tables);
        machine = free_machine();
        machine.probe = 100;
        check_time(&machine, 64, texts[i], 100 * plan.probes, 100 * plan.probes);
        machine = free_machine();
        machine.block = 100;
        check_time(&machine, 64, texts[i], 100 * (plan.blocks - plan.probes), 100 * (plan.blocks - plan.probes));
        machine = free_machine();
        machine.candidate = 100;
        check_time(&machine, 64, texts[i], 100 * plan.candidates, 100 * plan.candidates);
        machine = free_machine();
        machine.byte = 100;
        check_time(&machine, 256, texts[i], 100 * 192 * plan.probes, 100 * 192 * plan.probes);
        machine = free_machine();
        machine.single = 100;
        machine.table = 1;
        check_time(&machine, 64, texts[i], (double)plan.tables, (double)plan.tables + 100);
    }
}

static double time_in(struct idx_plan_options *options, enum idx_residence residence, const char *text) {
    options->residence = residence;
    return price(options, text).nanoseconds;
}

/* Waits that grow by 1 with each doubling of the bytes. */
static void test_times_of_waits(void **state) {
    (void)state;
    struct idx_calibration machine = free_machine();
    for (size_t i = 0; i < IDX_CALIBRATION_SIZES; i++) machine.mapped_waits[i] = 2 * (double)i;
    for (uint64_t count = 1 << 20; count <= UINT64_C(1) << 37; count *= 8) {
        struct idx_plan_options options = options_of(count, 64, 3);
        options.block_size = 4096;
        options.calibration = &machine;
        struct idx_plan plan = price(&options, "5:2");
        double files = log2(plan.table_bytes) - 16, lines = log2(plan.resident_bytes) - 16;
        assert_near(time_in(&options, IDX_RESIDENCE_DIRECTORY, "5:2"), 10 * files, 0.01);
        assert_near(time_in(&options, IDX_RESIDENCE_DISK, "5:2"), 10 * files, 0.01);
        if (lines > 4) assert_near(time_in(&options, IDX_RESIDENCE_NONE, "5:2"), 10 * (files + lines), 0.03);
        assert_true(time_in(&options, IDX_RESIDENCE_ALL, "5:2") < 1e-9);
        assert_near(price(&options, "5:2").single_nanoseconds, price(&options, "5:2").nanoseconds, 1e-9);
    }
}

/* The last flips of a probe of 2^20 fingerprints lead to blocks of the same page, which is not waited for again. */
static void test_near_probes_wait_less(void **state) {
    (void)state;
    struct idx_calibration machine = free_machine();
    for (size_t i = 0; i < IDX_CALIBRATION_SIZES; i++) machine.mapped_waits[i] = 10;
    struct idx_plan_options options = options_of(1 << 20, 64, 3);
    options.calibration = &machine;
    /* 17 bits are flipped, for groups of 8; 64 blocks of about 11 are within 6 bits of that: 11 are far. */
    assert_near(price(&options, "2:1:1").nanoseconds, 2 * (1 + 11) * 10, 1e-6);
}

static void refuse_calibration(const struct idx_calibration *machine) {
    struct idx_plan_options options = options_of(1000, 64, 3);
    options.calibration = machine;
    assert_status(IDX_INVALID_ARGUMENT, idx_plan(&options, plans, LENGTH(plans), &plan_count, &failure));
}

static void test_calibrations_that_are_wrong(void **state) {
    (void)state;
    struct idx_calibration machine = free_machine();
    machine.probe = 0;
    refuse_calibration(&machine);
    machine.probe = NAN;
    refuse_calibration(&machine);
    machine = free_machine();
    machine.table = -1;
    refuse_calibration(&machine);
    machine = free_machine();
    machine.mapped_latencies[IDX_CALIBRATION_SIZES - 1] = INFINITY;
    refuse_calibration(&machine);
    machine = free_machine();
    machine.loaded_waits[3] = -0.5;
    refuse_calibration(&machine);
    struct idx_plan_options options = options_of(1000, 64, 3);
    options.residence = (enum idx_residence)4;
    assert_status(IDX_INVALID_ARGUMENT, idx_plan(&options, plans, LENGTH(plans), &plan_count, &failure));
}

/* `auto` stays what it is on machines where the fastest is another one. */
static void test_auto_on_other_machines(void **state) {
    (void)state;
    char chosen[sizeof plans->scheme];
    double fastest[2] = {0, 0};
    struct idx_plan_options options = options_of(10000000, 64, 3);
    make_plans(&options);
    strcpy(chosen, chosen_plan()->scheme);
    for (size_t i = 0; i < 2; i++) {
        struct idx_calibration machine = free_machine();
        machine.probe = i == 0 ? 1000 : 1; /* few tables with long groups are best, or many with short ones */
        machine.candidate = i == 0 ? 0.01 : 100;
        options.calibration = &machine;
        make_plans(&options);
        assert_string_equal(chosen_plan()->scheme, chosen);
        fastest[i] = (double)plans[plan_count - 1].tables;
        for (size_t j = 1; j < plan_count; j++) assert_true(plans[j].tables >= plans[j - 1].tables);
    }
    assert_true(fastest[0] < fastest[1]);
    options.calibration = NULL;
    options.residence = IDX_RESIDENCE_ALL;
    make_plans(&options);
    assert_string_equal(chosen_plan()->scheme, chosen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_of_work),          cmocka_unit_test(test_times_of_waits),
        cmocka_unit_test(test_near_probes_wait_less),  cmocka_unit_test(test_calibrations_that_are_wrong),
        cmocka_unit_test(test_auto_on_other_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
