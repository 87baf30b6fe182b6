/* refresh.c: views that are refreshed while others use them, threads and processes that read while a writer adds, and
 * the one writer: who has the lock, full disks, folders that can't be written; indexes that are compacted, or built
 * anew, under open views. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libidx/change/compact.h"
#include "libidx/log/log_writer.h"
#include "libidx/log/pending.h"
#include "libidx/log/pending_records.h"
#include "libidx/view/index.h"
#include "tests/libidx/apart.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define BASE 1000 /* documents of the segment */

/* The fingerprint of a document; those of the segment are the first ones. Far from each other, nearly surely. */
static uint64_t fingerprint_of(uint64_t number) {
    uint64_t seed = number;
    return next_random(&seed);
}

static struct idx_item item_of(uint64_t number) {
    return (struct idx_item){.fingerprint = fingerprint_of(number), .number = number};
}

static void build_at(const char *path, bool replace) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    options.id_type = IDX_ID_U64;
    options.replace = replace;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (uint64_t i = 0; i < BASE; i++)
        assert_ok(
            idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprint_of(i), .number = i}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

static struct idx_writer *open_writer(const char *path) {
    struct idx_writer *writer;
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    return writer;
}

/* One that never compacts by itself. */
static struct idx_writer *open_plain_writer(const char *path) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_writer *writer;
    options.compact_records = options.compact_segments = 0;
    assert_ok(idx_writer_open(&writer, path, &options, &failure));
    return writer;
}

static bool holds(const struct idx_index *index, uint64_t number) {
    bool exists = false;
    return idx_exists(index, fingerprint_of(number), 1, &exists, NULL) == IDX_OK && exists;
}

/* Whether it has the documents up to `end`, and no more. */
static bool holds_up_to(const struct idx_index *index, uint64_t end) {
    return holds(index, 0) && holds(index, end - 1) && !holds(index, end);
}

static struct idx_index *refreshed(const struct idx_index *index) {
    struct idx_index *newer;
    assert_ok(idx_refresh(index, &newer, &failure));
    return newer;
}

/* ---- Threads ---- */

#define READERS 4
#define BATCH 7

struct plot {
    const char *path;
    struct idx_index *first; /* the view that all begin with */
    _Atomic uint64_t acknowledged;
    atomic_bool done;
    atomic_size_t failures;
    size_t number; /* of the next thread */
};

/* How many batches a view has; whole ones, and no others behind them. Or SIZE_MAX. */
static uint64_t count_batches(const struct idx_index *index, uint64_t least) {
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    uint64_t count = properties.pending_documents / BATCH;
    if (properties.pending_documents % BATCH != 0 || properties.pending_removals != 0 || count < least)
        return UINT64_MAX;
    bool right = holds_up_to(index, BASE + count * BATCH);
    for (uint64_t i = 0; i < BATCH && count > 0; i++) right = right && holds(index, BASE + (count - 1) * BATCH + i);
    return right ? count : UINT64_MAX;
}

/* Goes on from view to view, and looks at the one before, too, whose batches stay as many. */
static size_t read_on(struct plot *plot) {
    struct idx_index *view = NULL, *before = NULL;
    uint64_t count = 0, count_before = 0;
    size_t failures = 0;
    for (bool last = false; !last && failures == 0;) {
        struct idx_index *newer;
        last = plot->done;
        uint64_t least = plot->acknowledged;
        if (idx_refresh(view == NULL ? plot->first : view, &newer, NULL) != IDX_OK) return 1;
        if (newer == NULL) {
            failures += count < least;
            continue;
        }
        if (before != NULL) failures += count_batches(before, 0) != count_before;
        idx_close(before);
        before = view;
        count_before = count;
        view = newer;
        count = count_batches(view, least);
        failures += count == UINT64_MAX || count < count_before;
    }
    if (view != NULL) failures += before != NULL && count_batches(before, 0) != count_before;
    idx_close(view);
    idx_close(before);
    return failures;
}

/* Looks at the first view, and no other. */
static size_t read_first(struct plot *plot) {
    size_t failures = 0;
    while (!plot->done) failures += count_batches(plot->first, 0) != 0;
    return failures;
}

static void *run_reader(void *context) {
    struct plot *plot = context;
    static atomic_size_t number;
    plot->failures += atomic_fetch_add(&number, 1) % READERS == 0 ? read_first(plot) : read_on(plot);
    return NULL;
}

/* The writer's part: adds batch after batch, every third by looking up first. */
static void write_batches(struct plot *plot, size_t batches) {
    struct idx_writer *writer = open_writer(plot->path);
    for (uint64_t i = 0; i < batches; i++) {
        struct idx_item items[BATCH];
        size_t counts[BATCH];
        for (uint64_t j = 0; j < BATCH; j++) items[j] = item_of(BASE + i * BATCH + j);
        if (i % 3 == 0) {
            assert_ok(check_and_add(writer, items, BATCH, 2, NULL, 0, counts, &failure));
            for (size_t j = 0; j < BATCH; j++) assert_int_equal(counts[j], 0);
        } else {
            assert_ok(idx_writer_add(writer, items, BATCH, &failure));
        }
        plot->acknowledged = i + 1;
    }
    idx_writer_close(writer);
}

static void test_threads(void **state) {
    struct plot plot = {.path = path_in(*state, "i")};
    pthread_t threads[READERS];
    build_at(plot.path, false);
    plot.first = open_index(plot.path, IDX_RESIDENCE_DIRECTORY);
    for (size_t i = 0; i < READERS; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_reader, &plot), 0);
    write_batches(&plot, scale(1500));
    plot.done = true;
    for (size_t i = 0; i < READERS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(plot.failures, 0);
    idx_close(plot.first);
}

/* ---- Processes ---- */

/* Until the pipe is closed, and then once more, when all batches must be there. Returns an exit status. */
static int read_in_process(const char *path, int go_on, uint64_t batches) {
    char byte;
    struct idx_index *view, *newer;
    if (idx_open(&view, path, NULL, NULL) != IDX_OK) return 1;
    uint64_t count = count_batches(view, 0); /* it may come to run when they are all there */
    for (bool last = false; !last;) {
        last = read(go_on, &byte, 1) == 0;
        if (idx_refresh(view, &newer, NULL) != IDX_OK) return 2;
        if (newer == NULL) continue;
        uint64_t more = count_batches(newer, count);
        if (more == UINT64_MAX || more <= count) return 3;
        count = more;
        idx_close(view);
        view = newer;
    }
    return count == batches ? 0 : 4;
}

static void test_processes(void **state) {
    struct plot plot = {.path = path_in(*state, "i")};
    pid_t readers[2];
    int pipe_ends[2];
    build_at(plot.path, false);
    assert_int_equal(pipe2(pipe_ends, O_NONBLOCK), 0);
    for (size_t i = 0; i < 2; i++) {
        readers[i] = fork();
        assert_true(readers[i] >= 0);
        if (readers[i] > 0) continue;
        close(pipe_ends[1]);
        _exit(read_in_process(plot.path, pipe_ends[0], scale(1500)));
    }
    write_batches(&plot, scale(1500));
    close(pipe_ends[1]);
    for (size_t i = 0; i < 2; i++) {
        int status;
        assert_true(waitpid(readers[i], &status, 0) == readers[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    close(pipe_ends[0]);
}

/* ---- New files in the log's place ---- */

#define MANY 30000 /* documents of one call, whose records make the log large */
#define CALLS 20   /* small ones that follow */
#define ROUND (MANY + CALLS * BATCH)

struct swaps {
    char path[4096];
    _Atomic uint64_t acknowledged; /* documents */
    atomic_bool done;
    atomic_size_t failures;
};

/* How many documents a view has, of whole calls; UINT64_MAX where they are not. */
static uint64_t count_all(const struct idx_index *index) {
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    uint64_t count = properties.documents + properties.pending_documents, rest = (count - BASE) % ROUND;
    bool whole = rest == 0 || (rest >= MANY && (rest - MANY) % BATCH == 0);
    return whole && holds_up_to(index, count) ? count : UINT64_MAX;
}

/* From view to view, until all is done, and once more. Views from before stay as they were. */
static void *follow_swaps(void *context) {
    struct swaps *swaps = context;
    struct idx_index *view, *before = NULL, *newer;
    uint64_t count_before = 0;
    bool opened = idx_open(&view, swaps->path, NULL, NULL) == IDX_OK;
    swaps->failures += !opened;
    if (!opened) return NULL;
    uint64_t count = count_all(view); /* some are there where this begins late */
    for (bool last = false; !last && swaps->failures == 0;) {
        last = swaps->done;
        uint64_t least = swaps->acknowledged;
        bool refreshed = idx_refresh(view, &newer, NULL) == IDX_OK;
        swaps->failures += !refreshed || (newer == NULL && count < least);
        if (!refreshed || newer == NULL) continue;
        swaps->failures += before != NULL && count_all(before) != count_before;
        idx_close(before);
        before = view;
        count_before = count;
        view = newer;
        count = count_all(view);
        swaps->failures += count == UINT64_MAX || count < least || count < count_before;
    }
    idx_close(before);
    idx_close(view);
    return NULL;
}

static off_t size_of_log(const char *path) {
    struct stat status;
    assert_int_equal(stat(path_in(path, "pending.log"), &status), 0);
    return status.st_size;
}

static void add_call(struct swaps *swaps, struct idx_writer *writer, size_t count) {
    static struct idx_item items[MANY];
    for (size_t i = 0; i < count; i++) items[i] = item_of(swaps->acknowledged + i);
    assert_ok(idx_writer_add(writer, items, count, &failure));
    swaps->acknowledged += count;
}

/* Makes the log large, compacts, beside the writer or without one, and adds to the small log. */
static void write_round(struct swaps *swaps, bool beside) {
    struct idx_writer *writer = open_writer(swaps->path);
    add_call(swaps, writer, MANY);
    assert_true(size_of_log(swaps->path) > 200000);
    if (!beside) idx_writer_close(writer);
    assert_ok(idx_compact(swaps->path, NULL, NULL, &failure));
    assert_int_equal(size_of_log(swaps->path) < 100000, !beside);
    if (!beside) writer = open_writer(swaps->path);
    for (size_t i = 0; i < CALLS; i++) add_call(swaps, writer, BATCH);
    assert_true(size_of_log(swaps->path) < 100000);
    idx_writer_close(writer);
}

/* Threads and processes read all the while that the log's file comes and goes. */
static void test_new_logs(void **state) {
    struct swaps *swaps = mmap(NULL, sizeof *swaps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_t threads[READERS];
    pid_t processes[2];
    int status;
    size_t rounds = 1 + scale(7);
    assert_true(swaps != MAP_FAILED);
    snprintf(swaps->path, sizeof swaps->path, "%s", path_in(*state, "i"));
    swaps->acknowledged = BASE;
    build_at(swaps->path, false);
    for (size_t i = 0; i < 2; i++) {
        processes[i] = fork();
        assert_true(processes[i] >= 0);
        if (processes[i] > 0) continue;
        follow_swaps(swaps);
        _exit(0);
    }
    for (size_t i = 0; i < READERS; i++) assert_int_equal(pthread_create(&threads[i], NULL, follow_swaps, swaps), 0);
    for (size_t i = 0; i < rounds; i++) write_round(swaps, i % 2 == 0);
    swaps->done = true;
    for (size_t i = 0; i < READERS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < 2; i++) assert_true(waitpid(processes[i], &status, 0) == processes[i] && status == 0);
    assert_int_equal(swaps->failures, 0);
    assert_int_equal(swaps->acknowledged, BASE + rounds * ROUND);
    assert_ok(idx_verify(swaps->path, NULL, NULL, &failure));
    munmap(swaps, sizeof *swaps);
}

/* ---- Views ---- */

static void test_what_views_share(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_item item = item_of(BASE);
    build_at(path, false);
    struct idx_index *first = open_index(path, IDX_RESIDENCE_ALL), *other = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_null(refreshed(first));
    struct idx_writer *writer = open_writer(path);
    assert_null(refreshed(first));
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    struct idx_index *second = refreshed(first), *third = refreshed(other);
    assert_null(refreshed(second));
    assert_ptr_equal(first->segments[0], second->segments[0]);
    assert_int_equal(first->segments[0]->holders, 1); /* all views of one manifest together */
    assert_int_equal(first->origin->holders, 2);
    assert_ptr_not_equal(second->segments[0], third->segments[0]);
    assert_true(holds_up_to(first, BASE));
    assert_true(holds_up_to(second, BASE + 1));
    assert_true(holds_up_to(third, BASE + 1));
    idx_close(first);
    item = item_of(BASE + 1);
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    struct idx_index *fourth = refreshed(second);
    assert_true(holds_up_to(second, BASE + 1));
    idx_close(second);
    assert_true(holds_up_to(fourth, BASE + 2));
    idx_close(fourth);
    idx_close(third);
    idx_close(other);
    idx_writer_close(writer);
}

/* Puts a segment of documents from `begin` to `end` into the index, as compaction does, with a manifest that says that
 * the records up to `sequence` are in segments. */
static void add_segment(const char *folder, const char *path, uint64_t begin, uint64_t end, uint64_t sequence) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idxf_manifest *manifest = malloc(sizeof *manifest), *part = malloc(sizeof *part);
    const char *part_path = path_in(folder, "part"), *aside = path_in(folder, "aside");
    struct idx_builder *builder;
    assert_non_null(manifest);
    assert_non_null(part);
    options.id_type = IDX_ID_U64;
    assert_ok(idx_builder_open(&builder, part_path, &options, &failure));
    for (uint64_t i = begin; i < end; i++)
        assert_ok(
            idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprint_of(i), .number = i}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    read_manifest(part_path, part);
    read_manifest(path, manifest);
    uint32_t number = manifest->segment_count + 1;
    assert_int_equal(rename(path_in(part_path, "000001"), path_in(path, "%06u", number)), 0);
    manifest->segments[manifest->segment_count] = part->segments[0];
    manifest->segments[manifest->segment_count++].number = number;
    manifest->sequence = sequence;
    assert_int_equal(mkdir(aside, 0777), 0);
    write_manifest(aside, manifest);
    assert_int_equal(rename(path_in(aside, "manifest"), path_in(path, "manifest")), 0);
    remove_all(aside);
    remove_all(part_path);
    free(part);
    free(manifest);
}

static void delete_records(const char *path, uint64_t sequence) {
    struct idxi_log_writer *log;
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(folder >= 0);
    assert_ok(idxi_log_writer_open(&log, folder, path, &failure));
    assert_ok(idxi_log_trim_records(log, sequence, &failure));
    idxi_log_writer_close(log);
    close(folder);
}

static void add_items(const char *path, uint64_t begin, uint64_t end) {
    struct idx_writer *writer = open_writer(path);
    for (uint64_t i = begin; i < end; i++) {
        struct idx_item item = item_of(i);
        assert_ok(idx_writer_add(writer, &item, 1, &failure));
    }
    idx_writer_close(writer);
}

/* Records become a segment, are deleted, and more are added: views before, between and after. */
static void test_compacted(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_index *views[5];
    struct idx_properties properties;
    bool replaced;
    build_at(path, false);
    views[0] = open_index(path, IDX_RESIDENCE_DIRECTORY);
    add_items(path, BASE, BASE + 10);
    views[1] = refreshed(views[0]);
    add_segment(*state, path, BASE, BASE + 8, 8);
    assert_ok(idx_replaced(views[1], &replaced, &failure));
    assert_true(replaced);
    views[2] = refreshed(views[1]);
    assert_ptr_equal(views[2]->segments[0], views[0]->segments[0]);
    assert_int_equal(views[0]->segments[0]->holders, 2);
    idx_get_properties(views[2], &properties);
    assert_int_equal(properties.segments, 2);
    assert_int_equal(properties.pending_documents, 2);
    delete_records(path, 8);
    assert_null(refreshed(views[2]));
    add_items(path, BASE + 10, BASE + 12);
    views[3] = refreshed(views[0]); /* which has read no record so far, and whose next ones are gone */
    add_segment(*state, path, BASE + 8, BASE + 12, 12);
    delete_records(path, 12);
    views[4] = refreshed(views[1]); /* which finds no record at all */
    static const uint64_t ends[] = {0, 10, 10, 12, 12};
    for (size_t i = 0; i < 5; i++) {
        assert_true(holds_up_to(views[i], BASE + ends[i]));
        struct idx_index *newest = i == 4 ? NULL : refreshed(views[i]);
        if (newest != NULL) assert_true(holds_up_to(newest, BASE + 12));
        assert_true(i == 4 || newest != NULL);
        idx_close(newest);
    }
    assert_null(refreshed(views[4]));
    for (size_t i = 0; i < 5; i++) idx_close(views[i]);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

#define KEPT ((uint64_t)40000) /* more than what one refresh moves */

static struct idx_index *refreshed_from(struct idx_index *index) {
    struct idx_index *newer = refreshed(index);
    assert_non_null(newer);
    idx_close(index);
    return newer;
}

/* Removes a pending document, and one of the segment. */
static void remove_two(struct idx_writer *writer, uint64_t pending, uint64_t built) {
    uint64_t fingerprints[] = {fingerprint_of(pending), fingerprint_of(built)};
    assert_ok(remove_by_fingerprint(writer, fingerprints, 2, NULL, &failure));
}

static void expect_pending(const struct idx_index *index, uint64_t documents, uint64_t removals) {
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    assert_int_equal(properties.pending_documents, documents);
    assert_int_equal(properties.pending_removals, removals);
}

/* Checks which documents a view has of those up to `end`: all but `removed`. */
static void expect_all_but(const struct idx_index *index, uint64_t end, const uint64_t *removed, size_t count) {
    for (uint64_t i = 0, next = 0; i < end; i++) {
        bool is_removed = next < count && removed[next] == i;
        next += is_removed;
        if (holds(index, i) == is_removed) fail_msg("document %llu", (unsigned long long)i);
    }
    assert_false(holds(index, end));
}

/* What is still pending when a segment has the rest stays in memory, and is moved bit by bit to memory of its own. The
 * removals are records KEPT + 1 and KEPT + 2, which become part of the segment, and the last two. */
static void test_kept(void **state) {
    static const uint64_t removed[] = {5, 6, BASE + 7, BASE + KEPT + 8}, before[] = {5, BASE + 7};
    const char *path = path_in(*state, "i");
    static struct idx_item items[2 * KEPT];
    build_at(path, false);
    struct idx_index *first = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_writer *writer = open_writer(path);
    for (uint64_t i = 0; i < 2 * KEPT; i++) items[i] = item_of(BASE + i);
    assert_ok(idx_writer_add(writer, items, KEPT, &failure));
    remove_two(writer, BASE + 7, 5);
    struct idx_index *compacted = open_index(path, IDX_RESIDENCE_NONE);
    assert_ok(idx_writer_add(writer, items + KEPT, KEPT, &failure));
    struct idx_index *second = refreshed(first);
    remove_two(writer, BASE + KEPT + 8, 6);
    idx_writer_close(writer);
    struct idx_index *third = refreshed(second);
    expect_pending(third, 2 * KEPT, 4);
    const struct idxi_pending *records = third->pending.records;
    assert_ok(idxi_compact_view(compacted, NULL, &failure));
    struct idx_index *newest = refreshed(third);
    assert_ptr_equal(newest->pending.records, records);
    expect_pending(newest, KEPT, 2);
    expect_all_but(newest, BASE + 2 * KEPT, removed, LENGTH(removed));
    uint64_t end = BASE + 2 * KEPT;
    const struct idxi_pending *moved = records;
    for (size_t refreshes = 0; refreshes < 24; refreshes++) {
        add_items(path, end, end + 1);
        newest = refreshed_from(newest);
        if (moved == records) moved = newest->pending.records;
        assert_true(newest->pending.records == moved); /* from then on, which is soon */
        assert_true(refreshes < 12 || moved != records);
        expect_pending(newest, KEPT + ++end - BASE - 2 * KEPT, 2);
        expect_all_but(newest, end, removed, LENGTH(removed));
    }
    assert_in_range(idxi_pending_get_bytes(newest->pending.records), 1, idxi_pending_get_bytes(records) * 4 / 5);
    expect_all_but(third, BASE + 2 * KEPT, removed, LENGTH(removed));
    expect_all_but(second, BASE + 2 * KEPT, before, LENGTH(before));
    assert_true(holds_up_to(first, BASE));
    struct idx_index *views[] = {first, second, third};
    for (size_t i = 0; i < LENGTH(views); i++) {
        struct idx_index *other = refreshed(views[i]);
        expect_all_but(other, end, removed, LENGTH(removed));
        idx_close(other);
        idx_close(views[i]);
    }
    idx_close(newest);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

#define TEXTS ((uint64_t)1 << 17)
#define TEXT_BYTES 40

static void make_text(uint64_t number, char text[TEXT_BYTES + 1]) {
    snprintf(text, TEXT_BYTES + 1, "%040llu", (unsigned long long)number);
}

static void build_texts(const char *path) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_builder *builder;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

static void add_texts(struct idx_writer *writer, uint64_t begin, uint64_t end) {
    static struct idx_item items[1024];
    static char texts[LENGTH(items)][TEXT_BYTES + 1];
    for (uint64_t at = begin; at < end; at += LENGTH(items)) {
        size_t count = end - at < LENGTH(items) ? (size_t)(end - at) : LENGTH(items);
        for (size_t i = 0; i < count; i++) {
            make_text(at + i, texts[i]);
            items[i] =
                (struct idx_item){.fingerprint = fingerprint_of(at + i), .id = texts[i], .id_length = TEXT_BYTES};
        }
        assert_ok(idx_writer_add(writer, items, count, &failure));
    }
}

/* Checks that each document up to `end` has its ID, and no other. */
static void expect_texts(const struct idx_index *index, uint64_t end) {
    struct idx_documents *documents;
    assert_ok(idx_documents_open(&documents, index, &failure));
    for (uint64_t i = 0; i < end; i++) {
        struct idx_document document;
        char text[TEXT_BYTES + 1];
        bool found;
        make_text(i, text);
        assert_ok(idx_documents_find(documents, fingerprint_of(i), NULL, &failure));
        assert_ok(idx_documents_next(documents, &document, &found, &failure));
        if (!found || document.id_length != TEXT_BYTES || memcmp(document.id, text, TEXT_BYTES) != 0)
            fail_msg("document %llu", (unsigned long long)i);
        assert_ok(idx_documents_next(documents, &document, &found, &failure));
        assert_false(found);
    }
    idx_documents_close(documents);
}

/* Text IDs stay in the log, also when another log has taken its place. */
static void test_texts(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_properties properties;
    build_texts(path);
    struct idx_writer *writer = open_plain_writer(path);
    add_texts(writer, 0, TEXTS / 2);
    struct idx_index *compacted = open_index(path, IDX_RESIDENCE_NONE);
    add_texts(writer, TEXTS / 2, TEXTS);
    expect_texts(idx_writer_view(writer), TEXTS);
    idx_writer_close(writer);
    struct idx_index *older = refreshed(compacted), *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    idx_get_properties(index, &properties);
    assert_in_range(properties.resident_bytes, 50 * TEXTS, 80 * TEXTS);
    expect_texts(index, TEXTS);
    assert_ok(idxi_compact_view(compacted, NULL, &failure));
    writer = open_plain_writer(path);
    for (uint64_t i = TEXTS; i < TEXTS + 20; i++) {
        add_texts(writer, i, i + 1);
        index = refreshed_from(index);
    }
    expect_texts(idx_writer_view(writer), TEXTS + 20);
    idx_writer_close(writer);
    expect_pending(index, TEXTS / 2 + 20, 0);
    expect_texts(index, TEXTS + 20);
    expect_texts(older, TEXTS);
    idx_close(older);
    idx_close(index);
}

#define LONG_TEXT ((size_t)1 << 20)

/* The log becomes much longer than it was when it was mapped. */
static void test_long_texts(void **state) {
    const char *path = path_in(*state, "i");
    char *text = calloc(1, LONG_TEXT);
    struct idx_document document;
    struct idx_documents *documents;
    bool found;
    assert_non_null(text);
    build_texts(path);
    struct idx_writer *writer = open_plain_writer(path);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    for (uint64_t i = 0; i < 40; i++) {
        memset(text, (int)i + 1, LONG_TEXT);
        struct idx_item item = {.fingerprint = fingerprint_of(i), .id = text, .id_length = LONG_TEXT};
        assert_ok(idx_writer_add(writer, &item, 1, &failure));
        index = refreshed_from(index);
    }
    const struct idxi_pending_store *store = index->pending.records->store;
    assert_in_range(store->map_count, 2, 6);
    for (size_t i = 0; i < store->map_count; i++) assert_in_range(store->maps[i]->size, 1, store->maps[i]->capacity);
    assert_ok(idx_documents_open(&documents, index, &failure));
    for (uint64_t i = 0; i < 40; i++) {
        memset(text, (int)i + 1, LONG_TEXT);
        assert_ok(idx_documents_find(documents, fingerprint_of(i), NULL, &failure));
        assert_ok(idx_documents_next(documents, &document, &found, &failure));
        assert_true(found && document.id_length == LONG_TEXT);
        assert_memory_equal(document.id, text, LONG_TEXT);
    }
    idx_documents_close(documents);
    idx_close(index);
    idx_writer_close(writer);
    free(text);
}

/* What comes into the file of an open log may give wrong IDs, but nothing outside of its map is read. */
static void test_text_overwritten(void **state) {
    static const uint8_t length[] = {0xff, 0xff, 0xff, 0xff};
    const char *path = path_in(*state, "i");
    struct idx_documents *documents;
    struct idx_document document;
    bool found;
    build_texts(path);
    struct idx_writer *writer = open_writer(path);
    add_texts(writer, 0, 1);
    idx_writer_close(writer);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    int file = open(path_in(path, "pending.log"), O_WRONLY | O_CLOEXEC);
    off_t offset = IDXF_LOG_FRAMES + IDXF_FRAME_HEADER_BYTES + 9;
    assert_int_equal(pwrite(file, length, sizeof length, offset), sizeof length);
    close(file);
    assert_ok(idx_documents_open(&documents, index, &failure));
    assert_ok(idx_documents_find(documents, fingerprint_of(0), NULL, &failure));
    assert_ok(idx_documents_next(documents, &document, &found, &failure));
    assert_true(found);
    assert_int_equal(document.id_length, 0xffffff);
    const uint8_t *bytes = document.id;
    assert_int_equal(bytes[TEXT_BYTES - 1], '0');
    assert_int_equal(bytes[document.id_length - 1], 0);
    idx_documents_close(documents);
    idx_close(index);
}

static void take_from(const char *from, const char *to, const char *name) {
    char other[4096], target[4096];
    snprintf(other, sizeof other, "%s", path_in(from, "%s", name));
    snprintf(target, sizeof target, "%s", path_in(to, "%s", name));
    assert_int_equal(rename(other, target), 0);
}

/* A copy that went on by itself comes into the folder of the index, with a log that is no successor of the one that was
 * read: none of what was read counts. */
static void test_other_log(void **state) {
    const char *path = path_in(*state, "i"), *copy = path_in(*state, "copy");
    struct idx_item item = item_of(BASE + 22);
    build_at(path, false);
    add_items(path, BASE, BASE + 2);
    copy_folder(path, copy);
    add_items(path, BASE + 2, BASE + 10);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    for (uint64_t i = 0; i < 2; i++) {
        add_items(copy, BASE + 20 + i, BASE + 21 + i);
        add_segment(*state, copy, BASE + 20 + i, BASE + 21 + i, 3 + i);
        delete_records(copy, 3 + i);
    }
    struct idx_writer *writer = open_plain_writer(copy);
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    idx_writer_close(writer);
    take_from(copy, path, "000002");
    take_from(copy, path, "000003");
    take_from(copy, path, "pending.log");
    take_from(copy, path, "manifest");
    struct idx_index *newer = refreshed(index);
    expect_pending(newer, 1, 0);
    for (uint64_t i = 0; i < 25; i++) assert_int_equal(holds(newer, BASE + i), i >= 20 && i < 23);
    assert_true(holds_up_to(index, BASE + 10));
    idx_close(newer);
    idx_close(index);
}

/* Records that a manifest does not have in segments must not be deleted. */
static void test_lost_records(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_index *newer;
    build_at(path, false);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    add_items(path, BASE, BASE + 10);
    delete_records(path, 8);
    assert_status(IDX_BAD_CONTENT, idx_refresh(index, &newer, &failure));
    assert_non_null(strstr(failure.sentence, "has counts that don't agree"));
    assert_status(IDX_BAD_CONTENT, idx_open(&newer, path, NULL, &failure));
    assert_true(holds_up_to(index, BASE));
    idx_close(index);
}

/* A reader loads a manifest, and is held up until the log has been replaced twice: the log there takes the place of the
 * one that the manifest names, but lacks records that no segment of that manifest has, and that are still in memory. */
static void test_two_logs_later(void **state) {
    const char *path = path_in(*state, "i"), *aside = path_in(*state, "aside");
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    struct idx_index *newer;
    build_at(path, false);
    add_items(path, BASE, BASE + 20);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    add_segment(*state, path, BASE, BASE + 5, 5);
    delete_records(path, 5);
    read_manifest(path, manifest);
    delete_records(path, 10);
    assert_int_equal(mkdir(aside, 0777), 0);
    write_manifest(aside, manifest);
    assert_int_equal(rename(path_in(aside, "manifest"), path_in(path, "manifest")), 0);
    remove_all(aside);
    assert_status(IDX_BAD_CONTENT, idx_refresh(index, &newer, &failure));
    assert_non_null(strstr(failure.sentence, "begins with record 11, but the segments end with record 5"));
    add_segment(*state, path, BASE + 5, BASE + 10, 10);
    newer = refreshed(index);
    assert_true(holds_up_to(newer, BASE + 20));
    assert_true(holds_up_to(index, BASE + 20));
    idx_close(newer);
    idx_close(index);
    free(manifest);
}

/* Another index comes to stand at the path, with a log of its own. */
static void test_built_anew(void **state) {
    const char *path = path_in(*state, "i");
    bool replaced;
    build_at(path, false);
    add_items(path, BASE, BASE + 10);
    struct idx_index *old = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_true(holds_up_to(old, BASE + 10));
    build_at(path, true);
    assert_ok(idx_replaced(old, &replaced, &failure));
    assert_true(replaced);
    struct idx_index *anew = refreshed(old);
    assert_ptr_not_equal(anew->segments[0], old->segments[0]);
    assert_true(holds_up_to(anew, BASE));
    assert_true(holds_up_to(old, BASE + 10));
    add_items(path, BASE, BASE + 5);
    struct idx_index *newest = refreshed(anew);
    assert_true(holds_up_to(newest, BASE + 5));
    idx_close(newest);
    idx_close(anew);
    remove_all(path);
    assert_status(IDX_NOT_FOUND, idx_refresh(old, &newest, &failure));
    assert_true(holds_up_to(old, BASE + 10));
    idx_close(old);
}

/* A copy of the index, with the same uuids, comes to stand at the path, which lacks what was added since. */
static void test_restored(void **state) {
    const char *path = path_in(*state, "i"), *copy = path_in(*state, "copy");
    build_at(path, false);
    add_items(path, BASE, BASE + 2);
    copy_folder(path, copy);
    add_items(path, BASE + 2, BASE + 5);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_true(holds_up_to(index, BASE + 5));
    assert_int_equal(rename(path, path_in(*state, "away")), 0);
    assert_int_equal(rename(copy, path), 0);
    struct idx_index *restored = refreshed(index);
    assert_true(holds_up_to(restored, BASE + 2));
    assert_true(holds_up_to(index, BASE + 5));
    idx_close(restored);
    idx_close(index);
}

/* Another index comes to stand at the path while a writer has the one that was there: it keeps its records. */
static void test_another_under_the_writer(void **state) {
    const char *path = path_in(*state, "i"), *other = path_in(*state, "other"), *away = path_in(*state, "away");
    struct idx_item item = item_of(BASE + 5);
    build_at(other, false);
    add_items(other, BASE, BASE + 5);
    assert_ok(idx_compact(other, NULL, NULL, &failure));
    build_at(path, false);
    struct idx_writer *writer = open_writer(path);
    for (uint64_t i = BASE; i < BASE + 5; i++) {
        struct idx_item added = item_of(i);
        assert_ok(idx_writer_add(writer, &added, 1, &failure));
    }
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(rename(other, path), 0);
    assert_status(IDX_IO_ERROR, idx_writer_add(writer, &item, 1, &failure));
    assert_non_null(strstr(failure.sentence, "is no longer the index that this writer opened"));
    idx_writer_close(writer);
    struct idx_index *index = open_index(away, IDX_RESIDENCE_DIRECTORY);
    assert_true(holds_up_to(index, BASE + 5));
    idx_close(index);
}

static void note_damage(void *context, const char *file, enum idx_status status, const char *sentence) {
    (void)sentence;
    if (status != IDX_OK) snprintf(context, 64, "%d %s", (int)status, file);
}

static void test_damaged_log(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_index *index, *newer;
    char damage[64] = "";
    build_at(path, false);
    add_items(path, BASE, BASE + 1);
    index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    write_file(path_in(path, "pending.log"), "idxpendi\1\0\0\0", 12);
    assert_status(IDX_WRONG_SIZE, idx_open(&newer, path, NULL, &failure));
    assert_status(IDX_WRONG_SIZE, idx_verify(path, note_damage, damage, &failure));
    assert_string_equal(damage, "302 pending.log");
    assert_int_equal(unlink(path_in(path, "pending.log")), 0);
    assert_status(IDX_MISSING_FILE, idx_open(&newer, path, NULL, &failure));
    assert_status(IDX_MISSING_FILE, idx_verify(path, note_damage, damage, &failure));
    assert_true(holds_up_to(index, BASE + 1));
    idx_close(index);
}

/* An index with a writer is not replaced: what that acknowledges stays. */
static void test_not_built_anew(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_item item = item_of(BASE);
    struct idx_builder *builder;
    build_at(path, false);
    struct idx_writer *writer = open_writer(path);
    options.replace = true;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    assert_status(IDX_BUSY, idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    idx_writer_close(writer);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    assert_true(holds_up_to(index, BASE + 1));
    idx_close(index);
}

/* ---- One writer at a time ---- */

static void expect_busy(const char *path, pid_t holder) {
    struct idx_writer *writer;
    char host[256], expected[512];
    assert_int_equal(gethostname(host, sizeof host), 0);
    assert_status(IDX_BUSY, idx_writer_open(&writer, path, NULL, &failure));
    snprintf(expected, sizeof expected, "%s: is being written to by process %ld on host %s: %s", path, (long)holder,
             host, holder == getpid() ? "that is this one, which has to close its writer first" : "wait until it ends");
    assert_string_equal(failure.sentence, expected);
}

static void test_second_writer(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_item item = item_of(BASE);
    struct idx_writer *other;
    int pipe_ends[2];
    char byte;
    assert_status(IDX_NOT_FOUND, idx_writer_open(&other, path, NULL, &failure));
    assert_int_equal(mkdir(path, 0777), 0);
    assert_status(IDX_NOT_AN_INDEX, idx_writer_open(&other, path, NULL, &failure));
    assert_int_equal(count_entries(path), 0);
    assert_int_equal(rmdir(path), 0);
    build_at(path, false);
    struct idx_writer *writer = open_writer(path);
    expect_busy(path, getpid());
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
    idx_writer_close(writer);
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (idx_writer_open(&writer, path, NULL, NULL) != IDX_OK) _exit(1);
        if (write(pipe_ends[1], "x", 1) != 1) _exit(1);
        pause();
    }
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
    expect_busy(path, child);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_true(waitpid(child, NULL, 0) == child);
    writer = open_writer(path);
    write_file(path_in(path, "writer.lock"), "1 \x1b[31m\n", 8);
    assert_status(IDX_BUSY, idx_writer_open(&other, path, NULL, &failure));
    assert_non_null(strstr(failure.sentence, ": is being written to already: wait"));
    idx_writer_close(writer);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

/* Two processes that open it in turn, each as soon as the other lets it, and add one document each time. */
static int add_in_turn(const char *path, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; i++) {
        struct idx_item item = item_of(i);
        struct idx_writer *writer;
        enum idx_status status;
        while ((status = idx_writer_open(&writer, path, NULL, NULL)) == IDX_BUSY) sched_yield();
        if (status != IDX_OK || idx_writer_add(writer, &item, 1, NULL) != IDX_OK) return 1;
        idx_writer_close(writer);
    }
    return 0;
}

static void test_writers_in_turn(void **state) {
    const char *path = path_in(*state, "i");
    uint64_t each = scale(300);
    int status;
    build_at(path, false);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(add_in_turn(path, BASE, BASE + each));
    assert_int_equal(add_in_turn(path, BASE + each, BASE + 2 * each), 0);
    assert_true(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    for (uint64_t i = 0; i < 2 * each; i++) assert_true(holds(index, BASE + i));
    idx_close(index);
}

/* Who shares the lock does so for a moment, which a writer that opens waits for. */
static void *unlock_soon(void *context) {
    usleep(50000);
    close(*(int *)context);
    return NULL;
}

static void test_shared_lock(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_writer *other;
    pthread_t thread;
    build_at(path, false);
    int lock = open(path_in(path, "writer.lock"), O_RDWR | O_CREAT, 0666);
    assert_int_equal(flock(lock, LOCK_SH), 0);
    assert_int_equal(pthread_create(&thread, NULL, unlock_soon, &lock), 0);
    struct idx_writer *writer = open_writer(path);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_status(IDX_BUSY, idx_writer_open(&other, path, NULL, &failure));
    idx_writer_close(writer);
}

/* Compacts until the pipe is closed. Returns an exit status. */
static int compact_on_and_on(const char *path, int go_on) {
    char byte;
    do {
        if (idx_compact(path, NULL, NULL, NULL) != IDX_OK) return 1;
    } while (read(go_on, &byte, 1) != 0);
    return 0;
}

/* A writer that opens is never told of one that is none, but trims the log. */
static void test_writers_beside_compactions(void **state) {
    const char *path = path_in(*state, "i");
    uint64_t count = scale(500);
    int pipe_ends[2], status;
    build_at(path, false);
    assert_int_equal(pipe2(pipe_ends, O_NONBLOCK), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(pipe_ends[1]);
        _exit(compact_on_and_on(path, pipe_ends[0]));
    }
    for (uint64_t i = 0; i < count; i++) add_items(path, BASE + i, BASE + i + 1);
    close(pipe_ends[1]);
    assert_true(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    close(pipe_ends[0]);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    for (uint64_t i = 0; i < BASE + count; i++) assert_true(holds(index, i));
    idx_close(index);
}

/* ---- What can't be done ---- */

static void test_arguments(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(32, 2, "4");
    uint64_t fingerprint = UINT64_C(1) << 32;
    struct idx_item items[] = {{.fingerprint = 1, .id = "a", .id_length = 1}, {.fingerprint = fingerprint}};
    size_t counts[2];
    build_index(path, &options, NULL, 0);
    struct idx_writer *writer = open_writer(path);
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_add(writer, items, 2, &failure));
    assert_status(IDX_INVALID_ARGUMENT, check_and_add(writer, items, 2, 2, NULL, 0, counts, &failure));
    assert_status(IDX_BAD_DISTANCE, check_and_add(writer, items, 1, 3, NULL, 0, counts, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, items, 2, NULL, &failure));
    assert_status(IDX_INVALID_ARGUMENT, remove_by_fingerprint(writer, &fingerprint, 1, NULL, &failure));
    items[1] = (struct idx_item){.fingerprint = 2, .id = items, .id_length = 16777216};
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_add(writer, items, 2, &failure));
    assert_string_equal(failure.sentence, "an ID of 16777216 bytes is too long: the maximum is 16777215");
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    assert_int_equal(properties.pending_documents, 0);
    idx_close(index);
    assert_ok(idx_writer_add(writer, items, 1, &failure));
    idx_writer_close(writer);
}

static int play_read_only(const char *folder) {
    char path[4096];
    struct idx_index *index, *newer;
    struct idx_writer *writer;
    snprintf(path, sizeof path, "%s/i", folder);
    if (!mount_read_only(folder)) return CANNOT;
    EXPECT(idx_open(&index, path, NULL, &failure) == IDX_OK);
    EXPECT(holds_up_to(index, BASE + 3));
    EXPECT(idx_refresh(index, &newer, &failure) == IDX_OK && newer == NULL);
    EXPECT(idx_verify(path, NULL, NULL, &failure) == IDX_OK);
    EXPECT(idx_writer_open(&writer, path, NULL, &failure) == IDX_NO_ACCESS);
    idx_close(index);
    return 0;
}

static void test_read_only(void **state) {
    build_at(path_in(*state, "i"), false);
    add_items(path_in(*state, "i"), BASE, BASE + 3);
    play_apart(play_read_only, *state);
}

/* Adds until the disk is full: nothing of the call that failed is there, and it goes on when there is room. */
static int play_full_disk(const char *folder) {
    static struct idx_item items[100];
    static size_t counts[LENGTH(items)];
    char small[4096], from[4096], path[4096], ballast[4096];
    struct idx_writer *writer;
    struct idx_index *index, *newer;
    uint64_t count = 0;
    snprintf(small, sizeof small, "%s/small", folder);
    snprintf(path, sizeof path, "%s/small/i", folder);
    snprintf(from, sizeof from, "%s/i", folder);
    snprintf(ballast, sizeof ballast, "%s/small/ballast", folder);
    if (mkdir(small, 0777) != 0 || !mount_small(small, 4 << 20)) return CANNOT;
    copy_folder(from, path);
    write_file(ballast, items, sizeof items);
    EXPECT(truncate(ballast, 0) == 0);
    int file = open(ballast, O_WRONLY | O_CLOEXEC);
    EXPECT(file >= 0 && posix_fallocate(file, 0, 3 << 20) == 0);
    close(file);
    EXPECT(idx_open(&index, path, NULL, &failure) == IDX_OK);
    EXPECT(idx_writer_open(&writer, path, NULL, &failure) == IDX_OK);
    enum idx_status status = IDX_OK;
    while (status == IDX_OK && count < 100000) {
        for (size_t i = 0; i < LENGTH(items); i++) items[i] = item_of(BASE + count + i);
        status = idx_writer_add(writer, items, LENGTH(items), &failure);
        if (status == IDX_OK) count += LENGTH(items);
    }
    EXPECT(status == IDX_DISK_FULL);
    EXPECT(count > 0);
    EXPECT(holds_up_to(idx_writer_view(writer), BASE + count));
    EXPECT(idx_refresh(index, &newer, &failure) == IDX_OK && newer != NULL);
    EXPECT(holds_up_to(newer, BASE + count));
    idx_close(newer);
    EXPECT(unlink(ballast) == 0);
    for (size_t matches = 0; matches < 3; matches++) { /* none of them is there at first */
        EXPECT(check_and_add(writer, items, LENGTH(items), 0, NULL, 0, counts, &failure) == IDX_OK);
        for (size_t i = 0; i < LENGTH(items); i++) EXPECT(counts[i] == (matches > 0));
    }
    count += LENGTH(items);
    idx_writer_close(writer);
    EXPECT(idx_refresh(index, &newer, &failure) == IDX_OK && newer != NULL);
    EXPECT(holds_up_to(newer, BASE + count));
    idx_close(newer);
    idx_close(index);
    return 0;
}

static void test_full_disk(void **state) {
    build_at(path_in(*state, "i"), false);
    play_apart(play_full_disk, *state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_threads),
        in_folder(test_processes),
        in_folder(test_new_logs),
        in_folder(test_shared_lock),
        in_folder(test_writers_beside_compactions),
        in_folder(test_what_views_share),
        in_folder(test_compacted),
        in_folder(test_kept),
        in_folder(test_texts),
        in_folder(test_long_texts),
        in_folder(test_text_overwritten),
        in_folder(test_other_log),
        in_folder(test_lost_records),
        in_folder(test_two_logs_later),
        in_folder(test_built_anew),
        in_folder(test_restored),
        in_folder(test_damaged_log),
        in_folder(test_not_built_anew),
        in_folder(test_second_writer),
        in_folder(test_writers_in_turn),
        in_folder(test_arguments),
        in_folder(test_read_only),
        in_folder(test_another_under_the_writer),
        in_folder(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
