/* pending.c: what pending documents cost: look-ups in a view that has them beside those in one of the segments alone,
 * in turns, and how many documents a second a writer takes.
 *
 *   bench/pending FOLDER [BASE [PENDING]]
 *
 * builds an index of BASE uniform fingerprints in FOLDER (10,000,000), adds PENDING more (1,000,000), and removes all
 * when it is done. */
#include <idx.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUERIES ((size_t)200000)
#define TOGETHER ((size_t)1000)
#define ROUNDS 5

static void fail(const struct idx_error *error) {
    fprintf(stderr, "pending: %s\n", error->sentence);
    exit(1);
}

/* splitmix64 */
static uint64_t next_random(uint64_t *seed) {
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void build(const char *path, size_t count) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    struct idx_error error;
    uint64_t seed = 1;
    options.id_type = IDX_ID_U64;
    options.memory_bytes = (uint64_t)2 << 30;
    if (idx_builder_open(&builder, path, &options, &error) != IDX_OK) fail(&error);
    for (uint64_t i = 0; i < count; i++) {
        if (idx_builder_add_u64(builder, next_random(&seed), i, &error) != IDX_OK) fail(&error);
    }
    if (idx_builder_finish(builder, NULL, &error) != IDX_OK) fail(&error);
    idx_builder_free(builder);
}

/* One of ten queries is near one of the base's first fingerprints. */
static uint64_t *make_queries(void) {
    uint64_t *queries = malloc(QUERIES * sizeof *queries), seed = 2, base = 1;
    if (queries == NULL) exit(1);
    for (size_t i = 0; i < QUERIES; i++) {
        queries[i] = next_random(&seed);
        if (i % 10 == 0) queries[i] = next_random(&base) ^ UINT64_C(1) << (queries[i] & 63);
    }
    return queries;
}

/* Nanoseconds of the processor a query. */
static double look_up(const struct idx_index *index, const uint64_t *queries, size_t together) {
    struct idx_match match[TOGETHER];
    size_t counts[TOGETHER];
    struct idx_error error;
    double begin = now(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < QUERIES; i += together) {
        if (idx_lookup_many(index, queries + i, together, 3, 1, match, 1, counts, &error) != IDX_OK) fail(&error);
    }
    return (now(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e9 / (double)QUERIES;
}

static void compare(const struct idx_index *base, const struct idx_index *index, const uint64_t *queries,
                    size_t together) {
    double best_base = 1e9, best = 1e9;
    for (size_t i = 0; i < ROUNDS; i++) {
        double time_base = look_up(base, queries, together), time = look_up(index, queries, together);
        if (time_base < best_base) best_base = time_base;
        if (time < best) best = time;
    }
    printf("%zu at a time: %.0f ns a query on the base, %.0f ns with pending documents: %.3f times\n", together,
           best_base, best, best / best_base);
}

/* Checks and adds PENDING documents, `together` a call; prints how many a second of time, and of the processor. */
static void grow(struct idx_writer *writer, uint64_t *seed, size_t count, size_t together) {
    static struct idx_item items[TOGETHER];
    static size_t counts[TOGETHER];
    struct idx_error error;
    double begin = now(CLOCK_MONOTONIC), begin_cpu = now(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < count; i += together) {
        for (size_t j = 0; j < together; j++)
            items[j] = (struct idx_item){.fingerprint = next_random(seed), .number = i + j};
        if (idx_writer_check_and_add(writer, items, together, 3, NULL, 0, counts, &error) != IDX_OK) fail(&error);
    }
    printf("check and add, %zu at a time: %.0f a second, %.0f a second of the processor\n", together,
           (double)count / (now(CLOCK_MONOTONIC) - begin), (double)count / (now(CLOCK_THREAD_CPUTIME_ID) - begin_cpu));
}

int main(int argc, char **argv) {
    struct idx_index *base, *index;
    struct idx_writer *writer;
    struct idx_error error;
    char path[4096], command[5000];
    uint64_t seed = 3;
    if (argc < 2) return 2;
    size_t count = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : 10000000;
    size_t pending = argc > 3 ? (size_t)strtoull(argv[3], NULL, 10) : 1000000;
    snprintf(path, sizeof path, "%s/pending.idx", argv[1]);
    build(path, count);
    uint64_t *queries = make_queries();
    if (idx_open(&base, path, NULL, &error) != IDX_OK) fail(&error);
    look_up(base, queries, TOGETHER);
    if (idx_writer_open(&writer, path, NULL, &error) != IDX_OK) fail(&error);
    grow(writer, &seed, pending / 2, TOGETHER);
    grow(writer, &seed, pending / 2, TOGETHER);
    grow(writer, &seed, 200, 1);
    double begin = now(CLOCK_MONOTONIC);
    if (idx_refresh(base, &index, &error) != IDX_OK) fail(&error);
    printf("refresh, all of these: %.3f s\n", now(CLOCK_MONOTONIC) - begin);
    begin = now(CLOCK_MONOTONIC);
    for (size_t i = 0; i < 1000; i++) {
        struct idx_index *newer;
        if (idx_refresh(index, &newer, &error) != IDX_OK) fail(&error);
    }
    printf("refresh, nothing new: %.2f us\n", (now(CLOCK_MONOTONIC) - begin) * 1e3);
    compare(base, index, queries, TOGETHER);
    compare(base, index, queries, 1);
    idx_writer_close(writer);
    idx_close(index);
    idx_close(base);
    free(queries);
    snprintf(command, sizeof command, "rm -r '%s'", path);
    return system(command);
}
