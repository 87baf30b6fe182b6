/* plan.c: measures how long look-ups take, and compares that with what the planner predicts. */
#include "bench/systems.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include <idx_planning.h>

#define PASS_SECONDS 0.004
#define MAX_PASSES 1000
#define ROUNDS 20
#define MAX_ROWS 4096

struct options {
    struct list counts, ks, schemes;
    const char *folder;
    double seconds, most_bytes, most_memory;
    size_t queries;
    bool measures;
    struct idx_calibration machine;
};

/* The errors of the predictions, by residence and mode. */
static struct tally {
    double errors[MAX_ROWS];
    size_t count;
} tallies[2][2];

/* ---- Passes ---- */

/* An open index and a mode, which are measured in turns with others. */
struct runner {
    struct system system;
    enum mode mode;
    size_t count, next; /* Queries of a pass, and the next query. */
    size_t passes;
    double times[MAX_PASSES]; /* Seconds per query. */
};

static double time_pass(const struct data *data, struct runner *runner) {
    struct answers answers = {0};
    if (runner->next + runner->count > data->query_count) runner->next = 0;
    double begin = thread_now();
    runner->system.answer(&runner->system, runner->mode, data->queries + runner->next, runner->count, &answers);
    double seconds = thread_now() - begin;
    runner->next += runner->count;
    return seconds / (double)runner->count;
}

static void begin_runner(struct runner *runner, const struct data *data) {
    runner->count = 256;
    runner->next = runner->passes = 0;
    for (int i = 0; i < 4; i++) {
        double each = time_pass(data, runner);
        runner->count = (size_t)(PASS_SECONDS / each / 256 + 1) * 256;
        if (runner->count > data->query_count) runner->count = data->query_count;
    }
}

static void run_rounds(const struct options *options, const struct data *data, struct runner *runners, size_t count) {
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            struct runner *runner = &runners[i];
            if (round == 0) begin_runner(runner, data);
            for (double sum = 0; sum < options->seconds / ROUNDS && runner->passes < MAX_PASSES;) {
                double each = time_pass(data, runner);
                runner->times[runner->passes++] = each;
                sum += each * (double)runner->count;
            }
        }
    }
}

/* Returns the nanoseconds per query of one of the fastest passes: only one in twenty is faster. */
static double get_nanoseconds(struct runner *runner) {
    sort_doubles(runner->times, runner->passes);
    return runner->times[runner->passes / 20] * 1e9;
}

/* Answers so many queries that nearly all pages are mapped and checked, so that the passes don't have to. */
static void map_pages(const struct system *system, const struct data *data, const struct idx_plan *plan) {
    double touches = 16 * plan->table_bytes / 4096 / plan->blocks + 1024;
    struct data some = *data;
    if (touches < (double)data->query_count) some.query_count = (size_t)touches;
    warm_idx_system(system, &some);
}

/* ---- Indexes ---- */

struct candidate {
    const char *scheme;
    char path[4096];
    struct idx_scheme built; /* The scheme of the index; that of `auto` depends on the data. */
    struct idx_plan plan;
};

static void plan_scheme(const struct options *options, const struct data *data, enum idx_residence residence,
                        struct candidate *candidate) {
    struct idx_plan_options planning = IDX_PLAN_OPTIONS_INIT;
    struct idx_error error;
    planning.count = data->count;
    planning.k = data->k;
    planning.residence = residence;
    if (options->measures) planning.calibration = &options->machine;
    try(idx_plan_scheme(&planning, &candidate->built, &candidate->plan, &error), &error);
}

static void find_built(struct candidate *candidate) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_properties properties;
    struct idx_index *index;
    struct idx_error error;
    options.residence = IDX_RESIDENCE_NONE;
    try(idx_open(&index, candidate->path, &options, &error), &error);
    idx_get_properties(index, &properties);
    candidate->built = *properties.scheme;
    idx_close(index);
}

/* Builds the index, unless it is too large. Returns whether it did. */
static bool make_candidate(const struct options *options, const struct data *data, struct candidate *candidate,
                           const char *scheme, size_t number) {
    struct idx_error error;
    candidate->scheme = scheme;
    try(idx_scheme_parse(&candidate->built, scheme, 64, data->k, data->count, &error), &error);
    plan_scheme(options, data, IDX_RESIDENCE_DIRECTORY, candidate);
    if (candidate->plan.table_bytes > options->most_bytes) return false;
    snprintf(candidate->path, sizeof candidate->path, "%s/plan-%ld-%zu.idx", options->folder, (long)getpid(), number);
    make_index(candidate->path, scheme, IDX_DEFAULT_BLOCK_SIZE, data->k, data->fingerprints, data->count);
    find_built(candidate);
    plan_scheme(options, data, IDX_RESIDENCE_DIRECTORY, candidate);
    return true;
}

static void print_row(const struct data *data, size_t asked, const struct candidate *candidate, bool in_memory,
                      struct runner *runner) {
    const struct idx_plan *plan = &candidate->plan;
    bool many = runner->mode == MODE_STAGED;
    struct tally *tally = &tallies[in_memory][many];
    double measured = get_nanoseconds(runner), predicted = many ? plan->nanoseconds : plan->single_nanoseconds;
    double error = predicted / measured - 1;
    printf("%zu\t%u\t%s\t%zu\t%.1f\t%s\t%s\t%.1f\t%.1f\t%+.3f\n", asked, data->k, candidate->scheme, plan->tables,
           plan->table_bytes / (double)data->count, in_memory ? "loaded" : "mapped", many ? "many" : "one", measured,
           predicted, error);
    fflush(stdout);
    if (tally->count < MAX_ROWS) tally->errors[tally->count++] = fabs(error);
}

/* Measures all candidates in turns, in both modes, and prints a row for each beside the prediction. */
static void measure_all(const struct options *options, const struct data *data, size_t asked,
                        struct candidate *candidates, size_t count, bool in_memory) {
    static struct runner runners[2 * MAX_CHOICES];
    for (size_t i = 0; i < count; i++) {
        struct index_choice choice = {candidates[i].scheme, IDX_DEFAULT_BLOCK_SIZE, 0};
        idx_system(&runners[2 * i].system, data, &choice, candidates[i].path,
                   in_memory ? IDX_RESIDENCE_ALL : IDX_RESIDENCE_DIRECTORY, 1);
        map_pages(&runners[2 * i].system, data, &candidates[i].plan);
        runners[2 * i + 1].system = runners[2 * i].system;
        runners[2 * i].mode = MODE_SINGLE;
        runners[2 * i + 1].mode = MODE_STAGED;
    }
    run_rounds(options, data, runners, 2 * count);
    for (size_t i = 0; i < count; i++) {
        plan_scheme(options, data, in_memory ? IDX_RESIDENCE_ALL : IDX_RESIDENCE_DIRECTORY, &candidates[i]);
        print_row(data, asked, &candidates[i], in_memory, &runners[2 * i]);
        print_row(data, asked, &candidates[i], in_memory, &runners[2 * i + 1]);
        runners[2 * i].system.free(&runners[2 * i].system);
    }
}

static void measure_schemes(const struct options *options, const struct data *data, size_t asked,
                            const char *const *schemes, size_t scheme_count) {
    static struct candidate candidates[MAX_CHOICES];
    for (size_t first = 0; first < scheme_count;) {
        double bytes = 0;
        size_t count = 0;
        for (; first < scheme_count && bytes < options->most_bytes / 2; first++) {
            if (!make_candidate(options, data, &candidates[count], schemes[first], count)) continue;
            bytes += candidates[count++].plan.table_bytes;
        }
        measure_all(options, data, asked, candidates, count, false);
        if (bytes <= options->most_memory) measure_all(options, data, asked, candidates, count, true);
        for (size_t i = 0; i < count; i++) remove_all(candidates[i].path);
    }
}

static void measure_family(const struct options *options, size_t count, unsigned k) {
    struct data data;
    char texts[4][16];
    const char *family[] = {texts[0], texts[1], texts[2], texts[3], "auto"};
    make_data(&data, count, options->queries, k);
    for (unsigned front = 1; front <= 3; front++) snprintf(texts[front - 1], 16, "%u:%u", k + front, front);
    snprintf(texts[3], 16, "%u:1:1", (k + 2) / 2);
    if (options->schemes.count > 0)
        measure_schemes(options, &data, count, options->schemes.values, options->schemes.count);
    else
        measure_schemes(options, &data, count, family, 5);
    free_data(&data);
}

static void print_tallies(void) {
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        for (int many = 1; many >= 0; many--) {
            struct tally *tally = &tallies[in_memory][many];
            if (tally->count == 0) continue;
            sort_doubles(tally->errors, tally->count);
            printf("# %s, %s: %zu rows, error %.3f in the median, %.3f at worst\n", in_memory ? "loaded" : "mapped",
                   many ? "many" : "one", tally->count, tally->errors[tally->count / 2],
                   tally->errors[tally->count - 1]);
        }
    }
}

/* ---- The command ---- */

int main(int argc, char **argv) {
    struct options options = {.folder = "/tmp",
                              .seconds = 0.5,
                              .most_bytes = 12e9,
                              .most_memory = 3e9,
                              .queries = 1000000,
                              .machine = IDX_CALIBRATION_INIT};
    const struct bench_option names[] = {
        {"count", OPTION_LIST, &options.counts, 0, 0},
        {"k", OPTION_LIST, &options.ks, 0, 0},
        {"scheme", OPTION_LIST, &options.schemes, 0, 0},
        {"measure", OPTION_FLAG, &options.measures, 0, 0},
        {"folder", OPTION_TEXT, &options.folder, 0, 0},
        {"most-bytes", OPTION_DOUBLE, &options.most_bytes, 0, 0},
        {"most-memory", OPTION_DOUBLE, &options.most_memory, 0, 0},
        {"seconds", OPTION_DOUBLE, &options.seconds, 0, 0},
        {"queries", OPTION_SIZE, &options.queries, 0, 0},
        {NULL, OPTION_FLAG, NULL, 0, 0},
    };
    struct idx_error error;
    if (read_options(argc, argv, help_plan, names) > 0 || options.counts.count == 0 || options.ks.count == 0)
        die("what to measure is unclear: see plan --help");
    if (options.measures) try(idx_calibrate(&options.machine, options.folder, &error), &error);
    puts("n\tk\tscheme\ttables\tbytes_per_fp\tresidence\tmode\tmeasured_ns\tpredicted_ns\terror");
    for (size_t i = 0; i < options.counts.count; i++) {
        for (size_t j = 0; j < options.ks.count; j++)
            measure_family(&options, (size_t)read_number(options.counts.values[i], 1, 1e12),
                           (unsigned)read_number(options.ks.values[j], 0, IDX_MAX_K));
    }
    print_tallies();
    return 0;
}
