/* processor.c: tests of the instructions that are found: against /proc/cpuinfo on this processor, and by the registers
 * of other processors. */
#include "format/processor.h"
#include "format/block.h"

#include "tests/format/testing.h"

#include <pthread.h>
#include <stdio.h>

#ifdef IDXF_X86
/* ---- Threads ---- */

static void *ask(void *found) {
    *(unsigned *)found = idxf_get_instructions();
    return NULL;
}

/* The first calls, all at once: the thread sanitizer watches. */
static void test_threads(void **state) {
    (void)state;
    pthread_t threads[8];
    unsigned found[COUNT_OF(threads)];
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &found[i]), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++) assert_int_equal(found[i], idxf_get_instructions());
}

/* ---- This processor ---- */

/* By the names of /proc/cpuinfo. */
static const struct {
    const char *flag;
    unsigned instruction;
} flags[] = {
    {"popcnt", IDXF_HAS_POPCNT},
    {"abm", IDXF_HAS_LZCNT},
    {"bmi1", IDXF_HAS_BMI1},
    {"bmi2", IDXF_HAS_BMI2},
    {"avx2", IDXF_HAS_AVX2},
    {"avx512f", IDXF_HAS_AVX512F},
    {"avx512bw", IDXF_HAS_AVX512BW},
    {"avx512dq", IDXF_HAS_AVX512DQ},
    {"avx512vl", IDXF_HAS_AVX512VL},
    {"avx512vbmi", IDXF_HAS_AVX512VBMI},
    {"avx512_vbmi2", IDXF_HAS_AVX512VBMI2},
    {"avx512_vpopcntdq", IDXF_HAS_AVX512VPOPCNTDQ},
};

/* The flags of the first processor, each between spaces; empty where the system does not say. */
static void read_flags(char *line, size_t size) {
    line[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) return;
    while (fgets(line, (int)size, file) != NULL && strncmp(line, "flags\t", 6) != 0) line[0] = '\0';
    fclose(file);
    line[strcspn(line, "\n")] = ' ';
}

static bool has_flag(const char *line, const char *flag) {
    char word[32];
    snprintf(word, sizeof word, " %s ", flag);
    return strstr(line, word) != NULL;
}

static void test_this_processor(void **state) {
    (void)state;
    static char line[1 << 16];
    read_flags(line, sizeof line);
    if (!has_flag(line, "fpu")) skip();
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        bool found = (idxf_get_instructions() & flags[i].instruction) != 0;
        if (found != has_flag(line, flags[i].flag)) fail_msg("%s: %s", flags[i].flag, found ? "found" : "not found");
    }
    bool bmi2 = has_flag(line, "popcnt") && has_flag(line, "bmi1") && has_flag(line, "bmi2");
    assert_int_equal(idxf_has_bmi2(), bmi2);
    assert_int_equal(idxf_has_avx2(), has_flag(line, "avx2"));
    assert_int_equal(idxf_has_avx512(), bmi2 && has_flag(line, "avx512f") && has_flag(line, "avx512bw") &&
                                            has_flag(line, "avx512dq") && has_flag(line, "avx512vl") &&
                                            has_flag(line, "avx512vbmi") && has_flag(line, "avx512_vbmi2") &&
                                            has_flag(line, "avx512_vpopcntdq"));
}

/* ---- Other processors ---- */

/* The bits that the decoder reads, all 1 and the rest 0; then the other way round. */
static const struct idxf_cpuid wide = {
    .leaf_1_ecx = 1u << 23,
    .leaf_7_ebx = 1u << 3 | 1u << 5 | 1u << 8 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31,
    .leaf_7_ecx = 1u << 1 | 1u << 6 | 1u << 14,
    .leaf_80000001_ecx = 1u << 5,
    .xcr0 = 0xE7,
};
static const struct idxf_cpuid everything_else = {
    .leaf_1_ecx = ~(1u << 23),
    .leaf_7_ebx = ~(1u << 3 | 1u << 5 | 1u << 8 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31),
    .leaf_7_ecx = ~(1u << 1 | 1u << 6 | 1u << 14),
    .leaf_80000001_ecx = ~(1u << 5),
    .xcr0 = UINT64_MAX,
};

static void test_bits(void **state) {
    (void)state;
    static const struct idxf_cpuid nothing;
    assert_int_equal(idxf_decode_cpuid(&nothing), 0);
    assert_int_equal(idxf_decode_cpuid(&everything_else), 0);
    assert_int_equal(idxf_decode_cpuid(&wide), IDXF_AVX512_SET);
    static const struct {
        struct idxf_cpuid bit;
        unsigned instruction;
    } bits[] = {
        {{.leaf_1_ecx = 1u << 23}, IDXF_HAS_POPCNT},     {{.leaf_80000001_ecx = 1u << 5}, IDXF_HAS_LZCNT},
        {{.leaf_7_ebx = 1u << 3}, IDXF_HAS_BMI1},        {{.leaf_7_ebx = 1u << 8}, IDXF_HAS_BMI2},
        {{.leaf_7_ebx = 1u << 5}, IDXF_HAS_AVX2},        {{.leaf_7_ebx = 1u << 16}, IDXF_HAS_AVX512F},
        {{.leaf_7_ebx = 1u << 17}, IDXF_HAS_AVX512DQ},   {{.leaf_7_ebx = 1u << 30}, IDXF_HAS_AVX512BW},
        {{.leaf_7_ebx = 1u << 31}, IDXF_HAS_AVX512VL},   {{.leaf_7_ecx = 1u << 1}, IDXF_HAS_AVX512VBMI},
        {{.leaf_7_ecx = 1u << 6}, IDXF_HAS_AVX512VBMI2}, {{.leaf_7_ecx = 1u << 14}, IDXF_HAS_AVX512VPOPCNTDQ},
    };
    for (size_t i = 0; i < COUNT_OF(bits); i++) {
        struct idxf_cpuid cpuid = bits[i].bit;
        cpuid.xcr0 = 0xE7;
        assert_int_equal(idxf_decode_cpuid(&cpuid), bits[i].instruction);
    }
}

/* Wide instructions are of no use where the system does not save all of their registers. */
static void test_saved_registers(void **state) {
    (void)state;
    const unsigned plain = IDXF_BMI2_SET;
    for (uint64_t xcr0 = 0; xcr0 < 256; xcr0++) {
        struct idxf_cpuid cpuid = wide;
        unsigned expected = plain;
        cpuid.xcr0 = xcr0;
        if ((xcr0 & 0x06) == 0x06) expected |= IDXF_HAS_AVX2;
        if ((xcr0 & 0xE6) == 0xE6) expected |= IDXF_AVX512_SET;
        assert_int_equal(idxf_decode_cpuid(&cpuid), expected);
    }
}
#endif

/* ---- The choice ---- */

/* Look-ups take the last way. */
static void test_name(void **state) {
    (void)state;
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    assert_string_equal(ways[idxf_list_decoder_ways(ways) - 1]->name, idxf_get_instructions_name());
}

int main(void) {
    const struct CMUnitTest tests[] = {
#ifdef IDXF_X86
        cmocka_unit_test(test_threads), cmocka_unit_test(test_this_processor),
        cmocka_unit_test(test_bits),    cmocka_unit_test(test_saved_registers),
#endif
        cmocka_unit_test(test_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
