/* sift.c: tests of sifting eight blocks at a time: in a lane that is sorted out there is nothing to find and a
 * fingerprint above the range, most lanes of narrow ranges are sorted out, and no byte beside a block is read. */
#include "format/block.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/format/blocks.h"
#include "tests/format/sets.h"

enum { ALL_LANES = (1 << IDXF_LANES) - 1, MOST_DISTANCE = 8 };

/* ---- Lanes ---- */

struct lane {
    const uint8_t *block;
    const uint64_t *fingerprints; /* that a valid block has */
    size_t count;
    struct wanted wanted; /* its distance is that of all lanes */
};

/* A page for each lane, before and after which nothing may be read. */
static uint8_t *pages[IDXF_LANES];
static size_t page_size;

static int map_pages(void **state) {
    (void)state;
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    assert_true(page_size >= IDXF_MAX_BLOCK_SIZE);
    uint8_t *area = mmap(NULL, (2 * IDXF_LANES + 1) * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(area, MAP_FAILED);
    for (size_t i = 0; i < IDXF_LANES; i++) {
        pages[i] = area + (2 * i + 1) * page_size;
        assert_int_equal(mprotect(pages[i], page_size, PROT_READ | PROT_WRITE), 0);
    }
    return 0;
}

static int unmap_pages(void **state) {
    (void)state;
    return munmap(pages[0] - page_size, (2 * IDXF_LANES + 1) * page_size);
}

/* The place of a block in a lane: right behind the page that can't be read, or right before the next. */
static uint8_t *place_block(size_t lane, uint32_t size, bool is_last) {
    return is_last ? pages[lane] + page_size - size : pages[lane];
}

/* Sifts the lanes, the first of them being `first`. */
static unsigned sift_from(const struct idxf_decoder *decoder, const struct lane *lanes, unsigned distance,
                          size_t first) {
    struct idxf_lanes sifted;
    for (size_t i = 0; i < IDXF_LANES; i++) {
        const struct lane *lane = &lanes[(first + i) % IDXF_LANES];
        sifted.blocks[i] = lane->block;
        sifted.low[i] = lane->wanted.low;
        sifted.high[i] = lane->wanted.high;
        sifted.queries[i] = lane->wanted.query;
    }
    return idxf_block_sift(decoder, &sifted, distance);
}

/* Sifts the lanes, in which it must not matter who comes first. Returns the lanes left. */
static unsigned sift(const struct idxf_decoder *decoder, const struct lane *lanes, unsigned distance) {
    unsigned left = sift_from(decoder, lanes, distance, 0), turned = sift_from(decoder, lanes, distance, 3);
    assert_in_range(left, 0, ALL_LANES);
    assert_int_equal(turned, (left >> 3 | left << (IDXF_LANES - 3)) & ALL_LANES);
    if (decoder->way->sift == NULL) assert_int_equal(left, ALL_LANES);
    return left;
}

/* Sifts lanes with valid blocks in all ways. Returns how many the fastest sorts out. */
static unsigned check_sifted(struct idxf_decoder *decoder, const struct lane *lanes, unsigned distance) {
    static struct found found;
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_decoder_ways(decoder->codec, ways);
    unsigned out = 0;
    for (size_t way = 0; way < way_count; way++) {
        decoder->way = ways[way];
        out = ALL_LANES & ~sift(decoder, lanes, distance);
        for (size_t i = 0; i < IDXF_LANES; i++) {
            if ((out >> i & 1) == 0) continue;
            find_plainly(lanes[i].fingerprints, lanes[i].count, &lanes[i].wanted, &found);
            assert_int_equal(found.count, 0);
            assert_true(found.past);
        }
    }
    return (unsigned)__builtin_popcount(out);
}

static bool can_sift(const struct idxf_decoder *decoder) {
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    return ways[idxf_decoder_ways(decoder->codec, ways) - 1]->sift != NULL;
}

/* ---- What is looked for ---- */

static uint64_t get_aligned(unsigned bits) { return ~idxf_low_bits(64 - bits); }

/* The value before another, the same, or the one after it. */
static uint64_t step(uint64_t x, unsigned bits, uint64_t *random) {
    uint64_t one = UINT64_C(1) << (64 - bits);
    switch (next_random(random) % 3) {
        case 0: return x < one ? x : x - one;
        case 1: return x > UINT64_MAX - one ? x : x + one;
        default: return x;
    }
}

/* An end of a range: at or beside a fingerprint, the first and the last more often, or anywhere. */
static uint64_t pick_end(const struct lane *lane, unsigned bits, uint64_t *random) {
    uint64_t any = next_random(random);
    switch (any % 8) {
        case 0: return 0;
        case 1: return UINT64_MAX;
        case 2: return next_random(random);
        case 3: return step(lane->fingerprints[0], bits, random);
        case 4: return step(lane->fingerprints[lane->count - 1], bits, random);
        default: return step(lane->fingerprints[any / 8 % lane->count], bits, random);
    }
}

/* From one end to another, hardly ever the wrong way round; the values that share a prefix with the query; those
 * between neighbours; or few from anywhere on. */
static void set_range(struct lane *lane, unsigned bits, uint64_t *random) {
    uint64_t from = pick_end(lane, bits, random), to = pick_end(lane, bits, random), any = next_random(random);
    uint64_t below = idxf_low_bits((unsigned)(64 - any / 4 % (bits + 1)));
    size_t next = (size_t)(any / 4 % lane->count);
    switch (any % 4) {
        case 0:
            lane->wanted.low = (from < to) == (any / 4 % 16 != 0) ? from : to;
            lane->wanted.high = from ^ to ^ lane->wanted.low;
            break;
        case 1:
            lane->wanted.low = lane->wanted.query & ~below;
            lane->wanted.high = lane->wanted.query | below;
            break;
        case 2:
            lane->wanted.low = step(lane->fingerprints[next], bits, random);
            lane->wanted.high = next + 1 < lane->count ? step(lane->fingerprints[next + 1], bits, random) : UINT64_MAX;
            break;
        default:
            lane->wanted.low = from;
            lane->wanted.high = from > UINT64_MAX - below ? UINT64_MAX : from + below;
            break;
    }
    lane->wanted.low &= get_aligned(bits);
    if (next_random(random) % 2) lane->wanted.high |= ~get_aligned(bits);
}

/* A query as far from a fingerprint as matters, or anywhere. */
static void set_search(struct lane *lane, unsigned bits, unsigned distance, uint64_t *random) {
    uint64_t any = next_random(random);
    lane->wanted.distance = distance;
    lane->wanted.query = lane->fingerprints[any / 64 % lane->count];
    for (unsigned flips = any % 4 == 0 ? distance : any % (MOST_DISTANCE + 2); flips > 0; flips--)
        lane->wanted.query ^= UINT64_C(1) << (64 - bits + next_random(random) % bits);
    if (any / 16 % 4 == 0) lane->wanted.query = next_random(random) & get_aligned(bits);
    set_range(lane, bits, random);
}

/* ---- Valid blocks ---- */

enum { POOL = 32 };

/* Blocks of one kind, to fill lanes with. */
struct pool {
    struct block_kind kind;
    uint8_t blocks[POOL][IDXF_MAX_BLOCK_SIZE];
    const uint64_t *fingerprints[POOL];
    size_t counts[POOL];
};

/* Sets all bits that no part of a block of `count` fingerprints uses: no search looks at them. */
static void fill_padding(const struct block_kind *kind, uint8_t *block, size_t count) {
    size_t end = (size_t)kind->block_size * 8 - (count - 1) * (block[1] / 4), at = DIFFERENCES_AT;
    for (size_t ones = 0; ones + 1 < count; at++) ones += get_bit(block, at);
    for (; at < end; at++) {
        if (!get_bit(block, at)) flip_bit(block, at);
    }
}

/* Of fingerprints from anywhere in the set on, as this writer makes them, or with any width and padding. */
static void fill_pool(struct pool *pool, const uint64_t *set, size_t count, uint64_t *random) {
    for (size_t i = 0; i < POOL; i++) {
        size_t from = (size_t)(next_random(random) % count), fits = count - from;
        unsigned width = (unsigned)(next_random(random) % (WIDEST_LOW_PART + 1));
        if (next_random(random) % 4 == 0) fits = 1 + (size_t)next_random_of_any_size(random) % fits;
        pool->fingerprints[i] = set + from;
        if (i % 2) {
            fits = encode_block(&pool->kind, set + from, fits, pool->blocks[i]);
        } else {
            if (fits > MOST_DELTA) fits = MOST_DELTA;
            while (!model_fits(&pool->kind, set + from, fits, width)) fits--;
            memset(pool->blocks[i], 0, pool->kind.block_size);
            model_write_delta(&pool->kind, set + from, fits, width, pool->blocks[i]);
        }
        if (next_random(random) % 4 == 0) fill_padding(&pool->kind, pool->blocks[i], fits);
        pool->counts[i] = fits;
    }
}

static void fill_lanes(struct lane *lanes, const struct pool *pool, unsigned distance, uint64_t *random) {
    for (size_t i = 0; i < IDXF_LANES; i++) {
        size_t taken = (size_t)(next_random(random) % POOL);
        uint8_t *block = place_block(i, pool->kind.block_size, next_random(random) % 2);
        memcpy(block, pool->blocks[taken], pool->kind.block_size);
        lanes[i] = (struct lane){block, pool->fingerprints[taken], pool->counts[taken], {0}};
        set_search(&lanes[i], pool->kind.bits, distance, random);
    }
}

/* Every f, shape and distance, many block sizes. */
static void test_all_kinds_of_blocks(void **state) {
    (void)state;
    enum { ROUNDS = 64 * SHAPES, TRIES = 5 * (MOST_DISTANCE + 1) };
    static uint64_t set[MAX_SET];
    static struct pool pool;
    static struct idxf_decoder decoder;
    uint64_t random = 1;
    unsigned out = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        pool.kind = (struct block_kind){IDXF_CODEC_DELTA, 1 + round / SHAPES, 64u << next_random(&random) % 7, {0}};
        size_t most = pool.kind.block_size < 512 ? 300 : 2500;
        size_t count = make_set((enum shape)(round % SHAPES), pool.kind.bits, most, &random, set);
        fill_pool(&pool, set, count, &random);
        init_decoder(&decoder, &pool.kind);
        for (unsigned i = 0; i < TRIES; i++) {
            struct lane lanes[IDXF_LANES];
            fill_lanes(lanes, &pool, i % (MOST_DISTANCE + 1), &random);
            out += check_sifted(&decoder, lanes, i % (MOST_DISTANCE + 1));
        }
    }
    if (can_sift(&decoder)) assert_in_range(out, ROUNDS * TRIES * IDXF_LANES / 8, ROUNDS * TRIES * IDXF_LANES);
}

/* Every set of fingerprints of three bits, every range, query and distance. */
static void test_all_sets_of_three_bits(void **state) {
    (void)state;
    static struct idxf_decoder decoder;
    struct block_kind kind = {IDXF_CODEC_DELTA, 3, 64, {0}};
    init_decoder(&decoder, &kind);
    for (unsigned members = 1; members < 256; members++) {
        uint64_t set[8];
        size_t count = 0;
        for (uint64_t x = 0; x < 8; x++) {
            if (members >> x & 1) set[count++] = x << 61;
        }
        uint8_t *block = place_block(0, kind.block_size, members % 2);
        assert_int_equal(encode_block(&kind, set, count, block), count);
        for (unsigned i = 0; i < 8 * 8 * 4; i++) {
            struct lane lanes[IDXF_LANES];
            uint64_t low = (uint64_t)(i % 8) << 61, high = (uint64_t)(i / 8 % 8) << 61;
            for (uint64_t query = 0; query < IDXF_LANES; query++)
                lanes[query] = (struct lane){block, set, count, {low, high, query << 61, i / 64}};
            check_sifted(&decoder, lanes, i / 64);
        }
    }
}

/* ---- The use of it ---- */

enum { TABLE_BITS = 11, TABLE = (1 << TABLE_BITS) - 48 };

/* Probes of a table of uniform fingerprints in small blocks, each for a prefix that less than one of them has on
 * average, in the block where a directory sends it. Returns the share of the lanes sorted out, in percent. */
static unsigned probe_table(unsigned bits, unsigned distance) {
    enum { GROUPS = 1000 };
    static uint64_t set[TABLE];
    static uint8_t blocks[TABLE][IDXF_MIN_BLOCK_SIZE];
    static size_t begins[TABLE + 1];
    static struct idxf_decoder decoder;
    struct block_kind kind = {IDXF_CODEC_DELTA, bits, IDXF_MIN_BLOCK_SIZE, {0}};
    uint64_t random = bits + 100 * distance, below = idxf_low_bits(64 - TABLE_BITS);
    size_t block_count = 0;
    unsigned out = 0;
    for (size_t i = 0; i < TABLE; i++) set[i] = next_random(&random) & idxf_low_bits(bits);
    size_t count = finish_set(set, TABLE, bits);
    for (size_t done = 0; done < count; block_count++) {
        begins[block_count] = done;
        done += encode_block(&kind, set + done, count - done, blocks[block_count]);
    }
    begins[block_count] = count;
    init_decoder(&decoder, &kind);
    for (unsigned group = 0; group < GROUPS; group++) {
        struct lane lanes[IDXF_LANES];
        for (size_t i = 0; i < IDXF_LANES; i++) {
            uint64_t query = next_random(&random) & get_aligned(bits);
            size_t at = 0;
            while (at + 1 < block_count && set[begins[at + 1]] <= (query & ~below)) at++;
            lanes[i] = (struct lane){blocks[at], set + begins[at], begins[at + 1] - begins[at], {0}};
            lanes[i].wanted = (struct wanted){query & ~below, query | below, query, distance};
        }
        out += check_sifted(&decoder, lanes, distance);
    }
    assert_true(can_sift(&decoder) || out == 0);
    return can_sift(&decoder) ? out * 100 / (GROUPS * IDXF_LANES) : 100;
}

static void test_most_probes_are_sorted_out(void **state) {
    (void)state;
    const unsigned bits[] = {32, 48, 64};
    for (size_t i = 0; i < COUNT_OF(bits); i++) {
        for (unsigned distance = 0; distance <= 3; distance++) assert_in_range(probe_table(bits[i], distance), 50, 100);
    }
}

/* ---- Hostile blocks ---- */

enum body { RANDOM, ZEROS, ONES, FEW_ONES, FEW_ZEROS, ONES_LATE, BODIES };

static void fill_body(uint8_t *bytes, size_t size, enum body body, uint64_t *random) {
    for (size_t at = 0; at < size; at += 8) {
        uint64_t a = next_random(random), few = a & next_random(random) & next_random(random) & next_random(random);
        const uint64_t words[BODIES] = {a, 0, UINT64_MAX, few, ~few, at < size / 2 ? 0 : a};
        idxf_store64(bytes + at, words[body]);
    }
}

/* First fingerprints and ranges that lead anywhere in a block, or out of it. */
static void set_hostile_search(struct lane *lane, unsigned bits, unsigned distance, uint64_t *random) {
    uint64_t any = next_random(random), size = next_random_of_any_size(random), other = next_random(random);
    uint64_t first = idxf_load64(lane->block + 2);
    uint64_t ahead = (any / 64 % 72) << lane->block[1] / 4 << (64 - bits);
    const uint64_t lows[] = {0, first, first + ahead, first + ahead, first - size, other},
                   sizes[] = {0, size, ahead, UINT64_MAX / 2};
    lane->wanted.low = lows[any % COUNT_OF(lows)] & get_aligned(bits);
    lane->wanted.high = any / 8 % 8 == 0 ? other : lane->wanted.low + sizes[any / 8 % COUNT_OF(sizes)];
    lane->wanted.query = (any / 4096 % 2 ? first : other) & get_aligned(bits);
    lane->wanted.distance = distance;
}

/* Each lane gets a body, a header and a search; one first fingerprint in eight has bits that it must not have. */
static void fill_hostile_lanes(struct lane *lanes, const struct block_kind *kind, const unsigned *heads,
                               unsigned distance, uint64_t *random) {
    for (size_t i = 0; i < IDXF_LANES; i++) {
        uint64_t any = next_random(random), first = next_random_of_any_size(random) << (64 - kind->bits);
        uint8_t *block = place_block(i, kind->block_size, any % 2);
        fill_body(block, kind->block_size, (enum body)(any / 2 % BODIES), random);
        set_header(block, heads[i], any / 64 % 8 == 0 ? any : first);
        lanes[i] = (struct lane){block, NULL, 0, {0}};
        set_hostile_search(&lanes[i], kind->bits, distance, random);
    }
}

/* Lanes that any search would call faulty are left to it, whatever the way: nothing is sorted out but what a search
 * would leave without a word. */
static void check_hostile(struct idxf_decoder *decoder, const struct block_kind *kind, const struct lane *lanes,
                          unsigned distance, size_t *faulty, size_t *out) {
    static struct found found;
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_decoder_ways(decoder->codec, ways), count;
    unsigned width;
    for (size_t way = 0; way < way_count; way++) {
        decoder->way = ways[way];
        unsigned left = sift(decoder, lanes, distance);
        decoder->way = ways[0];
        for (size_t i = 0; i < IDXF_LANES; i++) {
            if (left >> i & 1) continue;
            assert_fault(model_read_header(kind, lanes[i].block, &count, &width), IDXF_OK);
            find_with(decoder, lanes[i].block, &lanes[i].wanted, &found);
            assert_fault(found.fault, IDXF_OK);
            assert_int_equal(found.count, 0);
            assert_true(found.past);
            ++*out;
        }
    }
    for (size_t i = 0; i < IDXF_LANES; i++)
        *faulty += model_read_header(kind, lanes[i].block, &count, &width) != IDXF_OK;
}

/* Every header, in blocks of every size. Reading a byte beside a block would end the test. */
static void test_hostile_blocks(void **state) {
    (void)state;
    static struct idxf_decoder decoder;
    uint64_t random = 5;
    size_t faulty = 0, out = 0;
    for (uint32_t size = IDXF_MIN_BLOCK_SIZE; size <= IDXF_MAX_BLOCK_SIZE; size *= 2) {
        struct block_kind kind = {IDXF_CODEC_DELTA, 0, size, {0}};
        for (unsigned at = 0; at < 65536; at += IDXF_LANES) {
            struct lane lanes[IDXF_LANES];
            unsigned heads[IDXF_LANES], distance = at / IDXF_LANES % (MOST_DISTANCE + 1);
            if (at % 512 == 0) {
                kind.bits = 1 + (unsigned)(next_random(&random) % 64);
                init_decoder(&decoder, &kind);
            }
            for (unsigned i = 0; i < IDXF_LANES; i++) heads[i] = (at + i) * 40503 % 65536; /* each once, in disorder */
            fill_hostile_lanes(lanes, &kind, heads, distance, &random);
            check_hostile(&decoder, &kind, lanes, distance, &faulty, &out);
        }
    }
    assert_true(!can_sift(&decoder) || out > 20000);
    assert_in_range(faulty, 7 * 65536 / 8, 7 * 65536);
}

/* Headers with few fingerprints, as those of searches that end soon have, and all else hostile. */
static void test_hostile_blocks_of_few(void **state) {
    (void)state;
    static struct idxf_decoder decoder;
    uint64_t random = 6;
    size_t faulty = 0, out = 0, rounds = 20000;
    for (size_t round = 0; round < rounds; round++) {
        struct block_kind kind = {IDXF_CODEC_DELTA, 1 + round % 64, 64u << round % 3, {0}};
        struct lane lanes[IDXF_LANES];
        unsigned heads[IDXF_LANES], distance = (unsigned)(next_random(&random) % (MOST_DISTANCE + 1));
        for (unsigned i = 0; i < IDXF_LANES; i++) {
            unsigned width = (unsigned)(next_random(&random) % kind.bits);
            heads[i] = 1 + (unsigned)(next_random(&random) % (get_room(&kind) / (width + 1))) % 1023 + 1024 * width;
        }
        init_decoder(&decoder, &kind);
        fill_hostile_lanes(lanes, &kind, heads, distance, &random);
        check_hostile(&decoder, &kind, lanes, distance, &faulty, &out);
    }
    assert_true(!can_sift(&decoder) || out > 20000);
    assert_in_range(faulty, 1, rounds * IDXF_LANES / 2);
}

/* ---- Ways that do not sift ---- */

/* They look at nothing. */
static void test_ways_without_sift_leave_all(void **state) {
    (void)state;
    static struct idxf_decoder decoder;
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    struct idxf_lanes lanes = {{NULL}, {0}, {0}, {0}};
    for (unsigned codec = 0; codec < IDXF_CODEC_COUNT; codec++) {
        struct block_kind kind = {(enum idxf_codec)codec, 64, 64, {1, 1}};
        size_t way_count = idxf_decoder_ways(kind.codec, ways);
        if (kind.codec == IDXF_CODEC_DELTA) memset(kind.lengths, 0, sizeof kind.lengths);
        init_decoder(&decoder, &kind);
        assert_null(ways[0]->sift);
        for (size_t i = 0; i < way_count; i++) {
            decoder.way = ways[i];
            if (strcmp(ways[i]->name, "avx512") != 0 || kind.codec == IDXF_CODEC_XOR) assert_null(ways[i]->sift);
            if (ways[i]->sift == NULL) assert_int_equal(idxf_block_sift(&decoder, &lanes, 0), ALL_LANES);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_of_blocks),        cmocka_unit_test(test_all_sets_of_three_bits),
        cmocka_unit_test(test_most_probes_are_sorted_out), cmocka_unit_test(test_hostile_blocks),
        cmocka_unit_test(test_hostile_blocks_of_few),      cmocka_unit_test(test_ways_without_sift_leave_all),
    };
    return cmocka_run_group_tests(tests, map_pages, unmap_pages);
}
