/* lookup.c: the benchmark's command: its options, and which systems are measured, in which order. Each is freed before
 * the next is built. */
#include "bench/data.h"
#include "bench/extremes.h"
#include "bench/faiss.h"
#include "bench/idx_system.h"
#include "bench/measure.h"
#include "bench/memory.h"
#include "bench/mih.h"
#include "bench/scan.h"
#include "bench/uncompressed.h"

#include <getopt.h>
#include <idx.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef BENCH_HAS_FAISS
#define FAISS_NOTE "FAISS is part of this build."
#else
#define FAISS_NOTE "FAISS is not part of this build: that takes libfaiss-dev and a C++ compiler, and no sanitizer."
#endif

static const char help[] =
    "Usage: lookup --count N | --fingerprints FILE [OPTION]...\n"
    "Measures exact look-ups within k bits by idx and by what else there is, on the same data, one system after the\n"
    "other, and prints a row for each. " FAISS_NOTE "\n"
    "\n"
    "  --count N             synthetic fingerprints, such as 1e7\n"
    "  --fingerprints FILE   the fingerprints of a file in place of synthetic ones: 8 bytes each, little-endian. Half\n"
    "                        of the queries are then fingerprints with 0 to k bits flipped, half with 8 to 20\n"
    "  -k, --k N             distance (default 3)\n"
    "  --system S            measure this system only; may be repeated: idx, scan, uncompressed, mih, faiss, patterns\n"
    "                        (up to 1e6 fingerprints), precomputed (up to 1e4)\n"
    "  --scheme S            idx: a scheme; may be repeated (default for k = 3: 4:1, 5:2, 6:3, 2:1:1 and auto)\n"
    "  --block-size N        idx: a block size; may be repeated (default: the library's)\n"
    "  --threads N           idx: measure N threads, too\n"
    "  --folder D            idx: where to build indexes (default /tmp); they are removed afterwards\n"
    "  --uncompressed S      uncompressed: a scheme; may be repeated (default for k = 3: 5:2 and 4:1)\n"
    "  --directory-bits N    uncompressed: bits of the directories (default: about one fingerprint an entry)\n"
    "  --parts M             mih: substrings; may be repeated (default 2 to k + 1)\n"
    "  --faiss NHASH,B,FLIP  faiss: a setting of IndexBinaryMultiHash, or flat; may be repeated\n"
    "  --instructions I      scan, uncompressed, mih: use at most plain, avx2, avx512 or vpopcntdq (the default)\n"
    "  --passes N            passes, of which the median is taken (default 5)\n"
    "  --seconds S           a pass takes about this long, and has 1000 queries at least (default 1)\n"
    "  --queries N           different queries (default 4e6)\n"
    "  --core N              run single-threaded passes there (default: the last core)\n"
    "\n"
    "Columns, separated by tabs: system; n; k; scheme; block_size; mode: single (a query at a time), staged (many\n"
    "at a time, one thread), threads=N, cold (the first 1000 queries after opening, nothing in the page cache);\n"
    "queries_per_second, ns_per_query: the median; table_bytes_per_fp: all table files, or a peer's whole structure;\n"
    "resident_bytes_per_fp: what opening allocates; matches: of the first 1000 queries, which every system answers: "
    "the\n"
    "same fingerprints as the scan, or the benchmark ends with status 1. idx has its directories in memory and\n"
    "its blocks mapped, all different queries answered once before, so that pages are mapped and checked; idx-memory "
    "has\n"
    "both in memory, and idx-unpacked has plain tables made of them. There are no document IDs, so no bytes for "
    "them.\n";

#define MAX_CHOICES 32

struct list {
    const char *values[MAX_CHOICES];
    size_t count;
};

struct options {
    size_t count;
    unsigned k;
    struct list systems, schemes, block_sizes, uncompressed, parts, faiss;
    unsigned threads;
    unsigned directory_bits;
    enum instructions instructions;
    const char *fingerprints, *folder;
    unsigned passes;
    double seconds;
    size_t queries;
    int core;
};

static void add(struct list *list, const char *value) {
    if (list->count == MAX_CHOICES) die("an option is repeated more than %d times", MAX_CHOICES);
    list->values[list->count++] = value;
}

static bool is_chosen(const struct options *options, const char *system) {
    for (size_t i = 0; i < options->systems.count; i++) {
        if (strcmp(options->systems.values[i], system) == 0) return true;
    }
    return options->systems.count == 0;
}

/* ---- Systems ---- */

struct run {
    const struct options *options;
    struct data data;
    struct measurement measurement;
};

/* Measures a system in both single-threaded modes and frees it. */
static void measure_both(struct run *run, struct system *system) {
    measure(&run->measurement, system, MODE_SINGLE, 1);
    measure(&run->measurement, system, MODE_STAGED, 1);
    system->free(system);
}

static void measure_scans(struct run *run) {
    struct system system;
    scan_build(&system, &run->data, true, run->options->instructions);
    set_expected(&run->measurement, &system);
    if (is_chosen(run->options, "scan")) measure(&run->measurement, &system, MODE_STAGED, 1);
    system.free(&system);
    if (!is_chosen(run->options, "scan")) return;
    scan_build(&system, &run->data, false, run->options->instructions);
    measure(&run->measurement, &system, MODE_SINGLE, 1);
    system.free(&system);
}

static void measure_opened(struct run *run, const struct index_choice *choice, const char *path,
                           enum idx_residence residence) {
    unsigned threads = run->options->threads;
    struct system system;
    idx_system(&system, &run->data, choice, path, residence, threads);
    if (residence == IDX_RESIDENCE_DIRECTORY) warm_idx_system(&system, &run->data);
    measure(&run->measurement, &system, MODE_SINGLE, 1);
    measure(&run->measurement, &system, MODE_STAGED, 1);
    if (threads > 1) measure(&run->measurement, &system, MODE_THREADS, threads);
    system.free(&system);
}

static void measure_index(struct run *run, const struct index_choice *choice) {
    char path[4096];
    struct system system;
    snprintf(path, sizeof path, "%s/idx-bench-%ld.idx", run->options->folder, (long)getpid());
    make_index(&run->data, choice, path);
    drop_cache(path);
    idx_system(&system, &run->data, choice, path, IDX_RESIDENCE_DIRECTORY, 1);
    measure_cold(&run->measurement, &system);
    system.free(&system);
    measure_opened(run, choice, path, IDX_RESIDENCE_DIRECTORY);
    measure_opened(run, choice, path, IDX_RESIDENCE_ALL);
    measure_opened(run, choice, path, IDX_RESIDENCE_UNPACKED);
    remove_index();
}

/* Whether `auto` comes to a scheme that is measured already. */
static bool is_repeated(const struct run *run, size_t scheme) {
    const struct list *schemes = &run->options->schemes;
    struct idx_scheme parsed;
    struct idx_error error;
    if (strcmp(schemes->values[scheme], "auto") != 0) return false;
    if (idx_scheme_parse(&parsed, "auto", 64, run->data.k, run->data.count, &error) != IDX_OK)
        die("%s", error.sentence);
    for (size_t i = 0; i < scheme; i++) {
        if (strcmp(schemes->values[i], parsed.name) != 0) continue;
        fprintf(stderr, "lookup: auto is %s here\n", parsed.name);
        return true;
    }
    return false;
}

static void measure_indexes(struct run *run) {
    const struct options *options = run->options;
    for (size_t scheme = 0; scheme < options->schemes.count; scheme++) {
        if (is_repeated(run, scheme)) continue;
        for (size_t size = 0; size < options->block_sizes.count; size++) {
            struct index_choice choice = {options->schemes.values[scheme],
                                          (uint32_t)strtoul(options->block_sizes.values[size], NULL, 10)};
            measure_index(run, &choice);
        }
    }
}

static void measure_uncompressed(struct run *run) {
    const struct options *options = run->options;
    struct system system;
    for (size_t i = 0; i < options->uncompressed.count; i++) {
        if (uncompressed_build(&system, &run->data, options->uncompressed.values[i], options->directory_bits,
                               options->instructions))
            measure_both(run, &system);
    }
}

static void measure_mih(struct run *run) {
    struct system system;
    for (size_t i = 0; i < run->options->parts.count; i++) {
        unsigned parts = (unsigned)strtoul(run->options->parts.values[i], NULL, 10);
        for (int wide = 0; wide < 2; wide++) {
            if (mih_build(&system, &run->data, parts, wide, run->options->instructions)) measure_both(run, &system);
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

static void measure_faiss(struct run *run) {
    struct system system;
    for (size_t i = 0; i < run->options->faiss.count; i++) {
        if (build_faiss(&system, &run->data, run->options->faiss.values[i])) measure_both(run, &system);
    }
}
#else
static void measure_faiss(struct run *run) {
    (void)run;
    fputs("lookup: " FAISS_NOTE "\n", stderr);
}
#endif

static void measure_extremes(struct run *run) {
    struct system system;
    if (run->data.k > 3) return;
    if (is_chosen(run->options, "patterns") && run->options->count <= PATTERNS_MAX_COUNT &&
        patterns_build(&system, &run->data)) {
        measure(&run->measurement, &system, MODE_SINGLE, 1);
        system.free(&system);
    }
    if (is_chosen(run->options, "precomputed") && run->options->count <= PRECOMPUTED_MAX_COUNT &&
        precomputed_build(&system, &run->data)) {
        measure(&run->measurement, &system, MODE_SINGLE, 1);
        system.free(&system);
    }
}

/* ---- Options ---- */

static enum instructions parse_instructions(const char *text) {
    static const char *const names[] = {"plain", "avx2", "avx512", "vpopcntdq"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) return (enum instructions)i;
    }
    die("--instructions %s is unknown; see lookup --help", text);
}

enum {
    K = 'k',
    COUNT = 256,
    FINGERPRINTS,
    SYSTEM,
    SCHEME,
    BLOCK_SIZE,
    THREADS,
    FOLDER,
    UNCOMPRESSED,
    DIRECTORY_BITS,
    PARTS,
    FAISS,
    INSTRUCTIONS,
    PASSES,
    SECONDS,
    QUERIES,
    CORE,
    HELP
};

static const struct option option_names[] = {
    {"count", 1, NULL, COUNT},
    {"fingerprints", 1, NULL, FINGERPRINTS},
    {"k", 1, NULL, K},
    {"system", 1, NULL, SYSTEM},
    {"scheme", 1, NULL, SCHEME},
    {"block-size", 1, NULL, BLOCK_SIZE},
    {"threads", 1, NULL, THREADS},
    {"folder", 1, NULL, FOLDER},
    {"uncompressed", 1, NULL, UNCOMPRESSED},
    {"directory-bits", 1, NULL, DIRECTORY_BITS},
    {"parts", 1, NULL, PARTS},
    {"faiss", 1, NULL, FAISS},
    {"instructions", 1, NULL, INSTRUCTIONS},
    {"passes", 1, NULL, PASSES},
    {"seconds", 1, NULL, SECONDS},
    {"queries", 1, NULL, QUERIES},
    {"core", 1, NULL, CORE},
    {"help", 0, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static double parse_number(const char *text) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != 0 || !(number >= 0 && number < 1e12)) die("%s is no number; see lookup --help", text);
    return number;
}

static void parse_option(struct options *options, int option, const char *value) {
    switch (option) {
        case COUNT: options->count = (size_t)parse_number(value); break;
        case FINGERPRINTS: options->fingerprints = value; break;
        case K: options->k = (unsigned)parse_number(value); break;
        case SYSTEM: add(&options->systems, value); break;
        case SCHEME: add(&options->schemes, value); break;
        case BLOCK_SIZE: add(&options->block_sizes, value); break;
        case THREADS: options->threads = (unsigned)parse_number(value); break;
        case FOLDER: options->folder = value; break;
        case UNCOMPRESSED: add(&options->uncompressed, value); break;
        case DIRECTORY_BITS: options->directory_bits = (unsigned)parse_number(value); break;
        case PARTS: add(&options->parts, value); break;
        case FAISS: add(&options->faiss, value); break;
        case INSTRUCTIONS: options->instructions = parse_instructions(value); break;
        case PASSES: options->passes = (unsigned)parse_number(value); break;
        case SECONDS: options->seconds = parse_number(value); break;
        case QUERIES: options->queries = (size_t)parse_number(value); break;
        case CORE: options->core = (int)parse_number(value); break;
        case HELP: fputs(help, stdout); exit(0);
        default: die("see lookup --help");
    }
}

static void check_options(const struct options *options) {
    if ((options->count == 0) == (options->fingerprints == NULL))
        die("either --count N or --fingerprints FILE is needed; see lookup --help");
    if (options->count >= UINT32_MAX) die("--count must be below 2^32");
    if (options->k < 1 || options->k > 16) die("--k must be 1 to 16");
    if (options->passes < 1 || options->passes > 100) die("--passes must be 1 to 100");
    if (options->queries < SHARED_QUERIES) die("--queries must be 1000 or more");
    for (size_t i = 0; i < options->parts.count; i++) {
        double parts = parse_number(options->parts.values[i]);
        if (parts < 1 || parts > options->k + 1) die("--parts must be 1 to k + 1");
    }
    if (options->threads < 1 || options->threads > 256) die("--threads must be 1 to 256");
    if (options->directory_bits > 31) die("--directory-bits must be at most 31");
}

/* ---- Defaults ---- */

/* Adds a value that is made here; it stays until the program ends. */
static __attribute__((format(printf, 2, 3))) void add_made(struct list *list, const char *format, ...) {
    va_list arguments;
    char *value;
    va_start(arguments, format);
    if (vasprintf(&value, format, arguments) < 0) die("out of memory");
    va_end(arguments);
    add(list, value);
}

/* The fewest flips that are exact, with as many bits as there are, or with a few less where buckets are then few. */
static void add_faiss_defaults(struct list *faiss, unsigned k) {
    for (unsigned hashes = 2; hashes <= 8 && hashes <= k + 1; hashes++) {
        unsigned flips = k / hashes;
        if (flips > 3 || (k == 3 && hashes == 3)) continue;
        add_made(faiss, "%u,%u,%u", hashes, 64 / hashes, flips);
        if (hashes == 2) add_made(faiss, "2,24,%u", flips);
    }
    add(faiss, "flat");
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
        add(&options->schemes, "auto");
    }
    if (options->block_sizes.count == 0) add_made(&options->block_sizes, "%d", IDX_DEFAULT_BLOCK_SIZE);
    bool parts_given = options->parts.count > 0;
    for (unsigned parts = 2; !parts_given && parts <= k + 1; parts++) add_made(&options->parts, "%u", parts);
    if (options->faiss.count == 0) add_faiss_defaults(&options->faiss, k);
}

static int last_core(void) {
    cpu_set_t cores;
    int core = CPU_SETSIZE - 1;
    sched_getaffinity(0, sizeof cores, &cores);
    while (core > 0 && !CPU_ISSET(core, &cores)) core--;
    return core;
}

int main(int argc, char **argv) {
    static struct options options = {.k = 3,
                                     .threads = 1,
                                     .instructions = INSTRUCTIONS_VPOPCNTDQ,
                                     .folder = "/tmp",
                                     .passes = 5,
                                     .seconds = 1,
                                     .queries = 4000000};
    options.core = last_core();
    for (int option; (option = getopt_long(argc, argv, "k:", option_names, NULL)) != -1;)
        parse_option(&options, option, optarg);
    if (optind < argc) die("%s is not an option; see lookup --help", argv[optind]);
    check_options(&options);
    add_defaults(&options);
    options.instructions = find_instructions(options.instructions);

    atexit(remove_index);
    struct run run = {.options = &options};
    if (options.fingerprints != NULL)
        options.count = read_data(&run.data, options.fingerprints, options.queries, options.k);
    else
        make_data(&run.data, options.count, options.queries, options.k);
    run.measurement =
        (struct measurement){&run.data, options.count, options.passes, options.seconds, options.core, {0, 0}};
    print_header();
    measure_scans(&run);
    if (is_chosen(&options, "uncompressed")) measure_uncompressed(&run);
    if (is_chosen(&options, "mih")) measure_mih(&run);
    if (is_chosen(&options, "idx")) measure_indexes(&run);
    if (is_chosen(&options, "faiss")) measure_faiss(&run);
    measure_extremes(&run);
    free_data(&run.data, options.count);
    return 0;
}
