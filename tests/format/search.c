/* search.c: tests of searching chains side by side, against going through all fingerprints. */
#include "format/block.h"

#include "tests/format/blocks.h"
#include "tests/format/hits.h"

static struct blocks blocks;

/* One search: a chain, and the fingerprints that it has, as numbers. */
struct lane {
    struct idxf_chain chain;
    uint64_t low, high, query;
    size_t begin, end; /* of the table's fingerprints */
};

static uint64_t get_fingerprint(size_t i) { return blocks.fingerprints[i] >> (64 - blocks.form.bits); }

static unsigned count_errors(uint64_t a, uint64_t b) {
    unsigned errors = 0;
    for (uint64_t left = a ^ b; left != 0; left &= left - 1) errors++;
    return errors;
}

/* ---- One group of lanes ---- */

static void set_lanes(struct idxf_lanes *lanes, const struct lane *all, unsigned count) {
    memset(lanes, 0xFF, sizeof *lanes); /* lanes behind the last one lead nowhere */
    for (unsigned i = 0; i < count; i++) {
        lanes->blocks[i] = all[i].chain.block;
        lanes->keys[i] = all[i].chain.key;
        lanes->begins[i] = all[i].chain.begin;
        lanes->ends[i] = all[i].chain.end;
        lanes->low[i] = all[i].low;
        lanes->high[i] = all[i].high;
        lanes->queries[i] = all[i].query;
    }
}

/* All hits of a lane, the greatest first, and no others. Returns their number. */
static size_t check_lane(const struct hits *hits, unsigned number, const struct lane *lane, unsigned distance) {
    size_t found = 0, hit = 0;
    for (size_t i = lane->end; i-- > lane->begin;) {
        uint64_t x = get_fingerprint(i);
        if (x < lane->low || x > lane->high || count_errors(x, lane->query) > distance) continue;
        while (hit < hits->count && hits->lanes[hit] != number) hit++;
        assert_true(hit < hits->count);
        assert_int_equal(hits->fingerprints[hit++], x);
        found++;
    }
    return found;
}

static bool refuse(struct idxf_hits *hits) {
    ++*(unsigned *)hits->context;
    return false;
}

/* A search whose hits are not taken ends with the first ones of them. */
static void check_ended_search(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                               unsigned distance, const struct hits *all) {
    unsigned refused = 0;
    struct idxf_hits *first = malloc(sizeof *first); /* so that what goes beyond it is seen */
    assert_non_null(first);
    *first = (struct idxf_hits){.take = refuse, .context = &refused};
    idxf_search(decoder, lanes, count, distance, first);
    if (all->count > IDXF_HITS) assert_int_equal(refused, 1);
    assert_in_range(first->count, refused == 0 ? all->count : 1, all->count);
    assert_memory_equal(first->fingerprints, all->fingerprints, first->count * sizeof *first->fingerprints);
    assert_memory_equal(first->lanes, all->lanes, first->count);
    free(first);
}

/* Searches lanes in all ways. Returns the number of hits. */
static size_t check_search(struct idxf_decoder *decoder, const struct lane *all, unsigned count, unsigned distance) {
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_list_decoder_ways(ways), expected = 0;
    struct idxf_lanes lanes;
    set_lanes(&lanes, all, count);
    for (size_t way = 0; way < way_count; way++) {
        struct hits *hits = malloc(sizeof *hits);
        assert_non_null(hits);
        memset(hits, 0xFF, sizeof *hits);
        decoder->way = ways[way];
        search_all(decoder, &lanes, count, distance, hits);
        check_ended_search(decoder, &lanes, count, distance, hits);
        expected = 0;
        for (unsigned i = 0; i < count; i++) expected += check_lane(hits, i, &all[i], distance);
        assert_int_equal(hits->count, expected);
        free(hits);
    }
    return expected;
}

/* ---- Searches ---- */

static uint64_t step_up(uint64_t x, uint64_t by, uint64_t most) { return by > most - x ? most : x + by; }

/* A range that begins or ends at a fingerprint, beside one, or anywhere; all of the values at times. */
static void set_range(struct lane *lane, uint64_t *random) {
    uint64_t any = next_random(random), most = get_most(blocks.form.bits), size = next_random_of_any_size(random);
    uint64_t at = get_fingerprint(lane->begin + (size_t)(any / 64 % (lane->end - lane->begin)));
    const uint64_t lows[] = {0, at, step_up(at, 1, most), at - (at > 0), next_random(random) & most};
    lane->low = lows[any % COUNT_OF(lows)];
    const uint64_t highs[] = {most, lane->low, step_up(lane->low, 1, most), step_up(lane->low, size, most), at};
    lane->high = highs[any / 8 % COUNT_OF(highs)];
    if (lane->high < lane->low) lane->high = lane->low;
}

static void set_query(struct lane *lane, unsigned distance, uint64_t *random) {
    uint64_t any = next_random(random);
    lane->query = get_fingerprint(lane->begin + (size_t)(any / 64 % (lane->end - lane->begin)));
    for (uint64_t flips = any % 4 == 0 ? distance : any / 4 % 10; flips > 0; flips--)
        lane->query ^= UINT64_C(1) << next_random(random) % blocks.form.bits;
    if (any / 16 % 4 == 0) lane->query = next_random(random) & get_most(blocks.form.bits);
}

/* Takes a chain of any block, put into the stretch of a lane. */
static void set_chain(const struct idxf_decoder *decoder, struct lane *lane, size_t stretch, uint64_t *random) {
    struct idxf_chain chains[IDXF_MAX_CHAINS];
    enum idxf_fault fault;
    size_t number = (size_t)(next_random(random) % blocks.count), begin = blocks.begins[number];
    const uint8_t *placed =
        place_bytes(stretch, get_block(&blocks, number), blocks.form.block_size, next_random(random) % 2);
    struct idxf_bounds bounds = {number == 0 ? 0 : get_key(&blocks, number - 1), 0};
    unsigned count = idxf_block_list_chains(decoder, placed, bounds, chains, &fault);
    assert_in_range(count, 1, decoder->chains);
    unsigned taken = (unsigned)(next_random(random) % count);
    lane->chain = chains[taken];
    lane->begin = begin;
    if (taken > 0) {
        while (get_fingerprint(lane->begin) <= chains[taken - 1].key) lane->begin++;
        assert_int_equal(chains[taken].floor, chains[taken - 1].key + 1);
    }
    for (lane->end = lane->begin; get_fingerprint(lane->end) < chains[taken].key; lane->end++) continue;
    assert_int_equal(get_fingerprint(lane->end++), chains[taken].key);
    if (count > 1) assert_int_equal(lane->begin - begin, (blocks.begins[number + 1] - begin) * taken / count);
}

/* Every f, shape, block size, distance and number of lanes. */
static void test_all_kinds_of_tables(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    uint64_t random = 1;
    size_t found = 0;
    for (unsigned round = 0; round < 64 * SHAPES * 2; round++) {
        unsigned bits = 1 + round / SHAPES % 64;
        uint32_t block_size = (uint32_t)IDXF_MIN_BLOCK_SIZE << next_random(&random) % 7;
        size_t count = make_set((enum shape)(round % SHAPES), bits, block_size < 512 ? 300 : 2500, &random, set);
        struct idxf_block_form form = make_form(bits, block_size, set, count, round / SHAPES / 64 == 0, &random);
        struct idxf_decoder decoder;
        encode_all(&blocks, &form, set, count);
        idxf_decoder_init(&decoder, &form);
        for (unsigned tries = 0; tries < 30; tries++) {
            struct lane lanes[IDXF_LANES];
            unsigned used = 1 + tries % IDXF_LANES, distance = (unsigned)(next_random(&random) % 9);
            if (tries == 20) distance = 64;
            for (unsigned i = 0; i < used; i++) {
                set_chain(&decoder, &lanes[i], i, &random);
                set_range(&lanes[i], &random);
                set_query(&lanes[i], distance, &random);
            }
            found += check_search(&decoder, lanes, used, distance);
        }
    }
    assert_in_range(found, 100000, 100000000);
}

/* Full lanes of as many hits as there can be. */
static void test_most_hits(void **state) {
    (void)state;
    static uint64_t set[MAX_SET];
    for (unsigned round = 0; round < 9; round++) {
        struct idxf_block_form form = {64, 20, 64u << round % 7, {1, {1, 2, 2}}, round == 7};
        if (round == 8) form = (struct idxf_block_form){64, 20, 64, {0, {2, 1, 2}}, true};
        struct idxf_decoder decoder;
        struct lane lanes[IDXF_LANES];
        uint64_t random = 2;
        for (size_t i = 0; i < 2000; i++) set[i] = i;
        encode_all(&blocks, &form, set, 2000);
        idxf_decoder_init(&decoder, &form);
        for (unsigned i = 0; i < IDXF_LANES; i++) {
            set_chain(&decoder, &lanes[i], i, &random);
            lanes[i].low = lanes[i].query = 0;
            lanes[i].high = UINT64_MAX;
        }
        size_t found = check_search(&decoder, lanes, IDXF_LANES, 64);
        if (round >= 7) assert_true(found > IDXF_LANES * 100u); /* of chains of long codes */
    }
}

/* Every set of fingerprints of three bits, every range, query and distance. */
static void test_all_sets_of_three_bits(void **state) {
    (void)state;
    for (unsigned members = 1; members < 256; members++) {
        uint64_t set[8], random = members;
        size_t count = 0;
        struct idxf_decoder decoder;
        for (uint64_t x = 0; x < 8; x++) {
            if (members >> x & 1) set[count++] = x << 61;
        }
        struct idxf_block_form form = make_form(3, members % 2 ? 64 : 1024, set, count, members % 3 > 0, &random);
        encode_all(&blocks, &form, set, count);
        assert_int_equal(blocks.count, 1);
        idxf_decoder_init(&decoder, &form);
        for (unsigned i = 0; i < 8 * 8 * 4; i++) {
            struct lane lanes[IDXF_LANES];
            if (i % 8 > i / 8 % 8) continue;
            for (unsigned lane = 0; lane < IDXF_LANES; lane++) {
                set_chain(&decoder, &lanes[lane], lane, &random);
                lanes[lane].low = i % 8;
                lanes[lane].high = i / 8 % 8;
                lanes[lane].query = lane;
            }
            check_search(&decoder, lanes, IDXF_LANES, i / 64);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_of_tables),
        cmocka_unit_test(test_most_hits),
        cmocka_unit_test(test_all_sets_of_three_bits),
    };
    return cmocka_run_group_tests(tests, map_stretches, NULL);
}
