/* skew.c: how long the slow queries take, beside the median, on data that are not spread evenly. */
#include "bench/data.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define K 3
#define COUNT 1000000
#define DENSE_BITS 17
#define QUERIES 2000
#define CHECKED 100
#define PASSES 3

/* ---- Data ---- */

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t draw(void) { return next_xorshift(&random_state); }

static size_t make_masked(uint64_t *fingerprints, uint64_t kept, uint64_t added) {
    for (size_t i = 0; i < COUNT; i++) fingerprints[i] = (draw() & kept) | added;
    return COUNT;
}

static size_t make_uniform(uint64_t *fingerprints) { return make_masked(fingerprints, UINT64_MAX, 0); }

static size_t make_prefix(uint64_t *fingerprints) {
    return make_masked(fingerprints, UINT64_MAX >> 16, UINT64_C(0xabcd) << 48);
}

static size_t make_dead(uint64_t *fingerprints) { return make_masked(fingerprints, UINT64_C(0xdb6db6db6db6db6d), 0); }

/* Adds all values with up to `flips` of the bits below `below` flipped. Returns how many fingerprints there are then.
 */
static size_t add_near(uint64_t *fingerprints, size_t count, uint64_t value, unsigned below, unsigned flips) {
    fingerprints[count++] = value;
    for (unsigned bit = 0; flips > 0 && bit < below; bit++)
        count = add_near(fingerprints, count, value ^ UINT64_C(1) << bit, bit, flips - 1);
    return count;
}

static size_t make_ball(uint64_t *fingerprints) {
    size_t count = add_near(fingerprints, 0, draw(), 64, K);
    while (count < COUNT) fingerprints[count++] = draw();
    return count;
}

static size_t make_dense(uint64_t *fingerprints) {
    for (size_t i = 0; i < 1u << DENSE_BITS; i++) fingerprints[i] = i;
    return 1u << DENSE_BITS;
}

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

static void compare_with_scan(const struct idx_index *index, const struct data *data) {
    for (size_t query = 0; query < CHECKED; query++) {
        uint64_t expected = 0;
        for (size_t i = 0; i < data->count; i++)
            expected += idx_distance(data->fingerprints[i], data->queries[query]) <= K;
        if (look_up(index, data->queries[query]) == expected) continue;
        fprintf(stderr, "skew: a query has other matches than the scan finds\n");
        exit(1);
    }
}

static void measure_scheme(const char *name, const struct data *data, const char *scheme) {
    static double seconds[QUERIES];
    struct idx_properties properties;
    struct idx_index *index;
    struct idx_error error;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/tmp/idx-skew-%ld.idx", (long)getpid());
    make_index(path, scheme, IDX_DEFAULT_BLOCK_SIZE, K, data->fingerprints, data->count);
    try(idx_open(&index, path, NULL, &error), &error);
    idx_get_properties(index, &properties);
    compare_with_scan(index, data);
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t i = 0; i < QUERIES; i++) {
            double begin = now();
            look_up(index, data->queries[i]);
            double here = now() - begin;
            if (pass == 0 || here < seconds[i]) seconds[i] = here;
        }
    }
    sort_doubles(seconds, QUERIES);
    printf("%s\t%zu\t%s\t%.2f\t%.2f\t%.2f\t%.2f\n", name, data->count, scheme,
           (double)(properties.table_bytes + properties.resident_bytes) / (double)data->count,
           seconds[QUERIES / 2] * 1e6, seconds[QUERIES * 99 / 100] * 1e6, seconds[QUERIES - 1] * 1e6);
    fflush(stdout);
    idx_close(index);
    remove_index();
}

static void measure_set(const char *name, size_t (*make)(uint64_t *fingerprints)) {
    uint64_t *fingerprints = huge_new(COUNT * sizeof *fingerprints), queries[QUERIES];
    struct data data;
    set_fingerprints(&data, fingerprints, make(fingerprints), COUNT);
    for (size_t i = 0; i < QUERIES; i++) {
        queries[i] = data.fingerprints[draw() % data.count];
        for (unsigned flips = draw() % 5; flips > 0; flips--) queries[i] ^= UINT64_C(1) << draw() % 64;
    }
    data.queries = queries;
    measure_scheme(name, &data, "4:1");
    measure_scheme(name, &data, "auto");
    data.queries = NULL;
    free_data(&data);
}

int main(int argc, char **argv) {
    const struct bench_option none = {NULL, OPTION_FLAG, NULL, 0, 0};
    if (read_options(argc, argv, help_skew, &none) > 0) die("%s is no option; see skew --help", argv[1]);
    atexit(remove_index);
    puts("data\tn\tscheme\tbytes_per_fp\tp50_us\tp99_us\tworst_us");
    measure_set("uniform", make_uniform);
    measure_set("prefix", make_prefix);
    measure_set("dead-bits", make_dead);
    measure_set("ball", make_ball);
    measure_set("dense", make_dense);
    return 0;
}
