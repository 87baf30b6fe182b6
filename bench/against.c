/* against.c: look-ups by two builds of the library in one process, in turns, each in an index that it built itself:
 * what a change of the library or of its format does to their time. */
#include "bench/data.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BATCH 1024
#define CAPACITY 64
#define MAX_PASSES 101

/* ---- A library and its index ---- */

struct side {
    const char *index_path;
    struct idx_index *index;
    enum idx_status (*open)(struct idx_index **, const char *, const struct idx_open_options *, struct idx_error *);
    void (*close)(struct idx_index *);
    enum idx_status (*lookup)(const struct idx_index *, uint64_t, unsigned, struct idx_match *, size_t, size_t *,
                              struct idx_error *);
    enum idx_status (*lookup_many)(const struct idx_index *, const uint64_t *, size_t,
                                   const struct idx_lookup_options *, struct idx_match *, size_t, size_t *,
                                   struct idx_error *);
    double seconds[MAX_PASSES];
    struct answers answers;
};

/* Finds a function of the library. It is copied to *pointer, since ISO C does not convert an object's address into a
 * function's. */
static void find_function(void *library, const char *name, void *pointer) {
    void *address = dlsym(library, name);
    if (address == NULL) die("%s", dlerror());
    memcpy(pointer, &address, sizeof address);
}

static void load_library(struct side *side, const char *library_path, const char *index_path) {
    void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) die("%s", dlerror());
    side->index_path = index_path;
    find_function(library, "idx_open", &side->open);
    find_function(library, "idx_close", &side->close);
    find_function(library, "idx_lookup", &side->lookup);
    find_function(library, "idx_lookup_many", &side->lookup_many);
}

/* ---- Look-ups ---- */

static struct idx_match matches[BATCH * CAPACITY];
static size_t counts[BATCH];

/* Adds the hashes of the nearest CAPACITY matches of a query, and the number of all its matches. */
static void add_answers(struct answers *answers, const struct idx_match *found, size_t count, size_t query) {
    for (size_t i = 0; i < count && i < CAPACITY; i++) add_match(answers, query, found[i].fingerprint);
    answers->hash += count;
}

static void look_up_each(struct side *side, const struct data *data) {
    struct idx_error error;
    for (size_t i = 0; i < data->query_count; i++) {
        size_t count;
        try(side->lookup(side->index, data->queries[i], data->k, matches, CAPACITY, &count, &error), &error);
        add_answers(&side->answers, matches, count, i);
    }
}

static void look_up_many(struct side *side, const struct data *data) {
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    struct idx_error error;
    options.distance = data->k;
    for (size_t begin = 0; begin < data->query_count; begin += BATCH) {
        const uint64_t *queries = data->queries + begin;
        size_t here = data->query_count - begin < BATCH ? data->query_count - begin : BATCH;
        try(side->lookup_many(side->index, queries, here, &options, matches, CAPACITY, counts, &error), &error);
        for (size_t i = 0; i < here; i++) add_answers(&side->answers, matches + i * CAPACITY, counts[i], begin + i);
    }
}

static double run_pass(struct side *side, const struct data *data, bool many) {
    side->answers = (struct answers){0};
    double begin = now();
    if (many)
        look_up_many(side, data);
    else
        look_up_each(side, data);
    return now() - begin;
}

static double median(const double *values, size_t count) {
    double sorted[MAX_PASSES];
    memcpy(sorted, values, count * sizeof *sorted);
    sort_doubles(sorted, count);
    return sorted[count / 2];
}

/* The first pass of each library is not counted, since it maps and checks pages. */
static void measure_mode(struct side sides[2], const struct data *data, unsigned passes, const char *residence,
                         bool many) {
    double ratios[MAX_PASSES], to_ns = 1e9 / (double)data->query_count;
    for (int side = 0; side < 2; side++) run_pass(&sides[side], data, many);
    for (unsigned pass = 0; pass < passes; pass++) {
        for (int side = 0; side < 2; side++) sides[side].seconds[pass] = run_pass(&sides[side], data, many);
        ratios[pass] = sides[1].seconds[pass] / sides[0].seconds[pass];
    }
    printf("%s\t%s\t%.1f\t%.1f\t%.3f\t%llu\n", residence, many ? "many" : "one",
           median(sides[0].seconds, passes) * to_ns, median(sides[1].seconds, passes) * to_ns, median(ratios, passes),
           (unsigned long long)sides[0].answers.matches);
    fflush(stdout);
    if (memcmp(&sides[0].answers, &sides[1].answers, sizeof sides[0].answers) == 0) return;
    fprintf(stderr, "against: the two find different matches\n");
    exit(1);
}

static void measure_residence(struct side sides[2], const struct data *data, unsigned passes,
                              enum idx_residence residence) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    const char *name = residence == IDX_RESIDENCE_ALL ? "all" : "directory";
    options.residence = residence;
    for (int side = 0; side < 2; side++)
        try(sides[side].open(&sides[side].index, sides[side].index_path, &options, &error), &error);
    measure_mode(sides, data, passes, name, true);
    measure_mode(sides, data, passes, name, false);
    for (int side = 0; side < 2; side++) sides[side].close(sides[side].index);
}

/* ---- The command ---- */

static void pin_to_core(unsigned core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) != 0) die("can't run on core %u", core);
}

int main(int argc, char **argv) {
    const char *fingerprints = NULL;
    size_t queries = 1000000;
    unsigned k = 3, passes = 5, core = (unsigned)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    const struct bench_option names[] = {
        {"fingerprints", OPTION_TEXT, &fingerprints, 0, 0},
        {"k", OPTION_UNSIGNED, &k, 0, IDX_MAX_K},
        {"queries", OPTION_SIZE, &queries, 1, 1e12},
        {"passes", OPTION_UNSIGNED, &passes, 1, MAX_PASSES},
        {"core", OPTION_UNSIGNED, &core, 0, 0},
        {NULL, OPTION_FLAG, NULL, 0, 0},
    };
    int others = read_options(argc, argv, help_against, names);
    if (fingerprints == NULL || others != 4) die("what to measure is unclear: see --help");
    struct side *sides = allocate(2, sizeof *sides);
    struct data data;
    read_data(&data, fingerprints, queries, k);
    for (int side = 0; side < 2; side++) load_library(&sides[side], argv[1 + 2 * side], argv[2 + 2 * side]);
    pin_to_core(core);
    puts("residence\tmode\tfirst_ns\tsecond_ns\tratio\tmatches");
    measure_residence(sides, &data, passes, IDX_RESIDENCE_DIRECTORY);
    measure_residence(sides, &data, passes, IDX_RESIDENCE_ALL);
    free(sides);
    return 0;
}
