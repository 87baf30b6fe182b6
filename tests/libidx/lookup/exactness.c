/* exactness.c: look-ups compared with a linear scan, over all makes of an index and all shapes of data. */
#include <stdio.h>
#include <string.h>

#include "tests/libidx/real.h"
#include "tests/libidx/support.h"
#include "tests/libidx/trial.h"

static const uint32_t block_sizes[] = {64, 128, 256, 512, 1024, 2048, 4096};
static const enum idx_residence residences[] = {IDX_RESIDENCE_DIRECTORY, IDX_RESIDENCE_NONE, IDX_RESIDENCE_ALL,
                                                IDX_RESIDENCE_DISK, IDX_RESIDENCE_UNPACKED};

/* Schemes for k = 3, and some that cover more. */
static const char *const schemes[] = {
    "auto", "4", "10", "16", "20", "2:1:1", "8:2", "9:2", "2:1:3", "4:1:1", "8:1", "3:1:2", "4:2:1",
};

/* Lists of masks: halves of different radius, overlapping ones, nested ones, all bits. */
static const char *const masks_of_64[] = {
    "@ffffffff00000000:2,@00000000ffffffff:3",
    "@ffffffff00000000:1,@ffffffff00000000:2,@00000000ffffffff:1",
    "@ffffff0000ff0000:1,@00ffffff000000ff:1,@0000ff00ff00ff00,@5555555555555555:1,@aaaaaaaaaaaaaaaa:1",
    "@ffff000000000000,@0000ffff00000000:1,@00000000ffffffff:2",
    "@8000000000000001:1,@7ffffffffffffffe:1",
    "@ffffffffffffffff:2",
};

/* Every scheme, block size and residence. */
static void test_makes(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, scale(1500), 1);
    struct trial trial = {"clustered", .set = &set, .segments = 1, .queries = 6};
    size_t texts = LENGTH(schemes) + LENGTH(masks_of_64);
    for (size_t i = 0; i < texts * LENGTH(block_sizes); i++) {
        size_t text = i % texts, size = i / texts;
        trial.scheme = text < LENGTH(schemes) ? schemes[text] : masks_of_64[text - LENGTH(schemes)];
        trial.k = (unsigned)largest_k(trial.scheme, 64);
        trial.block_size = block_sizes[size];
        trial.residence = residences[(text + size) % LENGTH(residences)];
        run_trial(*state, &trial);
    }
    free_set(&set);
}

/* Takes the makes in turn. `auto` looks at the data, so that segments of different data may not belong together. */
static void vary(struct trial *trial) {
    static size_t turn;
    trial->residence = residences[turn / 2 % LENGTH(residences)];
    trial->block_size = block_sizes[turn * 5 / 3 % LENGTH(block_sizes)];
    trial->segments = turn % 3 == 2 && strcmp(trial->scheme, "auto") != 0 ? 2 + turn % 4 : 1;
    turn++;
}

/* The halves and the thirds of the bits, as far as there are so many. */
static void write_masks(char text[128], unsigned bits, bool thirds) {
    int digits = (int)(bits + 3) / 4;
    uint64_t ones = all_ones(bits), low = all_ones((bits + 1) / 2), lowest = all_ones((bits + 2) / 3);
    unsigned long long a = ones & ~low, b = low, c = lowest, d = low & ~lowest;
    if (thirds)
        snprintf(text, 128, "@%0*llx:1,@%0*llx:2,@%0*llx:1", digits, a, digits, c, digits, d);
    else
        snprintf(text, 128, "@%0*llx:3,@%0*llx:2", digits, a, digits, b);
}

/* Every shape of data, number of bits and scheme. */
static void test_shapes(void **state) {
    static const unsigned bits[] = {1, 5, 16, 31, 32, 63, 64};
    char masks[2][128];
    for (size_t i = 0; i < SHAPE_COUNT * LENGTH(bits); i++) {
        enum shape shape = (enum shape)(i % SHAPE_COUNT);
        struct set set = make_set(shape, bits[i / SHAPE_COUNT], scale(700), i);
        struct trial trial = {shape_names[shape], .set = &set, .queries = 5};
        write_masks(masks[0], set.bits, false);
        write_masks(masks[1], set.bits, true);
        for (size_t text = 0; text < LENGTH(schemes) + LENGTH(masks); text++) {
            trial.scheme = text < LENGTH(schemes) ? schemes[text] : masks[text - LENGTH(schemes)];
            int k = largest_k(trial.scheme, set.bits);
            if (k < 0) continue;
            trial.k = (unsigned)k;
            vary(&trial);
            run_trial(*state, &trial);
        }
        free_set(&set);
    }
}

static void test_all_numbers_of_bits(void **state) {
    for (unsigned bits = 1; bits <= 64; bits++) {
        for (enum shape shape = SHAPE_UNIFORM; shape <= SHAPE_CLUSTERED; shape++) {
            struct set set = make_set(shape, bits, scale(400), bits);
            struct trial trial = {shape_names[shape], .set = &set, .k = bits > 3 ? 3 : bits - 1, .queries = 10};
            char blocks[8];
            snprintf(blocks, sizeof blocks, "%u:1", trial.k + 1);
            for (size_t text = 0; text < 2; text++) {
                trial.scheme = text == 0 ? "auto" : blocks;
                vary(&trial);
                run_trial(*state, &trial);
            }
            free_set(&set);
        }
    }
}

/* A block more or less, and the most that a block can hold. */
static void test_all_counts(void **state) {
    for (size_t count = 0; count <= 64; count++) {
        struct set set = make_set(count % 2 == 0 ? SHAPE_UNIFORM : SHAPE_DENSE_LOW, 64, count, count);
        struct trial trial = {"a few", .set = &set, .scheme = "2:1:1", .k = 3, .queries = 8};
        vary(&trial);
        trial.block_size = 128;
        run_trial(*state, &trial);
        free_set(&set);
    }
}

/* Far more fingerprints with one prefix than a block holds. */
static void test_long_runs_of_a_prefix(void **state) {
    static const enum shape shapes[] = {SHAPE_PREFIXED, SHAPE_SUFFIXED, SHAPE_DENSE_LOW, SHAPE_DENSE_TOP};
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        struct set set = make_set(shapes[i], 40, scale(20000), i);
        struct trial trial = {shape_names[shapes[i]], .set = &set, .scheme = "10", .k = 3, .queries = 4};
        for (size_t turn = 0; turn < 3; turn++) {
            vary(&trial);
            run_trial(*state, &trial);
        }
        free_set(&set);
    }
}

static void test_real_fingerprints(void **state) {
    struct set set = make_real_set(40, 100 / scale(100));
    struct trial trial = {"of real text", .set = &set, .queries = scale(100)};
    assert_true(set.distinct_count > scale(1000));
    for (size_t text = 0; text < LENGTH(schemes); text++) {
        trial.scheme = schemes[text];
        trial.k = (unsigned)largest_k(schemes[text], 64);
        vary(&trial);
        run_trial(*state, &trial);
    }
    free_set(&set);
}

/* So many consecutive fingerprints stand in 128 bytes. */
#define CONSECUTIVE_IN_BLOCK 473

/* Blocks that end before, at and after the last fingerprint of a prefix; here 1024 have one prefix. */
static void test_ends_of_blocks_and_prefixes(void **state) {
    static const uint64_t asked[] = {1022, 1023, 1024, 1025, 2047, 2048};
    for (size_t i = 0; i < 6; i++) {
        uint64_t items[2000];
        for (size_t item = 0; item < LENGTH(items); item++) items[item] = 1023 - CONSECUTIVE_IN_BLOCK - 2 + i + item;
        struct set set = set_of(items, LENGTH(items), 64);
        struct trial trial = {"consecutive", .set = &set, .k = 1, .block_size = 128, .segments = 1};
        trial.scheme = "@fffffffffffffc00,@00000000000003ff";
        trial.asked = asked;
        trial.asked_count = LENGTH(asked);
        run_trial(*state, &trial);
        free_set(&set);
    }
}

/* Those of a prefix that is probed with some bits flipped: from few to many for each value of the bits that are. */
static void test_flipped_bits(void **state) {
    static const enum shape shapes[] = {SHAPE_UNIFORM, SHAPE_CLUSTERED, SHAPE_SKEWED, SHAPE_DEAD};
    static const size_t counts[] = {1, 15, 16, 17, 31, 32, 33, 255, 256, 257, 6000};
    static const char *const flipping[] = {"2:1:1", "2:1:3", "3:1:2", "4:1:1", "@ffffffffffffffff:3"};
    for (size_t i = 0; i < LENGTH(shapes) * LENGTH(counts); i++) {
        enum shape shape = shapes[i % LENGTH(shapes)];
        struct set set = make_set(shape, 64, counts[i / LENGTH(shapes)], i);
        struct trial trial = {shape_names[shape], .set = &set, .queries = set.count > scale(6000) ? 1 : 4};
        for (size_t text = 0; text < LENGTH(flipping); text++) {
            trial.scheme = flipping[text];
            trial.k = (unsigned)largest_k(flipping[text], 64);
            vary(&trial);
            run_trial(*state, &trial);
        }
        free_set(&set);
    }
}

static void try_schemes(const char *folder, struct trial *trial) {
    for (size_t text = 0; text < LENGTH(schemes); text++) {
        int k = largest_k(schemes[text], trial->set->bits);
        if (k < 0) continue;
        trial->scheme = schemes[text];
        trial->k = (unsigned)k;
        vary(trial);
        run_trial(folder, trial);
    }
}

/* The whole space: every fingerprint there is. */
static void check_full_space(const char *folder, unsigned bits) {
    struct set set = make_set(SHAPE_DENSE_LOW, bits, (size_t)1 << bits, 1);
    struct trial trial = {"all there are", .set = &set, .queries = 2};
    assert_int_equal(set.distinct_count, (size_t)1 << bits);
    try_schemes(folder, &trial);
    free_set(&set);
}

static void test_full_space(void **state) { check_full_space(*state, 12); }
static void test_larger_space(void **state) { check_full_space(*state, 17); }

/* Every fingerprint within some bits of one: asked for it, for one beside, and for one at the ball's end. */
static void check_ball(const char *folder, unsigned radius, size_t count) {
    uint64_t centre = UINT64_C(0x0123456789abcdef), asked[] = {centre, centre ^ 1, centre ^ UINT64_C(7) << 61};
    struct set set = make_ball(centre, 64, radius);
    struct trial trial = {"a ball", .set = &set, .asked = asked, .asked_count = LENGTH(asked)};
    assert_int_equal(set.distinct_count, count);
    try_schemes(folder, &trial);
    free_set(&set);
}

static void test_full_ball(void **state) { check_ball(*state, 2, 2081); }
static void test_larger_ball(void **state) { check_ball(*state, 3, 43745); }

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_makes),
        in_folder(test_shapes),
        in_folder(test_all_numbers_of_bits),
        in_folder(test_all_counts),
        in_folder(test_long_runs_of_a_prefix),
        in_folder(test_real_fingerprints),
        in_folder(test_ends_of_blocks_and_prefixes),
        in_folder(test_flipped_bits),
        in_folder(test_full_space),
        in_folder(test_full_ball),
        in_folder(test_larger_space),
        in_folder(test_larger_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
