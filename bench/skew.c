/* skew.c: how long the slow queries take, beside the mean, on data that are not spread evenly: shared prefixes, dead
 * bits, a dense ball, all values of few bits, and those of a file. */
#include "bench/data.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define K 3
#define COUNT 1000000
#define QUERIES 2000
#define CHECKED 100
#define PASSES 3

static const char help[] =
    "Usage: skew [--fingerprints FILE]\n"
    "Measures look-ups within 3 bits, one at a time, in indexes of 1e6 fingerprints that are not spread evenly. FILE\n"
    "holds fingerprints, 8 bytes each, little-endian, and is measured alone.\n"
    "\n"
    "Columns, separated by tabs: data; n (distinct); scheme; bytes_per_fp (tables and resident); expected_blocks (a\n"
    "query, by the index's own statistics); matches (a query); mean_us, p50_us, p99_us, worst_us: of the queries, "
    "each\n"
    "the least of 3 passes. Queries are fingerprints of the data with 0 to 4 bits flipped; those of FILE half with 0\n"
    "to 3 bits flipped, half with 8 to 20. The first 100 queries are compared with a linear scan.\n";

static const char *const schemes[] = {"4:1", "5:2", "2:1:1", "auto"};

/* ---- Data ---- */

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t draw(void) { return next_xorshift(&random_state); }

static size_t make_uniform(uint64_t *fingerprints) {
    for (size_t i = 0; i < COUNT; i++) fingerprints[i] = draw();
    return COUNT;
}

/* All have the same 16 bits in front. */
static size_t make_prefix(uint64_t *fingerprints) {
    for (size_t i = 0; i < COUNT; i++) fingerprints[i] = draw() >> 16 | UINT64_C(0xabcd) << 48;
    return COUNT;
}

/* Every third bit is 0. */
static size_t make_dead(uint64_t *fingerprints) {
    for (size_t i = 0; i < COUNT; i++) fingerprints[i] = draw() & UINT64_C(0xdb6db6db6db6db6d);
    return COUNT;
}

/* One value and all within 3 bits of it, 43,745, among random ones. */
static size_t make_ball(uint64_t *fingerprints) {
    uint64_t centre = draw();
    size_t count = 0;
    fingerprints[count++] = centre;
    for (unsigned a = 0; a < 64; a++) {
        fingerprints[count++] = centre ^ UINT64_C(1) << a;
        for (unsigned b = 0; b < a; b++) {
            fingerprints[count++] = centre ^ UINT64_C(1) << a ^ UINT64_C(1) << b;
            for (unsigned c = 0; c < b; c++)
                fingerprints[count++] = centre ^ UINT64_C(1) << a ^ UINT64_C(1) << b ^ UINT64_C(1) << c;
        }
    }
    while (count < COUNT) fingerprints[count++] = draw();
    return count;
}

/* All 2^17 values of 17 bits. */
static size_t make_dense(uint64_t *fingerprints) {
    for (size_t i = 0; i < 1u << 17; i++) fingerprints[i] = i;
    return 1u << 17;
}

struct set {
    const char *name;
    size_t (*make)(uint64_t *fingerprints);
};

static const struct set sets[] = {
    {"uniform", make_uniform}, {"prefix", make_prefix}, {"dead-bits", make_dead},
    {"ball", make_ball},       {"dense", make_dense},
};

/* ---- Measuring ---- */

static bool count_match(void *context, const struct idx_match *match) {
    (void)match;
    ++*(uint64_t *)context;
    return true;
}

static uint64_t look_up(const struct idx_index *index, uint64_t query) {
    struct idx_error error;
    uint64_t matches = 0;
    try(idx_visit_matches(index, query, K, count_match, &matches, &error), &error);
    return matches;
}

/* `fingerprints` are distinct. */
static void check(const struct idx_index *index, const uint64_t *fingerprints, size_t count, const uint64_t *queries) {
    for (size_t query = 0; query < CHECKED; query++) {
        uint64_t expected = 0;
        for (size_t i = 0; i < count; i++) expected += __builtin_popcountll(fingerprints[i] ^ queries[query]) <= K;
        if (look_up(index, queries[query]) == expected) continue;
        fprintf(stderr, "skew: a query has other matches than the scan finds\n");
        exit(1);
    }
}

static double get_expected_blocks(const struct idx_index *index, const struct idx_properties *properties) {
    double blocks = 0;
    for (size_t table = 0; table < properties->scheme->table_count; table++) {
        struct idx_table_properties one;
        struct idx_error error;
        try(idx_get_table_properties(index, 0, table, &one, &error), &error);
        blocks += one.expected_blocks;
    }
    return blocks;
}

static void measure_index(const char *name, const uint64_t *fingerprints, size_t count, const uint64_t *queries,
                          const char *path) {
    static double seconds[QUERIES];
    struct idx_properties properties;
    struct idx_index *index;
    struct idx_error error;
    uint64_t matches = 0;
    double all = 0;
    try(idx_open(&index, path, NULL, &error), &error);
    idx_get_properties(index, &properties);
    check(index, fingerprints, count, queries);
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t i = 0; i < QUERIES; i++) {
            double begin = now();
            matches += look_up(index, queries[i]);
            double here = now() - begin;
            if (pass == 0 || here < seconds[i]) seconds[i] = here;
        }
    }
    for (size_t i = 0; i < QUERIES; i++) all += seconds[i];
    sort_doubles(seconds, QUERIES);
    printf("%s\t%zu\t%s\t%.2f\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\n", name, count, properties.scheme->name,
           (double)(properties.table_bytes + properties.resident_bytes) / (double)count,
           get_expected_blocks(index, &properties), (double)matches / PASSES / QUERIES, all / QUERIES * 1e6,
           seconds[QUERIES / 2] * 1e6, seconds[QUERIES * 99 / 100] * 1e6, seconds[QUERIES - 1] * 1e6);
    fflush(stdout);
    idx_close(index);
}

static void measure_schemes(const char *name, const uint64_t *fingerprints, size_t count, const uint64_t *queries) {
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "/tmp/idx-skew-%ld.idx", (long)getpid());
        make_index(path, schemes[i], IDX_DEFAULT_BLOCK_SIZE, K, fingerprints, count);
        measure_index(name, fingerprints, count, queries, path);
        remove_index();
    }
}

static void measure_set(const struct set *set, uint64_t *fingerprints, uint64_t *spare) {
    static uint64_t queries[QUERIES];
    size_t made = set->make(fingerprints), count = 0;
    if (made == 0) return;
    uint64_t *sorted = sort_by_bits(fingerprints, spare, made, 0, 64);
    for (size_t i = 0; i < made; i++) {
        if (i == 0 || sorted[i] != sorted[count - 1]) sorted[count++] = sorted[i];
    }
    for (size_t i = 0; i < QUERIES; i++) {
        queries[i] = sorted[draw() % count];
        for (unsigned flips = draw() % 5; flips > 0; flips--) queries[i] ^= UINT64_C(1) << draw() % 64;
    }
    measure_schemes(set->name, sorted, count, queries);
}

static void measure_file(const char *path) {
    const char *slash = strrchr(path, '/');
    struct data data;
    read_data(&data, path, QUERIES, K);
    measure_schemes(slash == NULL ? path : slash + 1, data.fingerprints, data.count, data.queries);
    free_data(&data);
}

int main(int argc, char **argv) {
    const char *path = NULL;
    const struct bench_option names[] = {{"fingerprints", OPTION_TEXT, &path, 0, 0}, {NULL, OPTION_FLAG, NULL, 0, 0}};
    uint64_t *fingerprints = allocate(COUNT, sizeof *fingerprints), *spare = allocate(COUNT, sizeof *spare);
    if (read_options(argc, argv, help, names) > 0) die("%s is no option; see skew --help", argv[1]);
    atexit(remove_index);
    printf("data\tn\tscheme\tbytes_per_fp\texpected_blocks\tmatches\tmean_us\tp50_us\tp99_us\tworst_us\n");
    if (path != NULL) measure_file(path);
    for (size_t i = 0; path == NULL && i < sizeof sets / sizeof *sets; i++) measure_set(&sets[i], fingerprints, spare);
    free(fingerprints);
    free(spare);
    return 0;
}
