/* text_records.c: tests of texts in the log of an index with sets: after a kill or a cut of power, a batch of texts is
 * there as a whole or not at all, whatever their sizes; and readers go on beside compactions. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/log.h"
#include "libidx/log/log_reader.h"
#include "tests/libidx/support.h"
#include "tests/random.h"

enum { SKETCH = 4, BATCH = 5, MOST = 100000 };

/* ---- Texts, each given by its number ---- */

/* Of one to a few members more than a sketch, sometimes of some pages. */
static size_t size_of(uint64_t number) { return number % 37 == 3 ? 1500 : 1 + number % 7; }

/* Members are different ones for each text. */
static struct idx_set set_of(uint64_t number, size_t size) {
    static uint64_t members[BATCH][MOST];
    uint64_t *own = members[number % BATCH];
    for (size_t i = 0; i < size; i++) own[i] = number << 20 | i << 1;
    return (struct idx_set){own, size};
}

static bool is_text, is_checked[1 << 16];

static struct idx_item item_of(uint64_t number, char id[32]) {
    struct idx_item item = {.number = number};
    if (is_text) item = (struct idx_item){.id = id, .id_length = write_id(id, (size_t)number)};
    return item;
}

static enum idx_status add_batch(struct idx_writer *writer, uint64_t first) {
    struct idx_item items[BATCH];
    struct idx_set sets[BATCH];
    char ids[BATCH][32];
    for (uint64_t i = 0; i < BATCH; i++) {
        items[i] = item_of(first + i, ids[i]);
        sets[i] = set_of(first + i, size_of(first + i));
    }
    return idx_writer_add_texts(writer, items, sets, BATCH, &failure);
}

static enum idx_status remove_text(struct idx_writer *writer, uint64_t number) {
    struct idx_removal removal;
    char id[32];
    struct idx_item item = item_of(number, id);
    return idx_writer_remove(writer, IDX_REMOVE_IDS, &item, 1, &removal, &failure);
}

/* Checks a text that is visited, and notes its number. */
static bool see_text(void *context, const struct idx_document *document, const struct idx_set *set) {
    uint64_t *count = context, number = document->number;
    char id[32] = "";
    if (is_text) memcpy(id, document->id, document->id_length < 31 ? document->id_length : 31);
    if (is_text) number = strtoull(id, NULL, 10);
    struct idx_set expected = set_of(number, size_of(number));
    assert_true(number < LENGTH(is_checked));
    assert_false(is_checked[number]);
    is_checked[number] = true;
    assert_int_equal(set->count, expected.count);
    assert_memory_equal(set->hashes, expected.hashes, set->count * sizeof *set->hashes);
    ++*count;
    return true;
}

static bool is_found(const struct idx_index *index, uint64_t number) {
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    struct idx_resembling_lists lists;
    struct idx_set set = set_of(number, size_of(number));
    assert_ok(idx_list_resembling(index, &set, 1, &options, &lists, &failure));
    bool found = lists.offsets[1] == 1 && lists.documents[0].shared == set.count;
    assert_int_equal(lists.offsets[1], found);
    idx_resembling_lists_close(&lists);
    return found;
}

/* Checks that a view has all texts with numbers below the one returned, and no others, but for those that are removed:
 * each seventh one. Some of them are looked up. */
static uint64_t count_texts(const struct idx_index *index, uint64_t removed_below) {
    uint64_t count = 0, number = 0;
    memset(is_checked, 0, sizeof is_checked);
    assert_ok(idx_visit_sets(index, see_text, &count, &failure));
    for (; count > 0; number++) {
        bool is_removed = number % 7 == 6 && number < removed_below;
        assert_int_equal(is_checked[number], !is_removed);
        if (number % 11 == 0 || number % 7 == 6) assert_int_equal(is_found(index, number), !is_removed);
        count -= is_checked[number];
    }
    if (number % 7 == 6 && number < removed_below) number++; /* the last one is removed */
    assert_false(is_found(index, number));
    return number;
}

static void build(const char *path) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    options.k = 0;
    options.sketch = SKETCH;
    options.id_type = is_text ? IDX_ID_TEXT : IDX_ID_U64;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

static uint64_t count_texts_at(const char *path, uint64_t removed_below) {
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    uint64_t count = count_texts(index, removed_below);
    idx_close(index);
    return count;
}

/* ---- Cuts of power ---- */

/* A frame of texts of which only some sectors reached the disk, or all: none of its texts is there, or all are, and the
 * next batch takes the place of a torn one. */
static void check_cuts(const char *path) {
    const char *file = path_in(path, IDXI_LOG_NAME);
    size_t size, later;
    uint64_t seed = 1;
    build(path);
    struct idx_writer *writer = open_simple_writer(path);
    assert_ok(add_batch(writer, 0));
    assert_ok(add_batch(writer, BATCH));
    uint8_t *before = read_file(file, &size);
    assert_ok(add_batch(writer, 2 * BATCH));
    uint8_t *after = read_file(file, &later), *torn = malloc(size);
    assert_int_equal(size, later);
    const char *manifest_path = path_in(path, "manifest");
    uint8_t *manifest = read_file(manifest_path, &later);
    memcpy(after, before, IDXF_LOG_FRAMES); /* slots are synced with the next frame */
    for (size_t cut = 0; cut < scale(200); cut++) {
        bool whole = true;
        for (size_t at = 0; at < size; at += 512) {
            size_t length = size - at < 512 ? size - at : 512;
            bool is_lost = cut > 0 && next_random(&seed) % 3 == 0;
            memcpy(torn + at, is_lost ? before + at : after + at, length);
            whole = whole && memcmp(torn + at, after + at, length) == 0;
        }
        write_file(file, torn, size);
        write_file(manifest_path, manifest, later);
        assert_int_equal(count_texts_at(path, 0), whole ? 3 * BATCH : 2 * BATCH);
        assert_ok(idx_verify(path, NULL, NULL, &failure));
        struct idx_writer *next;
        idx_writer_close(writer);
        write_file(file, torn, size); /* without what closing wrote */
        write_file(manifest_path, manifest, later);
        assert_ok(idx_writer_open(&next, path, NULL, &failure));
        writer = next;
        assert_ok(add_batch(writer, whole ? 3 * BATCH : 2 * BATCH));
        assert_int_equal(count_texts(idx_writer_view(writer), 0), whole ? 4 * BATCH : 3 * BATCH);
        assert_int_equal(count_texts_at(path, 0), whole ? 4 * BATCH : 3 * BATCH);
    }
    idx_writer_close(writer);
    free(manifest);
    free(before);
    free(after);
    free(torn);
}

static void test_cuts(void **folder) {
    for (int i = 0; i < 2; i++) {
        is_text = i == 1;
        check_cuts(path_in(*folder, "cut-%d", i));
    }
}

/* ---- Kills ---- */

struct shared {
    _Atomic uint64_t added, removed_below; /* acknowledged */
    _Atomic uint64_t removing_below;       /* begun */
};

/* Adds batches, removes each seventh text, and compacts all the while. Never returns. */
static void grow_all_the_while(const char *path, struct shared *shared) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_writer *writer;
    options.compact_records = 200;
    options.compact_segments = 3;
    if (idx_writer_open(&writer, path, &options, &failure) != IDX_OK) _exit(3);
    for (uint64_t at = shared->added;; at += BATCH) {
        if (add_batch(writer, at) != IDX_OK) _exit(4);
        shared->added = at + BATCH;
        for (uint64_t number = shared->removed_below; number < at + BATCH; number++) {
            shared->removing_below = number + 1;
            if (number % 7 == 6 && remove_text(writer, number) != IDX_OK) _exit(5);
            shared->removed_below = number + 1;
        }
    }
}

/* Finishes the removal that was under way, so that what is there is known; it may have been done. */
static void finish_removal(const char *path, struct shared *shared) {
    struct idx_writer *writer = open_simple_writer(path);
    for (; shared->removed_below < shared->removing_below; shared->removed_below++)
        if (shared->removed_below % 7 == 6) assert_ok(remove_text(writer, shared->removed_below));
    idx_writer_close(writer);
}

static void check_kills(const char *path) {
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t seed = 5;
    assert_true(shared != MAP_FAILED);
    build(path);
    for (size_t i = 0; i < scale(60) && shared->added + 4000 < LENGTH(is_checked); i++) {
        int status;
        uint64_t before = shared->added;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) grow_all_the_while(path, shared);
        while (i % 2 == 0 && shared->added == before) {
            assert_int_equal(waitpid(child, &status, WNOHANG), 0);
            usleep(1000);
        }
        usleep((useconds_t)(next_random(&seed) % 20000));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* it met no error of its own */
        finish_removal(path, shared);
        uint64_t count = count_texts_at(path, shared->removed_below);
        assert_true(count == shared->added || count == shared->added + BATCH);
        assert_ok(idx_verify(path, NULL, NULL, &failure));
        shared->added = count;
    }
    assert_true(shared->added > 0);
    munmap(shared, sizeof *shared);
}

static void test_kills(void **folder) {
    for (int i = 0; i < 2; i++) {
        is_text = i == 1;
        check_kills(path_in(*folder, "killed-%d", i));
    }
}

/* ---- Readers beside compactions ---- */

/* Views of all ages stay as they were, and are refreshed across compactions. */
static void check_readers(const char *path) {
    enum { VIEWS = 12 };
    struct idx_index *views[VIEWS], *newer;
    build(path);
    struct idx_writer *writer = open_simple_writer(path);
    for (size_t i = 0; i < VIEWS; i++) {
        views[i] = open_index(path, IDX_RESIDENCE_DIRECTORY);
        assert_ok(add_batch(writer, i * BATCH));
        if (i % 3 == 2) assert_ok(idx_compact(path, NULL, NULL, &failure));
        for (size_t j = 0; j <= i; j++) assert_int_equal(count_texts(views[j], 0), j * BATCH);
    }
    for (size_t i = 0; i < VIEWS; i++) {
        assert_int_equal(count_texts(views[i], 0), i * BATCH);
        assert_ok(idx_refresh(views[i], &newer, &failure));
        assert_non_null(newer);
        assert_int_equal(count_texts(newer, 0), VIEWS * BATCH);
        idx_close(views[i]);
        idx_close(newer);
    }
    idx_writer_close(writer);
}

static void test_readers(void **folder) {
    for (int i = 0; i < 2; i++) {
        is_text = i == 1;
        check_readers(path_in(*folder, "read-%d", i));
    }
}

/* ---- Sizes ---- */

static const size_t sizes[] = {1, SKETCH - 1, SKETCH, SKETCH + 1, MOST};

static bool see_size(void *context, const struct idx_document *document, const struct idx_set *set) {
    unsigned *seen = context;
    (void)document;
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        if (set->count != sizes[i]) continue;
        assert_memory_equal(set->hashes, set_of(i, sizes[i]).hashes, sizes[i] * sizeof *set->hashes);
        *seen += 1u << 2 * i;
    }
    return true;
}

static void check_sizes_of(const struct idx_index *index, unsigned expected) {
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    struct idx_resembling_lists lists;
    unsigned seen = 0;
    options.threshold = IDX_THRESHOLD_ONE;
    assert_ok(idx_visit_sets(index, see_size, &seen, &failure));
    assert_int_equal(seen, expected);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        struct idx_set set = set_of(i, sizes[i]);
        assert_ok(idx_list_resembling(index, &set, 1, &options, &lists, &failure));
        assert_int_equal(lists.offsets[1], expected >> 2 * i & 3);
        idx_resembling_lists_close(&lists);
    }
}

/* Adds texts of all sizes, with IDs from `first` on. */
static void add_sizes(struct idx_writer *writer, uint64_t first) {
    char id[32];
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        struct idx_item item = item_of(first + i, id);
        struct idx_set set = set_of(i, sizes[i]);
        assert_ok(idx_writer_add_texts(writer, &item, &set, 1, &failure));
    }
}

static void check_sizes(const char *path) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    build(path);
    struct idx_writer *writer = open_simple_writer(path);
    add_sizes(writer, 100);
    check_sizes_of(idx_writer_view(writer), 0x155);
    assert_ok(idx_compact(path, NULL, NULL, &failure));
    add_sizes(writer, 200);
    check_sizes_of(idx_writer_view(writer), 0x2aa);
    for (size_t i = 0; i < LENGTH(sizes); i++) assert_ok(remove_text(writer, 100 + i));
    check_sizes_of(idx_writer_view(writer), 0x155);
    idx_writer_close(writer);
    options.all = true;
    assert_ok(idx_compact(path, &options, NULL, &failure));
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DISK);
    check_sizes_of(index, 0x155);
    idx_close(index);
}

static void test_sizes(void **folder) {
    for (int i = 0; i < 2; i++) {
        is_text = i == 1;
        check_sizes(path_in(*folder, "sizes-%d", i));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {in_folder(test_cuts), in_folder(test_kills), in_folder(test_readers),
                                       in_folder(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
