/* lookup.c: look-ups a second, in process, on one thread: idx by scheme and block size, beside a linear scan. Data are
 * uniform fingerprints, a tenth of them planted 1 to 3 bits from another; half of the queries have a neighbour. Every
 * system answers the first queries alike, or the benchmark fails. */
#include <getopt.h>
#include <idx.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define K 3
#define PASSES 5
#define SCAN_TILE 1024

static const char help[] =
    "Usage: lookup --count N [--queries N] [--scheme S]... [--block-size N]... [--codec xor|delta] [--folder D]\n"
    "\n"
    "Prints, separated by tabs under a header line: system, n, scheme, block_size, queries_per_second (median of 5\n"
    "passes), bytes_per_fingerprint (all table files, and what opening allocates), matches (of the first 1000 "
    "queries,\n"
    "which all systems answer, all alike or the benchmark ends with status 1). Systems: scan, a linear scan; idx, "
    "with\n"
    "keys in memory and blocks mapped; idx-memory, with both in memory.\n"
    "\n"
    "  --count N       fingerprints (required), such as 1e7\n"
    "  --queries N     queries for idx, at least 1000 (default 200000)\n"
    "  --scheme S      a scheme to measure; may be repeated (default 4:1, 5:2 and 2:1:1)\n"
    "  --block-size N  a block size to measure; may be repeated (default 128 and 256)\n"
    "  --codec C       delta (default) or xor\n"
    "  --folder D      where to build the indexes (default /tmp); they are removed afterwards\n";

#define SHARED_QUERIES 1000
#define MAX_CHOICES 32

struct options {
    uint64_t count;
    size_t queries;
    const char *schemes[MAX_CHOICES];
    size_t scheme_count;
    uint32_t block_sizes[MAX_CHOICES];
    size_t block_size_count;
    enum idx_codec codec;
    const char *folder;
};

struct data {
    uint64_t *fingerprints;
    size_t count;
    uint64_t *queries;
    size_t query_count;
    uint64_t matches; /* of the first SHARED_QUERIES, by the scan */
};

static void die(const char *sentence) {
    fprintf(stderr, "lookup: %s\n", sentence);
    exit(2);
}

static void try(enum idx_status status, const struct idx_error *error) {
    if (status != IDX_OK) die(error->sentence);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- Data ---- */

/* xorshift64* (Vigna, 2016). */
static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717u;
}

static uint64_t flip_bits(uint64_t fingerprint, unsigned count) {
    for (unsigned i = 0; i < count; i++) fingerprint ^= UINT64_C(1) << next_random() % 64;
    return fingerprint;
}

static void make_data(struct data *data, const struct options *options) {
    data->count = (size_t)options->count;
    data->query_count = options->queries;
    data->fingerprints = malloc(data->count * sizeof *data->fingerprints);
    data->queries = malloc(data->query_count * sizeof *data->queries);
    if (data->fingerprints == NULL || data->queries == NULL) die("out of memory");
    for (size_t i = 0; i < data->count; i++)
        data->fingerprints[i] = i > 0 && i % 10 == 0
                                    ? flip_bits(data->fingerprints[next_random() % i], 1 + next_random() % K)
                                    : next_random();
    for (size_t i = 0; i < data->query_count; i++)
        data->queries[i] = i % 2 == 0
                               ? next_random()
                               : flip_bits(data->fingerprints[next_random() % data->count], next_random() % (K + 1));
}

/* ---- Systems ---- */

static void print_row(const char *system, const struct data *data, const char *scheme, uint32_t block_size,
                      double seconds, size_t queries, double bytes, uint64_t matches) {
    printf("%s\t%zu\t%s\t%u\t%.0f\t%.2f\t%llu\n", system, data->count, scheme, block_size, (double)queries / seconds,
           bytes, (unsigned long long)matches);
    fflush(stdout);
}

static int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Whether at most K bits are set: clearing them one by one runs in wide registers everywhere, counting does not. */
static inline __attribute__((always_inline)) bool is_near(uint64_t errors) {
    for (int i = 0; i < K; i++) errors &= errors - 1;
    return errors == 0;
}

/* All queries against one tile of fingerprints after the other, so that the tiles come from the first cache. Inlined
 * below for the processor's own instructions. */
static inline __attribute__((always_inline)) uint64_t scan_tiles(const uint64_t *fingerprints, size_t count,
                                                                 const uint64_t *queries) {
    uint64_t matches = 0;
    for (size_t begin = 0; begin < count; begin += SCAN_TILE) {
        size_t end = count - begin < SCAN_TILE ? count : begin + SCAN_TILE;
        for (size_t query = 0; query < SHARED_QUERIES; query++) {
            for (size_t i = begin; i < end; i++) matches += is_near(fingerprints[i] ^ queries[query]);
        }
    }
    return matches;
}

static uint64_t scan_plain(const uint64_t *fingerprints, size_t count, const uint64_t *queries) {
    return scan_tiles(fingerprints, count, queries);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static uint64_t scan_avx2(const uint64_t *fingerprints, size_t count,
                                                          const uint64_t *queries) {
    return scan_tiles(fingerprints, count, queries);
}

__attribute__((target("avx512f"))) static uint64_t scan_avx512(const uint64_t *fingerprints, size_t count,
                                                               const uint64_t *queries) {
    return scan_tiles(fingerprints, count, queries);
}
#endif

static uint64_t scan(const uint64_t *fingerprints, size_t count, const uint64_t *queries) {
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return scan_avx512(fingerprints, count, queries);
    if (__builtin_cpu_supports("avx2")) return scan_avx2(fingerprints, count, queries);
#endif
    return scan_plain(fingerprints, count, queries);
}

static void measure_scan(struct data *data) {
    uint64_t *distinct = malloc(data->count * sizeof *distinct);
    size_t count = 0;
    if (distinct == NULL) die("out of memory");
    memcpy(distinct, data->fingerprints, data->count * sizeof *distinct);
    qsort(distinct, data->count, sizeof *distinct, compare_numbers);
    for (size_t i = 0; i < data->count; i++) {
        if (i == 0 || distinct[i] != distinct[count - 1]) distinct[count++] = distinct[i];
    }
    double begin = now();
    data->matches = scan(distinct, count, data->queries);
    print_row("scan", data, "-", 0, now() - begin, SHARED_QUERIES, 8, data->matches);
    free(distinct);
}

static void build(const struct data *data, const struct options *options, const char *scheme, uint32_t block_size,
                  const char *path) {
    struct idx_build_options build = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    struct idx_error error;
    build.k = K;
    build.scheme = scheme;
    build.codec = options->codec;
    build.block_size = block_size;
    build.id_type = IDX_ID_NONE;
    build.threads = 2;
    try(idx_builder_open(&builder, path, &build, &error), &error);
    for (size_t i = 0; i < data->count; i++)
        try(idx_builder_add_u64(builder, data->fingerprints[i], 0, &error), &error);
    try(idx_builder_finish(builder, NULL, &error), &error);
    idx_builder_free(builder);
}

static uint64_t look_up(const struct idx_index *index, const uint64_t *queries, size_t count) {
    struct idx_match matches[64];
    struct idx_error error;
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) {
        size_t here;
        try(idx_lookup(index, queries[i], K, matches, 64, &here, &error), &error);
        found += here;
    }
    return found;
}

static void measure_open(const struct data *data, const char *system, const char *path, enum idx_keys keys,
                         const char *scheme, uint32_t block_size) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    struct idx_index *index;
    struct idx_properties properties;
    double seconds[PASSES];
    options.keys = keys;
    try(idx_open(&index, path, &options, &error), &error);
    idx_get_properties(index, &properties);
    uint64_t matches = look_up(index, data->queries, SHARED_QUERIES);
    look_up(index, data->queries, data->query_count);
    for (int pass = 0; pass < PASSES; pass++) {
        double begin = now();
        look_up(index, data->queries, data->query_count);
        seconds[pass] = now() - begin;
    }
    qsort(seconds, PASSES, sizeof *seconds, compare_doubles);
    double bytes = (double)(properties.table_bytes + properties.resident_bytes) / (double)properties.fingerprints;
    print_row(system, data, scheme, block_size, seconds[PASSES / 2], data->query_count, bytes, matches);
    idx_close(index);
    if (matches == data->matches) return;
    fprintf(stderr, "lookup: %s found %llu matches where the scan found %llu\n", scheme, (unsigned long long)matches,
            (unsigned long long)data->matches);
    exit(1);
}

static void measure_idx(const struct data *data, const struct options *options, const char *scheme,
                        uint32_t block_size) {
    char path[4096], remove[4200];
    snprintf(path, sizeof path, "%s/idx-bench-%ld.idx", options->folder, (long)getpid());
    build(data, options, scheme, block_size, path);
    measure_open(data, "idx", path, IDX_KEYS_MEMORY, scheme, block_size);
    measure_open(data, "idx-memory", path, IDX_KEYS_BLOCKS_MEMORY, scheme, block_size);
    snprintf(remove, sizeof remove, "rm -rf '%s'", path);
    if (system(remove) != 0) die("can't remove the index that was measured");
}

/* ---- The command ---- */

static void parse(int argc, char **argv, struct options *options) {
    static const struct option names[] = {
        {"count", required_argument, NULL, 'n'},  {"queries", required_argument, NULL, 'q'},
        {"scheme", required_argument, NULL, 's'}, {"block-size", required_argument, NULL, 'b'},
        {"codec", required_argument, NULL, 'c'},  {"folder", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == 'n') options->count = (uint64_t)strtod(optarg, NULL);
        if (option == 'q') options->queries = (size_t)strtod(optarg, NULL);
        if (option == 's' && options->scheme_count < MAX_CHOICES) options->schemes[options->scheme_count++] = optarg;
        if (option == 'b' && options->block_size_count < MAX_CHOICES)
            options->block_sizes[options->block_size_count++] = (uint32_t)strtoul(optarg, NULL, 10);
        if (option == 'c') options->codec = strcmp(optarg, "xor") == 0 ? IDX_CODEC_XOR : IDX_CODEC_DELTA;
        if (option == 'f') options->folder = optarg;
        if (option == 'h') {
            fputs(help, stdout);
            exit(0);
        }
        if (option == '?') die("see lookup --help");
    }
    if (options->count == 0) die("--count N is needed: the number of fingerprints; see lookup --help");
    if (options->queries < SHARED_QUERIES) die("--queries must be 1000 or more");
}

int main(int argc, char **argv) {
    static const char *const schemes[] = {"4:1", "5:2", "2:1:1"};
    static const uint32_t block_sizes[] = {128, 256};
    struct options options = {.queries = 200000, .codec = IDX_CODEC_DELTA, .folder = "/tmp"};
    struct data data;
    parse(argc, argv, &options);
    if (options.scheme_count == 0) {
        memcpy(options.schemes, schemes, sizeof schemes);
        options.scheme_count = sizeof schemes / sizeof schemes[0];
    }
    if (options.block_size_count == 0) {
        memcpy(options.block_sizes, block_sizes, sizeof block_sizes);
        options.block_size_count = sizeof block_sizes / sizeof block_sizes[0];
    }
    make_data(&data, &options);
    printf("system\tn\tscheme\tblock_size\tqueries_per_second\tbytes_per_fingerprint\tmatches\n");
    measure_scan(&data);
    for (size_t scheme = 0; scheme < options.scheme_count; scheme++) {
        for (size_t size = 0; size < options.block_size_count; size++)
            measure_idx(&data, &options, options.schemes[scheme], options.block_sizes[size]);
    }
    free(data.fingerprints);
    free(data.queries);
    return 0;
}
