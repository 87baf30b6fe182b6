/* plan.c: what the planner predicts for look-ups, beside what they take. */
#include "bench/clock.h"
#include "bench/data.h"
#include "bench/idx_system.h"
#include "bench/index_files.h"
#include "bench/memory.h"

#include <getopt.h>
#include <idx.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "Usage: plan --count N -k K [OPTION]...\n"
    "Builds indexes of N synthetic fingerprints (bench/data.h: half of the queries are near to one), measures "
    "look-ups,\n"
    "and prints what idx_plan_scheme predicts beside that.\n"
    "\n"
    "  --count N        fingerprints; may be repeated\n"
    "  -k N             distance; may be repeated\n"
    "  --scheme S       a scheme; may be repeated (default: K+1:1, K+2:2, K+3:3, as few blocks with radius 1 as cover "
    "k,\n"
    "                   and auto)\n"
    "  --measure        predict for this machine, measured by idx_calibrate first (default: for a typical server)\n"
    "  --folder D       where to build indexes (default /tmp); they are removed afterwards\n"
    "  --most-bytes N   leave out schemes of larger files (default 12e9); those that make half of it are measured in\n"
    "                   turns, the others afterwards\n"
    "  --most-memory N  measure with files loaded, too, where those measured in turns make no more (default 3e9)\n"
    "  --seconds S      processor time for each row (default 0.5)\n"
    "  --queries N      different queries (default 1e6)\n"
    "\n"
    "Columns, separated by tabs: n; k; scheme; tables; bytes_per_fp: the files; residence: mapped, all pages checked\n"
    "before, or loaded; mode: one (a query at a time) or many; measured_ns: processor time per query, the passes of 4 "
    "ms\n"
    "that others on the machine disturbed least; predicted_ns; error: of the prediction. At the end, the median and "
    "the\n"
    "largest error of each residence and mode.\n";

#define MAX_CHOICES 32
#define PASS_SECONDS 0.004
#define MAX_PASSES 1000
#define ROUNDS 20
#define MAX_ROWS 4096

struct options {
    double counts[MAX_CHOICES], ks[MAX_CHOICES];
    const char *schemes[MAX_CHOICES];
    size_t count_count, k_count, scheme_count;
    const char *folder;
    double seconds, most_bytes, most_memory;
    size_t queries;
    bool measures;
    struct idx_calibration machine;
};

/* The errors of a residence and a mode. */
static struct tally {
    double errors[MAX_ROWS];
    size_t count;
} tallies[2][2];

static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- Passes ---- */

/* An open index in a mode, which is measured in turns with others. */
struct runner {
    struct system system;
    enum mode mode;
    size_t count, next; /* queries of a pass; the next query */
    size_t passes;
    double times[MAX_PASSES]; /* per query */
};

static double time_pass(const struct data *data, struct runner *runner) {
    struct answers answers = {0};
    if (runner->next + runner->count > data->query_count) runner->next = 0;
    double begin = processor_time();
    runner->system.answer(&runner->system, runner->mode, data->queries + runner->next, runner->count, &answers);
    double seconds = processor_time() - begin;
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

/* Nanoseconds per query. */
static double settle(struct runner *runner) {
    sort_doubles(runner->times, runner->passes);
    return runner->times[runner->passes / 20] * 1e9;
}

/* Maps and checks all pages, but for a few in a million. */
static void warm(const struct system *system, const struct data *data, const struct idx_plan *plan) {
    double touches = 16 * plan->table_bytes / 4096 / plan->blocks + 1024;
    struct data some = *data;
    if (touches < (double)data->query_count) some.query_count = (size_t)touches;
    warm_idx_system(system, &some);
}

/* ---- Indexes ---- */

struct candidate {
    const char *scheme;
    char path[4096];
    struct idx_scheme built; /* `auto` depends on the data */
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
    if (idx_plan_scheme(&planning, &candidate->built, &candidate->plan, &error) != IDX_OK) die("%s", error.sentence);
}

static void find_built(struct candidate *candidate) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_properties properties;
    struct idx_index *index;
    struct idx_error error;
    options.residence = IDX_RESIDENCE_NONE;
    if (idx_open(&index, candidate->path, &options, &error) != IDX_OK) die("%s", error.sentence);
    idx_get_properties(index, &properties);
    candidate->built = *properties.scheme;
    idx_close(index);
}

/* Builds the index, unless it is too large. */
static bool make_candidate(const struct options *options, const struct data *data, struct candidate *candidate,
                           const char *scheme, size_t number) {
    struct index_choice choice = {scheme, IDX_DEFAULT_BLOCK_SIZE};
    struct idx_error error;
    candidate->scheme = scheme;
    if (idx_scheme_parse(&candidate->built, scheme, 64, data->k, data->count, &error) != IDX_OK)
        die("%s", error.sentence);
    plan_scheme(options, data, IDX_RESIDENCE_DIRECTORY, candidate);
    if (candidate->plan.table_bytes > options->most_bytes) return false;
    snprintf(candidate->path, sizeof candidate->path, "%s/plan-%ld-%zu.idx", options->folder, (long)getpid(), number);
    make_index(data, &choice, candidate->path);
    find_built(candidate);
    plan_scheme(options, data, IDX_RESIDENCE_DIRECTORY, candidate);
    return true;
}

static void print_row(const struct data *data, size_t asked, const struct candidate *candidate, bool in_memory,
                      struct runner *runner) {
    const struct idx_plan *plan = &candidate->plan;
    bool many = runner->mode == MODE_STAGED;
    struct tally *tally = &tallies[in_memory][many];
    double measured = settle(runner), predicted = many ? plan->nanoseconds : plan->single_nanoseconds;
    double error = predicted / measured - 1;
    printf("%zu\t%u\t%s\t%zu\t%.1f\t%s\t%s\t%.1f\t%.1f\t%+.3f\n", asked, data->k, candidate->scheme, plan->tables,
           plan->table_bytes / (double)data->count, in_memory ? "loaded" : "mapped", many ? "many" : "one", measured,
           predicted, error);
    fflush(stdout);
    if (tally->count < MAX_ROWS) tally->errors[tally->count++] = fabs(error);
}

static void measure_all(const struct options *options, const struct data *data, size_t asked,
                        struct candidate *candidates, size_t count, bool in_memory) {
    static struct runner runners[2 * MAX_CHOICES];
    for (size_t i = 0; i < count; i++) {
        struct index_choice choice = {candidates[i].scheme, IDX_DEFAULT_BLOCK_SIZE};
        idx_system(&runners[2 * i].system, data, &choice, candidates[i].path,
                   in_memory ? IDX_RESIDENCE_ALL : IDX_RESIDENCE_DIRECTORY, 1);
        warm(&runners[2 * i].system, data, &candidates[i].plan);
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
        for (size_t i = 0; i < count; i++) remove_index_at(candidates[i].path);
    }
}

static void measure_family(const struct options *options, size_t count, unsigned k) {
    struct data data;
    char texts[4][16];
    const char *family[] = {texts[0], texts[1], texts[2], texts[3], "auto"};
    make_data(&data, count, options->queries, k);
    for (unsigned front = 1; front <= 3; front++) snprintf(texts[front - 1], 16, "%u:%u", k + front, front);
    snprintf(texts[3], 16, "%u:1:1", (k + 2) / 2);
    if (options->scheme_count > 0)
        measure_schemes(options, &data, count, options->schemes, options->scheme_count);
    else
        measure_schemes(options, &data, count, family, 5);
    free_data(&data, count);
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

static void parse_options(struct options *options, int argc, char **argv) {
    static const struct option names[] = {{"count", 1, NULL, 'n'},
                                          {"k", 1, NULL, 'k'},
                                          {"scheme", 1, NULL, 's'},
                                          {"measure", 0, NULL, 'c'},
                                          {"folder", 1, NULL, 'f'},
                                          {"most-bytes", 1, NULL, 'b'},
                                          {"most-memory", 1, NULL, 'm'},
                                          {"seconds", 1, NULL, 't'},
                                          {"queries", 1, NULL, 'q'},
                                          {"help", 0, NULL, 'h'},
                                          {0}};
    for (int option; (option = getopt_long(argc, argv, "k:", names, NULL)) != -1;) {
        switch (option) {
            case 'n': options->counts[options->count_count++ % MAX_CHOICES] = strtod(optarg, NULL); break;
            case 'k': options->ks[options->k_count++ % MAX_CHOICES] = strtod(optarg, NULL); break;
            case 's': options->schemes[options->scheme_count++ % MAX_CHOICES] = optarg; break;
            case 'c': options->measures = true; break;
            case 'f': options->folder = optarg; break;
            case 'b': options->most_bytes = strtod(optarg, NULL); break;
            case 'm': options->most_memory = strtod(optarg, NULL); break;
            case 't': options->seconds = strtod(optarg, NULL); break;
            case 'q': options->queries = (size_t)strtod(optarg, NULL); break;
            case 'h': fputs(help, stdout); exit(0);
            default: die("see plan --help");
        }
    }
    size_t most = options->count_count > options->k_count ? options->count_count : options->k_count;
    if (options->count_count == 0 || options->k_count == 0 || most > MAX_CHOICES || options->scheme_count > MAX_CHOICES)
        die("what to measure is unclear: see plan --help");
}

int main(int argc, char **argv) {
    struct options options = {.folder = "/tmp",
                              .seconds = 0.5,
                              .most_bytes = 12e9,
                              .most_memory = 3e9,
                              .queries = 1000000,
                              .machine = IDX_CALIBRATION_INIT};
    struct idx_error error;
    parse_options(&options, argc, argv);
    if (options.measures && idx_calibrate(&options.machine, options.folder, &error) != IDX_OK)
        die("%s", error.sentence);
    puts("n\tk\tscheme\ttables\tbytes_per_fp\tresidence\tmode\tmeasured_ns\tpredicted_ns\terror");
    for (size_t i = 0; i < options.count_count; i++) {
        for (size_t j = 0; j < options.k_count; j++)
            measure_family(&options, (size_t)options.counts[i], (unsigned)options.ks[j]);
    }
    print_tallies();
    return 0;
}
