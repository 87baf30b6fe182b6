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

/* Clears the bits that differ one by one, since not all vector instructions can count bits. */
static inline __attribute__((always_inline)) bool test_tile_for(const uint64_t *tile, uint64_t query, unsigned k) {
    uint64_t found = 0;
    for (size_t i = 0; i < TILE; i++) {
        uint64_t errors = tile[i] ^ query;
        for (unsigned bit = 0; bit < k; bit++) errors &= errors - 1;
        found |= errors == 0;
    }
    return found != 0;
}

static inline __attribute__((always_inline)) bool test_halves_for(const uint32_t *halves, uint32_t query, unsigned k) {
    uint32_t found = 0;
    for (size_t i = 0; i < TILE; i++) {
        uint32_t errors = halves[i] ^ query;
        for (unsigned bit = 0; bit < k; bit++) errors &= errors - 1;
        found |= errors == 0;
    }
    return found != 0;
}

#define FOR_CONSTANT_K(TEST, ...)                                                                                      \
    switch (k) {                                                                                                       \
        case 1: return TEST(__VA_ARGS__, 1);                                                                           \
        case 2: return TEST(__VA_ARGS__, 2);                                                                           \
        case 3: return TEST(__VA_ARGS__, 3);                                                                           \
        case 4: return TEST(__VA_ARGS__, 4);                                                                           \
        case 5: return TEST(__VA_ARGS__, 5);                                                                           \
        case 6: return TEST(__VA_ARGS__, 6);                                                                           \
        case 7: return TEST(__VA_ARGS__, 7);                                                                           \
        default: return TEST(__VA_ARGS__, k);                                                                          \
    }

static bool test_tile_plain(const uint64_t *tile, uint64_t query, unsigned k) {
    FOR_CONSTANT_K(test_tile_for, tile, query)
}

static bool test_halves_plain(const uint32_t *halves, uint32_t query, unsigned k) {
    FOR_CONSTANT_K(test_halves_for, halves, query)
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static bool test_tile_avx2(const uint64_t *tile, uint64_t query, unsigned k) {
    FOR_CONSTANT_K(test_tile_for, tile, query)
}

__attribute__((target("avx2"))) static bool test_halves_avx2(const uint32_t *halves, uint32_t query, unsigned k) {
    FOR_CONSTANT_K(test_halves_for, halves, query)
}

/* ---- Tests in AVX-512 ---- */

__attribute__((target("avx512f"))) static bool test_tile_avx512(const uint64_t *tile, uint64_t query, unsigned k) {
    __m512i queries = _mm512_set1_epi64((long long)query), ones = _mm512_set1_epi64(-1);
    unsigned found = 0;
    for (size_t i = 0; i < TILE; i += 8) {
        __m512i errors = _mm512_xor_si512(_mm512_loadu_si512(tile + i), queries);
        for (unsigned bit = 0; bit < k; bit++) errors = _mm512_and_si512(errors, _mm512_add_epi64(errors, ones));
        found |= _mm512_testn_epi64_mask(errors, errors);
    }
    return found != 0;
}

__attribute__((target("avx512f"))) static bool test_halves_avx512(const uint32_t *halves, uint32_t query, unsigned k) {
    __m512i queries = _mm512_set1_epi32((int)query), ones = _mm512_set1_epi32(-1);
    unsigned found = 0;
    for (size_t i = 0; i < TILE; i += 16) {
        __m512i errors = _mm512_xor_si512(_mm512_loadu_si512(halves + i), queries);
        for (unsigned bit = 0; bit < k; bit++) errors = _mm512_and_si512(errors, _mm512_add_epi32(errors, ones));
        found |= _mm512_testn_epi32_mask(errors, errors);
    }
    return found != 0;
}

/* A count fits into a byte, so the minimum of bytes is that of counts. The processor computes it on another port than
 * counts. */
__attribute__((target("avx512f,avx512bw,avx512vpopcntdq"))) static bool
test_tile_vpopcntdq(const uint64_t *tile, uint64_t query, unsigned k) {
    __m512i queries = _mm512_set1_epi64((long long)query), least = _mm512_set1_epi64(64), other = least;
    for (size_t i = 0; i < TILE; i += 16) {
        __m512i errors = _mm512_xor_si512(_mm512_loadu_si512(tile + i), queries);
        __m512i more = _mm512_xor_si512(_mm512_loadu_si512(tile + i + 8), queries);
        least = _mm512_min_epu8(least, _mm512_popcnt_epi64(errors));
        other = _mm512_min_epu8(other, _mm512_popcnt_epi64(more));
    }
    return _mm512_cmple_epu64_mask(_mm512_min_epu8(least, other), _mm512_set1_epi64(k)) != 0;
}

__attribute__((target("avx512f,avx512bw,avx512vpopcntdq"))) static bool
test_halves_vpopcntdq(const uint32_t *halves, uint32_t query, unsigned k) {
    __m512i queries = _mm512_set1_epi32((int)query), least = _mm512_set1_epi32(32), other = least;
    for (size_t i = 0; i < TILE; i += 32) {
        __m512i errors = _mm512_xor_si512(_mm512_loadu_si512(halves + i), queries);
        __m512i more = _mm512_xor_si512(_mm512_loadu_si512(halves + i + 16), queries);
        least = _mm512_min_epu8(least, _mm512_popcnt_epi32(errors));
        other = _mm512_min_epu8(other, _mm512_popcnt_epi32(more));
    }
    return _mm512_cmple_epu32_mask(_mm512_min_epu8(least, other), _mm512_set1_epi32((int)k)) != 0;
}
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
