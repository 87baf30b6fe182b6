/* disk.c: tests of what is read of an index that is opened with IDX_RESIDENCE_DISK: little for each question. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define PAGE 4096
#define COUNT 400000

/* ---- What the disk is asked for ---- */

static size_t calls, bytes;

int __real_madvise(void *begin, size_t length, int advice);
int __wrap_madvise(void *begin, size_t length, int advice);

int __wrap_madvise(void *begin, size_t length, int advice) {
    calls += advice == MADV_WILLNEED;
    bytes += advice == MADV_WILLNEED ? length : 0;
    return __real_madvise(begin, length, advice);
}

static struct set build_uniform(const char *path, enum idx_id_type id_type) {
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    struct set set = make_set(SHAPE_UNIFORM, 64, COUNT, 1);
    options.id_type = id_type;
    build_index(path, &options, set.items, set.count);
    return set;
}

static struct idx_index *open_asked(const char *path) {
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DISK);
    calls = bytes = 0;
    return index;
}

/* The blocks of `tables` tables of `index` were asked for, some hundred KiB at a time. */
static void expect_all_asked(const struct idx_index *index, size_t tables) {
    struct idx_table_properties table;
    assert_ok(idx_get_table_properties(index, 0, 0, &table, &failure));
    size_t all = tables * (size_t)table.blocks * table.block_size;
    assert_in_range(bytes, all, all + all / 8);
    assert_in_range(calls, all >> 19, all >> 16);
}

struct matches {
    size_t count;
    uint64_t sum;
};

static bool add_match(void *context, size_t query, const struct idx_match *found, size_t count) {
    struct matches *matches = context;
    matches->count += count;
    for (size_t i = 0; i < count; i++) matches->sum += found[i].fingerprint * (2 * query + 1);
    return true;
}

static struct matches answer(const struct idx_index *index, const struct set *set, size_t count,
                             enum idx_batch_method method) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct matches matches = {0, 0};
    options.method = method;
    assert_ok(idx_batch(index, set->items, count, &options, add_match, &matches, &failure));
    return matches;
}

/* Tables are read from end to end, not probed, which would ask for a page of each probe. */
static void test_many_queries_read_in_order(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = build_uniform(path, IDX_ID_NONE);
    struct idx_index *mapped = open_index(path, IDX_RESIDENCE_DIRECTORY), *index = open_asked(path);
    struct matches expected = answer(mapped, &set, COUNT / 400, IDX_BATCH_PROBE);
    struct matches merged = answer(index, &set, COUNT / 400, IDX_BATCH_SWEEP);
    expect_all_asked(index, 2);
    assert_memory_equal(&merged, &expected, sizeof merged);
    calls = bytes = 0;
    struct matches streamed = answer(index, &set, COUNT / 400, IDX_BATCH_STREAM);
    assert_in_range(bytes, 1, SIZE_MAX);
    assert_memory_equal(&streamed, &expected, sizeof streamed);
    idx_close(mapped);
    idx_close(index);
    free_set(&set);
}

static bool take(void *context, const uint64_t *fingerprints, size_t count) {
    (void)fingerprints;
    *(size_t *)context += count;
    return true;
}

static void test_all_fingerprints_are_read_in_order(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = build_uniform(path, IDX_ID_NONE);
    size_t visited = 0;
    struct idx_index *index = open_asked(path);
    assert_ok(idx_visit_part(index, 0, 1, take, &visited, &failure));
    assert_int_equal(visited, set.count);
    expect_all_asked(index, 1);
    idx_close(index);
    free_set(&set);
}

/* Few queries are no reason to read all. */
static void test_few_queries_read_few_pages(void **state) {
    const char *path = path_in(*state, "i");
    struct set set = build_uniform(path, IDX_ID_NONE);
    struct idx_index *index = open_asked(path);
    assert_true(answer(index, &set, 3, IDX_BATCH_AUTO).count >= 3);
    assert_in_range(bytes, 3 * 2 * PAGE, 3 * 64 * 2 * PAGE);
    idx_close(index);
    free_set(&set);
}

/* ---- Documents ---- */

/* Pages of a file that are in memory; `drops` tries to have none. */
static size_t count_resident(const char *path, bool drops, size_t *pages) {
    static unsigned char resident[COUNT];
    struct stat status;
    size_t count = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(file, &status), 0);
    *pages = (size_t)status.st_size / PAGE;
    assert_in_range(*pages, 1, LENGTH(resident));
    if (drops) assert_true(fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
    void *map = mmap(NULL, *pages * PAGE, PROT_READ, MAP_SHARED, file, 0);
    assert_true(map != MAP_FAILED && mincore(map, *pages * PAGE, resident) == 0);
    for (size_t i = 0; i < *pages; i++) count += resident[i] & 1;
    munmap(map, *pages * PAGE);
    close(file);
    return count;
}

/* The way through the tree of docs.mdb, and what opening it read: not what stands around these. */
static void test_a_document_takes_few_pages(void **state) {
    const char *path = path_in(*state, "i"), *map = path_in(path, "000001/docs.mdb");
    struct idx_documents *documents;
    struct idx_document document;
    size_t pages;
    bool found;
    struct set set = build_uniform(path, IDX_ID_U64);
    if (count_resident(map, true, &pages) > 0) {
        print_message("this file system keeps its files in memory\n");
        free_set(&set);
        skip();
    }
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DISK);
    assert_ok(idx_documents_open(&documents, index, &failure));
    for (size_t i = 0; i < 3; i++) {
        size_t place = i * (set.count / 3);
        assert_ok(idx_documents_find(documents, set.items[place], NULL, &failure));
        assert_ok(idx_documents_next(documents, &document, &found, &failure));
        assert_true(found);
        assert_int_equal(document.number, place);
    }
    assert_in_range(count_resident(map, false, &pages), 3, 16);
    assert_in_range(pages, 500, COUNT);
    idx_documents_close(documents);
    idx_close(index);
    free_set(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_many_queries_read_in_order), in_folder(test_all_fingerprints_are_read_in_order),
        in_folder(test_few_queries_read_few_pages), in_folder(test_a_document_takes_few_pages)};
    setenv("TMPDIR", "/var/tmp", 0); /* not in memory, where files stay */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
