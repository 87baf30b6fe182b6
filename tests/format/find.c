/* find.c: tests of the search of a block: in all ways, for all kinds of blocks and ranges, it finds what going through
 * all fingerprints finds, and says whether one stands above the range. */
#include "format/block.h"

#include "tests/format/blocks.h"
#include "tests/format/sets.h"

enum { SEARCHES = 24 };

static const enum idxf_codec codecs[] = {IDXF_CODEC_XOR, IDXF_CODEC_DELTA};

/* ---- What is looked for ---- */

enum range {
    WHOLE,      /* all values */
    SINGLE,     /* one that the block has */
    GAP,        /* those between two neighbours, with none there */
    BEFORE,     /* all before x0 */
    UP_TO_X0,   /* and x0 */
    AFTER,      /* all after the last */
    FROM_LAST,  /* and the last */
    BETWEEN,    /* from one that the block has to another */
    INSIDE,     /* the same, without these two */
    ANY,        /* from any value to any other */
    PREFIX,     /* those that share a prefix with the query, as a look-up has it */
    NEIGHBOURS, /* one that the block has, and the values beside it */
    REVERSED,   /* none: low is above high */
    RANGES
};

struct values {
    const uint64_t *fingerprints;
    size_t count;
    unsigned bits;
};

static uint64_t step_up(const struct values *values, uint64_t x) {
    uint64_t step = UINT64_C(1) << (64 - values->bits);
    return x > UINT64_MAX - step ? x : x + step;
}

static uint64_t step_down(const struct values *values, uint64_t x) {
    uint64_t step = UINT64_C(1) << (64 - values->bits);
    return x < step ? x : x - step;
}

/* Two numbers of fingerprints, the first not above the second. */
static void take_two(const struct values *values, uint64_t *random, size_t *a, size_t *b) {
    size_t x = (size_t)(next_random(random) % values->count), y = (size_t)(next_random(random) % values->count);
    *a = x < y ? x : y;
    *b = x < y ? y : x;
}

static void set_range(struct wanted *wanted, enum range range, const struct values *values, uint64_t *random) {
    size_t a, b;
    take_two(values, random, &a, &b);
    uint64_t from = values->fingerprints[a], to = values->fingerprints[b],
             last = values->fingerprints[values->count - 1];
    uint64_t next = a + 1 < values->count ? values->fingerprints[a + 1] : UINT64_MAX;
    uint64_t below = idxf_low_bits((unsigned)(64 - next_random(random) % (values->bits + 1)));
    uint64_t any = next_random(random), other = next_random(random);
    const uint64_t ranges[RANGES][2] = {
        [WHOLE] = {0, UINT64_MAX},
        [SINGLE] = {from, from},
        [GAP] = {step_up(values, from), step_down(values, next)},
        [BEFORE] = {0, step_down(values, values->fingerprints[0])},
        [UP_TO_X0] = {0, values->fingerprints[0]},
        [AFTER] = {step_up(values, last), UINT64_MAX},
        [FROM_LAST] = {last, UINT64_MAX},
        [BETWEEN] = {from, to},
        [INSIDE] = {step_up(values, from), step_down(values, to)},
        [ANY] = {any < other ? any : other, any < other ? other : any},
        [PREFIX] = {wanted->query & ~below, wanted->query | below},
        [NEIGHBOURS] = {step_down(values, from), step_up(values, from)},
        [REVERSED] = {step_up(values, to), from},
    };
    wanted->low = ranges[range][0] & ~idxf_low_bits(64 - values->bits);
    wanted->high = ranges[range][1];
    if (next_random(random) % 2) wanted->high |= idxf_low_bits(64 - values->bits);
}

/* A query near a fingerprint, or anywhere; any distance up to 8, or one that lets all through. */
static struct wanted make_wanted(enum range range, const struct values *values, uint64_t *random) {
    uint64_t any = next_random(random), aligned = ~idxf_low_bits(64 - values->bits);
    struct wanted wanted = {.query = values->fingerprints[any % values->count]};
    for (unsigned flips = any / 4096 % 6; flips > 0; flips--)
        wanted.query ^= UINT64_C(1) << (64 - values->bits + next_random(random) % values->bits);
    if (any / 65536 % 4 == 0) wanted.query = next_random(random) & aligned;
    wanted.distance = (unsigned)(next_random(random) % 11);
    if (wanted.distance > 8) wanted.distance = wanted.distance == 9 ? values->bits / 2 : 64;
    set_range(&wanted, range, values, random);
    return wanted;
}

/* ---- Blocks ---- */

/* Searches a block some times for each kind of range. Returns the most calls that a search took. */
static size_t search(const struct block_kind *kind, const uint8_t *block, const uint64_t *set, size_t count,
                     uint64_t *random) {
    struct values values = {set, count, kind->bits};
    struct wanted wanted[SEARCHES];
    for (unsigned i = 0; i < SEARCHES; i++)
        wanted[i] = make_wanted((enum range)(next_random(random) % RANGES), &values, random);
    wanted[0] = make_wanted(WHOLE, &values, random);
    wanted[0].distance = 64;
    return check_searches(kind, block, set, count, wanted, SEARCHES);
}

/* Encodes the set, block after block, as a table does, and searches each. */
static size_t search_set(enum idxf_codec codec, unsigned bits, uint32_t size, const uint64_t *set, size_t count,
                         uint64_t *random) {
    struct block_kind kind = {codec, bits, size, {0}};
    uint8_t block[IDXF_MAX_BLOCK_SIZE];
    size_t most = 0;
    make_code(&kind, set, count);
    for (size_t done = 0; done < count;) {
        size_t made = encode_block(&kind, set + done, count - done, block);
        size_t calls = search(&kind, block, set + done, made, random);
        if (calls > most) most = calls;
        done += made;
    }
    return most;
}

/* Every f, block size and shape. A search that finds more than a chunk takes further calls, of which some blocks need
 * many. */
static void test_all_kinds_of_blocks(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 1;
    size_t most = 0;
    for (unsigned round = 0; round < 64 * SHAPES; round++) {
        unsigned bits = 1 + round / SHAPES;
        uint32_t size = 64u << next_random(&random) % 7;
        size_t count = make_set((enum shape)(round % SHAPES), bits, size < 512 ? 300 : 2500, &random, set);
        for (size_t i = 0; i < COUNT_OF(codecs); i++) {
            size_t calls = search_set(codecs[i], bits, size, set, count, &random);
            if (calls > most) most = calls;
        }
    }
    assert_in_range(most, 1023 / IDXF_CHUNK, 3000 / 8);
}

/* Blocks that another writer may make. */
static void test_every_width_that_fits(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 2;
    for (unsigned round = 0; round < 30 * SHAPES; round++) {
        struct block_kind kind = {IDXF_CODEC_DELTA, 1 + (unsigned)(next_random(&random) % 64), 64u << round % 7, {0}};
        size_t count = make_set((enum shape)(round % SHAPES), kind.bits, 3 + round * 4, &random, set);
        for (unsigned width = 0; width <= WIDEST_LOW_PART; width++) {
            uint8_t block[IDXF_MAX_BLOCK_SIZE] = {0};
            size_t fits = count < MOST_DELTA ? count : MOST_DELTA;
            while (!model_fits(&kind, set, fits, width)) fits--;
            model_write_delta(&kind, set, fits, width, block);
            search(&kind, block, set, fits, &random);
        }
    }
}

/* A block whose bits are padding, or all set, behind its last high part: they are no fingerprints. */
static void test_what_stands_behind_the_last(void **state) {
    (void)state;
    uint64_t set[200], random = 3;
    for (unsigned round = 0; round < 300; round++) {
        struct block_kind kind = {IDXF_CODEC_DELTA, 64, 64u << round % 3, {0}};
        uint8_t block[IDXF_MAX_BLOCK_SIZE];
        uint64_t step = UINT64_C(1) << next_random(&random) % 50;
        for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = i * step;
        size_t made = 1 + (size_t)(next_random(&random) % 12);
        made = encode_block(&kind, set, made, block);
        size_t end = (size_t)kind.block_size * 8 - (made - 1) * (block[1] / 4), at = 80;
        for (size_t ones = 0; ones + 1 < made; at++) ones += get_bit(block, at);
        for (; at < end; at++) flip_bit(block, at);
        search(&kind, block, set, made, &random);
    }
}

/* ---- All there is ---- */

/* Every set of fingerprints of three bits, every range and distance. */
static void test_all_sets_of_three_bits(void **state) {
    (void)state;
    struct wanted wanted[8 * 8 * 4];
    for (unsigned i = 0; i < COUNT_OF(wanted); i++) {
        wanted[i].low = (uint64_t)(i % 8) << 61;
        wanted[i].high = (uint64_t)(i / 8 % 8) << 61;
        wanted[i].distance = i / 64;
    }
    for (unsigned members = 1; members < 256; members++) {
        uint64_t set[8];
        size_t count = 0;
        for (uint64_t x = 0; x < 8; x++) {
            if (members >> x & 1) set[count++] = x << 61;
        }
        for (unsigned i = 0; i < COUNT_OF(wanted); i++) wanted[i].query = (uint64_t)(members * 5 + i) % 8 << 61;
        for (size_t i = 0; i < COUNT_OF(codecs); i++) {
            struct block_kind kind = {codecs[i], 3, 64, {0}};
            uint8_t block[64];
            make_code(&kind, set, count);
            assert_int_equal(encode_block(&kind, set, count, block), count);
            check_searches(&kind, block, set, count, wanted, COUNT_OF(wanted));
        }
    }
}

/* From each fingerprint of a block to each other, and the values beside these. */
static void test_all_ranges_of_a_block(void **state) {
    (void)state;
    enum { COUNT = 24, VALUES = 3 * COUNT };
    static struct wanted wanted[VALUES * VALUES];
    uint64_t set[COUNT], random = 4;
    for (unsigned round = 0; round < 12; round++) {
        struct block_kind kind = {codecs[round % 2], 40, 128, {0}};
        uint8_t block[128];
        uint64_t x = 0;
        for (size_t i = 0; i < COUNT; i++) set[i] = (x += 2 + (next_random(&random) >> (34 + 5 * (round / 2)))) << 24;
        for (size_t i = 0; i < VALUES * VALUES; i++) {
            uint64_t low = set[i % VALUES / 3] + ((uint64_t)(i % 3) << 24) - (1 << 24);
            uint64_t high = set[i / VALUES / 3] + ((uint64_t)(i / VALUES % 3) << 24) - (1 << 24);
            wanted[i] = (struct wanted){low, high, set[i % COUNT], (unsigned)(i % 9 < 8 ? 64 : 12)};
        }
        make_code(&kind, set, COUNT);
        size_t made = encode_block(&kind, set, COUNT, block);
        assert_in_range(made, 10, COUNT);
        check_searches(&kind, block, set, made, wanted, COUNT_OF(wanted));
    }
}

/* Where matches fill a chunk just so, or nearly: none is given twice or left out. */
static void test_full_chunks(void **state) {
    (void)state;
    static uint64_t set[400];
    for (size_t i = 0; i < COUNT_OF(set); i++) set[i] = (uint64_t)(2 * i + 1) << 40;
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        struct block_kind kind = {codecs[i], 24, 512, {0}};
        uint8_t block[512];
        make_code(&kind, set, COUNT_OF(set));
        assert_int_equal(encode_block(&kind, set, COUNT_OF(set), block), COUNT_OF(set));
        for (size_t first = 0; first < 12; first++) {
            for (size_t matches = 0; matches <= 200; matches++) {
                struct wanted wanted = {set[first], set[first + matches] - 1, 0, 64};
                size_t calls = check_searches(&kind, block, set, COUNT_OF(set), &wanted, 1);
                assert_in_range(calls, (matches + IDXF_CHUNK - 1) / IDXF_CHUNK, matches);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_of_blocks),         cmocka_unit_test(test_every_width_that_fits),
        cmocka_unit_test(test_what_stands_behind_the_last), cmocka_unit_test(test_all_sets_of_three_bits),
        cmocka_unit_test(test_all_ranges_of_a_block),       cmocka_unit_test(test_full_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
