/* disk.c: look-ups in an index that is larger than the memory that its process may use, as a control group limits it:
 * blocks come from the disk, one query at a time and many at a time, asked for ahead or only when they are needed. */
#include "bench/clock.h"
#include "bench/data.h"
#include "bench/index_files.h"
#include "bench/limit.h"
#include "bench/memory.h"

#include <getopt.h>
#include <idx.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define K 3
#define MATCHES 16
#define MAX_BATCH 256
#define FEW_QUERIES 64
#define MAX_BLOCK_SIZES 8

static const char help[] =
    "Usage: disk --count N | --fingerprints FILE [OPTION]...\n"
    "Builds an index of fingerprints, limits the memory of this process, page cache included, to a part of its size\n"
    "by a control group (which takes root), and measures look-ups within 3 bits.\n"
    "\n"
    "  --count N        synthetic fingerprints, such as 1e7\n"
    "  --fingerprints FILE\n"
    "                   those of a file in place of synthetic ones: 8 bytes each, little-endian. Half of the\n"
    "                   queries are then fingerprints with 0 to 3 bits flipped, half with 8 to 20\n"
    "  --scheme S       (default 5:2)\n"
    "  --block-size N   may be repeated (default 128, 1024 and 4096)\n"
    "  --share N        the limit is the size of the tables divided by N (default 4)\n"
    "  --queries N      queries answered (default 4000; 64 where blocks are not asked for ahead)\n"
    "  --folder D       where to build the index, on the disk to be measured (default /tmp)\n"
    "\n"
    "Columns, separated by tabs: n; scheme; block_size; table_bytes; limit_bytes; residence: directory (a block is "
    "read\n"
    "when it is needed) or disk (blocks are asked for ahead); batch: queries at a time; queries_per_second; p50_us,\n"
    "p99_us: what a batch takes; pages_per_query: 4096 bytes each, read from the disk; matches.\n";

struct options {
    size_t count, queries;
    const char *fingerprints, *scheme, *folder;
    uint32_t block_sizes[MAX_BLOCK_SIZES];
    size_t block_size_count;
    unsigned share;
};

static void try(enum idx_status status, const struct idx_error *error) {
    if (status != IDX_OK) die("%s", error->sentence);
}

/* ---- The index ---- */

static void build(const struct data *data, const struct options *options, uint32_t block_size, const char *path) {
    struct idx_build_options build = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    struct idx_error error;
    build.k = K;
    build.scheme = options->scheme;
    build.block_size = block_size;
    build.id_type = IDX_ID_NONE;
    build.threads = 2;
    try(idx_builder_open(&builder, path, &build, &error), &error);
    for (size_t i = 0; i < data->count; i++)
        try(idx_builder_add_u64(builder, data->fingerprints[i], 0, &error), &error);
    try(idx_builder_finish(builder, NULL, &error), &error);
    idx_builder_close(builder);
}

/* ---- Measuring ---- */

struct way {
    const char *name;
    enum idx_residence residence;
    size_t batch, queries;
};

static void measure_way(const struct data *data, const struct options *options, uint32_t block_size, const char *path,
                        const struct way *way) {
    struct idx_open_options open_options = IDX_OPEN_OPTIONS_INIT;
    struct idx_lookup_options lookup = IDX_LOOKUP_OPTIONS_INIT;
    struct idx_match matches[MAX_BATCH * MATCHES];
    size_t counts[MAX_BATCH], calls = way->queries / way->batch, found = 0;
    double *seconds = malloc((calls + 1) * sizeof *seconds), all = 0;
    struct idx_properties properties;
    struct idx_index *index;
    struct idx_error error;
    struct limit limit;
    if (seconds == NULL) die("out of memory");
    open_options.residence = way->residence;
    lookup.distance = K;
    try(idx_open(&index, path, &open_options, &error), &error);
    idx_get_properties(index, &properties);
    drop_cache(path);
    set_limit(&limit, properties.table_bytes / options->share);
    uint64_t before = get_read_bytes();
    for (size_t call = 0; call < calls; call++) {
        double begin = now();
        try(idx_lookup_many(index, data->queries + call * way->batch, way->batch, &lookup, matches, MATCHES, counts,
                            &error),
            &error);
        seconds[call] = now() - begin;
        all += seconds[call];
        for (size_t i = 0; i < way->batch; i++) found += counts[i];
    }
    double pages = (double)(get_read_bytes() - before) / 4096;
    lift_limit(&limit);
    idx_close(index);
    sort_doubles(seconds, calls);
    double queries = (double)(calls * way->batch);
    printf("%zu\t%s\t%u\t%llu\t%llu\t%s\t%zu\t%.0f\t%.0f\t%.0f\t%.2f\t%zu\n", data->count, options->scheme, block_size,
           (unsigned long long)properties.table_bytes, (unsigned long long)properties.table_bytes / options->share,
           way->name, way->batch, queries / all, seconds[calls / 2] * 1e6, seconds[calls * 99 / 100] * 1e6,
           pages / queries, found);
    fflush(stdout);
    free(seconds);
}

static void measure_block_size(const struct data *data, const struct options *options, uint32_t block_size) {
    const struct way ways[] = {{"directory", IDX_RESIDENCE_DIRECTORY, 1, FEW_QUERIES},
                               {"disk", IDX_RESIDENCE_DISK, 1, options->queries},
                               {"disk", IDX_RESIDENCE_DISK, 32, options->queries},
                               {"disk", IDX_RESIDENCE_DISK, 256, options->queries}};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/idx-disk-%ld.idx", options->folder, (long)getpid());
    build(data, options, block_size, path);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) measure_way(data, options, block_size, path, &ways[i]);
    remove_index_at(path);
}

/* ---- The command ---- */

static void parse(int argc, char **argv, struct options *options) {
    static const struct option names[] = {
        {"count", 1, NULL, 'n'},  {"fingerprints", 1, NULL, 'r'}, {"queries", 1, NULL, 'q'},
        {"scheme", 1, NULL, 's'}, {"block-size", 1, NULL, 'b'},   {"share", 1, NULL, 'd'},
        {"folder", 1, NULL, 'f'}, {"help", 0, NULL, 'h'},         {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == 'n') options->count = (size_t)strtod(optarg, NULL);
        if (option == 'r') options->fingerprints = optarg;
        if (option == 'q') options->queries = (size_t)strtod(optarg, NULL);
        if (option == 's') options->scheme = optarg;
        if (option == 'b' && options->block_size_count < MAX_BLOCK_SIZES)
            options->block_sizes[options->block_size_count++] = (uint32_t)strtoul(optarg, NULL, 10);
        if (option == 'd') options->share = (unsigned)strtoul(optarg, NULL, 10);
        if (option == 'f') options->folder = optarg;
        if (option == 'h') {
            fputs(help, stdout);
            exit(0);
        }
        if (option == '?') die("see disk --help");
    }
    if ((options->count < 1000) == (options->fingerprints == NULL))
        die("either --count N, 1000 or more, or --fingerprints FILE is needed; see disk --help");
    if (options->queries < MAX_BATCH || options->share < 1) die("--queries must be 256 or more, --share 1 or more");
}

int main(int argc, char **argv) {
    struct options options = {.queries = 4000, .scheme = "5:2", .folder = "/tmp", .share = 4};
    static const uint32_t block_sizes[] = {128, 1024, 4096};
    struct data data;
    parse(argc, argv, &options);
    if (options.block_size_count == 0) {
        memcpy(options.block_sizes, block_sizes, sizeof block_sizes);
        options.block_size_count = sizeof block_sizes / sizeof *block_sizes;
    }
    if (options.fingerprints != NULL)
        options.count = read_data(&data, options.fingerprints, options.queries, K);
    else
        make_data(&data, options.count, options.queries, K);
    printf("n\tscheme\tblock_size\ttable_bytes\tlimit_bytes\tresidence\tbatch\tqueries_per_second\tp50_us\tp99_us\t"
           "pages_per_query\tmatches\n");
    for (size_t i = 0; i < options.block_size_count; i++) measure_block_size(&data, &options, options.block_sizes[i]);
    free_data(&data, options.count);
    return 0;
}
