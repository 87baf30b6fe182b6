/* rows.c: writes fingerprints that are computed from their row numbers, and measures look-ups in their index, in memory
 * and from disk. The document IDs are the row numbers, so answers are checked without the data. */
#include "bench/data.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define K 3
#define SORTS 10
#define CAPACITY 64 /* matches of a query that there is room for */
#define MOST_TOGETHER 256
#define FEW_QUERIES 64
#define DISK_SHARE 50
#define DEVICE_BLOCK 4096
#define BATCH_MEMORY ((uint64_t)512 << 20)
#define COPY_OF 9      /* rows before a copy stands its original */
#define PATTERNS 64    /* by how many sets of bits copies differ from their originals */
#define MOST_FLIPPED 6 /* bits in a pattern */
#define CHECKED 2000   /* of the queries, whose matches are counted without an index */

#define ROW_FACTOR UINT64_C(0x9e3779b97f4a7c15)
/* What undoes multiplying by that, and by the factors of mix. */
#define INVERSE_ROW_FACTOR UINT64_C(0xf1de83e19937733d)
#define INVERSE_FIRST UINT64_C(0x96de1b173f119089)
#define INVERSE_SECOND UINT64_C(0x319642b2d24d8ec3)

/* This is a match of the query with that number. */
struct found {
    size_t query;
    struct idx_match match;
};

struct bench {
    const char *path, *name;
    uint64_t count; /* rows */
    bool has_ids;
    struct idx_index *index;
    uint64_t *queries;
    size_t *near;        /* how many fingerprints are within K bits of each of the first CHECKED queries */
    struct found *found; /* by the last way that was measured, in the order of the queries */
    size_t found_count, found_room;
    double *seconds; /* of each call */
    size_t calls;
    double cpu_seconds;
    uint64_t read_bytes;
};

/* ---- Fingerprints and queries ---- */

/* Returns `value` with `count` different bits flipped, which `seed` chooses. */
static uint64_t flip_some(uint64_t value, unsigned count, uint64_t seed) {
    uint64_t flipped = 0;
    while (count > 0) {
        uint64_t bit = UINT64_C(1) << (next_random(&seed) >> 58);
        count -= (flipped & bit) == 0;
        flipped |= bit;
    }
    return value ^ flipped;
}

/* Pattern `number`, 1 to MOST_FLIPPED bits. */
static uint64_t pattern_of(size_t number) {
    return flip_some(0, 1 + (unsigned)number % MOST_FLIPPED, number ^ UINT64_C(0xc2b2ae3d27d4eb4f));
}

/* Which pattern a copy is made with. */
static size_t copy_pattern(uint64_t row) { return mix(~row) % PATTERNS; }

/* Computes the fingerprint of a row. Nine tenths differ from each other, since the function can be inverted; a tenth
 * are copies of others, with a few bits flipped. */
static uint64_t fingerprint_of(uint64_t row) {
    if (row % 10 != COPY_OF) return mix(row * ROW_FACTOR + 1);
    return fingerprint_of(row - COPY_OF) ^ pattern_of(copy_pattern(row));
}

/* Returns what `value` was before value ^= value >> shift. */
static uint64_t unshift(uint64_t value, unsigned shift) {
    uint64_t before = value;
    for (unsigned known = shift; known < 64; known += shift) before = value ^ before >> shift;
    return before;
}

/* Returns the row that is no copy and would have this fingerprint, among any number of rows. */
static uint64_t row_of(uint64_t fingerprint) {
    uint64_t value = unshift(fingerprint, 31) * INVERSE_SECOND;
    value = unshift(value, 27) * INVERSE_FIRST;
    return (unshift(value, 30) - 1) * INVERSE_ROW_FACTOR;
}

/* Whether the fingerprint is that of one of `count` rows. */
static bool is_there(uint64_t fingerprint, uint64_t count, const uint64_t *patterns) {
    uint64_t row = row_of(fingerprint);
    if (row < count && row % 10 != COPY_OF) return true;
    for (size_t i = 0; i < PATTERNS; i++) {
        row = row_of(fingerprint ^ patterns[i]);
        if (row < count && row % 10 == 0 && count - row > COPY_OF && copy_pattern(row + COPY_OF) == i) return true;
    }
    return false;
}

static void write_fingerprints(uint64_t count) {
    static uint64_t buffer[8192];
    const size_t room = sizeof buffer / sizeof *buffer;
    for (uint64_t row = 0; row < count; row++) {
        buffer[row % room] = htole64(fingerprint_of(row));
        size_t filled = row + 1 == count ? row % room + 1 : room;
        if (row % room + 1 == filled && fwrite(buffer, sizeof *buffer, filled, stdout) != filled)
            die("can't write to standard output");
    }
    if (fflush(stdout) != 0) die("can't write to standard output");
}

static void measure_sorts(size_t count) {
    const size_t bytes = count * sizeof(uint64_t);
    uint64_t *fingerprints = huge_new(bytes), *spare = huge_new(bytes);
    double seconds = 0;
    for (unsigned sort = 0; sort < SORTS; sort++) {
        for (size_t row = 0; row < count; row++) fingerprints[row] = fingerprint_of(row);
        memset(spare, 0, bytes); /* so that its pages are there */
        double begin = cpu_now();
        uint64_t *sorted = sort_by_bits(fingerprints, spare, count, 0, 64);
        seconds += cpu_now() - begin;
        if (sorted[0] > sorted[count - 1]) die("the sort does not sort");
    }
    printf("n\tsorts_cpu_seconds\n%zu\t%.3f\n", count, seconds);
    huge_free(fingerprints, bytes);
    huge_free(spare, bytes);
}

/* This is what a query was made from: a row whose fingerprint has some bits flipped, unless the query is random. */
struct origin {
    bool is_near;
    uint64_t row, fingerprint;
    unsigned distance;
};

static uint64_t make_query(const struct bench *bench, size_t number, struct origin *origin) {
    uint64_t seed = mix(number + 1) ^ UINT64_C(0xd6e8feb86659fd93);
    *origin = (struct origin){.is_near = number % 2 == 0};
    if (!origin->is_near) return next_random(&seed);
    origin->row = next_random(&seed) % bench->count;
    origin->distance = (unsigned)(next_random(&seed) % (K + 1));
    origin->fingerprint = fingerprint_of(origin->row);
    return flip_some(origin->fingerprint, origin->distance, seed);
}

/* ---- Checking ---- */

static void fail_query(const struct bench *bench, size_t query, const char *what) {
    fprintf(stderr, "rows: query %zu, %016llx: %s\n", query, (unsigned long long)bench->queries[query], what);
    exit(1);
}

/* Counts the fingerprints within K bits of the first queries, by asking of each value there whether a row has it. */
static void count_near(struct bench *bench, size_t queries) {
    uint64_t patterns[PATTERNS];
    for (size_t i = 0; i < PATTERNS; i++) patterns[i] = pattern_of(i);
    for (size_t query = 0; query < CHECKED && query < queries; query++) {
        uint64_t center = bench->queries[query];
        size_t near = is_there(center, bench->count, patterns);
        for (unsigned a = 0; a < 64; a++) {
            uint64_t one = center ^ UINT64_C(1) << a;
            near += is_there(one, bench->count, patterns);
            for (unsigned b = 0; b < a; b++) {
                uint64_t two = one ^ UINT64_C(1) << b;
                near += is_there(two, bench->count, patterns);
                for (unsigned c = 0; c < b; c++) near += is_there(two ^ UINT64_C(1) << c, bench->count, patterns);
            }
        }
        bench->near[query] = near;
    }
}

static void check_matches(const struct bench *bench, size_t queries) {
    uint64_t patterns[PATTERNS];
    size_t at = 0;
    for (size_t i = 0; i < PATTERNS; i++) patterns[i] = pattern_of(i);
    for (size_t query = 0; query < queries; query++) {
        struct origin origin;
        bool is_found = false;
        size_t first = at;
        make_query(bench, query, &origin);
        for (; at < bench->found_count && bench->found[at].query == query; at++) {
            const struct idx_match *match = &bench->found[at].match;
            if (match->distance > K || match->distance != idx_distance(bench->queries[query], match->fingerprint))
                fail_query(bench, query, "a match has the wrong distance");
            if (!is_there(match->fingerprint, bench->count, patterns)) fail_query(bench, query, "a match is in no row");
            is_found |= match->fingerprint == origin.fingerprint && match->distance == origin.distance;
        }
        if (origin.is_near && !is_found) fail_query(bench, query, "its own fingerprint is not among the matches");
        if (query < CHECKED && at - first != bench->near[query])
            fail_query(bench, query, "there is another number of fingerprints within 3 bits");
    }
    if (at != bench->found_count) fail_query(bench, bench->found[at].query, "a match is out of order");
}

/* ---- Ways ---- */

struct way {
    const char *name;
    enum idx_residence residence;
    bool is_disk;
    size_t at_a_time, queries;
    /* Answers queries from `at` on, in one call, and sets *seconds to what that took. */
    void (*answer)(struct bench *bench, size_t at, size_t count, double *seconds);
};

static bool add_found(void *context, size_t query, const struct idx_match *matches, size_t count) {
    struct bench *bench = context;
    if (count > bench->found_room - bench->found_count) die("there are more matches than this provides for");
    for (size_t i = 0; i < count; i++) bench->found[bench->found_count++] = (struct found){query, matches[i]};
    return true;
}

static void look_up(struct bench *bench, size_t at, size_t count, double *seconds) {
    static struct idx_match matches[MOST_TOGETHER * CAPACITY];
    size_t counts[MOST_TOGETHER];
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
    printf("%s\t%s\t%zu\t%zu\t%.2f\t%.0f\t%.2f\t%.1f\t%.1f\t%.1f\t%.2f\t%llu\n", bench->name, way->name, way->at_a_time,
           queries, all, (double)queries / all, bench->cpu_seconds / (double)queries * 1e6,
           bench->seconds[bench->calls / 2] * 1e6, bench->seconds[bench->calls * 99 / 100] * 1e6,
           bench->seconds[bench->calls * 999 / 1000] * 1e6, (double)bench->read_bytes / 4096 / (double)queries,
           (unsigned long long)matches);
    fflush(stdout);
}

static void close_index(struct bench *bench) {
    idx_close(bench->index);
    bench->index = NULL;
}

/* Opens the index, unless the way before left it open. */
static void begin_way(struct bench *bench, const struct way *way) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_error error;
    options.residence = way->residence;
    if (way->is_disk) drop_cache(bench->path);
    if (bench->index == NULL) try(idx_open(&bench->index, bench->path, &options, &error), &error);
    bench->cpu_seconds = -cpu_now();
    bench->read_bytes = -read_proc("/proc/self/io", "read_bytes: %llu");
    bench->calls = 0;
}

/* Tables that were loaded are used by the next way as well, and so the index stays open. */
static void end_way(struct bench *bench, const struct way *way) {
    bench->cpu_seconds += cpu_now();
    bench->read_bytes += read_proc("/proc/self/io", "read_bytes: %llu");
    if (way->is_disk) close_index(bench);
}

static void measure_way(struct bench *bench, const struct way *way) {
    size_t queries = way->queries / way->at_a_time * way->at_a_time;
    begin_way(bench, way);
    bench->found_count = 0;
    for (size_t at = 0; at < queries; at += way->at_a_time)
        way->answer(bench, at, way->at_a_time, &bench->seconds[bench->calls++]);
    end_way(bench, way);
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
        if (document.number >= bench->count || fingerprint_of(document.number) != found->match.fingerprint)
            fail_query(bench, found->query, "a document does not have the fingerprint of the match");
    }
    *seconds = now() - begin;
    if (rows != count) fail_query(bench, found->query, "a match has another number of documents than was said");
    if (origin.is_near && found->match.fingerprint == origin.fingerprint && !is_own)
        fail_query(bench, found->query, "its own row is not among the documents");
    return rows;
}

/* Reads the documents of all matches that the way measured last has found. */
static void measure_documents(struct bench *bench, const struct way *way) {
    struct idx_documents *documents;
    struct idx_error error;
    uint64_t rows = 0;
    begin_way(bench, way);
    try(idx_documents_open(&documents, bench->index, &error), &error);
    for (size_t i = 0; i < bench->found_count; i++)
        rows += read_documents(bench, documents, &bench->found[i], &bench->seconds[bench->calls++]);
    idx_documents_close(documents);
    end_way(bench, way);
    if (bench->found_count > 0) print_row(bench, way, bench->found_count, rows);
}

/* Puts a file of the index into the page cache. */
static void read_through(const char *path, const char *name) {
    static char buffer[1 << 20], file_path[4096];
    snprintf(file_path, sizeof file_path, "%s/%s", path, name);
    int file = open(file_path, O_RDONLY | O_CLOEXEC);
    if (file < 0) die("can't open %s", file_path);
    while (read(file, buffer, sizeof buffer) > 0) continue;
    close(file);
}

/* ---- The commands ---- */

static void measure_memory(struct bench *bench, size_t queries) {
    const struct way ways[] = {{"all", IDX_RESIDENCE_ALL, false, 1, queries, look_up},
                               {"all", IDX_RESIDENCE_ALL, false, 32, queries, look_up},
                               {"all", IDX_RESIDENCE_ALL, false, MOST_TOGETHER, queries, look_up},
                               {"all batch", IDX_RESIDENCE_ALL, false, queries, queries, answer_batch}};
    const struct way documents = {"all documents", IDX_RESIDENCE_DIRECTORY, false, 1, 0, NULL};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) measure_way(bench, &ways[i]);
    close_index(bench); /* so that its memory is free for docs.mdb */
    if (!bench->has_ids) return;
    read_through(bench->path, "000001/docs.mdb");
    measure_documents(bench, &documents);
    close_index(bench);
}

/* Reads random blocks of 4 KiB of a table of an index, one after the other, past the page cache: what the device
 * itself takes. */
static void measure_device(struct bench *bench, size_t reads) {
    static char path[4096];
    struct stat status;
    void *block;
    snprintf(path, sizeof path, "%s/000001/table-00.tbl", bench->path);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (file < 0 || fstat(file, &status) != 0) die("can't read %s past the page cache", path);
    const uint64_t blocks = (uint64_t)status.st_size / DEVICE_BLOCK;
    if (blocks == 0 || posix_memalign(&block, DEVICE_BLOCK, DEVICE_BLOCK) != 0) die("%s has no block to read", path);
    const struct way way = {"device", IDX_RESIDENCE_DISK, true, 1, reads, NULL};
    begin_way(bench, &way);
    uint64_t state = 1;
    for (size_t i = 0; i < reads; i++) {
        const off_t place = (off_t)(next_xorshift(&state) % blocks * DEVICE_BLOCK);
        const double begin = now();
        if (pread(file, block, DEVICE_BLOCK, place) != DEVICE_BLOCK) die("can't read %s", path);
        bench->seconds[bench->calls++] = now() - begin;
    }
    end_way(bench, &way);
    print_row(bench, &way, reads, 0);
    free(block);
    close(file);
}

static void measure_disk(struct bench *bench, size_t queries) {
    const enum idx_residence disk = IDX_RESIDENCE_DISK;
    const size_t some = queries / DISK_SHARE;
    const struct way ways[] = {{"directory", IDX_RESIDENCE_DIRECTORY, true, 1, FEW_QUERIES, look_up},
                               {"disk", disk, true, MOST_TOGETHER, some, look_up},
                               {"disk", disk, true, 32, some, look_up},
                               {"disk", disk, true, 1, some, look_up}};
    const struct way documents = {"disk documents", disk, true, 1, 0, NULL};
    const struct way batch = {"disk batch", disk, true, queries, queries, answer_batch};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) measure_way(bench, &ways[i]);
    if (bench->has_ids) measure_documents(bench, &documents);
    measure_way(bench, &batch);
    measure_device(bench, some);
}

static void ask_index(struct bench *bench, bool from_disk, size_t queries) {
    struct idx_properties properties;
    struct idx_error error;
    struct origin origin;
    char scheme[64];
    try(idx_open(&bench->index, bench->path, NULL, &error), &error);
    idx_get_properties(bench->index, &properties);
    if (bench->name == NULL) snprintf(scheme, sizeof scheme, "%s", properties.scheme->name);
    if (bench->name == NULL) bench->name = scheme;
    bench->has_ids = properties.id_type == IDX_ID_U64;
    uint64_t found = bench->has_ids ? properties.documents : properties.fingerprints;
    if (found != bench->count || properties.segments != 1 || properties.id_type == IDX_ID_TEXT)
        die("%s is not of %llu fingerprints with row numbers or no IDs", bench->path, (unsigned long long)bench->count);
    close_index(bench);
    bench->found_room = 2 * queries;
    bench->queries = allocate(queries, sizeof *bench->queries);
    bench->found = allocate(bench->found_room, sizeof *bench->found);
    bench->seconds = allocate(bench->found_room, sizeof *bench->seconds);
    bench->near = allocate(CHECKED, sizeof *bench->near);
    for (size_t i = 0; i < queries; i++) bench->queries[i] = make_query(bench, i, &origin);
    count_near(bench, queries);
    puts("index\tway\tat_a_time\tqueries\tseconds\tqueries_per_second\tcpu_us\tp50_us\tp99_us\tp999_us\t"
         "pages_per_query\tmatches");
    if (from_disk)
        measure_disk(bench, queries);
    else if (memory_suffices("all", bench->name, (double)properties.table_bytes))
        measure_memory(bench, queries);
    free(bench->queries);
    free(bench->near);
    free(bench->found);
    free(bench->seconds);
}

int main(int argc, char **argv) {
    struct bench bench = {0};
    size_t queries = 1000000;
    bool from_disk = false;
    const struct bench_option names[] = {{"count", OPTION_UINT64, &bench.count, 1, 1e12},
                                         {"disk", OPTION_FLAG, &from_disk, 0, 0},
                                         {"name", OPTION_TEXT, &bench.name, 0, 0},
                                         {"queries", OPTION_SIZE, &queries, MOST_TOGETHER * DISK_SHARE, 1e9},
                                         {NULL, OPTION_FLAG, NULL, 0, 0}};
    int others = read_options(argc, argv, help_rows, names);
    const char *command = others > 0 && bench.count > 0 ? argv[1] : "";
    if (others == 1 && strcmp(command, "write") == 0) {
        write_fingerprints(bench.count);
    } else if (others == 1 && strcmp(command, "sort") == 0) {
        measure_sorts(bench.count);
    } else if (others == 2 && strcmp(command, "ask") == 0) {
        bench.path = argv[2];
        ask_index(&bench, from_disk, queries);
    } else {
        die("what to do is unclear: see --help");
    }
    return 0;
}
