/* stack.c: calls take no more of the stack than idx.h says. Each is made on a thread whose stack was painted before:
 * what is no longer so was used. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/block.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#include <idx_planning.h>

#define LOOK_UP_BYTES ((size_t)16 << 10)
#define DISK_BYTES ((size_t)80 << 10)
#define ANY_BYTES ((size_t)256 << 10)

#define STACK_BYTES ((size_t)4 << 20)
#define PAINT 0xa5

/* ---- A painted stack ---- */

struct call {
    void (*call)(void *context);
    void *context;
};

static void *run(void *context) {
    const struct call *given = context;
    given->call(given->context);
    return NULL;
}

/* Returns the bytes of a stack that a call used, those of the thread itself included. */
static size_t paint_and_run(void (*call)(void *), void *context) {
    struct call given = {call, context};
    pthread_attr_t attributes;
    pthread_t thread;
    unsigned char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(stack != MAP_FAILED);
    memset(stack, PAINT, STACK_BYTES);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run, &given), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    size_t clean = 0;
    while (clean < STACK_BYTES && stack[clean] == PAINT) clean++;
    munmap(stack, STACK_BYTES);
    return STACK_BYTES - clean;
}

/* The call that failed, if one did. A test can only be failed on the thread that it began on. */
static const char *failed;

#define expect(status, call)                                                                                           \
    do {                                                                                                               \
        if ((call) != (status) && failed == NULL) failed = #call;                                                      \
    } while (0)

static void do_nothing(void *context) { (void)context; }

static void assert_stack(const char *name, size_t most, void (*call)(void *), void *context) {
    size_t own = paint_and_run(do_nothing, NULL), used = paint_and_run(call, context);
    if (failed != NULL) fail_msg("%s: %s: %s", name, failed, failure.sentence);
    if (getenv("STACK_BYTES") != NULL) print_message("%s: %zu bytes\n", name, used - own);
    if (used - own > most) fail_msg("%s used %zu bytes of the stack, more than %zu", name, used - own, most);
}

/* ---- Look-ups ---- */

/* Two segments, removed and pending documents, and so many matches of one query that they don't fit into what a search
 * keeps of them. */
static struct set ball;

static void fill(const char *path) {
    struct idx_build_options options = options_for(64, 3, "4");
    struct idx_compact_options compacting = IDX_COMPACT_OPTIONS_INIT;
    struct idx_writer_options writing = IDX_WRITER_OPTIONS_INIT;
    struct idx_item items[1000];
    struct idx_writer *writer;
    options.id_type = IDX_ID_U64;
    options.by_id = true;
    ball = make_ball(UINT64_C(0x123456789abcdef0), 64, 2);
    build_index(path, &options, ball.items, ball.count / 2);
    memset(items, 0, sizeof items);
    writing.compact_records = 0;
    compacting.growth = 0;
    for (size_t part = 0; part < 2; part++) {
        expect(IDX_OK, idx_writer_open(&writer, path, &writing, &failure));
        for (size_t i = 0; i < LENGTH(items); i++)
            items[i].fingerprint = items[i].number = ball.items[ball.count / 2 + LENGTH(items) / 2 * part + i];
        expect(IDX_OK, idx_writer_add(writer, items, LENGTH(items), &failure));
        expect(IDX_OK, remove_by_fingerprint(writer, ball.items + part, 1, NULL, &failure));
        idx_writer_close(writer);
        if (part == 0) expect(IDX_OK, idx_compact(path, &compacting, NULL, &failure));
    }
}

static struct idx_match matches[100 * 100];
static size_t counts[100];
static bool exists;

static bool go_on(void *context, const struct idx_match *match) {
    (void)match;
    ++*(size_t *)context;
    return true;
}

static void look_up(void *context) {
    size_t visited = 0;
    expect(IDX_OK, idx_lookup(context, ball.items[10], 3, matches, 100, counts, &failure));
    expect(IDX_OK, idx_lookup_many(context, ball.items, LENGTH(counts), NULL, matches, 100, counts, &failure));
    expect(IDX_OK, idx_visit_matches(context, ball.items[10], 3, go_on, &visited, &failure));
    expect(IDX_OK, idx_exists(context, ball.items[10], 1, &exists, &failure));
    if (!exists || visited <= IDXF_HITS) failed = "the matches are too few";
}

static void look_up_in_vain(void *context) {
    size_t count;
    expect(IDX_BAD_CHECKSUM, idx_lookup(context, ball.items[10], 3, NULL, 0, &count, &failure));
    expect(IDX_BAD_DISTANCE, idx_lookup(context, 0, 4, NULL, 0, &count, &failure));
}

static void test_look_ups(void **state) {
    static const enum idx_residence residences[] = {IDX_RESIDENCE_DIRECTORY, IDX_RESIDENCE_NONE, IDX_RESIDENCE_ALL,
                                                    IDX_RESIDENCE_UNPACKED};
    const char *path = path_in(*state, "i");
    fill(path);
    for (size_t i = 0; i < LENGTH(residences); i++) {
        struct idx_index *index = open_index(path, residences[i]);
        assert_stack("a look-up", LOOK_UP_BYTES, look_up, index);
        idx_close(index);
    }
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DISK);
    assert_stack("a look-up on a disk", DISK_BYTES, look_up, index);
    idx_close(index);
    free_set(&ball);
}

static void test_errors_of_look_ups(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(64, 3, "4");
    size_t size;
    options.id_type = IDX_ID_NONE;
    ball = make_ball(UINT64_C(0x123456789abcdef0), 64, 2);
    build_index(path, &options, ball.items, ball.count);
    for (int table = 0; table < 4; table++) {
        const char *file = path_in(path, "000001/table-%02d.tbl", table);
        uint8_t *bytes = read_file(file, &size);
        for (size_t at = 4096; at < size / 2; at += 512) bytes[at] ^= 1;
        write_file(file, bytes, size);
        free(bytes);
    }
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    assert_stack("a look-up that fails", LOOK_UP_BYTES, look_up_in_vain, index);
    idx_close(index);
    free_set(&ball);
}

/* ---- All other calls ---- */

static bool ignore_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    (void)context, (void)pairs, (void)count;
    return true;
}

static bool ignore_matches(void *context, size_t query, const struct idx_match *found, size_t count) {
    (void)context, (void)query, (void)found, (void)count;
    return true;
}

static bool ignore_member(void *context, const struct idx_cluster_member *member) {
    (void)context, (void)member;
    return true;
}

static const char *place, *other;
static struct idx_index *opened;

static void grow(void *context) {
    (void)context;
    fill(place);
}

static void open_and_verify(void *context) {
    (void)context;
    expect(IDX_OK, idx_verify(place, NULL, NULL, &failure));
    expect(IDX_OK, idx_open(&opened, place, NULL, &failure));
}

static void read_documents(void *context) {
    struct idx_match_lists match_lists;
    struct idx_document_lists lists;
    struct idx_documents *documents;
    size_t count, visited = 0;
    (void)context;
    expect(IDX_OK, idx_documents_open(&documents, opened, &failure));
    expect(IDX_OK, idx_documents_find(documents, ball.items[10], NULL, &failure));
    idx_documents_close(documents);
    expect(IDX_OK, idx_list_matches(opened, ball.items, 100, NULL, &match_lists, &failure));
    idx_match_lists_close(&match_lists);
    expect(IDX_OK, idx_list_documents(opened, ball.items, 100, NULL, &lists, &failure));
    idx_document_lists_close(&lists);
    expect(IDX_OK, idx_find_id(opened, &(struct idx_item){.number = 5}, NULL, 0, &count, &failure));
    expect(IDX_OK, idx_visit_all(opened, go_on, &visited, &failure));
}

static void compare(void *context) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct idx_stream *stream;
    (void)context;
    options.distance = 3;
    for (int method = IDX_BATCH_AUTO; method <= IDX_BATCH_STREAM; method++) {
        options.method = (enum idx_batch_method)method;
        expect(IDX_OK, idx_batch(opened, ball.items, 1000, &options, ignore_matches, NULL, &failure));
    }
    expect(IDX_OK, idx_stream_open(&stream, ball.items, 1000, 64, &options, &failure));
    expect(IDX_OK, idx_stream_add(stream, ball.items, ball.count, &failure));
    expect(IDX_OK, idx_stream_finish(stream, ignore_matches, NULL, &failure));
    idx_stream_close(stream);
    expect(IDX_OK, idx_pairs(opened, NULL, ignore_pairs, NULL, &failure));
    expect(IDX_OK, idx_join(opened, opened, NULL, ignore_pairs, NULL, &failure));
    expect(IDX_OK, idx_clusters(opened, NULL, ignore_member, NULL, NULL, &failure));
}

static void merge(void *context) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    (void)context;
    options.all = true;
    expect(IDX_OK, idx_merge(other, &place, 1, NULL, NULL, &failure));
    expect(IDX_OK, idx_compact(place, &options, NULL, &failure));
}

static void plan(void *context) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    struct idx_build_estimate estimate;
    struct idx_scheme scheme;
    size_t count;
    (void)context;
    options.count = 1000000;
    expect(IDX_OK, idx_plan(&options, NULL, 0, &count, &failure));
    expect(IDX_OK, idx_estimate_build(NULL, 1000000, &estimate, &failure));
    expect(IDX_OK, idx_scheme_parse(&scheme, "20", 64, 3, 0, &failure));
}

static void test_all_calls(void **state) {
    place = path_in(*state, "i");
    other = path_in(*state, "other");
    assert_stack("growing", ANY_BYTES, grow, NULL);
    assert_stack("opening and verifying", ANY_BYTES, open_and_verify, NULL);
    assert_stack("reading documents", ANY_BYTES, read_documents, NULL);
    assert_stack("comparing", ANY_BYTES, compare, NULL);
    assert_stack("merging", ANY_BYTES, merge, NULL);
    assert_stack("planning", ANY_BYTES, plan, NULL);
    idx_close(opened);
    free_set(&ball);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_look_ups),
        in_folder(test_errors_of_look_ups),
        in_folder(test_all_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
