/* skew.c: how long the slow queries take, beside the mean, on data that are not spread evenly: shared prefixes, dead
 * bits, a dense ball, all values of few bits, and the fingerprints of real texts with edited copies. */
#include "bench/clock.h"
#include "bench/data.h"
#include "bench/memory.h"
#include "bench/random.h"

#include <ftw.h>
#include <idx.h>
#ifdef BENCH_HAS_TEXT
#include <idx_text.h>
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define K 3
#define COUNT 1000000
#define QUERIES 2000
#define CHECKED 100
#define PASSES 3
#define TEXT_BYTES 4096 /* that are read of a file */
#define MAX_TEXTS 100000

static const char help[] =
    "Usage: skew [FOLDER...]\n"
    "       skew --fingerprints FILE\n"
    "Measures look-ups within 3 bits, one at a time, in indexes of 1e6 fingerprints that are not spread evenly. "
    "FOLDERs\n"
    "hold texts: the data set `texts` has the fingerprints of their files (of the first 4096 bytes), and of copies "
    "with\n"
    "words replaced, up to 1e6. FILE holds fingerprints, 8 bytes each, little-endian, and is measured alone.\n"
    "\n"
    "Columns, separated by tabs: data; n (distinct); scheme; bytes_per_fp (tables and resident); expected_blocks (a\n"
    "query, by the index's own statistics); matches (a query); mean_us, p50_us, p99_us, worst_us: of the queries, "
    "each\n"
    "the least of 3 passes. Queries are fingerprints of the data with 0 to 4 bits flipped; those of FILE half with 0\n"
    "to 3 bits flipped, half with 8 to 20. The first 100 queries are compared with a linear scan.\n";

static const char *const schemes[] = {"4:1", "5:2", "2:1:1", "auto"};

static void try(enum idx_status status, const struct idx_error *error) {
    if (status != IDX_OK) die("%s", error->sentence);
}

/* ---- Data ---- */

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t draw(void) { return next_xorshift(&random_state); }

static size_t make_uniform(uint64_t *fingerprints) {
    for (size_t i = 0; i < COUNT; i++) fingerprints[i] = draw();
    return COUNT;
}

/* All have the same 16 bits in front. */
static size_t make_prefix(uint64_t *fingerprints) {
    for (size_t i = 0; i < COUNT; i++) fingerprints[i] = draw() >> 16 | UINT64_C(0xabcd) << 48;
    return COUNT;
}

/* Every third bit is 0. */
static size_t make_dead(uint64_t *fingerprints) {
    for (size_t i = 0; i < COUNT; i++) fingerprints[i] = draw() & UINT64_C(0xdb6db6db6db6db6d);
    return COUNT;
}

/* One value and all within 3 bits of it, 43,745, among random ones. */
static size_t make_ball(uint64_t *fingerprints) {
    uint64_t centre = draw();
    size_t count = 0;
    fingerprints[count++] = centre;
    for (unsigned a = 0; a < 64; a++) {
        fingerprints[count++] = centre ^ UINT64_C(1) << a;
        for (unsigned b = 0; b < a; b++) {
            fingerprints[count++] = centre ^ UINT64_C(1) << a ^ UINT64_C(1) << b;
            for (unsigned c = 0; c < b; c++)
                fingerprints[count++] = centre ^ UINT64_C(1) << a ^ UINT64_C(1) << b ^ UINT64_C(1) << c;
        }
    }
    while (count < COUNT) fingerprints[count++] = draw();
    return count;
}

/* All 2^17 values of 17 bits. */
static size_t make_dense(uint64_t *fingerprints) {
    for (size_t i = 0; i < 1u << 17; i++) fingerprints[i] = i;
    return 1u << 17;
}

#ifdef BENCH_HAS_TEXT
static char *texts[MAX_TEXTS];
static size_t lengths[MAX_TEXTS], text_count;

static int add_text(const char *path, const struct stat *stat, int kind, struct FTW *place) {
    (void)stat;
    (void)place;
    if (kind != FTW_F || text_count == MAX_TEXTS) return 0;
    FILE *file = fopen(path, "re");
    char *text = malloc(TEXT_BYTES);
    if (file == NULL || text == NULL) die("can't read %s", path);
    size_t length = fread(text, 1, TEXT_BYTES, file);
    fclose(file);
    if (length < 200 || memchr(text, 0, length) != NULL) {
        free(text);
        return 0;
    }
    texts[text_count] = text;
    lengths[text_count++] = length;
    return 0;
}

/* Replaces words by others of the same length, one in `every`. */
static void edit(char *text, size_t length, unsigned every) {
    bool replaces = false;
    for (size_t i = 0; i < length; i++) {
        bool is_letter = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
        bool begins = is_letter && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\n');
        if (begins) replaces = draw() % every == 0;
        if (is_letter && replaces) text[i] = (char)('a' + draw() % 26);
    }
}

static size_t make_texts(uint64_t *fingerprints) {
    struct idx_text *recipe;
    struct idx_error error;
    size_t count = 0;
    if (text_count == 0) return 0;
    try(idx_text_open(&recipe, NULL, &error), &error);
    for (; count < COUNT; count++) {
        char text[TEXT_BYTES];
        size_t which = count % text_count;
        memcpy(text, texts[which], lengths[which]);
        if (count >= text_count) edit(text, lengths[which], 20 + (unsigned)(draw() % 480));
        try(idx_text_fingerprint(recipe, text, lengths[which], 64, &fingerprints[count], NULL, &error), &error);
    }
    idx_text_close(recipe);
    return count;
}
#endif

struct set {
    const char *name;
    size_t (*make)(uint64_t *fingerprints);
};

static const struct set sets[] = {
    {"uniform", make_uniform}, {"prefix", make_prefix}, {"dead-bits", make_dead},
    {"ball", make_ball},       {"dense", make_dense},
#ifdef BENCH_HAS_TEXT
    {"texts", make_texts},
#endif
};

/* ---- Measuring ---- */

static void build(const uint64_t *fingerprints, size_t count, const char *scheme, const char *path) {
    struct idx_build_options build = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    struct idx_error error;
    build.k = K;
    build.scheme = scheme;
    build.id_type = IDX_ID_NONE;
    try(idx_builder_open(&builder, path, &build, &error), &error);
    for (size_t i = 0; i < count; i++) try(idx_builder_add_u64(builder, fingerprints[i], 0, &error), &error);
    try(idx_builder_finish(builder, NULL, &error), &error);
    idx_builder_close(builder);
}

static bool count_match(void *context, const struct idx_match *match) {
    (void)match;
    ++*(uint64_t *)context;
    return true;
}

static uint64_t look_up(const struct idx_index *index, uint64_t query) {
    struct idx_error error;
    uint64_t matches = 0;
    try(idx_visit_matches(index, query, K, count_match, &matches, &error), &error);
    return matches;
}

/* `fingerprints` are distinct. */
static void check(const struct idx_index *index, const uint64_t *fingerprints, size_t count, const uint64_t *queries) {
    for (size_t query = 0; query < CHECKED; query++) {
        uint64_t expected = 0;
        for (size_t i = 0; i < count; i++) expected += __builtin_popcountll(fingerprints[i] ^ queries[query]) <= K;
        if (look_up(index, queries[query]) == expected) continue;
        fprintf(stderr, "skew: a query has other matches than the scan finds\n");
        exit(1);
    }
}

static double get_expected_blocks(const struct idx_index *index, const struct idx_properties *properties) {
    double blocks = 0;
    for (size_t table = 0; table < properties->scheme->table_count; table++) {
        struct idx_table_properties one;
        struct idx_error error;
        try(idx_get_table_properties(index, 0, table, &one, &error), &error);
        blocks += one.expected_blocks;
    }
    return blocks;
}

static void measure_index(const char *name, const uint64_t *fingerprints, size_t count, const uint64_t *queries,
                          const char *path) {
    static double seconds[QUERIES];
    struct idx_properties properties;
    struct idx_index *index;
    struct idx_error error;
    uint64_t matches = 0;
    double all = 0;
    try(idx_open(&index, path, NULL, &error), &error);
    idx_get_properties(index, &properties);
    check(index, fingerprints, count, queries);
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t i = 0; i < QUERIES; i++) {
            double begin = now();
            matches += look_up(index, queries[i]);
            double here = now() - begin;
            if (pass == 0 || here < seconds[i]) seconds[i] = here;
        }
    }
    for (size_t i = 0; i < QUERIES; i++) all += seconds[i];
    sort_doubles(seconds, QUERIES);
    printf("%s\t%zu\t%s\t%.2f\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\n", name, count, properties.scheme->name,
           (double)(properties.table_bytes + properties.resident_bytes) / (double)count,
           get_expected_blocks(index, &properties), (double)matches / PASSES / QUERIES, all / QUERIES * 1e6,
           seconds[QUERIES / 2] * 1e6, seconds[QUERIES * 99 / 100] * 1e6, seconds[QUERIES - 1] * 1e6);
    fflush(stdout);
    idx_close(index);
}

static void measure_schemes(const char *name, const uint64_t *fingerprints, size_t count, const uint64_t *queries) {
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char path[PATH_MAX], remove[PATH_MAX + 16];
        snprintf(path, sizeof path, "/tmp/idx-skew-%ld.idx", (long)getpid());
        build(fingerprints, count, schemes[i], path);
        measure_index(name, fingerprints, count, queries, path);
        snprintf(remove, sizeof remove, "rm -rf '%s'", path);
        if (system(remove) != 0) die("can't remove the index that was measured");
    }
}

static void print_header(void) {
    printf("data\tn\tscheme\tbytes_per_fp\texpected_blocks\tmatches\tmean_us\tp50_us\tp99_us\tworst_us\n");
}

static void measure_set(const struct set *set, uint64_t *fingerprints, uint64_t *spare) {
    static uint64_t queries[QUERIES];
    size_t made = set->make(fingerprints), count = 0;
    if (made == 0) return;
    uint64_t *sorted = sort_by_bits(fingerprints, spare, made, 0, 64);
    for (size_t i = 0; i < made; i++) {
        if (i == 0 || sorted[i] != sorted[count - 1]) sorted[count++] = sorted[i];
    }
    for (size_t i = 0; i < QUERIES; i++) {
        queries[i] = sorted[draw() % count];
        for (unsigned flips = draw() % 5; flips > 0; flips--) queries[i] ^= UINT64_C(1) << draw() % 64;
    }
    measure_schemes(set->name, sorted, count, queries);
}

static int measure_file(const char *path) {
    const char *slash = strrchr(path, '/');
    struct data data;
    size_t read = read_data(&data, path, QUERIES, K);
    print_header();
    measure_schemes(slash == NULL ? path : slash + 1, data.fingerprints, data.count, data.queries);
    free_data(&data, read);
    return 0;
}

static int measure_sets(void) {
    uint64_t *fingerprints = malloc(COUNT * sizeof *fingerprints), *spare = malloc(COUNT * sizeof *spare);
    if (fingerprints == NULL || spare == NULL) die("out of memory");
    print_header();
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) measure_set(&sets[i], fingerprints, spare);
    free(fingerprints);
    free(spare);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--fingerprints") == 0) return measure_file(argv[2]);
    if (argc > 1 && argv[1][0] == '-') {
        fputs(help, stdout);
        return strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
#ifdef BENCH_HAS_TEXT
    for (int i = 1; i < argc; i++) {
        if (nftw(argv[i], add_text, 32, FTW_PHYS) != 0) die("can't read the texts in %s", argv[i]);
    }
#else
    if (argc > 1) die("this build has no libidxtext, so no texts");
#endif
    return measure_sets();
}
