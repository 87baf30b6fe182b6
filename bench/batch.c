/* batch.c: measures many queries against an index, one by one, some at a time, and as batches in every way, and against
 * fingerprints in memory that stream past them. All ways must find the same matches. */
#include "bench/data.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPACITY 4096
#define MAX_WAYS 6
#define MAX_PASSES 99
#define STREAMED ((size_t)1 << 22)

struct bench;

struct options {
    size_t count, queries;
    const char *fingerprints;
    unsigned k;
    struct list schemes;
    unsigned threads, passes;
    bool in_memory, beside;
    const char *folder;
};

typedef void way_function(struct bench *bench, unsigned threads);

struct way {
    const char *name;
    way_function *function;
};

struct bench {
    struct options options;
    struct data data;
    struct idx_index *index;
    const char *scheme;
    struct answers expected, found;
};

/* ---- Ways ---- */

static void add_all(struct bench *bench, size_t query, const struct idx_match *matches, size_t count) {
    for (size_t i = 0; i < count; i++) add_match(&bench->found, query, matches[i].fingerprint);
}

static void look_up(struct bench *bench, unsigned threads) {
    struct idx_match matches[CAPACITY];
    struct idx_error error;
    size_t count;
    (void)threads;
    for (size_t i = 0; i < bench->data.query_count; i++) {
        try(idx_lookup(bench->index, bench->data.queries[i], bench->options.k, matches, CAPACITY, &count, &error),
            &error);
        if (count > CAPACITY) die("a query has %zu matches, which this does not provide for", count);
        add_all(bench, i, matches, count);
    }
}

static void look_up_many(struct bench *bench, unsigned threads) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    struct idx_error error;
    size_t all = bench->data.query_count;
    options.distance = bench->options.k;
    options.threads = threads;
    try(idx_list_matches(bench->index, bench->data.queries, all, &options, &lists, &error), &error);
    for (size_t i = 0; i < all; i++)
        add_all(bench, i, lists.matches + lists.offsets[i], (size_t)(lists.offsets[i + 1] - lists.offsets[i]));
    idx_match_lists_close(&lists);
}

static bool add_matches(void *context, size_t query, const struct idx_match *matches, size_t count) {
    add_all(context, query, matches, count);
    return true;
}

static void batch(struct bench *bench, enum idx_batch_method method, unsigned threads) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct idx_error error;
    options.method = method;
    options.threads = threads;
    try(idx_batch(bench->index, bench->data.queries, bench->data.query_count, &options, add_matches, bench, &error),
        &error);
}

static void probe(struct bench *bench, unsigned threads) { batch(bench, IDX_BATCH_PROBE, threads); }
static void sweep(struct bench *bench, unsigned threads) { batch(bench, IDX_BATCH_SWEEP, threads); }
static void stream(struct bench *bench, unsigned threads) { batch(bench, IDX_BATCH_STREAM, threads); }
static void choose(struct bench *bench, unsigned threads) { batch(bench, IDX_BATCH_AUTO, threads); }

static void stream_memory(struct bench *bench, unsigned threads) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct idx_stream *opened;
    struct idx_error error;
    const struct data *data = &bench->data;
    options.distance = bench->options.k;
    options.threads = threads;
    try(idx_stream_open(&opened, data->queries, data->query_count, 64, &options, &error), &error);
    for (size_t at = 0; at < data->count; at += STREAMED)
        try(idx_stream_add(opened, data->fingerprints + at, data->count - at < STREAMED ? data->count - at : STREAMED,
                           &error),
            &error);
    try(idx_stream_finish(opened, add_matches, bench, &error), &error);
    idx_stream_close(opened);
}

/* ---- Measuring ---- */

static void run(struct bench *bench, way_function *way, unsigned threads) {
    bench->found = (struct answers){0, 0};
    way(bench, threads);
}

/* How long a way took in each pass. */
struct measured {
    double seconds[MAX_PASSES], cpu_seconds[MAX_PASSES];
};

static void time_way(struct bench *bench, const struct way *way, unsigned threads, unsigned pass,
                     struct measured *measured) {
    double cpu = cpu_now(), begin = now();
    run(bench, way->function, threads);
    measured->seconds[pass] = now() - begin;
    measured->cpu_seconds[pass] = cpu_now() - cpu;
    if (bench->expected.matches == 0) bench->expected = bench->found;
    if (bench->found.matches != bench->expected.matches || bench->found.hash != bench->expected.hash)
        die("%s finds other matches", way->name);
}

static void print_row(const struct bench *bench, const struct way *way, unsigned threads, const char *beside,
                      struct measured *measured) {
    unsigned passes = bench->options.passes;
    sort_doubles(measured->seconds, passes);
    sort_doubles(measured->cpu_seconds, passes);
    double seconds = measured->seconds[passes / 2];
    printf("%zu\t%zu\t%u\t%s\t%s\t%u%s\t%.5f\t%.5f\t%.0f\t%.0f\t%llu\n", bench->data.count, bench->data.query_count,
           bench->options.k, bench->scheme, way->name, threads, beside, seconds, measured->cpu_seconds[passes / 2],
           (double)bench->data.query_count / seconds, (double)bench->data.count / seconds,
           (unsigned long long)bench->found.matches);
    fflush(stdout);
}

/* Measures the ways in turns, so that what slows the machine for a while slows all of them. */
static void measure(struct bench *bench, const struct way *ways, size_t count, unsigned threads, const char *beside) {
    static struct measured measured[MAX_WAYS];
    for (size_t i = 0; i < count; i++) run(bench, ways[i].function, threads); /* all pages are touched */
    for (unsigned pass = 0; pass < bench->options.passes; pass++)
        for (size_t i = 0; i < count; i++) time_way(bench, &ways[i], threads, pass, &measured[i]);
    for (size_t i = 0; i < count; i++) print_row(bench, &ways[i], threads, beside, &measured[i]);
}

/* Measures a way with one thread, while a copy of this process does the same again and again. */
static void measure_beside(struct bench *bench, const struct way *way) {
    pid_t self = getpid(), other = fork();
    if (other < 0) die("fork failed");
    if (other == 0) {
        while (getppid() == self) run(bench, way->function, 1);
        _exit(0);
    }
    measure(bench, way, 1, 1, "+1");
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

/* Measures all ways, but idx_lookup only with one thread. */
static void measure_ways(struct bench *bench, const struct way *ways, size_t count) {
    measure(bench, ways, count, 1, "");
    size_t alone = ways->function == look_up;
    for (unsigned threads = 2; threads <= bench->options.threads; threads++)
        measure(bench, ways + alone, count - alone, threads, "");
    for (size_t i = alone; i < count && bench->options.beside; i++) measure_beside(bench, &ways[i]);
}

static void measure_scheme(struct bench *bench) {
    static const struct way ways[] = {{"lookup", look_up}, {"many", look_up_many}, {"probe", probe},
                                      {"sweep", sweep},    {"stream", stream},     {"auto", choose}};
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    char path[4096];
    snprintf(path, sizeof path, "%s/idx-bench-batch.idx", bench->options.folder);
    make_index(path, bench->scheme, IDX_DEFAULT_BLOCK_SIZE, bench->data.k, bench->data.fingerprints, bench->data.count);
    if (bench->options.in_memory) options.residence = IDX_RESIDENCE_ALL;
    try(idx_open(&bench->index, path, &options, &error), &error);
    measure_ways(bench, ways, sizeof ways / sizeof *ways);
    idx_close(bench->index);
    remove_index();
}

int main(int argc, char **argv) {
    static const char *const defaults[] = {"auto", "5:2", "2:1:1"};
    static const struct way passing = {"stream", stream_memory};
    static struct bench bench;
    struct options *options = &bench.options;
    *options = (struct options){.queries = 1000000, .k = 3, .threads = 2, .passes = 5, .folder = "/tmp"};
    const struct bench_option names[] = {
        {"count", OPTION_SIZE, &options->count, 0, 0},
        {"fingerprints", OPTION_TEXT, &options->fingerprints, 0, 0},
        {"k", OPTION_UNSIGNED, &options->k, 1, IDX_MAX_K},
        {"queries", OPTION_SIZE, &options->queries, 1, 1e12},
        {"scheme", OPTION_LIST, &options->schemes, 0, 0},
        {"threads", OPTION_UNSIGNED, &options->threads, 1, IDX_MAX_THREADS},
        {"passes", OPTION_UNSIGNED, &options->passes, 1, MAX_PASSES},
        {"beside", OPTION_FLAG, &options->beside, 0, 0},
        {"memory", OPTION_FLAG, &options->in_memory, 0, 0},
        {"folder", OPTION_TEXT, &options->folder, 0, 0},
        {NULL, OPTION_FLAG, NULL, 0, 0},
    };
    if (read_options(argc, argv, help_batch, names) > 0) die("%s is no option; see --help", argv[1]);
    for (size_t i = 0, given = options->schemes.count; given == 0 && i < (options->k == 3 ? 3 : 1); i++)
        add_choice(&options->schemes, defaults[i]);
    get_data(&bench.data, options->fingerprints, options->count, options->queries, options->k);
    atexit(remove_index);
    printf("n\tqueries\tk\tscheme\tway\tthreads\tseconds\tcpu_seconds\tqueries_per_second\tfingerprints_per_second\t"
           "matches\n");
    bench.scheme = "-";
    measure_ways(&bench, &passing, 1);
    for (size_t i = 0; i < options->schemes.count; i++) {
        bench.scheme = options->schemes.values[i];
        measure_scheme(&bench);
    }
    free_data(&bench.data);
    return 0;
}
