/* code.c: tests of the position code: the choice of classes and lengths against all others, codes against the model,
 * and each rule. */
#include "format/code.h"

#include "tests/format/blocks.h"

/* ---- Counting ---- */

static void test_differences_are_counted(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 1;
    for (unsigned bits = 1; bits <= 64; bits++) {
        size_t count = make_set((enum shape)(bits % SHAPES), bits, 500, &random, set);
        struct idxf_difference_counts counts = {{0}}, expected = {{0}};
        expected.of[7] = counts.of[7] = 5;
        for (size_t i = 1; i < count; i++)
            expected.of[count_width((set[i] >> (64 - bits)) - (set[i - 1] >> (64 - bits)))]++;
        idxf_count_differences(&counts, set[0], set + 1, count - 1, bits);
        assert_memory_equal(&counts, &expected, sizeof counts);
    }
}

/* ---- What differences take ---- */

/* Known, and against the model, one count after the other. */
static void test_cost(void **state) {
    (void)state;
    uint64_t random = 6;
    const struct idxf_code known = {2, {2, 2, 2, 2}};
    const struct idxf_difference_counts few = {.of = {[1] = 1, [2] = 2, [3] = 10, [4] = 100, [5] = 1000, [8] = 10000}};
    struct idxf_code_cost cost = idxf_code_compute_cost(&known, &few, 8);
    assert_int_equal(cost.codes, 11113 * 2);
    assert_int_equal(cost.tails, 3 * 2 + 10 * 2 + 100 * 3 + 11000 * 8);
    for (unsigned round = 0; round < 5000; round++) {
        struct idxf_code code;
        unsigned bits = 1 + round % 64;
        struct idxf_difference_counts counts = {{0}};
        uint64_t codes = 0, tails = 0;
        make_any_code(&code, bits, &random);
        struct model_code model = model_make_code(&code, bits);
        for (unsigned width = 1; width <= bits; width++) {
            counts.of[width] = next_random(&random) >> (20 + next_random(&random) % 44);
            unsigned class = model_find_class(&model, UINT64_C(1) << (width - 1));
            if (class == model.count) continue;
            codes += counts.of[width] * model.classes[class].length;
            tails += counts.of[width] * model.classes[class].tail;
        }
        cost = idxf_code_compute_cost(&code, &counts, bits);
        assert_true(cost.codes == codes && cost.tails == tails);
    }
}

/* Codes are long where a full block would have more than 64 bits of them. */
static void test_need_of_long_codes(void **state) {
    (void)state;
    uint64_t random = 7;
    unsigned needed = 0;
    for (unsigned round = 0; round < 20000; round++) {
        unsigned bits = 1 + round % 64;
        struct idxf_block_form form = {.bits = bits, .block_size = 64u << round % 3 / 2, .long_codes = round % 2};
        struct idxf_difference_counts counts = {{0}};
        form.anchor_bits = 1 + (unsigned)(next_random(&random) % (bits < 63 ? bits : 63));
        for (unsigned some = 1 + round % 5; some > 0; some--)
            counts.of[1 + next_random(&random) % bits] += next_random(&random) >> (24 + next_random(&random) % 40);
        if (round % 3 == 0)
            make_any_code(&form.code, bits, &random);
        else
            idxf_code_choose(&form.code, &counts, bits);
        struct idxf_code_cost cost = idxf_code_compute_cost(&form.code, &counts, bits);
        wide room = 512 - form.anchor_bits;
        bool expected = form.block_size == 64 && room * cost.codes > (wide)64 * (cost.codes + cost.tails);
        assert_int_equal(idxf_needs_long_codes(&form, &counts), expected);
        needed += expected;
    }
    assert_in_range(needed, 1000, 15000);
    /* 64 of 448 bits, and a little more */
    struct idxf_block_form form = {63, 62, 64, {0, {1, 1}}, false};
    struct idxf_difference_counts counts = {{0}};
    assert_false(idxf_needs_long_codes(&form, &counts));
    form = (struct idxf_block_form){64, 63, 64, {6, {1, 1}}, false};
    counts.of[6] = 1000;
    assert_true(idxf_needs_long_codes(&form, &counts)); /* 449 / 7 */
    form.code.near_bits = 7;
    assert_false(idxf_needs_long_codes(&form, &counts));
    form = (struct idxf_block_form){64, 63, 128, {0, {2, 1, 2}}, false};
    assert_false(idxf_needs_long_codes(&form, &counts));
}

/* ---- The choice ---- */

/* The bits of the codes for these classes, by the least that `used` of 64 parts of the code can take for the first i.
 */
static uint64_t least_code_bits(const uint64_t *weights, unsigned count) {
    uint64_t least[2][65];
    for (unsigned used = 0; used <= 64; used++) least[0][used] = used == 0 ? 0 : UINT64_MAX;
    for (unsigned i = 0; i < count; i++) {
        uint64_t *now = least[i % 2], *next = least[(i + 1) % 2];
        for (unsigned used = 0; used <= 64; used++) next[used] = UINT64_MAX;
        for (unsigned used = 0; used < 64; used++) {
            for (unsigned length = 1; length <= 6 && now[used] != UINT64_MAX; length++) {
                unsigned more = used + (64u >> length);
                uint64_t bits = now[used] + weights[i] * length;
                if (more <= 64 && bits < next[more]) next[more] = bits;
            }
        }
    }
    return least[count % 2][64];
}

/* The bits of all differences with these classes, each of which counts as used once. */
static uint64_t count_bits(const struct idxf_difference_counts *counts, unsigned near_bits, unsigned classes,
                           unsigned bits, const uint8_t *lengths) {
    uint64_t weights[64] = {0}, total = 0;
    unsigned longest = model_longest_tail(bits);
    for (unsigned width = 1; width <= longest; width++) {
        unsigned class = 0;
        if (width > near_bits) class = width - near_bits < classes - 1 ? width - near_bits : classes - 1;
        weights[class] += counts->of[width];
    }
    for (unsigned i = 0; i < classes; i++) {
        if (weights[i] == 0) weights[i] = 1;
        total += weights[i] * (i == 0 ? near_bits : i == classes - 1 ? longest : near_bits + i - 1);
        if (lengths != NULL) total += weights[i] * lengths[i];
    }
    return total + (lengths == NULL ? least_code_bits(weights, classes) : 0);
}

static unsigned count_classes(const struct idxf_code *code) {
    unsigned count = 0;
    while (count < 64 && code->lengths[count] > 0) count++;
    return count;
}

static void check_choice(const struct idxf_difference_counts *counts, unsigned bits) {
    struct idxf_code code;
    unsigned longest = model_longest_tail(bits);
    uint64_t least = UINT64_MAX;
    memset(&code, 0xA5, sizeof code);
    idxf_code_choose(&code, counts, bits);
    assert_fault(idxf_code_check(&code, bits), IDXF_OK);
    for (unsigned near_bits = 0; near_bits <= longest; near_bits++) {
        for (unsigned classes = 2; near_bits + classes - 2 <= longest; classes++) {
            uint64_t total = count_bits(counts, near_bits, classes, bits, NULL);
            if (total < least) least = total;
        }
    }
    assert_int_equal(count_bits(counts, code.near_bits, count_classes(&code), bits, code.lengths), least);
}

static void test_choice_is_the_best(void **state) {
    (void)state;
    uint64_t random = 2;
    for (unsigned round = 0; round < 2000; round++) {
        unsigned bits = 1 + round % 12;
        struct idxf_difference_counts counts = {{0}};
        for (unsigned width = 1; width <= bits; width++) {
            if (next_random(&random) % 4 != 0) counts.of[width] = next_random_of_any_size(&random) >> 30 >> round % 32;
        }
        check_choice(&counts, bits);
    }
}

static void test_choice_for_many_bits(void **state) {
    (void)state;
    uint64_t random = 3;
    for (unsigned round = 0; round < 12; round++) {
        unsigned bits = round % 2 ? 64 : 13 + (unsigned)(next_random(&random) % 51);
        struct idxf_difference_counts counts = {{0}};
        for (unsigned width = 1; width <= bits; width++)
            counts.of[width] = next_random(&random) >> (24 + round % 3 * 15);
        if (round >= 6) memset(counts.of, 0, (bits / 2 + 1) * sizeof *counts.of);
        if (round >= 10) memset(counts.of + bits / 2 + 3, 0, (bits / 2 - 3) * sizeof *counts.of);
        check_choice(&counts, bits);
    }
}

/* One difference, or none; and those that no class holds, which don't count. */
static void test_choice_for_few(void **state) {
    (void)state;
    static const unsigned all_bits[] = {1, 2, 3, 8, 31, 57, 64};
    for (size_t i = 0; i < COUNT_OF(all_bits); i++) {
        for (unsigned width = 0; width <= all_bits[i]; width += 1 + width / 4) {
            struct idxf_difference_counts counts = {{0}};
            counts.of[width] = width > 0;
            check_choice(&counts, all_bits[i]);
            counts.of[width] *= 1000;
            check_choice(&counts, all_bits[i]);
        }
    }
    struct idxf_difference_counts counts = {{0}};
    for (unsigned width = 58; width <= 64; width++) counts.of[width] = UINT64_C(1) << 40;
    counts.of[20] = 10;
    counts.of[21] = 12;
    check_choice(&counts, 64);
}

/* ---- Rules ---- */

static enum idxf_fault check_rules(const struct idxf_code *code, unsigned bits) {
    unsigned count = count_classes(code), longest = model_longest_tail(bits);
    double sum = 0;
    for (unsigned i = 0; i < 64; i++) {
        if (i >= count && code->lengths[i] != 0) return IDXF_FAULT_CODE;
        if (code->lengths[i] > 6) return IDXF_FAULT_CODE;
        if (i < count) sum += 1.0 / (1 << code->lengths[i]);
    }
    if (count < 2 || code->near_bits + (int)count - 2 > (int)longest) return IDXF_FAULT_CODE;
    return sum == 1 ? IDXF_OK : IDXF_FAULT_CODE; /* sums of so few bits are exact */
}

static void test_known_rules(void **state) {
    (void)state;
    static const struct {
        unsigned bits;
        struct idxf_code code;
        enum idxf_fault fault;
    } cases[] = {
        {8, {2, {2, 2, 2, 2}}, IDXF_OK},
        {8, {2, {3, 3, 2, 1}}, IDXF_OK},
        {4, {2, {2, 2, 2, 2}}, IDXF_OK},
        {3, {2, {2, 2, 2, 2}}, IDXF_FAULT_CODE}, /* a class beyond f */
        {8, {2, {2, 2, 2}}, IDXF_FAULT_CODE},
        {8, {2, {2, 2, 2, 1}}, IDXF_FAULT_CODE},
        {8, {2, {0}}, IDXF_FAULT_CODE},
        {8, {2, {1}}, IDXF_FAULT_CODE},
        {8, {2, {0, 1, 1}}, IDXF_FAULT_CODE},
        {8, {2, {1, 1, 0, 1}}, IDXF_FAULT_CODE},
        {8, {2, {1, 1, [63] = 1}}, IDXF_FAULT_CODE},
        {8, {2, {1, 2, 3, 4, 5, 6, 6}}, IDXF_OK},
        {8, {1, {1, 2, 3, 4, 5, 6, 7, 7}}, IDXF_FAULT_CODE},
        {8, {2, {1, 255, 3}}, IDXF_FAULT_CODE},
        {1, {0, {1, 1}}, IDXF_OK},
        {1, {1, {1, 1}}, IDXF_OK},
        {1, {2, {1, 1}}, IDXF_FAULT_CODE},
        {64, {57, {1, 1}}, IDXF_OK},
        {64, {58, {1, 1}}, IDXF_FAULT_CODE},
        {64, {255, {1, 1}}, IDXF_FAULT_CODE},
        {56, {57, {1, 1}}, IDXF_FAULT_CODE},
        {64, {56, {1, 2, 2}}, IDXF_OK},
        {64, {57, {1, 2, 2}}, IDXF_FAULT_CODE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_fault(idxf_code_check(&cases[i].code, cases[i].bits), cases[i].fault);
        assert_fault(check_rules(&cases[i].code, cases[i].bits), cases[i].fault);
    }
}

/* As many classes as there are codes of six bits would be more than there are widths. */
static void test_most_classes(void **state) {
    (void)state;
    struct idxf_code code = {0, {0}};
    memset(code.lengths, 6, 64);
    assert_fault(idxf_code_check(&code, 64), IDXF_FAULT_CODE);
    memset(code.lengths, 5, 5); /* 59 classes are the most */
    memset(code.lengths + 59, 0, 5);
    assert_fault(idxf_code_check(&code, 64), IDXF_OK);
    assert_fault(idxf_code_check(&code, 57), IDXF_OK);
    assert_fault(idxf_code_check(&code, 56), IDXF_FAULT_CODE);
    code.near_bits = 1;
    assert_fault(idxf_code_check(&code, 64), IDXF_FAULT_CODE);
}

static void test_changed_codes(void **state) {
    (void)state;
    uint64_t random = 4;
    unsigned valid = 0;
    for (unsigned round = 0; round < 50000; round++) {
        struct idxf_code code;
        unsigned bits = 1 + (unsigned)(next_random(&random) % 64);
        make_any_code(&code, bits, &random);
        for (uint64_t changes = next_random(&random) % 3; changes > 0; changes--) {
            uint64_t any = next_random(&random);
            code.lengths[any % 8 ? any / 8 % 5 : any / 8 % 64] = (uint8_t)(any / 1024 % 9);
        }
        if (round % 3 == 0) code.near_bits = (uint8_t)(next_random(&random) % 66);
        enum idxf_fault expected = check_rules(&code, bits);
        valid += expected == IDXF_OK;
        assert_fault(idxf_code_check(&code, bits), expected);
    }
    assert_in_range(valid, 10000, 40000);
}

/* ---- Codes ---- */

static void check_class(const struct idxf_class *class, const char *code, unsigned tail, bool leads) {
    assert_int_equal(class->length, strlen(code));
    assert_int_equal(class->tail, tail);
    assert_int_equal(class->leads, leads);
    for (unsigned bit = 0; bit < 8; bit++)
        assert_int_equal(class->code >> bit & 1, bit < class->length && code[bit] == '1');
}

/* The examples of SPEC.md. */
static void test_known_codes(void **state) {
    (void)state;
    struct idxf_class classes[IDXF_CLASSES];
    const struct idxf_code even = {2, {2, 2, 2, 2}}, uneven = {2, {3, 3, 2, 1}};
    assert_int_equal(idxf_code_list_classes(&even, 8, classes), 4);
    check_class(&classes[0], "00", 2, false);
    check_class(&classes[1], "01", 2, true);
    check_class(&classes[2], "10", 3, true);
    check_class(&classes[3], "11", 8, false);
    assert_int_equal(idxf_code_list_classes(&uneven, 8, classes), 4);
    check_class(&classes[0], "000", 2, false);
    check_class(&classes[1], "001", 2, true);
    check_class(&classes[2], "01", 3, true);
    check_class(&classes[3], "1", 8, false);
}

static void test_any_codes(void **state) {
    (void)state;
    uint64_t random = 5;
    for (unsigned round = 0; round < 5000; round++) {
        struct idxf_code code;
        struct idxf_class classes[IDXF_CLASSES];
        unsigned bits = 1 + round % 64;
        make_any_code(&code, bits, &random);
        struct model_code model = model_make_code(&code, bits);
        assert_int_equal(idxf_code_list_classes(&code, bits, classes), model.count);
        for (unsigned i = 0; i < model.count; i++) {
            check_class(&classes[i], model.classes[i].code, model.classes[i].tail, model.classes[i].leads);
            for (unsigned other = 0; other < i; other++) {
                unsigned length = classes[i].length < classes[other].length ? classes[i].length : classes[other].length;
                assert_int_not_equal((classes[i].code ^ classes[other].code) & get_most(length), 0);
            }
        }
        assert_int_equal(classes[0].code, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences_are_counted),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_need_of_long_codes),
        cmocka_unit_test(test_choice_is_the_best),
        cmocka_unit_test(test_choice_for_many_bits),
        cmocka_unit_test(test_choice_for_few),
        cmocka_unit_test(test_known_rules),
        cmocka_unit_test(test_most_classes),
        cmocka_unit_test(test_changed_codes),
        cmocka_unit_test(test_known_codes),
        cmocka_unit_test(test_any_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
