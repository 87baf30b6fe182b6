/* between.c: what a writer does between two calls to the system that a reader makes. Before each call in turn of
 * opening, refreshing and verifying an index, documents are added, compacted, or the index is built anew. A view has
 * whole calls, all that were acknowledged before it was asked for, and stays as it is; and nothing fails. */
#include <stdio.h>
#include <string.h>

#include "tests/libidx/faults.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define BASE 300 /* documents of a build */
#define CALL 200 /* documents of a call */

static uint64_t fingerprint_of(uint64_t number) {
    uint64_t seed = number;
    return next_random(&seed);
}

/* An index, how many documents it has, and a writer that is open throughout, or NULL. */
struct index {
    const char *path;
    uint64_t documents;
    struct idx_writer *writer;
};

static void build(struct index *index, bool replace) {
    uint64_t fingerprints[BASE];
    struct idx_build_options options = options_for(64, 3, "4");
    options.by_id = true;
    options.replace = replace;
    for (uint64_t i = 0; i < BASE; i++) fingerprints[i] = fingerprint_of(i);
    build_index(index->path, &options, fingerprints, BASE);
    index->documents = BASE;
}

static void add(struct index *index, size_t calls) {
    struct idx_writer *writer = index->writer == NULL ? open_simple_writer(index->path) : index->writer;
    for (size_t call = 0; call < calls; call++) {
        struct idx_item items[CALL];
        char ids[CALL][32];
        for (size_t i = 0; i < CALL; i++, index->documents++)
            items[i] = (struct idx_item){.fingerprint = fingerprint_of(index->documents),
                                         .id = ids[i],
                                         .id_length = write_id(ids[i], index->documents)};
        assert_ok(idx_writer_add(writer, items, CALL, &failure));
    }
    if (index->writer == NULL) idx_writer_close(writer);
}

/* ---- What a writer does ---- */

static void act_add(void *index) { add(index, 20); } /* more than a short log has room for */

static void act_compact(void *index) {
    add(index, 1);
    assert_ok(idx_compact(((struct index *)index)->path, NULL, NULL, &failure));
}

/* The log that a reader knows of goes twice. */
static void act_compact_twice(void *index) {
    act_compact(index);
    act_compact(index);
    add(index, 1);
}

static void act_rebuild(void *index) {
    build(index, true);
    add(index, 2);
}

/* ---- What a reader does ---- */

static void check_view(const struct idx_index *view, uint64_t least, uint64_t most) {
    struct idx_properties properties;
    struct idx_documents *documents;
    idx_get_properties(view, &properties);
    uint64_t count = properties.documents + properties.pending_documents;
    assert_in_range(count, least, most);
    assert_int_equal((count - BASE) % CALL, 0);
    assert_ok(idx_documents_open(&documents, view, &failure));
    for (uint64_t i = 0; i <= count; i += i + CALL < count ? CALL - 1 : 1) {
        char id[32];
        size_t found;
        uint64_t fingerprint, of_fingerprint;
        assert_ok(idx_find_id(view, &(struct idx_item){.id = id, .id_length = write_id(id, i)}, &fingerprint, 1, &found,
                              &failure));
        assert_int_equal(found, i < count);
        if (i == count) break;
        assert_int_equal(fingerprint, fingerprint_of(i));
        assert_ok(idx_documents_find(documents, fingerprint, &of_fingerprint, &failure));
        assert_int_equal(of_fingerprint, 1);
    }
    idx_documents_close(documents);
}

enum way { OPENING, REFRESHING, VERIFYING, WAYS };

/* Does `act` before one call of `kind` after the other that a reader makes. Returns how many there were. */
static size_t act_between(struct index *index, void (*act)(void *index), enum fault_kind kind, enum way way) {
    for (size_t call = 0;; call++) {
        struct idx_index *elder = open_index(index->path, IDX_RESIDENCE_DIRECTORY), *view = NULL;
        uint64_t documents = index->documents;
        if (way == REFRESHING) act(index);
        uint64_t before = index->documents;
        arm_to_act(kind, call, act, index);
        if (way == OPENING) assert_ok(idx_open(&view, index->path, NULL, &failure));
        if (way == REFRESHING) assert_ok(idx_refresh(elder, &view, &failure));
        if (way == VERIFYING) assert_ok(idx_verify(index->path, NULL, NULL, &failure));
        bool acted = disarm() > 0;
        bool rebuilt = index->documents < before;
        if (view != NULL) check_view(view, rebuilt ? BASE : before, rebuilt ? before : index->documents);
        check_view(elder, documents, documents);
        idx_close(view);
        idx_close(elder);
        if (!acted) return call;
    }
}

static void check_between(const char *folder, void (*act)(void *index), bool beside) {
    const enum fault_kind kinds[] = {FAULT_OPEN, FAULT_READ, FAULT_MAP, FAULT_NONE};
    for (enum way way = OPENING; way < WAYS; way++) {
        for (size_t i = 0; i < LENGTH(kinds); i++) {
            struct index index = {.path = path_in(folder, "%d-%zu", way, i)};
            build(&index, false);
            if (beside) index.writer = open_simple_writer(index.path);
            size_t calls = act_between(&index, act, kinds[i], way);
            if (way != REFRESHING) assert_in_range(calls, 5, 100);
            idx_writer_close(index.writer);
            remove_all(index.path);
        }
    }
}

static void test_add(void **state) { check_between(*state, act_add, false); }
static void test_add_beside(void **state) { check_between(*state, act_add, true); }
static void test_compact(void **state) { check_between(*state, act_compact, false); }
static void test_compact_beside(void **state) { check_between(*state, act_compact_twice, true); }
static void test_compact_twice(void **state) { check_between(*state, act_compact_twice, false); }
static void test_rebuild(void **state) { check_between(*state, act_rebuild, false); }

int main(void) {
    const struct CMUnitTest tests[] = {in_folder(test_add),           in_folder(test_add_beside),
                                       in_folder(test_compact),       in_folder(test_compact_beside),
                                       in_folder(test_compact_twice), in_folder(test_rebuild)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
