/* scan.c: the linear scan, for one query at a time or many. It goes through fingerprints in tiles that fit into the
 * first cache, and compares the fingerprints of a tile one by one only if the tile has a match. For many queries, one
 * half of each fingerprint of a tile is copied once, so that a vector compares twice as many: half a fingerprint
 * already excludes nearly all. */
#include "bench/systems.h"

#include <stdlib.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define TILE 1024
/* Halves are compared up to this k only, since half a fingerprint excludes too little for larger distances. */
#define MAX_K_BY_HALVES 3

/* Functions that return whether any fingerprint of a tile, or any half of one, is within k bits of the query. */
typedef bool tile_test(const uint64_t *tile, uint64_t query, unsigned k);
typedef bool halves_test(const uint32_t *halves, uint32_t query, unsigned k);

struct scan {
    const struct data *data;
    tile_test *has_near;
    halves_test *has_near_half;
};

/* ---- Tests in plain C, which compilers vectorize if k is a constant ---- */

/* Defines a test of a tile's fingerprints or halves, which are words of that type. It clears the bits that differ one
 * by one, since not all vector instructions can count bits. */
#define TEST_FOR(NAME, WORD)                                                                                           \
    static inline __attribute__((always_inline)) bool NAME(const WORD *words, WORD query, unsigned k) {                \
        WORD found = 0;                                                                                                \
        for (size_t i = 0; i < TILE; i++) {                                                                            \
            WORD errors = words[i] ^ query;                                                                            \
            for (unsigned bit = 0; bit < k; bit++) errors &= errors - 1;                                               \
            found |= errors == 0;                                                                                      \
        }                                                                                                              \
        return found != 0;                                                                                             \
    }
TEST_FOR(test_tile_for, uint64_t)
TEST_FOR(test_halves_for, uint32_t)

/* Defines such a test for constant k. */
#define TEST_FOR_CONSTANT_K(NAME, TEST, WORD, ATTRIBUTES)                                                              \
    ATTRIBUTES static bool NAME(const WORD *words, WORD query, unsigned k) {                                           \
        switch (k) {                                                                                                   \
            case 1: return TEST(words, query, 1);                                                                      \
            case 2: return TEST(words, query, 2);                                                                      \
            case 3: return TEST(words, query, 3);                                                                      \
            case 4: return TEST(words, query, 4);                                                                      \
            case 5: return TEST(words, query, 5);                                                                      \
            case 6: return TEST(words, query, 6);                                                                      \
            case 7: return TEST(words, query, 7);                                                                      \
            default: return TEST(words, query, k);                                                                     \
        }                                                                                                              \
    }
TEST_FOR_CONSTANT_K(test_tile_plain, test_tile_for, uint64_t, )
TEST_FOR_CONSTANT_K(test_halves_plain, test_halves_for, uint32_t, )

#ifdef __x86_64__
TEST_FOR_CONSTANT_K(test_tile_avx2, test_tile_for, uint64_t, __attribute__((target("avx2"))))
TEST_FOR_CONSTANT_K(test_halves_avx2, test_halves_for, uint32_t, __attribute__((target("avx2"))))

/* ---- Tests in AVX-512, of words of so many bits ---- */

#define TEST_AVX512(NAME, BITS, SIGNED)                                                                                \
    __attribute__((target("avx512f"))) static bool NAME(const uint##BITS##_t *words, uint##BITS##_t query,             \
                                                        unsigned k) {                                                  \
        __m512i queries = _mm512_set1_epi##BITS((SIGNED)query), ones = _mm512_set1_epi##BITS(-1);                      \
        unsigned found = 0;                                                                                            \
        for (size_t i = 0; i < TILE; i += 512 / BITS) {                                                                \
            __m512i errors = _mm512_xor_si512(_mm512_loadu_si512(words + i), queries);                                 \
            for (unsigned bit = 0; bit < k; bit++)                                                                     \
                errors = _mm512_and_si512(errors, _mm512_add_epi##BITS(errors, ones));                                 \
            found |= _mm512_testn_epi##BITS##_mask(errors, errors);                                                    \
        }                                                                                                              \
        return found != 0;                                                                                             \
    }
TEST_AVX512(test_tile_avx512, 64, long long)
TEST_AVX512(test_halves_avx512, 32, int)

/* A count fits into a byte, so the minimum of bytes is that of counts. The processor computes it on another port than
 * counts. */
#define TEST_VPOPCNTDQ(NAME, BITS, SIGNED)                                                                             \
    __attribute__((target("avx512f,avx512bw,avx512vpopcntdq"))) static bool NAME(const uint##BITS##_t *words,          \
                                                                                 uint##BITS##_t query, unsigned k) {   \
        __m512i queries = _mm512_set1_epi##BITS((SIGNED)query);                                                        \
        __m512i least = _mm512_set1_epi##BITS(BITS), other = least;                                                    \
        for (size_t i = 0; i < TILE; i += 1024 / BITS) {                                                               \
            __m512i errors = _mm512_xor_si512(_mm512_loadu_si512(words + i), queries);                                 \
            __m512i more = _mm512_xor_si512(_mm512_loadu_si512(words + i + 512 / BITS), queries);                      \
            least = _mm512_min_epu8(least, _mm512_popcnt_epi##BITS(errors));                                           \
            other = _mm512_min_epu8(other, _mm512_popcnt_epi##BITS(more));                                             \
        }                                                                                                              \
        least = _mm512_min_epu8(least, other);                                                                         \
        return _mm512_cmple_epu##BITS##_mask(least, _mm512_set1_epi##BITS((SIGNED)k)) != 0;                            \
    }
TEST_VPOPCNTDQ(test_tile_vpopcntdq, 64, long long)
TEST_VPOPCNTDQ(test_halves_vpopcntdq, 32, int)
#endif

/* Chooses the fastest tests that the processor and the options allow. */
static void choose_tests(struct scan *scan, enum instructions instructions) {
    scan->has_near = test_tile_plain;
    scan->has_near_half = test_halves_plain;
#ifdef __x86_64__
    if (instructions == INSTRUCTIONS_AVX2) {
        scan->has_near = test_tile_avx2;
        scan->has_near_half = test_halves_avx2;
    } else if (instructions == INSTRUCTIONS_AVX512) {
        scan->has_near = test_tile_avx512;
        scan->has_near_half = test_halves_avx512;
    } else if (instructions == INSTRUCTIONS_VPOPCNTDQ) {
        scan->has_near = test_tile_vpopcntdq;
        scan->has_near_half = test_halves_vpopcntdq;
    }
#else
    (void)instructions;
#endif
}

/* ---- Scanning ---- */

static void add_near(const uint64_t *fingerprints, size_t count, unsigned k, size_t number, uint64_t query,
                     struct answers *answers) {
    for (size_t i = 0; i < count; i++) {
        if ((unsigned)__builtin_popcountll(fingerprints[i] ^ query) <= k) add_match(answers, number, fingerprints[i]);
    }
}

static void answer_one_by_one(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                              struct answers *answers) {
    const struct scan *scan = system->state;
    const struct data *data = scan->data;
    size_t whole = data->count / TILE * TILE;
    (void)mode;
    for (size_t query = 0; query < count; query++) {
        for (size_t begin = 0; begin < whole; begin += TILE) {
            const uint64_t *tile = data->fingerprints + begin;
            if (scan->has_near(tile, queries[query], data->k))
                add_near(tile, TILE, data->k, query, queries[query], answers);
        }
        add_near(data->fingerprints + whole, data->count - whole, data->k, query, queries[query], answers);
    }
}

static void answer_tile(const struct scan *scan, const uint64_t *tile, const uint64_t *queries, size_t count,
                        struct answers *answers) {
    uint32_t halves[TILE];
    unsigned k = scan->data->k;
    bool by_halves = k <= MAX_K_BY_HALVES;
    for (size_t i = 0; i < TILE; i++) halves[i] = (uint32_t)tile[i];
    for (size_t query = 0; query < count; query++) {
        if (by_halves ? scan->has_near_half(halves, (uint32_t)queries[query], k)
                      : scan->has_near(tile, queries[query], k))
            add_near(tile, TILE, k, query, queries[query], answers);
    }
}

static void answer_tiled(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                         struct answers *answers) {
    const struct scan *scan = system->state;
    const struct data *data = scan->data;
    size_t whole = data->count / TILE * TILE;
    (void)mode;
    for (size_t begin = 0; begin < whole; begin += TILE)
        answer_tile(scan, data->fingerprints + begin, queries, count, answers);
    for (size_t query = 0; query < count; query++)
        add_near(data->fingerprints + whole, data->count - whole, data->k, query, queries[query], answers);
}

static void free_scan(struct system *system) { free(system->state); }

bool scan_build(struct system *system, const struct data *data, bool tiled, enum instructions instructions) {
    struct scan *scan = malloc(sizeof *scan);
    if (scan == NULL) die("out of memory");
    scan->data = data;
    choose_tests(scan, instructions);
    *system = (struct system){.name = tiled ? "scan tiled" : "scan",
                              .scheme = "-",
                              .table_bytes = (double)data->count * 8,
                              .state = scan,
                              .answer = tiled ? answer_tiled : answer_one_by_one,
                              .free = free_scan};
    return true;
}
