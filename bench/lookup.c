/* lookup.c: measures look-ups by all systems on the same data, and checks their answers. It times passes over the
 * queries, and prints a row with the median for each system. A system is freed before the next is built. */
#include "bench/systems.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_PASSES 100
/* The number of queries that every system answers, so that their answers can be compared. */
#define SHARED_QUERIES 1000
/* A system that takes longer than this for the shared queries is measured by them alone. */
#define SLOW_SECONDS 15

struct options {
    size_t count, queries;
    unsigned k, threads, unpacked_bytes, directory_bits, passes, core;
    struct list systems, schemes, block_sizes, uncompressed, parts, faiss;
    enum instructions instructions;
    const char *fingerprints, *folder;
    double seconds;
};

static bool is_chosen(const struct options *options, const char *system) {
    for (size_t i = 0; i < options->systems.count; i++) {
        if (strcmp(options->systems.values[i], system) == 0) return true;
    }
    return options->systems.count == 0;
}

struct setup {
    const struct options *options;
    struct data data;
    struct answers shared; /* Answers to the shared queries, by a system that is known to be right. */
};

/* ---- Rows ---- */

static void print_row(const struct setup *setup, const struct system *system, const char *mode,
                      double seconds_per_query) {
    double count = (double)setup->data.count;
    printf("%s\t%zu\t%u\t%s\t%u\t%s\t%.0f\t%.1f\t%.2f\t%.2f\t%llu\n", system->name, setup->data.room, setup->data.k,
           system->scheme, system->block_size, mode, 1 / seconds_per_query, seconds_per_query * 1e9,
           system->table_bytes / count, system->resident_bytes / count, (unsigned long long)setup->shared.matches);
    fflush(stdout);
}

/* ---- Passes ---- */

/* Times the next queries. Each pass has its own queries as long as there are enough, so that it does not find in a
 * cache what the one before left there. */
static double time_pass(const struct data *data, const struct system *system, enum mode mode, size_t count,
                        size_t *next) {
    struct answers answers = {0};
    if (*next + count > data->query_count) *next = 0;
    double begin = now();
    system->answer(system, mode, data->queries + *next, count, &answers);
    double seconds = now() - begin;
    *next += count;
    return seconds;
}

static double time_shared(const struct setup *setup, const struct system *system, enum mode mode,
                          const char *mode_name) {
    struct answers answers = {0};
    double begin = now();
    system->answer(system, mode, setup->data.queries, SHARED_QUERIES, &answers);
    double seconds = now() - begin;
    if (answers.matches == setup->shared.matches && answers.hash == setup->shared.hash) return seconds;
    fprintf(stderr,
            "lookup: %s %s (%u bytes a block, %s) answers wrongly: %llu matches for the first %d queries, hash "
            "%016llx, where the scan finds %llu, hash %016llx\n",
            system->name, system->scheme, system->block_size, mode_name, (unsigned long long)answers.matches,
            SHARED_QUERIES, (unsigned long long)answers.hash, (unsigned long long)setup->shared.matches,
            (unsigned long long)setup->shared.hash);
    exit(1);
}

static size_t queries_a_pass(const struct setup *setup, double rate) {
    double wanted = rate * setup->options->seconds;
    if (wanted < SHARED_QUERIES) return SHARED_QUERIES;
    return wanted < (double)setup->data.query_count ? (size_t)wanted : setup->data.query_count;
}

static double median_pass(const struct setup *setup, const struct system *system, enum mode mode) {
    const struct data *data = &setup->data;
    double seconds[MAX_PASSES];
    size_t next = SHARED_QUERIES;
    size_t count = SHARED_QUERIES;
    /* These also warm up caches; timing few queries right after another system would say little. */
    for (int i = 0; i < 3; i++)
        count = queries_a_pass(setup, (double)count / time_pass(data, system, mode, count, &next));
    for (unsigned pass = 0; pass < setup->options->passes; pass++)
        seconds[pass] = time_pass(data, system, mode, count, &next);
    sort_doubles(seconds, setup->options->passes);
    return seconds[setup->options->passes / 2] / (double)count;
}

/* ---- Measuring ---- */

static void pin(int core, cpu_set_t *before) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_getaffinity(0, sizeof *before, before);
    sched_setaffinity(0, sizeof one, &one);
}

/* Checks the system's answers in a mode, measures it and prints a row. Ends the program with status 1 if they are
 * wrong. `threads` is for MODE_THREADS, which runs on all cores. */
static void measure(const struct setup *setup, const struct system *system, enum mode mode, unsigned threads) {
    char threads_name[32];
    cpu_set_t before;
    snprintf(threads_name, sizeof threads_name, "threads=%u", threads);
    const char *mode_name = mode == MODE_SINGLE ? "single" : mode == MODE_STAGED ? "staged" : threads_name;
    if (mode != MODE_THREADS) pin((int)setup->options->core, &before);
    double seconds = time_shared(setup, system, mode, mode_name);
    seconds = seconds > SLOW_SECONDS ? seconds / SHARED_QUERIES : median_pass(setup, system, mode);
    if (mode != MODE_THREADS) sched_setaffinity(0, sizeof before, &before);
    print_row(setup, system, mode_name, seconds);
}

/* Does the same for the shared queries alone, answered once, as the first thing that the system does. */
static void measure_cold(const struct setup *setup, const struct system *system) {
    cpu_set_t before;
    pin((int)setup->options->core, &before);
    double seconds = time_shared(setup, system, MODE_SINGLE, "cold");
    sched_setaffinity(0, sizeof before, &before);
    print_row(setup, system, "cold", seconds / SHARED_QUERIES);
}

/* ---- Systems ---- */

/* Measures a system in both single-threaded modes and frees it. */
static void measure_both(struct setup *setup, struct system *system) {
    measure(setup, system, MODE_SINGLE, 1);
    measure(setup, system, MODE_STAGED, 1);
    system->free(system);
}

static void measure_scans(struct setup *setup) {
    struct system system;
    scan_build(&system, &setup->data, true, setup->options->instructions);
    system.answer(&system, MODE_STAGED, setup->data.queries, SHARED_QUERIES, &setup->shared);
    if (is_chosen(setup->options, "scan")) measure(setup, &system, MODE_STAGED, 1);
    system.free(&system);
    if (!is_chosen(setup->options, "scan")) return;
    scan_build(&system, &setup->data, false, setup->options->instructions);
    measure(setup, &system, MODE_SINGLE, 1);
    system.free(&system);
}

static void measure_opened(struct setup *setup, const struct index_choice *choice, const char *path,
                           enum idx_residence residence) {
    unsigned threads = setup->options->threads;
    struct system system;
    idx_system(&system, &setup->data, choice, path, residence, threads);
    if (residence == IDX_RESIDENCE_DIRECTORY) warm_idx_system(&system, &setup->data);
    measure(setup, &system, MODE_SINGLE, 1);
    measure(setup, &system, MODE_STAGED, 1);
    if (threads > 1) measure(setup, &system, MODE_THREADS, threads);
    system.free(&system);
}

static void measure_index(struct setup *setup, const struct index_choice *choice) {
    char path[4096];
    struct system system;
    snprintf(path, sizeof path, "%s/idx-bench-%ld.idx", setup->options->folder, (long)getpid());
    make_index(path, choice->scheme, choice->block_size, setup->data.k, setup->data.fingerprints, setup->data.count);
    drop_cache(path);
    idx_system(&system, &setup->data, choice, path, IDX_RESIDENCE_DIRECTORY, 1);
    measure_cold(setup, &system);
    system.free(&system);
    measure_opened(setup, choice, path, IDX_RESIDENCE_DIRECTORY);
    measure_opened(setup, choice, path, IDX_RESIDENCE_ALL);
    remove_index();
}

/* Measures unpacked tables. They don't depend on the scheme, so the index has a single table, which is built
 * fastest. */
static void measure_unpacked(struct setup *setup) {
    const struct index_choice choice = {"1:1:1", IDX_DEFAULT_BLOCK_SIZE, setup->options->unpacked_bytes};
    char path[4096];
    snprintf(path, sizeof path, "%s/idx-bench-%ld.idx", setup->options->folder, (long)getpid());
    make_index(path, choice.scheme, choice.block_size, 1, setup->data.fingerprints, setup->data.count);
    measure_opened(setup, &choice, path, IDX_RESIDENCE_UNPACKED);
    remove_index();
}

/* Returns whether this scheme is `auto` and chooses one that was measured before. */
static bool is_repeated(const struct setup *setup, size_t scheme) {
    const struct list *schemes = &setup->options->schemes;
    struct idx_scheme parsed;
    struct idx_error error;
    if (strcmp(schemes->values[scheme], "auto") != 0) return false;
    try(idx_scheme_parse(&parsed, "auto", 64, setup->data.k, setup->data.count, &error), &error);
    for (size_t i = 0; i < scheme; i++) {
        if (strcmp(schemes->values[i], parsed.name) != 0) continue;
        fprintf(stderr, "lookup: auto is %s here\n", parsed.name);
        return true;
    }
    return false;
}

static void measure_indexes(struct setup *setup) {
    const struct options *options = setup->options;
    for (size_t scheme = 0; scheme < options->schemes.count; scheme++) {
        if (is_repeated(setup, scheme)) continue;
        for (size_t size = 0; size < options->block_sizes.count; size++) {
            struct index_choice choice = {options->schemes.values[scheme],
                                          (uint32_t)strtoul(options->block_sizes.values[size], NULL, 10), 0};
            measure_index(setup, &choice);
        }
    }
}

static void measure_uncompressed(struct setup *setup) {
    const struct options *options = setup->options;
    struct system system;
    for (size_t i = 0; i < options->uncompressed.count; i++) {
        if (uncompressed_build(&system, &setup->data, options->uncompressed.values[i], options->directory_bits,
                               options->instructions))
            measure_both(setup, &system);
    }
}

static void measure_mih(struct setup *setup) {
    struct system system;
    for (size_t i = 0; i < setup->options->parts.count; i++) {
        unsigned parts = (unsigned)strtoul(setup->options->parts.values[i], NULL, 10);
        for (int wide = !is_chosen(setup->options, "mih"); wide < 2; wide++) {
            if (mih_build(&system, &setup->data, parts, wide, setup->options->instructions))
                measure_both(setup, &system);
        }
    }
}

#ifdef BENCH_HAS_FAISS
static bool build_faiss(struct system *system, const struct data *data, const char *setting) {
    unsigned hashes, bits, flips;
    if (strcmp(setting, "flat") == 0) return faiss_flat_build(system, data);
    if (sscanf(setting, "%u,%u,%u", &hashes, &bits, &flips) != 3)
        die("--faiss %s is neither flat nor three numbers: nhash,b,flip", setting);
    return faiss_hash_build(system, data, hashes, bits, flips);
}

static void measure_faiss(struct setup *setup) {
    struct system system;
    for (size_t i = 0; i < setup->options->faiss.count; i++) {
        if (build_faiss(&system, &setup->data, setup->options->faiss.values[i])) measure_both(setup, &system);
    }
}
#else
static void measure_faiss(struct setup *setup) {
    (void)setup;
    fputs("lookup: " FAISS_NOTE "\n", stderr);
}
#endif

/* ---- Options ---- */

static enum instructions parse_instructions(const char *text) {
    static const char *const names[] = {"plain", "avx2", "avx512", "vpopcntdq"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) return (enum instructions)i;
    }
    die("--instructions %s is unknown; see lookup --help", text);
}

static void check_options(const struct options *options) {
    if (options->queries < SHARED_QUERIES) die("--queries must be 1000 or more");
    for (size_t i = 0; i < options->parts.count; i++) read_number(options->parts.values[i], 1, options->k + 1);
}

/* ---- Defaults ---- */

/* Adds a formatted value to a list. Its memory is not freed before the program ends. */
static __attribute__((format(printf, 2, 3))) void add_made(struct list *list, const char *format, ...) {
    va_list arguments;
    char *value;
    va_start(arguments, format);
    if (vasprintf(&value, format, arguments) < 0) die("out of memory");
    va_end(arguments);
    add_choice(list, value);
}

/* Adds the settings of Faiss that are exact with the fewest flips: all 64 bits divided among the hashes, and for two
 * hashes also 24 bits each. */
static void add_faiss_defaults(struct list *faiss, unsigned k) {
    for (unsigned hashes = 2; hashes <= 8 && hashes <= k + 1; hashes++) {
        unsigned flips = k / hashes;
        if (flips > 3 || (k == 3 && hashes == 3)) continue;
        add_made(faiss, "%u,%u,%u", hashes, 64 / hashes, flips);
        if (hashes == 2) add_made(faiss, "2,24,%u", flips);
    }
    add_choice(faiss, "flat");
}

static void add_defaults(struct options *options) {
    unsigned k = options->k;
    if (options->uncompressed.count == 0) {
        add_made(&options->uncompressed, "%u:2", k + 2);
        add_made(&options->uncompressed, "%u:1", k + 1);
    }
    if (options->schemes.count == 0) {
        for (unsigned blocks = 1; blocks <= 3; blocks++) add_made(&options->schemes, "%u:%u", k + blocks, blocks);
        add_made(&options->schemes, "%u:1:1", k / 2 + 1);
        add_choice(&options->schemes, "auto");
    }
    if (options->block_sizes.count == 0) add_made(&options->block_sizes, "%d", IDX_DEFAULT_BLOCK_SIZE);
    bool parts_given = options->parts.count > 0;
    for (unsigned parts = 2; !parts_given && parts <= k + 1; parts++) add_made(&options->parts, "%u", parts);
    if (options->faiss.count == 0) add_faiss_defaults(&options->faiss, k);
}

static unsigned last_core(void) {
    cpu_set_t cores;
    int core = CPU_SETSIZE - 1;
    sched_getaffinity(0, sizeof cores, &cores);
    while (core > 0 && !CPU_ISSET(core, &cores)) core--;
    return (unsigned)core;
}

int main(int argc, char **argv) {
    static struct options options = {
        .k = 3, .threads = 1, .folder = "/tmp", .passes = 5, .seconds = 1, .queries = 4000000};
    const char *instructions = "vpopcntdq";
    options.core = last_core();
    const struct bench_option names[] = {
        {"count", OPTION_SIZE, &options.count, 0, UINT32_MAX - 1.0},
        {"fingerprints", OPTION_TEXT, &options.fingerprints, 0, 0},
        {"k", OPTION_UNSIGNED, &options.k, 1, 16},
        {"system", OPTION_LIST, &options.systems, 0, 0},
        {"scheme", OPTION_LIST, &options.schemes, 0, 0},
        {"block-size", OPTION_LIST, &options.block_sizes, 0, 0},
        {"unpacked-bytes", OPTION_UNSIGNED, &options.unpacked_bytes, 8, 1000},
        {"threads", OPTION_UNSIGNED, &options.threads, 1, 256},
        {"folder", OPTION_TEXT, &options.folder, 0, 0},
        {"uncompressed", OPTION_LIST, &options.uncompressed, 0, 0},
        {"directory-bits", OPTION_UNSIGNED, &options.directory_bits, 0, 31},
        {"parts", OPTION_LIST, &options.parts, 0, 0},
        {"faiss", OPTION_LIST, &options.faiss, 0, 0},
        {"instructions", OPTION_TEXT, &instructions, 0, 0},
        {"passes", OPTION_UNSIGNED, &options.passes, 1, MAX_PASSES},
        {"seconds", OPTION_DOUBLE, &options.seconds, 0, 0},
        {"queries", OPTION_SIZE, &options.queries, 0, 0},
        {"core", OPTION_UNSIGNED, &options.core, 0, 0},
        {"near", OPTION_UNSIGNED, &near_percent, 0, 100},
        {NULL, OPTION_FLAG, NULL, 0, 0},
    };
    if (read_options(argc, argv, help_lookup, names) > 0) die("%s is not an option; see lookup --help", argv[1]);
    check_options(&options);
    add_defaults(&options);
    options.instructions = find_instructions(parse_instructions(instructions));

    atexit(remove_index);
    struct setup setup = {.options = &options};
    get_data(&setup.data, options.fingerprints, options.count, options.queries, options.k);
    puts("system\tn\tk\tscheme\tblock_size\tmode\tqueries_per_second\tns_per_query\ttable_bytes_per_fp\t"
         "resident_bytes_per_fp\tmatches");
    measure_scans(&setup);
    if (is_chosen(&options, "uncompressed")) measure_uncompressed(&setup);
    if (is_chosen(&options, "mih") || is_chosen(&options, "mih-wide")) measure_mih(&setup);
    if (is_chosen(&options, "idx")) measure_indexes(&setup);
    if (is_chosen(&options, "idx") || is_chosen(&options, "idx-unpacked")) measure_unpacked(&setup);
    if (is_chosen(&options, "faiss")) measure_faiss(&setup);
    free_data(&setup.data);
    return 0;
}
