/* readers.c: readers at work beside a writer: threads of its own process and other processes, which look up all the
 * while and refresh, each at a pace of its own; and a compaction after the other. Documents are added and removed in an
 * order that all know, so that every answer can be told right from wrong: what was acknowledged before a view was taken
 * is there, calls are there whole or not at all, and a view stays what it was. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define BASE 2000  /* documents that are built */
#define CALL 8     /* documents that are added by a call; then as many of the oldest are removed by another one */
#define CALLS 2000 /* of either */
#define LAG 100    /* calls between adding a document and removing it */
#define THREADS 4
#define PROCESSES 2
#define K 3

/* How far the writer is: calls of either kind that have begun, and that have returned. In memory that all share. */
struct progress {
    atomic_size_t adding, added, removing, removed;
    atomic_bool ended;
};

static struct progress *progress;
static const char *path;

/* Of document i; each is far from all others. */
static uint64_t fingerprint_of(size_t i) {
    uint64_t seed = i;
    return next_random(&seed);
}

/* ---- Readers, of which some are processes of their own: no assertions ---- */

struct reader {
    struct idx_index *index;
    struct idx_documents *cursor;
    struct idx_error error;
    uint64_t seed;
    size_t added, removed; /* calls, as the view has them */
    const char *fault;
};

static bool complain(struct reader *reader, const char *fault) {
    reader->fault = fault;
    return false;
}

/* Whether a document is there. */
static bool look_up(struct reader *reader, size_t i, bool *there) {
    struct idx_match match;
    size_t count;
    uint64_t query = fingerprint_of(i) ^ UINT64_C(1) << next_random(&reader->seed) % 64;
    if (idx_lookup(reader->index, query, K, &match, 1, &count, &reader->error) != IDX_OK)
        return complain(reader, reader->error.sentence);
    *there = count > 0;
    if (count > 1 || (count == 1 && match.fingerprint != fingerprint_of(i))) return complain(reader, "a wrong match");
    return true;
}

static bool check_document(struct reader *reader, size_t i) {
    struct idx_document document;
    uint64_t count;
    bool found;
    if (idx_documents_find(reader->cursor, fingerprint_of(i), &count, &reader->error) != IDX_OK ||
        idx_documents_next(reader->cursor, &document, &found, &reader->error) != IDX_OK)
        return complain(reader, reader->error.sentence);
    return (count == 1 && found && document.number == i) || complain(reader, "a wrong document");
}

/* Documents of added calls; those of the build come before them. */
static size_t first_of(size_t call) { return BASE + call * CALL; }

/* How many calls, from `low` to `high`, the view has, where each call's documents are there or not as `there` says. */
static bool count_calls(struct reader *reader, size_t base, size_t low, size_t high, bool there, size_t *calls) {
    for (*calls = low; *calls < high; ++*calls) {
        size_t having = 0;
        for (size_t i = 0; i < CALL; i++) {
            bool is_there;
            if (!look_up(reader, base + *calls * CALL + i, &is_there)) return false;
            having += is_there == there;
        }
        if (having != 0 && having != CALL) return complain(reader, "half of a call");
        if (having == 0) break;
    }
    return true;
}

/* Finds out what a new view has: at least what had been acknowledged before, and nothing that had not begun after. */
static bool survey(struct reader *reader, size_t added, size_t removed) {
    size_t adding = progress->adding, removing = progress->removing;
    bool there = true;
    if (!count_calls(reader, 0, removed, removing, false, &reader->removed)) return false;
    /* What was added may be removed by now. */
    size_t gone = reader->removed * CALL;
    if (gone > first_of(added)) added = (gone - BASE) / CALL;
    if (!count_calls(reader, BASE, added, adding, true, &reader->added)) return false;
    if (first_of(added) > gone && !look_up(reader, first_of(added) - 1, &there)) return false;
    return there || complain(reader, "what was acknowledged is not there");
}

static bool renew(struct reader *reader) {
    size_t added = progress->added, removed = progress->removed;
    struct idx_index *newer;
    enum idx_status status = reader->index == NULL || next_random(&reader->seed) % 50 == 0
                                 ? idx_open(&newer, path, NULL, &reader->error)
                                 : idx_refresh(reader->index, &newer, &reader->error);
    if (status != IDX_OK) return complain(reader, reader->error.sentence);
    if (newer == NULL)
        return reader->added >= added && reader->removed >= removed ? true : complain(reader, "no newer view");
    idx_documents_close(reader->cursor);
    idx_close(reader->index);
    reader->index = newer;
    reader->cursor = NULL;
    if (idx_documents_open(newer, &reader->cursor, &reader->error) != IDX_OK)
        return complain(reader, reader->error.sentence);
    return survey(reader, added, removed);
}

/* Looks some documents up, the view being as it was. */
static bool read_some(struct reader *reader) {
    for (size_t i = 0; i < 40; i++) {
        size_t document = (size_t)(next_random(&reader->seed) % first_of(CALLS));
        bool there, expected = document >= reader->removed * CALL && document < first_of(reader->added);
        if (!look_up(reader, document, &there)) return false;
        if (there != expected) return complain(reader, there ? "a document too many" : "a document is missing");
        if (there && !check_document(reader, document)) return false;
    }
    return true;
}

/* Until the writer has ended, and once more. Returns NULL, or what was wrong. */
static const char *read_all(uint64_t seed) {
    struct reader reader = {.seed = seed};
    bool last, good = true;
    do {
        last = progress->ended;
        good = renew(&reader);
        for (size_t i = next_random(&reader.seed) % 4; good && i > 0; i--) good = read_some(&reader);
    } while (good && !last);
    if (good && (reader.added != CALLS || reader.removed != CALLS - LAG))
        complain(&reader, "the last view lacks something");
    if (reader.fault != NULL) print_error("a reader: %s\n", reader.fault);
    idx_documents_close(reader.cursor);
    idx_close(reader.index);
    return reader.fault;
}

static void *read_as_thread(void *seed) { return (void *)(uintptr_t)read_all((uint64_t)(uintptr_t)seed); }

static pid_t start_process(uint64_t seed) {
    pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) _exit(read_all(seed) == NULL ? 0 : 1);
    return process;
}

/* ---- The writer ---- */

static void build(void) {
    struct idx_build_options options = options_for(64, K, "4");
    struct idx_builder *builder;
    options.id_type = IDX_ID_U64;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < BASE; i++) assert_ok(idx_builder_add_u64(builder, fingerprint_of(i), i, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_free(builder);
}

static void make_items(struct idx_item *items, size_t first) {
    for (size_t i = 0; i < CALL; i++)
        items[i] = (struct idx_item){.fingerprint = fingerprint_of(first + i), .number = first + i};
}

static void add_call(struct idx_writer *writer, size_t call) {
    struct idx_item items[CALL];
    size_t counts[CALL];
    make_items(items, first_of(call));
    progress->adding = call + 1;
    if (call % 2 == 0)
        assert_ok(idx_writer_add(writer, items, CALL, &failure));
    else
        assert_ok(idx_writer_check_and_add(writer, items, CALL, K, NULL, 0, counts, &failure));
    for (size_t i = 0; i < CALL && call % 2 == 1; i++) assert_int_equal(counts[i], 0);
    progress->added = call + 1;
}

static void remove_call(struct idx_writer *writer, size_t call) {
    struct idx_item items[CALL];
    struct idx_removal removal;
    make_items(items, call * CALL);
    progress->removing = call + 1;
    assert_ok(idx_writer_remove(writer, items, CALL, &removal, &failure));
    assert_int_equal(removal.documents, CALL);
    progress->removed = call + 1;
}

static void write_all(size_t calls) {
    struct idx_writer *writer;
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    for (size_t call = 0; call < calls; call++) {
        add_call(writer, call);
        if (call >= LAG) remove_call(writer, call - LAG);
    }
    idx_writer_close(writer);
    progress->ended = true;
}

/* Compacts, one time after the other, until the writer has ended, in a thread beside it. */
static void *compact_on(void *context) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    struct idx_error error;
    options.memory_bytes = (uint64_t)64 << 20;
    for (size_t i = 0; !progress->ended; i++) {
        options.all = i % 4 == 3;
        if (idx_compact(path, &options, NULL, &error) == IDX_OK) continue;
        print_error("compacting: %s\n", error.sentence);
        return context;
    }
    return NULL;
}

static void test_readers(void **state) {
    pthread_t threads[THREADS], compactor;
    void *fault;
    pid_t processes[PROCESSES];
    path = path_in(*state, "x.idx");
    build();
    for (size_t i = 0; i < PROCESSES; i++) processes[i] = start_process(i + 1);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_as_thread, (void *)(uintptr_t)(PROCESSES + i + 1)), 0);
    assert_int_equal(pthread_create(&compactor, NULL, compact_on, state), 0);
    write_all(CALLS);
    assert_int_equal(pthread_join(compactor, &fault), 0);
    assert_null(fault);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &fault), 0);
        assert_null(fault);
    }
    for (size_t i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(processes[i], &status, 0), processes[i]);
        assert_int_equal(status, 0);
    }
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

int main(void) {
    const struct CMUnitTest tests[] = {in_folder(test_readers)};
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
