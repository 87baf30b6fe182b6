/* build.c: how long building an index takes, beside ten sorts of the same fingerprints and a copy of as many bytes, and
 * how much memory and writing it needs. */
#include "bench/clock.h"
#include "bench/data.h"
#include "bench/memory.h"

#include <ftw.h>
#include <getopt.h>
#include <idx.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define K 3
#define SORTS 10
#define MAX_ROUNDS 99
#define CHUNK ((size_t)1 << 17) /* fingerprints: 1 MiB */
#define BATCH 1000              /* queries at once */
#define CAPACITY 64             /* matches of a query that are looked through */

static const char help[] =
    "Usage: build --count N [OPTION]...\n"
    "Writes N fingerprints to a file, uniform ones and a tenth near-duplicates of these, and measures ten sorts of "
    "them\n"
    "(radix sort, eight passes of 8 bits, one thread), building an index from the file, which publishes and syncs it,\n"
    "and copying as many bytes as the index has. All files are in the page cache, and removed afterwards.\n"
    "\n"
    "  --count N        fingerprints (required), such as 1e7\n"
    "  --scheme S       (default auto)\n"
    "  --threads T      (default 1)\n"
    "  --codec C        delta (the default) or xor\n"
    "  --block-size N   (default: the library's)\n"
    "  --ids I          u64 (the default): each has an ID, in order; or none\n"
    "  --rounds N       of which medians are taken (default 1)\n"
    "  --check Q        verify the index, and find the fingerprints that Q queries (rounded up to thousands) are made\n"
    "                   from, 0 to 3 bits away\n"
    "  --folder D       for all files (default: TMPDIR, else /tmp)\n"
    "\n"
    "Columns, separated by tabs: n (distinct); scheme; codec; block_size; ids; threads; sorts_seconds, "
    "sorts_cpu_seconds:\n"
    "all ten; build_seconds, build_cpu_seconds: from the first read to the published index; cpu is user and system "
    "time "
    "of\n"
    "all threads; build_sorts, build_cpu_sorts: the two as parts of the sorts'; peak_bytes: resident at most while\n"
    "building; written_bytes: while building; index_bytes: tables and documents; copy_seconds: with sync.\n";

struct options {
    size_t count, check;
    const char *scheme, *codec, *ids, *folder;
    unsigned threads, rounds;
    uint32_t block_size;
};

static char work[PATH_MAX], fingerprints_path[PATH_MAX + 16], index_path[PATH_MAX + 16], copy_path[PATH_MAX + 16];

static void try(enum idx_status status, const struct idx_error *error) {
    if (status != IDX_OK) die("%s", error->sentence);
}

/* ---- Files ---- */

static FILE *open_file(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (file == NULL) die("can't open %s", path);
    return file;
}

static void sync_and_close(FILE *file) {
    if (fflush(file) != 0 || fsync(fileno(file)) != 0 || fclose(file) != 0) die("can't write to %s", work);
}

static int remove_file(const char *path, const struct stat *stat, int kind, struct FTW *place) {
    (void)stat;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_all(const char *path) { nftw(path, remove_file, 16, FTW_DEPTH | FTW_PHYS); }

static void remove_work(void) { remove_all(work); }

/* ---- Data ---- */

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t next_random(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717u;
}

/* Returns how many fingerprints the file has: distinct ones, in random order. */
static size_t write_fingerprints(size_t wanted) {
    struct data data;
    make_data(&data, wanted, 1, K);
    uint64_t *fingerprints = (uint64_t *)(uintptr_t)data.fingerprints; /* which make_data allocated */
    for (size_t i = data.count; i > 1; i--) {
        size_t other = next_random() % i;
        uint64_t fingerprint = fingerprints[other];
        fingerprints[other] = fingerprints[i - 1];
        fingerprints[i - 1] = fingerprint;
    }
    FILE *file = open_file(fingerprints_path, "wbx");
    fwrite(fingerprints, sizeof *fingerprints, data.count, file);
    sync_and_close(file);
    free_data(&data, wanted);
    return data.count;
}

static void read_fingerprints(uint64_t *fingerprints, size_t count) {
    FILE *file = open_file(fingerprints_path, "rb");
    if (fread(fingerprints, sizeof *fingerprints, count, file) != count) die("can't read %s", fingerprints_path);
    fclose(file);
}

/* ---- What is measured ---- */

static uint64_t chunk[CHUNK]; /* what is read or written at once */

enum figure {
    SORTS_SECONDS,
    SORTS_CPU,
    BUILD_SECONDS,
    BUILD_CPU,
    PEAK_BYTES,
    WRITTEN_BYTES,
    INDEX_BYTES,
    COPY_SECONDS,
    FIGURES
};

/* Least significant digit first; all digits are counted in one reading. The result is in `keys` again. */
static void sort_by_bytes(uint64_t *keys, uint64_t *spare, size_t count) {
    static size_t starts[8][256];
    memset(starts, 0, sizeof starts);
    for (size_t i = 0; i < count; i++) {
        for (unsigned digit = 0; digit < 8; digit++) starts[digit][keys[i] >> 8 * digit & 255]++;
    }
    for (unsigned digit = 0; digit < 8; digit++) {
        for (size_t value = 0, start = 0; value < 256; value++) {
            size_t here = starts[digit][value];
            starts[digit][value] = start;
            start += here;
        }
        for (size_t i = 0; i < count; i++) spare[starts[digit][keys[i] >> 8 * digit & 255]++] = keys[i];
        uint64_t *sorted = spare;
        spare = keys;
        keys = sorted;
    }
}

/* User and system time of all threads. */
static double get_cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void measure_sorts(size_t count, double *figures) {
    size_t bytes = count * sizeof(uint64_t);
    uint64_t *keys = huge_new(bytes), *spare = huge_new(bytes);
    memset(spare, 1, bytes); /* has its pages */
    figures[SORTS_SECONDS] = figures[SORTS_CPU] = 0;
    for (int sort = 0; sort < SORTS; sort++) {
        read_fingerprints(keys, count);
        double cpu = get_cpu_seconds(), begin = now();
        sort_by_bytes(keys, spare, count);
        figures[SORTS_SECONDS] += now() - begin;
        figures[SORTS_CPU] += get_cpu_seconds() - cpu;
    }
    for (size_t i = 1; i < count; i++) {
        if (keys[i] <= keys[i - 1]) die("the sort that is compared with does not sort");
    }
    huge_free(keys, bytes);
    huge_free(spare, bytes);
}

/* From here on, the peak of resident memory counts anew. */
static void reset_peak(void) {
    FILE *file = open_file("/proc/self/clear_refs", "w");
    if (fputs("5", file) < 0 || fclose(file) != 0) die("can't reset the peak of resident memory");
}

static void add_all(struct idx_builder *builder) {
    uint64_t id = 0;
    struct idx_error error;
    FILE *file = open_file(fingerprints_path, "rb");
    for (size_t count; (count = fread(chunk, sizeof *chunk, CHUNK, file)) > 0;) {
        for (size_t i = 0; i < count; i++) try(idx_builder_add_u64(builder, chunk[i], id++, &error), &error);
    }
    fclose(file);
}

static void build(const struct options *options, struct idx_build_summary *summary) {
    struct idx_build_options build = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    struct idx_error error;
    build.k = K;
    build.scheme = options->scheme;
    build.codec = strcmp(options->codec, "xor") == 0 ? IDX_CODEC_XOR : IDX_CODEC_DELTA;
    build.block_size = options->block_size;
    build.id_type = strcmp(options->ids, "none") == 0 ? IDX_ID_NONE : IDX_ID_U64;
    build.threads = options->threads;
    try(idx_builder_open(&builder, index_path, &build, &error), &error);
    add_all(builder);
    try(idx_builder_finish(builder, summary, &error), &error);
    idx_builder_free(builder);
}

static void measure_build(const struct options *options, struct idx_build_summary *summary, double *figures) {
    reset_peak();
    uint64_t written = read_proc("/proc/self/io", "write_bytes: %llu");
    double cpu = get_cpu_seconds(), begin = now();
    build(options, summary);
    figures[BUILD_SECONDS] = now() - begin;
    figures[BUILD_CPU] = get_cpu_seconds() - cpu;
    figures[PEAK_BYTES] = (double)read_proc("/proc/self/status", "VmHWM: %llu") * 1024;
    figures[WRITTEN_BYTES] = (double)(read_proc("/proc/self/io", "write_bytes: %llu") - written);
}

/* As many bytes as the index has, from the fingerprints, over and over. */
static void measure_copy(const struct idx_build_summary *summary, double *figures) {
    uint64_t left = summary->table_bytes + summary->documents_bytes;
    double begin = now();
    FILE *from = open_file(fingerprints_path, "rb"), *to = open_file(copy_path, "wb");
    figures[INDEX_BYTES] = (double)left;
    while (left > 0) {
        size_t here = fread(chunk, 1, left < sizeof chunk ? (size_t)left : sizeof chunk, from);
        if (here == 0) rewind(from);
        left -= fwrite(chunk, 1, here, to);
        if (ferror(from) || ferror(to)) die("can't copy %s", fingerprints_path);
    }
    fclose(from);
    sync_and_close(to);
    figures[COPY_SECONDS] = now() - begin;
}

/* ---- Checking ---- */

/* Looks for fingerprints from all over the file with 0 to K bits flipped. */
static void check_batch(const struct idx_index *index, FILE *file, size_t count, unsigned threads) {
    static uint64_t sources[BATCH], queries[BATCH];
    static struct idx_match matches[BATCH * CAPACITY];
    static size_t match_counts[BATCH];
    struct idx_error error;
    for (size_t i = 0; i < BATCH; i++) {
        off_t at = (off_t)(next_random() % count * sizeof *sources);
        if (pread(fileno(file), &sources[i], sizeof *sources, at) != sizeof *sources)
            die("can't read %s", fingerprints_path);
        queries[i] = sources[i];
        while (idx_distance(queries[i], sources[i]) < i % (K + 1)) queries[i] ^= UINT64_C(1) << next_random() % 64;
    }
    try(idx_lookup_many(index, queries, BATCH, K, threads, matches, CAPACITY, match_counts, &error), &error);
    for (size_t i = 0; i < BATCH; i++) {
        const struct idx_match *match = matches + i * CAPACITY,
                               *end = match + (match_counts[i] < CAPACITY ? match_counts[i] : CAPACITY);
        while (match < end && match->fingerprint != sources[i]) match++;
        if (match == end)
            die("%016llx is not found by %016llx", (unsigned long long)sources[i], (unsigned long long)queries[i]);
    }
}

static void check(size_t count, size_t queries, unsigned threads) {
    struct idx_index *index;
    struct idx_error error;
    FILE *file = open_file(fingerprints_path, "rb");
    try(idx_verify(index_path, NULL, NULL, &error), &error);
    try(idx_open(&index, index_path, NULL, &error), &error);
    for (size_t done = 0; done < queries; done += BATCH) check_batch(index, file, count, threads);
    idx_close(index);
    fclose(file);
}

/* ---- The command ---- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const struct options *options, size_t count, const char *scheme, const double *medians) {
    printf("n\tscheme\tcodec\tblock_size\tids\tthreads\tsorts_seconds\tsorts_cpu_seconds\tbuild_seconds\tbuild_cpu_"
           "seconds\tbuild_sorts\t"
           "build_cpu_sorts\tpeak_bytes\twritten_bytes\tindex_bytes\tcopy_seconds\n");
    printf("%zu\t%s\t%s\t%u\t%s\t%u\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.0f\t%.0f\t%.0f\t%.3f\n", count, scheme,
           options->codec, options->block_size, options->ids, options->threads, medians[SORTS_SECONDS],
           medians[SORTS_CPU], medians[BUILD_SECONDS], medians[BUILD_CPU],
           medians[BUILD_SECONDS] / medians[SORTS_SECONDS], medians[BUILD_CPU] / medians[SORTS_CPU],
           medians[PEAK_BYTES], medians[WRITTEN_BYTES], medians[INDEX_BYTES], medians[COPY_SECONDS]);
}

static void run(const struct options *options) {
    static double figures[FIGURES][MAX_ROUNDS];
    struct idx_build_summary summary;
    double medians[FIGURES];
    size_t count = write_fingerprints(options->count);
    for (unsigned round = 0; round < options->rounds; round++) {
        double here[FIGURES];
        measure_sorts(count, here);
        measure_build(options, &summary, here);
        measure_copy(&summary, here);
        if (round == 0 && options->check > 0) check(count, options->check, options->threads);
        remove_all(index_path);
        for (int i = 0; i < FIGURES; i++) figures[i][round] = here[i];
    }
    for (int i = 0; i < FIGURES; i++) {
        qsort(figures[i], options->rounds, sizeof **figures, compare_doubles);
        medians[i] = figures[i][options->rounds / 2];
    }
    print_row(options, count, summary.scheme, medians);
}

static double parse_number(const char *text) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != 0 || !(number >= 0 && number < 1e12)) die("%s is no number; see build --help", text);
    return number;
}

static void parse_option(struct options *options, int option, const char *value) {
    switch (option) {
        case 'n': options->count = (size_t)parse_number(value); break;
        case 's': options->scheme = value; break;
        case 't': options->threads = (unsigned)parse_number(value); break;
        case 'c': options->codec = value; break;
        case 'b': options->block_size = (uint32_t)parse_number(value); break;
        case 'i': options->ids = value; break;
        case 'r': options->rounds = (unsigned)parse_number(value); break;
        case 'q': options->check = (size_t)parse_number(value); break;
        case 'f': options->folder = value; break;
        case 'h': fputs(help, stdout); exit(0);
        default: die("see build --help");
    }
}

int main(int argc, char **argv) {
    static const struct option names[] = {
        {"count", 1, NULL, 'n'},      {"scheme", 1, NULL, 's'}, {"threads", 1, NULL, 't'}, {"codec", 1, NULL, 'c'},
        {"block-size", 1, NULL, 'b'}, {"ids", 1, NULL, 'i'},    {"rounds", 1, NULL, 'r'},  {"check", 1, NULL, 'q'},
        {"folder", 1, NULL, 'f'},     {"help", 0, NULL, 'h'},   {NULL, 0, NULL, 0}};
    const char *temporary = getenv("TMPDIR");
    struct options options = {.scheme = "auto", .codec = "delta", .ids = "u64", .threads = 1, .rounds = 1};
    options.block_size = IDX_DEFAULT_BLOCK_SIZE;
    options.folder = temporary == NULL ? "/tmp" : temporary;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) parse_option(&options, option, optarg);
    if (options.count == 0 || optind < argc) die("--count N is needed, and nothing but options; see build --help");
    if (options.rounds < 1 || options.rounds > MAX_ROUNDS) die("--rounds must be 1 to %d", MAX_ROUNDS);
    if (strcmp(options.codec, "delta") != 0 && strcmp(options.codec, "xor") != 0) die("--codec is delta or xor");
    if (strcmp(options.ids, "u64") != 0 && strcmp(options.ids, "none") != 0) die("--ids is u64 or none");
    snprintf(work, sizeof work, "%s/idx-build-XXXXXX", options.folder);
    if (mkdtemp(work) == NULL) die("can't make a folder in %s", options.folder);
    atexit(remove_work);
    snprintf(fingerprints_path, sizeof fingerprints_path, "%s/fingerprints", work);
    snprintf(index_path, sizeof index_path, "%s/index", work);
    snprintf(copy_path, sizeof copy_path, "%s/copy", work);
    run(&options);
    return 0;
}
