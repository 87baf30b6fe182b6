/* pairs.c: measures how long it takes to find all pairs of fingerprints within k bits: those of an index, of an array,
 * of plain fingerprints with an index that is built first, by comparing all with all, and up to 3 bits by a plain join
 * in memory. */
#include "bench/systems.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_ROUNDS 99
#define RAW_BLOCK_SIZE 512 /* Smaller blocks would only help look-ups, and none follow. */
#define BRUTE_MOST 1000000 /* Up to this many fingerprints, all are compared; of more, the first BRUTE_SOME. */
#define BRUTE_SOME 100000
#define PLAIN_MOST 3       /* Bits; the plain join divides fingerprints into four parts. */
#define FAISS_MOST 1000000 /* Fingerprints; many more would take hours. */

struct options {
    size_t count;
    const char *fingerprints, *schemes, *raw, *folder;
    unsigned k, threads, rounds;
};

static unsigned distance;

static char index_path[PATH_MAX];

/* What a trial found, and how long it took. */
struct trial {
    struct answers answers;
    double build, pairs, build_cpu, cpu;
    uint64_t bytes;
};

static void add_pair(struct answers *answers, uint64_t a, uint64_t b) {
    add_match(answers, a < b ? a : b, a < b ? b : a);
}

/* ---- The plain join ---- */

#define DIGIT 16

/* Adds the pairs of group[at] with the fingerprints behind it, all of which share the 16 bits number `digit`. A pair
 * that also shares earlier 16 bits was added there. */
static void add_near_pairs(struct answers *answers, const uint64_t *group, size_t count, size_t at, unsigned digit) {
    for (size_t i = at + 1; i < count; i++) {
        uint64_t errors = group[at] ^ group[i];
        if (__builtin_popcountll(errors) > (int)distance) continue;
        bool before = false;
        for (unsigned j = 0; j < digit; j++) before |= (errors >> j * DIGIT & 0xffff) == 0;
        if (!before) add_pair(answers, group[at], group[i]);
    }
}

#define NEAR_AMONG(name, attributes)                                                                                   \
    attributes static bool name(uint64_t x, const uint64_t *others, size_t count) {                                    \
        uint64_t found = 0;                                                                                            \
        for (size_t i = 0; i < count; i++) found |= (uint64_t)(__builtin_popcountll(x ^ others[i]) <= PLAIN_MOST);     \
        return found != 0;                                                                                             \
    }
NEAR_AMONG(near_plain, )
#ifdef __x86_64__
#ifdef __clang__ /* which vectorises at -O2, and knows neither of these */
#define VECTORISED(targets) __attribute__((target(targets)))
#define WIDEST
#else
#define VECTORISED(targets) __attribute__((target(targets), optimize("O3")))
#define WIDEST ",prefer-vector-width=512"
#endif
NEAR_AMONG(near_avx2, VECTORISED("avx2,bmi2,popcnt"))
NEAR_AMONG(near_vpopcntdq, VECTORISED("avx512f,avx512bw,avx512vl,avx512vpopcntdq" WIDEST))
#endif

typedef bool (*near_among)(uint64_t x, const uint64_t *others, size_t count);

static near_among choose_near(void) {
#ifdef __x86_64__
    enum instructions instructions = find_instructions(INSTRUCTIONS_VPOPCNTDQ);
    if (instructions == INSTRUCTIONS_VPOPCNTDQ) return near_vpopcntdq;
    if (instructions != INSTRUCTIONS_PLAIN) return near_avx2;
#endif
    return near_plain;
}

static void join_digit(struct answers *answers, const uint64_t *fingerprints, uint64_t *sorted, size_t count,
                       unsigned digit, near_among near) {
    static size_t begins[(1 << DIGIT) + 1];
    memset(begins, 0, sizeof begins);
    for (size_t i = 0; i < count; i++) begins[(fingerprints[i] >> digit * DIGIT & 0xffff) + 1]++;
    for (size_t i = 0; i < 1 << DIGIT; i++) begins[i + 1] += begins[i];
    for (size_t i = 0; i < count; i++) sorted[begins[fingerprints[i] >> digit * DIGIT & 0xffff]++] = fingerprints[i];
    for (size_t i = 0, begin = 0; i < 1 << DIGIT; begin = begins[i++]) {
        size_t group = begins[i] - begin;
        for (size_t j = 0; j + 1 < group; j++) {
            if (near(sorted[begin + j], sorted + begin + j + 1, group - j - 1))
                add_near_pairs(answers, sorted + begin, group, j, digit);
        }
    }
}

static void run_plain(const uint64_t *fingerprints, size_t count, struct trial *trial) {
    double begin = now(), cpu = cpu_now();
    near_among near = choose_near();
    uint64_t *sorted = huge_new(count * sizeof *sorted);
    memset(trial, 0, sizeof *trial);
    for (unsigned digit = 0; digit < 64 / DIGIT; digit++)
        join_digit(&trial->answers, fingerprints, sorted, count, digit, near);
    huge_free(sorted, count * sizeof *sorted);
    trial->pairs = now() - begin;
    trial->cpu = cpu_now() - cpu;
}

/* ---- Brute force ---- */

#define BLOCK 64  /* Fingerprints that are compared at a time ... */
#define TILE 1024 /* ... with this many, which stay in the first cache. */

/* Adds the pairs of fingerprint x with those of a block. */
static void add_pairs_of_block(struct answers *answers, uint64_t x, const uint64_t *block, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (__builtin_popcountll(x ^ block[i]) <= (int)distance) add_pair(answers, x, block[i]);
    }
}

static void compare_plain(struct answers *answers, const uint64_t *some, size_t count, const uint64_t *block) {
    for (size_t i = 0; i < count; i++) add_pairs_of_block(answers, some[i], block, BLOCK);
}

#ifdef __x86_64__
#include <immintrin.h>

#include <idx_planning.h>

#define LANES 8
/* A count fits into a byte, so the minimum of bytes is that of counts. Some processors need two instructions for that
 * of whole words. */
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq"))) static void
compare_avx512(struct answers *answers, const uint64_t *some, size_t count, const uint64_t *block) {
    __m512i held[BLOCK / LANES], most = _mm512_set1_epi64((long long)distance);
    for (size_t i = 0; i < BLOCK / LANES; i++) held[i] = _mm512_loadu_si512(block + i * LANES);
    for (size_t i = 0; i < count; i++) {
        __m512i here = _mm512_set1_epi64((long long)some[i]);
        __m512i least = _mm512_popcnt_epi64(_mm512_xor_si512(here, held[0]));
#pragma GCC unroll 8
        for (size_t j = 1; j < BLOCK / LANES; j++)
            least = _mm512_min_epu8(least, _mm512_popcnt_epi64(_mm512_xor_si512(here, held[j])));
        if (_mm512_cmple_epu64_mask(least, most) != 0) add_pairs_of_block(answers, some[i], block, BLOCK);
    }
}
#endif

typedef void (*block_comparer)(struct answers *answers, const uint64_t *some, size_t count, const uint64_t *block);

static block_comparer choose_comparer(void) {
#ifdef __x86_64__
    if (find_instructions(INSTRUCTIONS_VPOPCNTDQ) == INSTRUCTIONS_VPOPCNTDQ) return compare_avx512;
#endif
    return compare_plain;
}

/* Compares all with all: each tile with the whole blocks behind it, and pairs within a tile or with an incomplete block
 * one by one. */
static void run_brute(const uint64_t *fingerprints, size_t count, struct trial *trial) {
    double begin = now(), cpu = cpu_now();
    block_comparer compare = choose_comparer();
    memset(trial, 0, sizeof *trial);
    for (size_t tile = 0; tile < count; tile += TILE) {
        size_t size = count - tile < TILE ? count - tile : TILE, at = tile + size;
        for (size_t i = tile; i < at; i++)
            add_pairs_of_block(&trial->answers, fingerprints[i], fingerprints + i + 1, at - i - 1);
        for (; at + BLOCK <= count; at += BLOCK) compare(&trial->answers, fingerprints + tile, size, fingerprints + at);
        for (size_t i = tile; i < tile + size; i++)
            add_pairs_of_block(&trial->answers, fingerprints[i], fingerprints + at, count - at);
    }
    trial->pairs = now() - begin;
    trial->cpu = cpu_now() - cpu;
}

/* ---- idx ---- */

static void build(const uint64_t *fingerprints, size_t count, const char *scheme, uint32_t block_size, unsigned threads,
                  struct trial *trial) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_build_summary summary;
    double begin = now(), cpu = cpu_now();
    options.k = distance;
    options.scheme = scheme;
    options.block_size = block_size;
    options.threads = threads;
    options.id_type = IDX_ID_NONE;
    options.replace = true;
    build_index(index_path, &options, fingerprints, count, &summary);
    trial->build = now() - begin;
    trial->build_cpu = cpu_now() - cpu;
    trial->bytes = summary.table_bytes;
}

static void remove_built(void) { remove_all(index_path); }

static bool take_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    for (size_t i = 0; i < count; i++) add_pair(context, pairs[i].a, pairs[i].b);
    return true;
}

static void find_pairs(unsigned threads, struct trial *trial) {
    struct idx_open_options open_options = IDX_OPEN_OPTIONS_INIT;
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct idx_index *index;
    struct idx_error error;
    double begin = now(), cpu = cpu_now();
    open_options.residence = IDX_RESIDENCE_NONE;
    options.threads = threads;
    options.distance = distance;
    memset(&trial->answers, 0, sizeof trial->answers);
    try(idx_open(&index, index_path, &open_options, &error), &error);
    try(idx_pairs(index, &options, take_pairs, &trial->answers, &error), &error);
    idx_close(index);
    trial->pairs = now() - begin;
    trial->cpu = cpu_now() - cpu;
}

static void find_array_pairs(const uint64_t *fingerprints, size_t count, unsigned threads, struct trial *trial) {
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct idx_error error;
    double begin = now(), cpu = cpu_now();
    options.threads = threads;
    options.distance = distance;
    memset(trial, 0, sizeof *trial);
    try(idx_array_pairs(fingerprints, count, &options, take_pairs, &trial->answers, &error), &error);
    trial->pairs = now() - begin;
    trial->cpu = cpu_now() - cpu;
}

/* Returns the seconds that the library's cost model expects for an index of this scheme, or for an array. */
static double expected_seconds(size_t count, const char *text) {
    struct idx_scheme scheme;
    struct idx_error error;
    if (text == NULL) return idx_pairs_seconds(count, 64, distance, NULL);
    try(idx_scheme_parse(&scheme, text, 64, distance, count, &error), &error);
    return idx_pairs_seconds(count, 64, distance, &scheme);
}

/* ---- Rows ---- */

static int compare_trials(const void *a, const void *b) {
    const struct trial *x = a, *y = b;
    double x_all = x->build + x->pairs, y_all = y->build + y->pairs;
    return (x_all > y_all) - (x_all < y_all);
}

static struct trial get_median(struct trial *trials, unsigned count) {
    qsort(trials, count, sizeof *trials, compare_trials);
    return trials[count / 2];
}

static double brute_seconds;
static struct answers right;
static bool is_right_known;

static void print(size_t count, const char *system, const char *scheme, unsigned threads, const struct trial *trial,
                  double expected) {
    printf("%zu\t%u\t%s\t%s\t%u\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.5f\t%llu\t%llu\t%016llx\n", count, distance, system,
           scheme, threads, trial->build, trial->pairs, trial->build_cpu, trial->cpu, expected,
           (trial->build_cpu + trial->cpu) / brute_seconds, (unsigned long long)trial->bytes,
           (unsigned long long)trial->answers.matches, (unsigned long long)trial->answers.hash);
    fflush(stdout);
    if (!is_right_known) right = trial->answers;
    is_right_known = true;
    if (trial->answers.matches != right.matches || trial->answers.hash != right.hash)
        die("%s %s found other pairs than what was measured before it", system, scheme);
}

static void measure_brute(const struct options *options, const uint64_t *fingerprints) {
    struct trial trial;
    bool all = options->count <= BRUTE_MOST;
    size_t count = all ? options->count : BRUTE_SOME;
    run_brute(fingerprints, count, &trial);
    double scale = ((double)options->count / (double)count) * ((double)options->count / (double)count);
    brute_seconds = trial.cpu *= scale;
    trial.pairs *= scale;
    print(options->count, all ? "brute force" : "brute force, scaled", "-", 1, &trial, 0);
    is_right_known = all;
}

static void measure_plain(const struct options *options, const uint64_t *fingerprints) {
    struct trial trials[MAX_ROUNDS];
    for (unsigned i = 0; i < options->rounds; i++) run_plain(fingerprints, options->count, &trials[i]);
    struct trial trial = get_median(trials, options->rounds);
    print(options->count, "plain join", "-", 1, &trial, 0);
}

static void measure_array(const struct options *options, const uint64_t *fingerprints) {
    struct trial trials[MAX_ROUNDS];
    for (unsigned threads = 1; threads <= options->threads; threads += options->threads - 1) {
        for (unsigned i = 0; i < options->rounds; i++)
            find_array_pairs(fingerprints, options->count, threads, &trials[i]);
        struct trial trial = get_median(trials, options->rounds);
        print(options->count, "idx, from an array", "-", threads, &trial, expected_seconds(options->count, NULL));
        if (options->threads == 1) break;
    }
}

static void measure_index(const struct options *options, const uint64_t *fingerprints, const char *scheme) {
    struct trial trials[MAX_ROUNDS];
    struct trial built;
    build(fingerprints, options->count, scheme, IDX_DEFAULT_BLOCK_SIZE, options->threads, &built);
    for (unsigned threads = 1; threads <= options->threads; threads += options->threads - 1) {
        for (unsigned i = 0; i < options->rounds; i++) {
            trials[i] = built;
            find_pairs(threads, &trials[i]);
        }
        struct trial trial = get_median(trials, options->rounds);
        trial.build_cpu = 0;
        print(options->count, "idx, from an index", scheme, threads, &trial, expected_seconds(options->count, scheme));
        if (options->threads == 1) break;
    }
    remove_built();
}

static void measure_raw(const struct options *options, const uint64_t *fingerprints) {
    struct trial trials[MAX_ROUNDS];
    for (unsigned threads = 1; threads <= options->threads; threads += options->threads - 1) {
        for (unsigned i = 0; i < options->rounds; i++) {
            build(fingerprints, options->count, options->raw, RAW_BLOCK_SIZE, threads, &trials[i]);
            find_pairs(threads, &trials[i]);
            remove_built();
        }
        struct trial trial = get_median(trials, options->rounds);
        print(options->count, "idx, from fingerprints", options->raw, threads, &trial,
              expected_seconds(options->count, options->raw));
        if (options->threads == 1) break;
    }
}

#ifdef BENCH_HAS_FAISS
/* Measures Faiss, which finds each fingerprint itself as well, and each pair from both sides. */
static void measure_faiss(const struct options *options, const struct data *data) {
    struct system system;
    struct answers answers = {0};
    if (distance > PLAIN_MOST || data->count > FAISS_MOST || !faiss_hash_build(&system, data, 4, 16, 0)) return;
    double begin = now();
    system.answer(&system, MODE_STAGED, data->fingerprints, data->count, &answers);
    double seconds = now() - begin;
    system.free(&system);
    if (answers.matches != data->count + 2 * right.matches) die("FAISS found other pairs");
    printf("%zu\t%u\tFAISS\t%s\t1\t-\t%.3f\t-\t-\t-\t%.5f\t-\t%llu\t-\n", options->count, distance, system.scheme,
           seconds, seconds / brute_seconds, (unsigned long long)right.matches);
}
#endif

/* ---- The program ---- */

static void shuffle(uint64_t *values, size_t count) {
    uint64_t random = 1;
    for (size_t i = count; i > 1; i--) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t at = (size_t)((random ^ random >> 33) % i);
        uint64_t value = values[at];
        values[at] = values[i - 1];
        values[i - 1] = value;
    }
}

int main(int argc, char **argv) {
    struct options options = {.folder = "/dev/shm", .k = 3, .threads = 2, .rounds = 3};
    struct data data;
    char schemes[256];
    const struct bench_option names[] = {
        {"count", OPTION_SIZE, &options.count, 10, 1e10},
        {"fingerprints", OPTION_TEXT, &options.fingerprints, 0, 0},
        {"k", OPTION_UNSIGNED, &options.k, 0, IDX_MAX_K},
        {"schemes", OPTION_TEXT, &options.schemes, 0, 0},
        {"raw", OPTION_TEXT, &options.raw, 0, 0},
        {"threads", OPTION_UNSIGNED, &options.threads, 1, IDX_MAX_THREADS},
        {"rounds", OPTION_UNSIGNED, &options.rounds, 1, MAX_ROUNDS},
        {"folder", OPTION_TEXT, &options.folder, 0, 0},
        {NULL, OPTION_FLAG, NULL, 0, 0},
    };
    if (read_options(argc, argv, help_pairs, names) > 0) die("%s is no option; see pairs --help", argv[1]);
    bool is_few = options.k <= PLAIN_MOST;
    if (options.schemes == NULL) options.schemes = is_few ? "2:1:1,5:2,auto" : "auto";
    if (options.raw == NULL) options.raw = is_few ? "2:1:1" : "auto";
    distance = options.k;
    get_data(&data, options.fingerprints, options.count, 1, distance);
    options.count = data.count;
    uint64_t *fingerprints = huge_new(data.count * sizeof *fingerprints);
    memcpy(fingerprints, data.fingerprints, data.count * sizeof *fingerprints);
    shuffle(fingerprints, data.count);
    snprintf(index_path, sizeof index_path, "%s/idx-pairs-%ld", options.folder, (long)getpid());
    atexit(remove_built);
    printf("n\tk\tsystem\tscheme\tthreads\tbuild_seconds\tpairs_seconds\tbuild_cpu_seconds\tpairs_cpu_seconds\t"
           "expected_cpu_seconds\tof_brute_force\tbytes\tpairs\thash\n");
    measure_brute(&options, fingerprints);
    if (distance <= PLAIN_MOST) measure_plain(&options, fingerprints);
    measure_array(&options, fingerprints);
    snprintf(schemes, sizeof schemes, "%s", options.schemes);
    for (char *scheme = strtok(schemes, ","); scheme != NULL; scheme = strtok(NULL, ","))
        measure_index(&options, fingerprints, scheme);
    measure_raw(&options, fingerprints);
#ifdef BENCH_HAS_FAISS
    measure_faiss(&options, &data);
#endif
    huge_free(fingerprints, data.count * sizeof *fingerprints);
    free_data(&data);
    return 0;
}
