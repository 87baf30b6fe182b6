/* disk.c: look-ups in an index that is larger than the memory that its process may use, as a control group limits it:
 * blocks come from the disk, one query at a time and many at a time, asked for ahead or only when they are needed. */
#include "bench/data.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define K 3
#define MATCHES 16
#define MAX_BATCH 256
#define FEW_QUERIES 64

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
    struct list block_sizes;
    unsigned share;
};

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
    make_index(path, options->scheme, block_size, K, data->fingerprints, data->count);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) measure_way(data, options, block_size, path, &ways[i]);
    remove_index();
}

/* ---- The command ---- */

int main(int argc, char **argv) {
    static const char *const block_sizes[] = {"128", "1024", "4096"};
    struct options options = {.queries = 4000, .scheme = "5:2", .folder = "/tmp", .share = 4};
    const struct bench_option names[] = {
        {"count", OPTION_SIZE, &options.count, 1000, 1e12},
        {"fingerprints", OPTION_TEXT, &options.fingerprints, 0, 0},
        {"queries", OPTION_SIZE, &options.queries, MAX_BATCH, 1e12},
        {"scheme", OPTION_TEXT, &options.scheme, 0, 0},
        {"block-size", OPTION_LIST, &options.block_sizes, 0, 0},
        {"share", OPTION_UNSIGNED, &options.share, 1, 1e9},
        {"folder", OPTION_TEXT, &options.folder, 0, 0},
        {NULL, OPTION_FLAG, NULL, 0, 0},
    };
    struct data data;
    if (read_options(argc, argv, help, names) > 0) die("%s is no option; see disk --help", argv[1]);
    for (size_t i = 0, given = options.block_sizes.count; given == 0 && i < 3; i++)
        add_choice(&options.block_sizes, block_sizes[i]);
    get_data(&data, options.fingerprints, options.count, options.queries, K);
    atexit(remove_index);
    printf("n\tscheme\tblock_size\ttable_bytes\tlimit_bytes\tresidence\tbatch\tqueries_per_second\tp50_us\tp99_us\t"
           "pages_per_query\tmatches\n");
    for (size_t i = 0; i < options.block_sizes.count; i++)
        measure_block_size(&data, &options, (uint32_t)read_number(options.block_sizes.values[i], 1, 1e9));
    free_data(&data);
    return 0;
}
