/* growing.c: measures what an index that grows costs: its look-ups compared with those of a built one, check-and-adds
 * per second, refreshing after a compaction, the longest look-up while a writer works, the memory of processes, and
 * growing compared with building. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

#include <idx_planning.h>

#define K 3
#define QUERIES ((size_t)200000)
#define TOGETHER ((size_t)1000) /* Queries of a call, and documents of a batch. */
#define MOST_TOGETHER ((size_t)100000)
#define SINGLES 4000 /* Durable calls for single documents. */
#define SINGLES_AT_ONCE 50
#define ROUNDS 5
#define STEPS 10 /* Steps of growth, between which look-ups are measured. */

static struct {
    uint64_t count, pending, seconds, from, to, compact, batch, threads;
    char path[4096];
} setting = {100000000, 1000000, 10, 1000000, 50000000, IDX_COMPACT_BY_SIZE, TOGETHER, 1, ""};

/* ---- Data ---- */

/* Returns a number that looks random, a different one for each argument. */
static uint64_t scatter(uint64_t number) { return mix(number + UINT64_C(0x9e3779b97f4a7c15)); }

/* Returns the fingerprint of document i. Documents that are added to `count` built ones have numbers from `count`
 * on. */
static uint64_t fingerprint_of(uint64_t i) { return scatter(i); }

/* Makes queries, of which one in ten is near one of the first `count` fingerprints. The caller frees them. */
static uint64_t *make_queries(uint64_t count) {
    uint64_t *queries = allocate(QUERIES, sizeof *queries);
    for (size_t i = 0; i < QUERIES; i++) {
        uint64_t random = scatter(~(uint64_t)i);
        queries[i] = i % 10 == 0 ? fingerprint_of(random % count) ^ UINT64_C(1) << (random >> 58) : scatter(random);
    }
    return queries;
}

static double build(const char *path, uint64_t count, const char *scheme) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    struct idx_error error;
    double begin = now();
    options.id_type = IDX_ID_U64;
    options.k = K;
    options.scheme = scheme;
    options.replace = true;
    try(idx_builder_open(&builder, path, &options, &error), &error);
    for (uint64_t i = 0; i < count; i++)
        try(idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprint_of(i), .number = i}, &error),
            &error);
    try(idx_builder_finish(builder, NULL, &error), &error);
    idx_builder_close(builder);
    return now() - begin;
}

static struct idx_index *open_as(const char *path, enum idx_residence residence) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    struct idx_error error;
    options.residence = residence;
    try(idx_open(&index, path, &options, &error), &error);
    return index;
}

static struct idx_index *open_index(const char *path) { return open_as(path, IDX_RESIDENCE_DIRECTORY); }

/* Opens a writer that compacts in the background once `compact` documents are pending; 0: never. */
static struct idx_writer *open_writer(const char *path, uint64_t compact) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_writer *writer;
    struct idx_error error;
    options.compact_records = compact;
    options.threads = (unsigned)setting.threads;
    if (compact == 0) options.compact_segments = 0;
    try(idx_writer_open(&writer, path, &options, &error), &error);
    return writer;
}

/* Checks and adds the documents from `begin` to before `end`, `together` at a time. */
static void add(struct idx_writer *writer, uint64_t begin, uint64_t end, size_t together) {
    static struct idx_item items[MOST_TOGETHER];
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    struct idx_error error;
    options.distance = K;
    options.max_matches = 0;
    for (uint64_t i = begin; i < end; i += together) {
        size_t some = end - i < together ? (size_t)(end - i) : together;
        for (size_t j = 0; j < some; j++)
            items[j] = (struct idx_item){.fingerprint = fingerprint_of(i + j), .number = i + j};
        try(idx_writer_check_and_add(writer, items, some, &options, &lists, &error), &error);
        idx_match_lists_close(&lists);
    }
}

/* ---- Look-ups ---- */

/* Returns the processor time of a query, in nanoseconds. */
static double look_up(const struct idx_index *index, const uint64_t *queries, size_t together) {
    static struct idx_match matches[TOGETHER];
    static size_t counts[TOGETHER];
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    struct idx_error error;
    options.distance = K;
    double begin = thread_now();
    for (size_t i = 0; i < QUERIES; i += together)
        try(idx_lookup_many(index, queries + i, together, &options, matches, 1, counts, &error), &error);
    return (thread_now() - begin) * 1e9 / (double)QUERIES;
}

/* Measures look-ups in two indexes in turns, and sets `best` to the shortest time of each. */
static void compare(const struct idx_index *a, const struct idx_index *b, const uint64_t *queries, size_t together,
                    double best[2]) {
    best[0] = best[1] = 1e18;
    for (size_t i = 0; i < 2 * ROUNDS; i++) {
        double time = look_up(i % 2 == 0 ? a : b, queries, together);
        if (time < best[i % 2]) best[i % 2] = time;
    }
}

static void measure_lookups(void) {
    static const size_t together[] = {TOGETHER, 1};
    build(setting.path, setting.count, "auto");
    struct idx_index *base = open_index(setting.path);
    struct idx_writer *writer = open_writer(setting.path, 0);
    uint64_t *queries = make_queries(setting.count);
    add(writer, setting.count, setting.count + setting.pending, TOGETHER);
    struct idx_index *index = open_index(setting.path);
    look_up(base, queries, TOGETHER);
    struct idx_properties properties, base_properties;
    idx_get_properties(index, &properties);
    idx_get_properties(base, &base_properties);
    printf("%" PRIu64 " pending records have %.0f bytes each in memory\n", setting.pending,
           (double)(properties.resident_bytes - base_properties.resident_bytes) / (double)setting.pending);
    printf("queries at a time\tns on the base\tns with %" PRIu64 " pending\ttimes\n", setting.pending);
    for (size_t i = 0; i < 2; i++) {
        double best[2];
        compare(base, index, queries, together[i], best);
        printf("%zu\t%.0f\t%.0f\t%.3f\n", together[i], best[0], best[1], best[1] / best[0]);
    }
    idx_writer_close(writer);
    idx_close(index);
    idx_close(base);
    free(queries);
}

/* ---- Check-and-adds ---- */

/* A file of zeros that are on disk, and where the next write goes. */
struct prepared {
    char path[4200];
    int file;
    off_t at;
};

static void prepare(struct prepared *prepared) {
    static const char zeros[1 << 20] = "";
    snprintf(prepared->path, sizeof prepared->path, "%s.prepared", setting.path);
    prepared->file = open(prepared->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    prepared->at = 0;
    if (prepared->file < 0 || pwrite(prepared->file, zeros, sizeof zeros, 0) != (ssize_t)sizeof zeros ||
        fsync(prepared->file) != 0)
        die("can't write %s", prepared->path);
}

/* The bytes that a call that adds one document with an integer ID writes to the log: a frame of one record. */
#define SINGLE_BYTES (24 + 17 + 8)

/* Returns the seconds that `count` writes of that size take, each with a sync: the least that durable calls can
 * take. */
static double time_synced_writes(struct prepared *prepared, size_t count) {
    static const char bytes[SINGLE_BYTES] = "0123456789";
    double begin = now();
    for (size_t i = 0; i < count; i++, prepared->at += SINGLE_BYTES) {
        if (pwrite(prepared->file, bytes, sizeof bytes, prepared->at) < 0 || fdatasync(prepared->file) != 0)
            die("can't write %s", prepared->path);
    }
    return now() - begin;
}

/* Measures durable calls for single documents, and plain writes, a few of each in turns. */
static void measure_singles(struct idx_writer *writer, uint64_t at) {
    struct prepared prepared;
    double called = 0, plain = 0;
    prepare(&prepared);
    for (size_t i = 0; i < SINGLES; i += SINGLES_AT_ONCE) {
        double begin = now();
        add(writer, at + i, at + i + SINGLES_AT_ONCE, 1);
        called += now() - begin;
        plain += time_synced_writes(&prepared, SINGLES_AT_ONCE);
    }
    close(prepared.file);
    unlink(prepared.path);
    printf("durable single calls\t%.0f a second\t%.2f of the time of overwriting %d bytes with fdatasync\n",
           SINGLES / called, called / plain, SINGLE_BYTES);
}

static void measure_adds(void) {
    build(setting.path, setting.count, "auto");
    struct idx_writer *writer = open_writer(setting.path, 0);
    uint64_t at = setting.count, end = at + setting.pending;
    printf("check-and-adds in batches of %zu, at pending\ta second\ta second of the processor\n", TOGETHER);
    for (size_t i = 0; i < 4; i++) {
        uint64_t next = i == 3 ? end : at + setting.pending / 4;
        double begin = now(), begin_cpu = thread_now();
        add(writer, at, next, TOGETHER);
        printf("%" PRIu64 "\t%.0f\t%.0f\n", next - setting.count, (double)(next - at) / (now() - begin),
               (double)(next - at) / (thread_now() - begin_cpu));
        at = next;
    }
    measure_singles(writer, end);
    idx_writer_close(writer);
}

/* ---- Refreshing ---- */

static atomic_bool compacting, added;

/* Delays a compaction until all documents that are to be pending afterwards are added. */
static bool wait_for_adds(void *context, const struct idx_progress *progress) {
    (void)context;
    compacting = true;
    while (progress->phase == IDX_PHASE_PUBLISHING && !added) usleep(1000);
    return true;
}

static void *compact(void *context) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    struct idx_error error;
    options.progress = wait_for_adds;
    try(idx_compact(setting.path, &options, NULL, &error), &error);
    return context;
}

/* Refreshes the index, and returns the milliseconds that it took. */
static double refresh(struct idx_index **index) {
    struct idx_index *newer;
    struct idx_error error;
    double begin = now();
    try(idx_refresh(*index, &newer, &error), &error);
    double took = (now() - begin) * 1e3;
    if (newer != NULL) idx_close(*index);
    if (newer != NULL) *index = newer;
    return took;
}

/* Adds batches, refreshes after each, and prints the longest refresh and the longest batch. */
static void refresh_on(struct idx_writer *writer, uint64_t at, uint64_t batches, struct idx_index **index) {
    double longest = 0, longest_batch = 0, sum = 0;
    for (uint64_t i = 0; i < batches; i++) {
        double begin = now();
        add(writer, at + i * TOGETHER, at + (i + 1) * TOGETHER, TOGETHER);
        double batch = (now() - begin) * 1e3, took = refresh(index);
        if (batch > longest_batch) longest_batch = batch;
        if (took > longest) longest = took;
        sum += took;
    }
    printf("of %" PRIu64 " refreshes behind batches of %zu\tmean %.2f ms\tlongest %.1f ms\tlongest batch %.1f ms\n",
           batches, TOGETHER, sum / (double)batches, longest, longest_batch);
}

/* Measures refreshing. For a reader that maps all files, opening a segment takes no time, so its time is that of the
 * log. */
static void measure_refresh(void) {
    build(setting.path, setting.count, "auto");
    struct idx_writer *writer = open_writer(setting.path, 0);
    uint64_t middle = setting.count + setting.pending, end = middle + setting.pending,
             batches = setting.pending / TOGETHER;
    pthread_t thread;
    add(writer, setting.count, middle, TOGETHER);
    if (pthread_create(&thread, NULL, compact, NULL) != 0) die("can't start a thread");
    while (!compacting) usleep(1000);
    add(writer, middle, end, TOGETHER);
    struct idx_index *mapped = open_as(setting.path, IDX_RESIDENCE_NONE), *index = open_index(setting.path);
    added = true;
    pthread_join(thread, NULL);
    double log = refresh(&mapped), both = refresh(&index);
    printf("after a compaction, with %" PRIu64 " pending\t%.1f ms\tof the log %.1f ms\tof the segment %.1f ms\n",
           setting.pending, both, log, both - log);
    refresh_on(writer, end, batches, &mapped);
    refresh_on(writer, end + batches * TOGETHER, batches, &mapped);
    idx_close(mapped);
    idx_close(index);
    idx_writer_close(writer);
}

/* ---- The longest look-up ---- */

struct shared {
    atomic_bool ended;
    atomic_ullong added;
    atomic_uint ready; /* Processes that are ready to be measured. */
};

static struct shared *shared;

static void share(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) die("out of memory");
}

struct latency {
    double longest, sum;
    uint64_t count, slow; /* Look-ups of more than a millisecond. */
};

/* Looks queries up one by one for some seconds. In between, it refreshes a hundred times a second, which is not part of
 * a look-up's time. */
static struct latency look_up_for(double seconds, double *longest_refresh) {
    struct idx_index *index = open_index(setting.path);
    struct latency latency = {0};
    struct idx_match match;
    struct idx_error error;
    uint64_t *queries = make_queries(setting.count);
    double begin = now(), refreshed = begin, before;
    size_t count;
    *longest_refresh = 0;
    for (size_t i = 0; (before = now()) < begin + seconds; i = (i + 1) % QUERIES) {
        if (before > refreshed + 0.01) {
            refresh(&index);
            refreshed = now();
            if (refreshed - before > *longest_refresh) *longest_refresh = refreshed - before;
            before = refreshed;
        }
        try(idx_lookup(index, queries[i], K, &match, 1, &count, &error), &error);
        double took = now() - before;
        if (took > latency.longest) latency.longest = took;
        latency.slow += took > 1e-3;
        latency.sum += took;
        latency.count++;
    }
    free(queries);
    idx_close(index);
    return latency;
}

static void print_latency(const char *name, const struct latency *latency, double longest_refresh) {
    printf("%s\t%" PRIu64 "\t%.2f\t%.1f\t%" PRIu64 "\t%.1f\n", name, latency->count,
           latency->sum / (double)latency->count * 1e6, latency->longest * 1e6, latency->slow, longest_refresh * 1e6);
    fflush(stdout);
}

/* Adds documents and compacts, in a process of its own, until it is told to end. */
static void write_on(void) {
    struct idx_writer *writer = open_writer(setting.path, setting.compact);
    for (uint64_t at = setting.count; !shared->ended; at += TOGETHER) {
        add(writer, at, at + TOGETHER, TOGETHER);
        shared->added = at + TOGETHER - setting.count;
    }
    idx_writer_close(writer);
}

/* Keeps a processor busy and does nothing else. */
static void keep_busy(void) {
    while (!shared->ended) atomic_signal_fence(memory_order_seq_cst);
}

static void measure_beside(const char *name, void (*work)(void)) {
    double longest_refresh;
    shared->ended = false;
    fflush(stdout);
    pid_t process = work == NULL ? -1 : fork();
    if (process == 0) {
        work();
        _exit(0);
    }
    struct latency latency = look_up_for((double)setting.seconds, &longest_refresh);
    shared->ended = true;
    if (work != NULL) waitpid(process, NULL, 0);
    print_latency(name, &latency, longest_refresh);
}

/* Measures the longest look-up alone, beside a writer, and beside a process that only computes, to tell what the
 * system's scheduler does from what the writer does. */
static void measure_longest(void) {
    double longest_refresh;
    build(setting.path, setting.count, "auto");
    share();
    look_up_for(1, &longest_refresh);
    printf("beside\tlook-ups\tmean us\tlongest us\tover 1 ms\tlongest refresh us\n");
    measure_beside("nothing", NULL);
    measure_beside("a process that computes", keep_busy);
    measure_beside("a writer", write_on);
    printf("the writer added %llu in %" PRIu64 " s\n", (unsigned long long)shared->added, setting.seconds);
}

/* ---- Memory ---- */

#define READERS 8

static void await_end(void) {
    shared->ready++;
    while (!shared->ended) usleep(10000);
}

static void hold_writer(void) {
    struct idx_writer *writer = open_writer(setting.path, 0);
    add(writer, setting.count, setting.count + setting.pending, TOGETHER);
    await_end();
    idx_writer_close(writer);
}

static void hold_reader(void) {
    struct idx_index *index = open_index(setting.path);
    look_up(index, make_queries(setting.count), TOGETHER);
    await_end();
    idx_close(index);
}

/* Starts a process that calls `hold`, and returns once it is ready. */
static pid_t begin_process(void (*hold)(void), unsigned number) {
    fflush(stdout);
    pid_t process = fork();
    if (process == 0) {
        hold();
        _exit(0);
    }
    while (shared->ready < number) {
        if (process < 0 || waitpid(process, NULL, WNOHANG) != 0) die("a process ended early");
        usleep(10000);
    }
    return process;
}

/* Adds the megabytes that are a process's share of what it maps, and those of them that belong to no file. */
static void add_share(pid_t process, double *all, double *anonymous) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)process);
    *all += (double)read_proc(path, "Pss: %llu") * 1024e-6;
    *anonymous += (double)read_proc(path, "Pss_Anon: %llu") * 1024e-6;
}

static void measure_memory(void) {
    pid_t processes[READERS + 1];
    double of_writer = 0, of_writer_alone = 0, all = 0, alone = 0;
    build(setting.path, setting.count, "auto");
    share();
    for (unsigned i = 0; i <= READERS; i++) processes[i] = begin_process(i == 0 ? hold_writer : hold_reader, i + 1);
    add_share(processes[0], &of_writer, &of_writer_alone);
    for (unsigned i = 1; i <= READERS; i++) add_share(processes[i], &all, &alone);
    shared->ended = true;
    for (unsigned i = 0; i <= READERS; i++) waitpid(processes[i], NULL, 0);
    printf("%" PRIu64 " pending\tMB (PSS)\tof these, of no file\n", setting.pending);
    printf("the writer\t%.0f\t%.0f\n", of_writer, of_writer_alone);
    printf("each of %d readers\t%.0f\t%.0f\n", READERS, all / READERS, alone / READERS);
    printf("all together\t%.0f\t%.0f\n", of_writer + all, of_writer_alone + alone);
}

/* ---- Growth ---- */

/* Returns the scheme that `auto` chooses for the size to which the index grows. */
static const char *choose_scheme(void) {
    static struct idx_plan plans[64];
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    struct idx_error error;
    size_t count, chosen = 0;
    options.count = setting.to;
    options.k = K;
    try(idx_plan(&options, plans, sizeof plans / sizeof *plans, &count, &error), &error);
    while (chosen + 1 < count && !plans[chosen].chosen) chosen++;
    return plans[chosen].scheme;
}

/* Elapsed seconds, and processor seconds of all threads. */
struct times {
    double wall, cpu;
};

static struct times times_now(void) { return (struct times){now(), cpu_now()}; }

static void add_since(struct times *total, struct times begin) {
    struct times end = times_now();
    total->wall += end.wall - begin.wall;
    total->cpu += end.cpu - begin.cpu;
}

static struct times time_build(const char *path, uint64_t count, const char *scheme) {
    struct times total = {0}, begin = times_now();
    build(path, count, scheme);
    add_since(&total, begin);
    return total;
}

static struct idx_index *built; /* The index with which a growing one is compared. */

/* Measures and prints a row. The time of the measurement doesn't count, except for what a compaction does meanwhile. */
static void measure_step(uint64_t count, const uint64_t *queries, struct times *total, struct times build_time) {
    struct times begin = times_now();
    double own = thread_now(), best[2];
    struct idx_properties properties;
    struct idx_index *index = open_index(setting.path);
    idx_get_properties(index, &properties);
    compare(built, index, queries, TOGETHER, best);
    total->cpu += cpu_now() - begin.cpu - (thread_now() - own);
    printf("%" PRIu64 "\t%.1f\t%.2f\t%.1f\t%.2f\t%zu\t%" PRIu64 "\t%.0f\t%.3f\n", count, total->wall,
           total->wall / build_time.wall, total->cpu, total->cpu / build_time.cpu, properties.segments,
           properties.pending_documents, best[1], best[1] / best[0]);
    fflush(stdout);
    idx_close(index);
}

/* Lets an index grow in STEPS steps, and prints after each how its look-ups and its costs compare with those of a built
 * one. */
static void measure_growth(void) {
    const char *scheme = choose_scheme();
    char built_path[4200];
    struct idx_error error;
    snprintf(built_path, sizeof built_path, "%s.built", setting.path);
    struct times build_time = time_build(built_path, setting.to, scheme);
    struct times total = time_build(setting.path, setting.from, scheme);
    built = open_index(built_path);
    uint64_t *queries = make_queries(setting.from);
    struct idx_writer *writer = open_writer(setting.path, setting.compact);
    look_up(built, queries, TOGETHER);
    printf("scheme %s; one build of %" PRIu64 ": %.1f s, %.1f s of the processor\n", scheme, setting.to,
           build_time.wall, build_time.cpu);
    printf("fingerprints\tseconds so far\tof the build's\tof the processor\tof the build's\tsegments\tpending\t"
           "look-up ns\tof the built one's\n");
    for (uint64_t step = 1, at = setting.from; step <= STEPS; step++) {
        uint64_t next = setting.from + (setting.to - setting.from) * step / STEPS;
        struct times begin = times_now();
        add(writer, at, next, setting.batch);
        add_since(&total, begin);
        measure_step(next, queries, &total, build_time);
        at = next;
    }
    struct times begin = times_now();
    try(idx_writer_wait(writer, &error), &error);
    idx_writer_close(writer);
    add_since(&total, begin);
    printf("all, closed: %.1f s, %.2f of the build's; %.1f s of the processor, %.2f of the build's\n", total.wall,
           total.wall / build_time.wall, total.cpu, total.cpu / build_time.cpu);
    idx_close(built);
    free(queries);
}

/* ---- The command line ---- */

int main(int argc, char **argv) {
    const struct {
        const char *name;
        void (*measure)(void);
    } parts[] = {{"lookups", measure_lookups}, {"adds", measure_adds},     {"refresh", measure_refresh},
                 {"longest", measure_longest}, {"memory", measure_memory}, {"growth", measure_growth}};
    const struct bench_option options[] = {
        {"count", OPTION_UINT64, &setting.count, 1, 1e12},
        {"pending", OPTION_UINT64, &setting.pending, 1, 1e12},
        {"seconds", OPTION_UINT64, &setting.seconds, 1, 1e6},
        {"from", OPTION_UINT64, &setting.from, 1, 1e12},
        {"to", OPTION_UINT64, &setting.to, 1, 1e12},
        {"compact", OPTION_UINT64, &setting.compact, 1, 1e12},
        {"batch", OPTION_UINT64, &setting.batch, 1, MOST_TOGETHER},
        {"threads", OPTION_UINT64, &setting.threads, 1, IDX_MAX_THREADS},
        {NULL, OPTION_FLAG, NULL, 0, 0},
    };
    char built_path[4200];
    if (read_options(argc, argv, help_growing, options) != 2) die("see growing --help");
    snprintf(setting.path, sizeof setting.path, "%s/growing.idx", argv[2]);
    snprintf(built_path, sizeof built_path, "%s.built", setting.path);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(argv[1], parts[i].name) != 0) continue;
        parts[i].measure();
        remove_all(setting.path);
        remove_all(built_path);
        return 0;
    }
    die("there is no part %s", argv[1]);
}
