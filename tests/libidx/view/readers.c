/* readers.c: readers at work beside a writer: threads of its own process and other processes, which look up all the
 * while and refresh, each at a pace of its own; a compaction after the other; and now and then a new build that takes
 * the index's place. Documents are added and removed in an order that all know, so that every answer can be told right
 * from wrong: what was acknowledged before a view was taken is there, calls are there whole or not at all, and a view
 * stays what it was, however old it gets. */
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
#define PERIOD 250 /* calls between two builds; each has the documents of that time, and a mark of its own */
#define MARKS ((size_t)1 << 40) /* document that is the mark of the first build */
#define THREADS 4
#define PROCESSES 2
#define K 3

/* How far the writer is: calls of either kind that have begun, and that have returned. In memory that all share. */
struct progress {
    atomic_size_t adding, added, removing, removed;
    atomic_size_t building, built; /* the same of builds behind the first one */
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

struct view {
    struct idx_index *index;
    struct idx_documents *cursor;
    size_t added, removed; /* calls, as it has them */
    size_t built;
};

struct reader {
    struct view view, elder; /* the latter is renewed seldom, and not by each build */
    struct idx_error error;
    uint64_t seed;
    const char *fault;
};

static bool complain(struct reader *reader, const char *fault) {
    reader->fault = fault;
    return false;
}

/* Whether a document is there. */
static bool look_up(struct reader *reader, const struct view *view, size_t i, bool *there) {
    struct idx_match match;
    size_t count;
    uint64_t query = fingerprint_of(i) ^ UINT64_C(1) << next_random(&reader->seed) % 64;
    if (idx_lookup(view->index, query, K, &match, 1, &count, &reader->error) != IDX_OK)
        return complain(reader, reader->error.sentence);
    *there = count > 0;
    if (count > 1 || (count == 1 && match.fingerprint != fingerprint_of(i))) return complain(reader, "a wrong match");
    return true;
}

static bool check_document(struct reader *reader, const struct view *view, size_t i) {
    struct idx_document document;
    uint64_t count;
    bool found;
    if (idx_documents_find(view->cursor, fingerprint_of(i), &count, &reader->error) != IDX_OK ||
        idx_documents_next(view->cursor, &document, &found, &reader->error) != IDX_OK)
        return complain(reader, reader->error.sentence);
    return (count == 1 && found && document.number == i) || complain(reader, "a wrong document");
}

/* Of the builds' marks a view has that of its own, and not those before and after. */
static bool check_marks(struct reader *reader, const struct view *view) {
    for (size_t i = view->built == 0 ? 0 : view->built - 1; i <= view->built + 1; i++) {
        bool there;
        if (!look_up(reader, view, MARKS + i, &there)) return false;
        if (there != (i == view->built)) return complain(reader, "the mark of another build");
    }
    return check_document(reader, view, MARKS + view->built);
}

/* Documents of added calls; those of the build come before them. */
static size_t first_of(size_t call) { return BASE + call * CALL; }

/* How many calls, from `low` to `high`, the view has, where each call's documents are there or not as `there` says. */
static bool count_calls(struct reader *reader, size_t base, size_t low, size_t high, bool there, size_t *calls) {
    for (*calls = low; *calls < high; ++*calls) {
        size_t having = 0;
        for (size_t i = 0; i < CALL; i++) {
            bool is_there;
            if (!look_up(reader, &reader->view, base + *calls * CALL + i, &is_there)) return false;
            having += is_there == there;
        }
        if (having != 0 && having != CALL) return complain(reader, "half of a call");
        if (having == 0) break;
    }
    return true;
}

/* Which build a view is of, by its recipe, which has a digit for each: at least that which had ended before. */
static bool survey_build(struct reader *reader, size_t built) {
    struct idx_properties properties;
    size_t building = progress->building;
    idx_get_properties(reader->view.index, &properties);
    reader->view.built = (size_t)strlen(properties.recipe) - 1;
    if (reader->view.built < built || reader->view.built > building) return complain(reader, "a wrong build");
    return check_marks(reader, &reader->view);
}

/* Finds out what a new view has: at least what had been acknowledged before, and nothing that had not begun after. */
static bool survey(struct reader *reader, size_t added, size_t removed) {
    struct view *view = &reader->view;
    size_t adding = progress->adding, removing = progress->removing;
    bool there = true;
    if (!count_calls(reader, 0, removed, removing, false, &view->removed)) return false;
    /* What was added may be removed by now. */
    size_t gone = view->removed * CALL;
    if (gone > first_of(added)) added = (gone - BASE) / CALL;
    if (!count_calls(reader, BASE, added, adding, true, &view->added)) return false;
    if (first_of(added) > gone && !look_up(reader, view, first_of(added) - 1, &there)) return false;
    return there || complain(reader, "what was acknowledged is not there");
}

static void close_view(struct view *view) {
    idx_documents_close(view->cursor);
    idx_close(view->index);
    *view = (struct view){0};
}

/* Takes the place of the newest view, which may become the elder one. */
static bool take_view(struct reader *reader, struct idx_index *newer) {
    struct view *leaving = reader->elder.index == NULL || next_random(&reader->seed) % 40 == 0 ? &reader->elder : NULL;
    if (leaving != NULL) {
        close_view(leaving);
        *leaving = reader->view;
    } else {
        close_view(&reader->view);
    }
    reader->view = (struct view){.index = newer};
    return idx_documents_open(&reader->view.cursor, newer, &reader->error) == IDX_OK ||
           complain(reader, reader->error.sentence);
}

static bool renew(struct reader *reader) {
    const struct view *view = &reader->view;
    size_t added = progress->added, removed = progress->removed, built = progress->built;
    struct idx_index *newer;
    enum idx_status status = view->index == NULL || next_random(&reader->seed) % 50 == 0
                                 ? idx_open(&newer, path, NULL, &reader->error)
                                 : idx_refresh(view->index, &newer, &reader->error);
    if (status != IDX_OK) return complain(reader, reader->error.sentence);
    if (newer != NULL) return take_view(reader, newer) && survey_build(reader, built) && survey(reader, added, removed);
    return (view->added >= added && view->removed >= removed && view->built >= built) ||
           complain(reader, "no newer view");
}

/* Looks some documents up, the view being as it was. */
static bool read_some(struct reader *reader, const struct view *view) {
    for (size_t i = 0; i < 40; i++) {
        size_t document = (size_t)(next_random(&reader->seed) % first_of(CALLS));
        bool there, expected = document >= view->removed * CALL && document < first_of(view->added);
        if (!look_up(reader, view, document, &there)) return false;
        if (there != expected) return complain(reader, there ? "a document too many" : "a document is missing");
        if (there && !check_document(reader, view, document)) return false;
    }
    return check_marks(reader, view);
}

/* Until the writer has ended, and once more. Returns NULL, or what was wrong. */
static const char *read_all(uint64_t seed) {
    struct reader reader = {.seed = seed};
    bool last, good = true;
    do {
        last = progress->ended;
        good = renew(&reader);
        for (size_t i = next_random(&reader.seed) % 4; good && i > 0; i--) good = read_some(&reader, &reader.view);
        if (good && reader.elder.index != NULL) good = read_some(&reader, &reader.elder);
    } while (good && !last);
    if (good && (reader.view.added != CALLS || reader.view.removed != CALLS - LAG))
        complain(&reader, "the last view lacks something");
    if (reader.fault != NULL) print_error("a reader: %s\n", reader.fault);
    close_view(&reader.elder);
    close_view(&reader.view);
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

/* Builds an index of the documents from `begin` to `end`, in place of what stands there. A compaction at work is waited
 * for. */
static void build(size_t number, size_t begin, size_t end) {
    char recipe[CALLS / PERIOD + 2] = {0};
    struct idx_build_options options = options_for(64, K, "4");
    enum idx_status status;
    options.id_type = IDX_ID_U64;
    options.replace = true;
    options.recipe = memset(recipe, '0', number + 1);
    do {
        struct idx_builder *builder;
        assert_ok(idx_builder_open(&builder, path, &options, &failure));
        assert_ok(idx_builder_add(
            builder, &(struct idx_item){.fingerprint = fingerprint_of(MARKS + number), .number = MARKS + number},
            &failure));
        for (size_t i = begin; i < end; i++)
            assert_ok(
                idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprint_of(i), .number = i}, &failure));
        status = idx_builder_finish(builder, NULL, &failure);
        idx_builder_close(builder);
    } while (status == IDX_BUSY);
    assert_ok(status);
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
        assert_ok(check_and_add(writer, items, CALL, K, NULL, 0, counts, &failure));
    for (size_t i = 0; i < CALL && call % 2 == 1; i++) assert_int_equal(counts[i], 0);
    progress->added = call + 1;
}

static void remove_call(struct idx_writer *writer, size_t call) {
    struct idx_item items[CALL];
    struct idx_removal removal;
    make_items(items, call * CALL);
    progress->removing = call + 1;
    assert_ok(idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, items, CALL, &removal, &failure));
    assert_int_equal(removal.documents, CALL);
    progress->removed = call + 1;
}

static void write_calls(size_t begin, size_t end) {
    struct idx_writer *writer;
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    for (size_t call = begin; call < end; call++) {
        add_call(writer, call);
        if (call >= LAG) remove_call(writer, call - LAG);
    }
    idx_writer_close(writer);
}

static void write_all(void) {
    for (size_t call = 0; call < CALLS; call += PERIOD) {
        if (call > 0) {
            progress->building++;
            build(progress->building, progress->removed * CALL, first_of(progress->added));
            progress->built++;
        }
        write_calls(call, call + PERIOD);
    }
    progress->ended = true;
}

/* Compacts, one time after the other, until the writer has ended, in a thread beside it. */
static void *compact_on(void *context) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    struct idx_error error;
    options.memory_bytes = (uint64_t)64 << 20;
    for (size_t i = 0; !progress->ended; i++) {
        options.all = i % 4 == 3;
        options.growth = 1;
        enum idx_status status = idx_compact(path, &options, NULL, &error);
        usleep(2000); /* now and then there is none, and a build may take the index's place */
        if (status == IDX_OK || status == IDX_BUSY) continue; /* when one does */
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
    build(0, 0, BASE);
    for (size_t i = 0; i < PROCESSES; i++) processes[i] = start_process(i + 1);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_as_thread, (void *)(uintptr_t)(PROCESSES + i + 1)), 0);
    assert_int_equal(pthread_create(&compactor, NULL, compact_on, state), 0);
    write_all();
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
