/* billion.c: writes fingerprints without end, and measures look-ups in their index, in memory and from disk.
 * Fingerprints are computed from their row numbers, which are their document IDs, so answers are checked without the
 * data. */
#include "bench/bench.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define K 3
#define CAPACITY 64
#define MAX_AT_A_TIME 256
#define FEW_QUERIES 64
#define DISK_SHARE 50
#define BATCH_MEMORY ((uint64_t)512 << 20)

static const char help[] =
    "Usage: billion write --count N\n"
    "   or: billion ask INDEX --count N [--limit SIZE] [--queries N]\n"
    "write: N fingerprints, 8 bytes each, little-endian, on standard output. Each is computed from its row alone; "
    "nine\n"
    "tenths are random, a tenth are copies of earlier ones with 1 to 6 bits flipped.\n"
    "ask: look-ups within 3 bits in an index of these fingerprints, whose IDs are their rows, on one thread. Half of\n"
    "the queries are fingerprints with 0 to 3 bits flipped, half are random.\n"
    "\n"
    "  --count N    fingerprints, such as 1e9\n"
    "  --limit SIZE memory for look-ups from disk, page cache included; nothing of the index is in it at first\n"
    "               (default 2G)\n"
    "  --queries N  queries in memory, and of a batch (default 1e6); a fiftieth of them from disk\n"
    "\n"
    "Columns, separated by tabs: scheme; way: all (tables loaded), disk (blocks are asked for ahead), directory (a "
    "block\n"
    "is read when it is needed), each with batch (idx_batch) or documents (the IDs of the matches just found, with\n"
    "docs.mdb in the page cache or on disk); limit_bytes; at_a_time; queries (for documents: fingerprints); seconds;\n"
    "queries_per_second; cpu_us, user and system, per query; p50_us, p99_us, p999_us: what a call takes;\n"
    "pages_per_query: 4096 bytes each, read from the disk; matches (documents).\n"
    "\n"
    "Exit status of ask: 1 where a query doesn't find its own fingerprint and row, or anything false.\n";

struct options {
    const char *path;
    uint64_t count, limit;
    size_t queries;
};

struct found {
    size_t query;
    struct idx_match match;
};

struct bench {
    struct options options;
    struct idx_index *index;
    char scheme[64];
    uint64_t *queries;
    struct found *found; /* of the queries of one way, in their order */
    size_t found_count;
    double *seconds; /* of each call */
    size_t calls;
    double cpu_seconds;
    uint64_t read_bytes;
};

/* ---- Fingerprints and queries ---- */

/* `value` with `count` different bits flipped, which `seed` chooses. */
static uint64_t flip_some(uint64_t value, unsigned count, uint64_t seed) {
    uint64_t flipped = 0;
    while (count > 0) {
        uint64_t bit = UINT64_C(1) << (next_random(&seed) >> 58);
        count -= (flipped & bit) == 0;
        flipped |= bit;
    }
    return value ^ flipped;
}

/* The fingerprint of a row: nine tenths are random and differ from each other, a tenth are copies of those of earlier
 * rows with 1 to k + 3 bits flipped. */
static uint64_t fingerprint_of(uint64_t row, unsigned k) {
    if (row % 10 != 9) return mix(row * UINT64_C(0x9e3779b97f4a7c15) + 1);
    uint64_t seed = row ^ UINT64_C(0xc2b2ae3d27d4eb4f), origin = next_random(&seed) % row;
    unsigned count = 1 + (unsigned)(next_random(&seed) % (k + 3));
    return flip_some(fingerprint_of(origin, k), count, seed);
}

static void write_fingerprints(uint64_t count) {
    static uint64_t buffer[8192];
    const size_t room = sizeof buffer / sizeof *buffer;
    for (uint64_t row = 0; row < count; row++) {
        buffer[row % room] = htole64(fingerprint_of(row, K));
        size_t filled = row + 1 == count ? row % room + 1 : room;
        if (row % room + 1 == filled && fwrite(buffer, sizeof *buffer, filled, stdout) != filled)
            die("can't write to standard output");
    }
    if (fflush(stdout) != 0) die("can't write to standard output");
}

/* Where a query comes from: a row and some flipped bits, unless it is random. */
struct origin {
    bool is_near;
    uint64_t row, fingerprint;
    unsigned distance;
};

static uint64_t make_query(const struct bench *bench, size_t number, struct origin *origin) {
    uint64_t seed = mix(number + 1) ^ UINT64_C(0xd6e8feb86659fd93);
    *origin = (struct origin){.is_near = number % 2 == 0};
    if (!origin->is_near) return next_random(&seed);
    origin->row = next_random(&seed) % bench->options.count;
    origin->distance = (unsigned)(next_random(&seed) % (K + 1));
    origin->fingerprint = fingerprint_of(origin->row, K);
    return flip_some(origin->fingerprint, origin->distance, seed);
}

/* ---- Checking ---- */

static void fail(const struct bench *bench, size_t query, const char *what) {
    fprintf(stderr, "billion: query %zu, %016llx: %s\n", query, (unsigned long long)bench->queries[query], what);
    exit(1);
}

static void check_matches(const struct bench *bench, size_t queries) {
    size_t at = 0;
    for (size_t query = 0; query < queries; query++) {
        struct origin origin;
        bool is_found = false;
        make_query(bench, query, &origin);
        for (; at < bench->found_count && bench->found[at].query == query; at++) {
            const struct idx_match *match = &bench->found[at].match;
            if (match->distance > K || match->distance != idx_distance(bench->queries[query], match->fingerprint))
                fail(bench, query, "a match has the wrong distance");
            is_found |= match->fingerprint == origin.fingerprint && match->distance == origin.distance;
        }
        if (origin.is_near && !is_found) fail(bench, query, "its own fingerprint is not among the matches");
    }
    if (at != bench->found_count) fail(bench, bench->found[at].query, "a match is out of order");
}

/* ---- Ways ---- */

struct way {
    const char *name;
    enum idx_residence residence;
    bool is_limited;
    size_t at_a_time, queries;
    /* Answers queries from `at` on, in one call, and sets *seconds to what that took. */
    void (*answer)(struct bench *bench, size_t at, size_t count, double *seconds);
};

static bool add_found(void *context, size_t query, const struct idx_match *matches, size_t count) {
    struct bench *bench = context;
    for (size_t i = 0; i < count; i++) {
        if (bench->found_count == 2 * bench->options.queries) die("there are more matches than this provides for");
        bench->found[bench->found_count++] = (struct found){query, matches[i]};
    }
    return true;
}

static void look_up(struct bench *bench, size_t at, size_t count, double *seconds) {
    static struct idx_match matches[MAX_AT_A_TIME * CAPACITY];
    size_t counts[MAX_AT_A_TIME];
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    struct idx_error error;
    options.distance = K;
    double begin = now();
    try(idx_lookup_many(bench->index, bench->queries + at, count, &options, matches, CAPACITY, counts, &error), &error);
    *seconds = now() - begin;
    for (size_t i = 0; i < count; i++) {
        if (counts[i] > CAPACITY) die("a query has %zu matches, which this does not provide for", counts[i]);
        add_found(bench, at + i, matches + i * CAPACITY, counts[i]);
    }
}

static void answer_batch(struct bench *bench, size_t at, size_t count, double *seconds) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct idx_error error;
    options.distance = K;
    options.memory_bytes = BATCH_MEMORY;
    double begin = now();
    try(idx_batch(bench->index, bench->queries + at, count, &options, add_found, bench, &error), &error);
    *seconds = now() - begin;
}

static void print_row(struct bench *bench, const struct way *way, size_t queries, uint64_t matches) {
    double all = 0;
    for (size_t i = 0; i < bench->calls; i++) all += bench->seconds[i];
    sort_doubles(bench->seconds, bench->calls);
    printf("%s\t%s\t%llu\t%zu\t%zu\t%.2f\t%.0f\t%.2f\t%.1f\t%.1f\t%.1f\t%.2f\t%llu\n", bench->scheme, way->name,
           way->is_limited ? (unsigned long long)bench->options.limit : 0, way->at_a_time, queries, all,
           (double)queries / all, bench->cpu_seconds / (double)queries * 1e6, bench->seconds[bench->calls / 2] * 1e6,
           bench->seconds[bench->calls * 99 / 100] * 1e6, bench->seconds[bench->calls * 999 / 1000] * 1e6,
           (double)bench->read_bytes / 4096 / (double)queries, (unsigned long long)matches);
    fflush(stdout);
}

static void begin(struct bench *bench, const struct way *way, struct limit *limit) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    if (way->is_limited) {
        drop_cache(bench->options.path);
        set_limit(limit, bench->options.limit);
    }
    options.residence = way->residence;
    if (bench->index == NULL) try(idx_open(&bench->index, bench->options.path, &options, &error), &error);
    bench->cpu_seconds = -cpu_now();
    bench->read_bytes = -get_read_bytes();
    bench->calls = 0;
}

static void end(struct bench *bench, const struct way *way, struct limit *limit) {
    bench->cpu_seconds += cpu_now();
    bench->read_bytes += get_read_bytes();
    if (!way->is_limited) return; /* what was loaded is used by the next way as well */
    idx_close(bench->index);
    bench->index = NULL;
    lift_limit(limit);
}

static void measure(struct bench *bench, const struct way *way) {
    struct limit limit;
    size_t queries = way->queries / way->at_a_time * way->at_a_time;
    begin(bench, way, &limit);
    bench->found_count = 0;
    for (size_t at = 0; at < queries; at += way->at_a_time)
        way->answer(bench, at, way->at_a_time, &bench->seconds[bench->calls++]);
    end(bench, way, &limit);
    print_row(bench, way, queries, bench->found_count);
    check_matches(bench, queries);
}

/* ---- Documents ---- */

static uint64_t read_documents(const struct bench *bench, struct idx_documents *documents, const struct found *found,
                               double *seconds) {
    struct idx_document document;
    struct idx_error error;
    struct origin origin;
    uint64_t count = 0, rows = 0;
    bool is_found, is_own = false;
    make_query(bench, found->query, &origin);
    double begin = now();
    try(idx_documents_find(documents, found->match.fingerprint, &count, &error), &error);
    while (try(idx_documents_next(documents, &document, &is_found, &error), &error), is_found) {
        rows++;
        is_own |= document.number == origin.row;
        if (document.number >= bench->options.count || fingerprint_of(document.number, K) != found->match.fingerprint)
            fail(bench, found->query, "a document does not have the fingerprint of the match");
    }
    *seconds = now() - begin;
    if (rows != count) fail(bench, found->query, "a match has another number of documents than was said");
    if (origin.is_near && found->match.fingerprint == origin.fingerprint && !is_own)
        fail(bench, found->query, "its own row is not among the documents");
    return rows;
}

/* The documents of all matches that the last way found. */
static void measure_documents(struct bench *bench, const struct way *way) {
    struct idx_documents *documents;
    struct idx_error error;
    struct limit limit;
    uint64_t rows = 0;
    begin(bench, way, &limit);
    try(idx_documents_open(bench->index, &documents, &error), &error);
    for (size_t i = 0; i < bench->found_count; i++)
        rows += read_documents(bench, documents, &bench->found[i], &bench->seconds[bench->calls++]);
    idx_documents_close(documents);
    end(bench, way, &limit);
    if (bench->found_count > 0) print_row(bench, way, bench->found_count, rows);
}

/* Into the page cache. */
static void read_through(const char *path, const char *name) {
    static char buffer[1 << 20], file_path[4096];
    snprintf(file_path, sizeof file_path, "%s/%s", path, name);
    int file = open(file_path, O_RDONLY | O_CLOEXEC);
    if (file < 0) die("can't open %s", file_path);
    while (read(file, buffer, sizeof buffer) > 0) continue;
    close(file);
}

/* ---- The commands ---- */

static void measure_all(struct bench *bench, uint64_t table_bytes) {
    const size_t many = bench->options.queries, some = many / DISK_SHARE;
    const enum idx_residence all = IDX_RESIDENCE_ALL, disk = IDX_RESIDENCE_DISK, directory = IDX_RESIDENCE_DIRECTORY;
    const struct way loaded[] = {{"all", all, false, 1, many, look_up},
                                 {"all", all, false, 32, many, look_up},
                                 {"all", all, false, MAX_AT_A_TIME, many, look_up},
                                 {"all batch", all, false, many, many, answer_batch}};
    const struct way limited[] = {{"directory", directory, true, 1, FEW_QUERIES, look_up},
                                  {"disk", disk, true, MAX_AT_A_TIME, some, look_up},
                                  {"disk", disk, true, 32, some, look_up},
                                  {"disk", disk, true, 1, some, look_up}};
    const struct way documents_on_disk = {"disk documents", disk, true, 1, 0, NULL};
    const struct way documents_cached = {"all documents", directory, false, 1, 0, NULL};
    const struct way batch = {"disk batch", disk, true, many, many, answer_batch};
    if (memory_suffices("all", bench->scheme, (double)table_bytes)) {
        for (size_t i = 0; i < sizeof loaded / sizeof *loaded; i++) measure(bench, &loaded[i]);
        idx_close(bench->index);
        bench->index = NULL;
    }
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) measure(bench, &limited[i]);
    measure_documents(bench, &documents_on_disk);
    measure(bench, &batch);
    read_through(bench->options.path, "000001/docs.mdb");
    measure_documents(bench, &documents_cached);
}

static void ask(const struct options *options) {
    struct bench bench = {.options = *options};
    struct idx_properties properties;
    struct idx_error error;
    struct origin origin;
    try(idx_open(&bench.index, options->path, NULL, &error), &error);
    idx_get_properties(bench.index, &properties);
    snprintf(bench.scheme, sizeof bench.scheme, "%s", properties.scheme->name);
    if (properties.documents != options->count || properties.segments != 1 || properties.id_type != IDX_ID_U64)
        die("%s is not of %llu fingerprints with integer IDs", options->path, (unsigned long long)options->count);
    idx_close(bench.index);
    bench.index = NULL;
    bench.queries = allocate(options->queries, sizeof *bench.queries);
    bench.found = allocate(2 * options->queries, sizeof *bench.found);
    bench.seconds = allocate(2 * options->queries, sizeof *bench.seconds);
    for (size_t i = 0; i < options->queries; i++) bench.queries[i] = make_query(&bench, i, &origin);
    printf(
        "scheme\tway\tlimit_bytes\tat_a_time\tqueries\tseconds\tqueries_per_second\tcpu_us\tp50_us\tp99_us\tp999_us\t"
        "pages_per_query\tmatches\n");
    measure_all(&bench, properties.table_bytes);
    idx_close(bench.index);
    free(bench.queries);
    free(bench.found);
    free(bench.seconds);
}

int main(int argc, char **argv) {
    struct options options = {.queries = 1000000};
    const char *limit = "2G";
    const struct bench_option names[] = {{"count", OPTION_UINT64, &options.count, 1, 1e12},
                                         {"queries", OPTION_SIZE, &options.queries, 1, 1e9},
                                         {"limit", OPTION_TEXT, &limit, 0, 0},
                                         {NULL, OPTION_FLAG, NULL, 0, 0}};
    int others = read_options(argc, argv, help, names);
    options.limit = read_size(limit);
    if (options.count == 0) die("--count is needed; see billion --help");
    if (others == 1 && strcmp(argv[1], "write") == 0) {
        write_fingerprints(options.count);
    } else if (others == 2 && strcmp(argv[1], "ask") == 0) {
        options.path = argv[2];
        ask(&options);
    } else {
        die("see billion --help");
    }
    return 0;
}
