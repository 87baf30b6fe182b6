/* build.c: how long building an index takes, and merging it of several, beside sorts of the same fingerprints and a
 * copy of as many bytes, and how much memory, writing and disk it needs. */
#include "bench/bench.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define K 3
#define NEAR 10 /* each tenth fingerprint is a near-duplicate of the one before */
#define MAX_ROUNDS 99
#define MAX_PARTS 99
#define CHUNK ((size_t)1 << 17) /* fingerprints: 1 MiB */
#define BATCH 1000              /* queries at once */
#define CAPACITY 64             /* matches of a query that are looked through */

static const char help[] =
    "Usage: build --count N [OPTION]...\n"
    "Writes N fingerprints to a file, uniform ones, a tenth of them 1 to 3 bits from another, and measures sorts of\n"
    "them (radix sort, eight passes of 8 bits, one thread), building an index from the file, which publishes and\n"
    "syncs it, and copying as many bytes as the index has. All files are removed afterwards.\n"
    "\n"
    "  --count N        fingerprints (required), such as 1e7\n"
    "  --scheme S       (default auto)\n"
    "  --threads T      (default 1)\n"
    "  --memory MIB     that the build may take (default: the library's)\n"
    "  --block-size N   (default: the library's)\n"
    "  --ids I          u64 (the default): each has an ID, in order; or none\n"
    "  --sorts N        (default 10)\n"
    "  --parts N        build N indexes of the fingerprints besides, and measure merging them into one\n"
    "  --rounds N       of which medians are taken (default 1)\n"
    "  --check Q        verify the index, and find the fingerprints that Q queries (rounded up to thousands) are made\n"
    "                   from, 0 to 3 bits away\n"
    "  --folder D       for all files (default: TMPDIR, else /tmp)\n"
    "\n"
    "Columns, separated by tabs: n; scheme; block_size; ids; threads; memory_mib; sorts_seconds and\n"
    "sorts_cpu_seconds: of all; build_seconds and build_cpu_seconds: from the first read to the published index, cpu\n"
    "being user and system time of all threads; peak_bytes: resident at most while building; written_bytes: while\n"
    "building; disk_bytes and expected_disk_bytes: taken of the file system at most while building, and what\n"
    "idx_estimate_build says; index_bytes: tables and documents; copy_seconds: with sync; merge_seconds,\n"
    "merge_cpu_seconds and merge_peak_bytes.\n";

struct options {
    size_t count, check;
    const char *scheme, *ids, *folder;
    unsigned threads, rounds, sorts, parts;
    uint32_t block_size;
    uint64_t memory_bytes;
};

static char work[PATH_MAX], fingerprints_path[PATH_MAX + 16], index_path[PATH_MAX + 16], copy_path[PATH_MAX + 16];

/* ---- Files ---- */

static FILE *open_file(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (file == NULL) die("can't open %s", path);
    return file;
}

static void sync_and_close(FILE *file) {
    if (fflush(file) != 0 || fsync(fileno(file)) != 0 || fclose(file) != 0) die("can't write to %s", work);
}

static void remove_work(void) { remove_all(work); }

/* ---- Data ---- */

static uint64_t chunk[CHUNK]; /* what is read or written at once */

/* A random number for each. */
static uint64_t scatter(uint64_t number) { return mix((number + 1) * UINT64_C(0x9e3779b97f4a7c15)); }

static uint64_t draw(void) {
    static uint64_t drawn;
    return scatter(~drawn++);
}

static uint64_t get_fingerprint(uint64_t number) {
    if (number % NEAR != NEAR - 1) return scatter(number);
    uint64_t bits = scatter(number), near = scatter(number - 1);
    for (unsigned i = 0; i <= number / NEAR % K; i++) near ^= UINT64_C(1) << (bits >> 6 * i & 63);
    return near;
}

static void write_fingerprints(size_t count) {
    FILE *file = open_file(fingerprints_path, "wbx");
    for (size_t done = 0; done < count;) {
        size_t here = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < here; i++) chunk[i] = get_fingerprint(done + i);
        done += fwrite(chunk, sizeof *chunk, here, file);
        if (ferror(file)) die("can't write to %s", fingerprints_path);
    }
    sync_and_close(file);
}

static void read_fingerprints(uint64_t *fingerprints, size_t count) {
    FILE *file = open_file(fingerprints_path, "rb");
    if (fread(fingerprints, sizeof *fingerprints, count, file) != count) die("can't read %s", fingerprints_path);
    fclose(file);
}

/* ---- What is measured ---- */

enum figure {
    SORTS_SECONDS,
    SORTS_CPU,
    BUILD_SECONDS,
    BUILD_CPU,
    PEAK_BYTES,
    WRITTEN_BYTES,
    DISK_BYTES,
    EXPECTED_DISK_BYTES,
    INDEX_BYTES,
    COPY_SECONDS,
    MERGE_SECONDS,
    MERGE_CPU,
    MERGE_PEAK_BYTES,
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

static void measure_sorts(size_t count, unsigned sorts, double *figures) {
    size_t bytes = count * sizeof(uint64_t);
    figures[SORTS_SECONDS] = figures[SORTS_CPU] = 0;
    if (sorts == 0) return;
    uint64_t *keys = huge_new(bytes), *spare = huge_new(bytes);
    memset(spare, 1, bytes); /* has its pages */
    for (unsigned sort = 0; sort < sorts; sort++) {
        read_fingerprints(keys, count);
        double cpu = cpu_now(), begin = now();
        sort_by_bytes(keys, spare, count);
        figures[SORTS_SECONDS] += now() - begin;
        figures[SORTS_CPU] += cpu_now() - cpu;
    }
    for (size_t i = 1; i < count; i++) {
        if (keys[i] < keys[i - 1]) die("the sort that is compared with does not sort");
    }
    huge_free(keys, bytes);
    huge_free(spare, bytes);
}

/* From here on, the peak of resident memory counts anew. */
static void reset_peak(void) {
    FILE *file = open_file("/proc/self/clear_refs", "w");
    if (fputs("5", file) < 0 || fclose(file) != 0) die("can't reset the peak of resident memory");
}

static uint64_t get_free_bytes(void) {
    struct statvfs status;
    if (statvfs(work, &status) != 0) die("can't tell how much of the disk is free");
    return (uint64_t)status.f_bfree * status.f_frsize;
}

static bool note_disk(void *context, const struct idx_progress *progress) {
    uint64_t *least_free = context, bytes = get_free_bytes();
    (void)progress;
    if (bytes < *least_free) *least_free = bytes;
    return true;
}

/* Part `part` of `parts` of the fingerprints. */
static void add_all(struct idx_builder *builder, size_t total, unsigned part, unsigned parts) {
    uint64_t id = total / parts * part, end = part + 1 == parts ? total : id + total / parts;
    struct idx_error error;
    FILE *file = open_file(fingerprints_path, "rb");
    if (fseeko(file, (off_t)(id * sizeof *chunk), SEEK_SET) != 0) die("can't read %s", fingerprints_path);
    while (id < end) {
        size_t count = end - id < CHUNK ? (size_t)(end - id) : CHUNK;
        if (fread(chunk, sizeof *chunk, count, file) != count) die("can't read %s", fingerprints_path);
        for (size_t i = 0; i < count; i++) try(idx_builder_add_u64(builder, chunk[i], id++, &error), &error);
    }
    fclose(file);
}

static struct idx_build_options get_build_options(const struct options *options) {
    struct idx_build_options build = IDX_BUILD_OPTIONS_INIT;
    build.k = K;
    build.scheme = options->scheme;
    build.block_size = options->block_size;
    build.id_type = strcmp(options->ids, "none") == 0 ? IDX_ID_NONE : IDX_ID_U64;
    build.threads = options->threads;
    build.memory_bytes = options->memory_bytes;
    return build;
}

static void build(const char *path, const struct idx_build_options *options, size_t total, unsigned part,
                  unsigned parts, struct idx_build_summary *summary) {
    struct idx_builder *builder;
    struct idx_error error;
    try(idx_builder_open(&builder, path, options, &error), &error);
    add_all(builder, total, part, parts);
    try(idx_builder_finish(builder, summary, &error), &error);
    idx_builder_close(builder);
}

static void measure_build(const struct options *options, struct idx_build_summary *summary, double *figures) {
    struct idx_build_options build_options = get_build_options(options);
    struct idx_build_estimate estimate;
    struct idx_error error;
    uint64_t free_bytes = get_free_bytes(), least_free = free_bytes;
    try(idx_estimate_build(&build_options, options->count, &estimate, &error), &error);
    build_options.progress = note_disk;
    build_options.context = &least_free;
    reset_peak();
    uint64_t written = read_proc("/proc/self/io", "write_bytes: %llu");
    double cpu = cpu_now(), begin = now();
    build(index_path, &build_options, options->count, 0, 1, summary);
    figures[BUILD_SECONDS] = now() - begin;
    figures[BUILD_CPU] = cpu_now() - cpu;
    figures[PEAK_BYTES] = (double)read_proc("/proc/self/status", "VmHWM: %llu") * 1024;
    figures[WRITTEN_BYTES] = (double)(read_proc("/proc/self/io", "write_bytes: %llu") - written);
    figures[DISK_BYTES] = (double)(free_bytes - least_free);
    figures[EXPECTED_DISK_BYTES] = (double)estimate.peak_bytes;
}

/* Leaves the merged index in place of the one built at once. */
static void measure_merge(const struct options *options, double *figures) {
    static char paths[MAX_PARTS][PATH_MAX + 32];
    const char *inputs[MAX_PARTS];
    struct idx_build_options build_options = get_build_options(options);
    struct idx_merge_options merge_options = IDX_MERGE_OPTIONS_INIT;
    struct idx_build_summary summary;
    struct idx_error error;
    figures[MERGE_SECONDS] = figures[MERGE_CPU] = figures[MERGE_PEAK_BYTES] = 0;
    if (options->parts == 0) return;
    for (unsigned part = 0; part < options->parts; part++) {
        snprintf(paths[part], sizeof paths[part], "%s-%u", index_path, part);
        inputs[part] = paths[part];
        build(paths[part], &build_options, options->count, part, options->parts, &summary);
    }
    merge_options.threads = options->threads;
    merge_options.memory_bytes = options->memory_bytes;
    merge_options.replace = true;
    reset_peak();
    double cpu = cpu_now(), begin = now();
    try(idx_merge(index_path, inputs, options->parts, &merge_options, &summary, &error), &error);
    figures[MERGE_SECONDS] = now() - begin;
    figures[MERGE_CPU] = cpu_now() - cpu;
    figures[MERGE_PEAK_BYTES] = (double)read_proc("/proc/self/status", "VmHWM: %llu") * 1024;
    for (unsigned part = 0; part < options->parts; part++) remove_all(paths[part]);
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

/* Looks for fingerprints from all over with 0 to K bits flipped. */
static void check_batch(const struct idx_index *index, size_t count, unsigned threads) {
    static uint64_t sources[BATCH], queries[BATCH];
    static struct idx_match matches[BATCH * CAPACITY];
    static size_t match_counts[BATCH];
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    struct idx_error error;
    options.distance = K;
    options.threads = threads;
    for (size_t i = 0; i < BATCH; i++) {
        queries[i] = sources[i] = get_fingerprint(draw() % count);
        while (idx_distance(queries[i], sources[i]) < i % (K + 1)) queries[i] ^= UINT64_C(1) << draw() % 64;
    }
    try(idx_lookup_many(index, queries, BATCH, &options, matches, CAPACITY, match_counts, &error), &error);
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
    try(idx_verify(index_path, NULL, NULL, &error), &error);
    try(idx_open(&index, index_path, NULL, &error), &error);
    for (size_t done = 0; done < queries; done += BATCH) check_batch(index, count, threads);
    idx_close(index);
}

/* ---- The command ---- */

static void print_row(const struct options *options, const char *scheme, const double *medians) {
    static const char *const names[] = {"sorts_seconds",   "sorts_cpu_seconds", "build_seconds", "build_cpu_seconds",
                                        "peak_bytes",      "written_bytes",     "disk_bytes",    "expected_disk_bytes",
                                        "index_bytes",     "copy_seconds",      "merge_seconds", "merge_cpu_seconds",
                                        "merge_peak_bytes"};
    printf("n\tscheme\tblock_size\tids\tthreads\tmemory_mib");
    for (int i = 0; i < FIGURES; i++) printf("\t%s", names[i]);
    printf("\n%zu\t%s\t%u\t%s\t%u\t%.0f", options->count, scheme, options->block_size, options->ids, options->threads,
           (double)options->memory_bytes / (1 << 20));
    for (int i = 0; i < FIGURES; i++) {
        bool seconds = strstr(names[i], "seconds") != NULL;
        printf("\t%.*f", seconds ? 3 : 0, medians[i]);
    }
    printf("\n");
}

static void run(const struct options *options) {
    static double figures[FIGURES][MAX_ROUNDS];
    struct idx_build_summary summary;
    double medians[FIGURES];
    write_fingerprints(options->count);
    for (unsigned round = 0; round < options->rounds; round++) {
        double here[FIGURES];
        measure_sorts(options->count, options->sorts, here);
        measure_build(options, &summary, here);
        measure_copy(&summary, here);
        remove_all(copy_path);
        measure_merge(options, here);
        if (round == 0 && options->check > 0) check(options->count, options->check, options->threads);
        remove_all(index_path);
        for (int i = 0; i < FIGURES; i++) figures[i][round] = here[i];
    }
    for (int i = 0; i < FIGURES; i++) {
        sort_doubles(figures[i], options->rounds);
        medians[i] = figures[i][options->rounds / 2];
    }
    print_row(options, summary.scheme, medians);
}

int main(int argc, char **argv) {
    const char *temporary = getenv("TMPDIR");
    double memory = 0;
    struct options options = {.scheme = "auto", .ids = "u64", .threads = 1, .rounds = 1, .sorts = 10};
    const struct bench_option names[] = {
        {"count", OPTION_SIZE, &options.count, 1, 1e12},
        {"scheme", OPTION_TEXT, &options.scheme, 0, 0},
        {"threads", OPTION_UNSIGNED, &options.threads, 1, IDX_MAX_THREADS},
        {"memory", OPTION_DOUBLE, &memory, 0, 0},
        {"block-size", OPTION_UINT32, &options.block_size, 0, 0},
        {"ids", OPTION_TEXT, &options.ids, 0, 0},
        {"rounds", OPTION_UNSIGNED, &options.rounds, 1, MAX_ROUNDS},
        {"check", OPTION_SIZE, &options.check, 0, 0},
        {"folder", OPTION_TEXT, &options.folder, 0, 0},
        {"parts", OPTION_UNSIGNED, &options.parts, 0, MAX_PARTS},
        {"sorts", OPTION_UNSIGNED, &options.sorts, 0, 0},
        {NULL, OPTION_FLAG, NULL, 0, 0},
    };
    options.block_size = IDX_DEFAULT_BLOCK_SIZE;
    options.folder = temporary == NULL ? "/tmp" : temporary;
    if (read_options(argc, argv, help, names) > 0 || options.count == 0)
        die("--count N is needed, and nothing but options; see build --help");
    if (strcmp(options.ids, "u64") != 0 && strcmp(options.ids, "none") != 0) die("--ids is u64 or none");
    options.memory_bytes = (uint64_t)(memory * (1 << 20));
    snprintf(work, sizeof work, "%s/idx-build-XXXXXX", options.folder);
    if (mkdtemp(work) == NULL) die("can't make a folder in %s", options.folder);
    atexit(remove_work);
    snprintf(fingerprints_path, sizeof fingerprints_path, "%s/fingerprints", work);
    snprintf(index_path, sizeof index_path, "%s/index", work);
    snprintf(copy_path, sizeof copy_path, "%s/copy", work);
    run(&options);
    return 0;
}
