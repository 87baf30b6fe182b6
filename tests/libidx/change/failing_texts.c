/* failing_texts.c: what becomes of an index with sets when one call to the system fails, whichever it is, as it is
 * built, read, grown, compacted, merged or verified: the status that idx.h promises, no text lost or added in part,
 * nothing leaked, and success the next time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/checksum.h"
#include "tests/libidx/faults.h"
#include "tests/libidx/support.h"

enum { SKETCH = 4, TEXTS = 18, MOST = 700 };

static uint64_t members[TEXTS][MOST];
static bool is_text;
static const char *path, *output;

static struct idx_set set_of(size_t text) {
    static const size_t sizes[] = {1, SKETCH - 1, SKETCH, SKETCH + 1, MOST, 9};
    return (struct idx_set){members[text], sizes[text % LENGTH(sizes)]};
}

/* IDs do not ascend, and two texts have the same one. */
static struct idx_item item_of(size_t text, char id[32]) {
    uint64_t number = text == 5 ? 4 : text * 7 % TEXTS;
    struct idx_item item = {.number = number};
    if (is_text) item = (struct idx_item){.id = id, .id_length = write_id(id, (size_t)number)};
    return item;
}

/* ---- What is tried ---- */

typedef enum idx_status (*attempt)(void);

static enum idx_status build_at(const char *place) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    char id[32];
    options.k = 0;
    options.sketch = SKETCH;
    options.id_type = is_text ? IDX_ID_TEXT : IDX_ID_U64;
    enum idx_status status = idx_builder_open(&builder, place, &options, &failure);
    if (status != IDX_OK) return status;
    for (size_t i = 0; i < 8 && status == IDX_OK; i++) {
        struct idx_item item = item_of(i, id);
        struct idx_set set = set_of(i);
        status = idx_builder_add_text(builder, &item, &set, &failure);
    }
    if (status == IDX_OK) status = idx_builder_finish(builder, NULL, &failure);
    idx_builder_close(builder);
    return status;
}

static enum idx_status try_build(void) { return build_at(output); }

static enum idx_status with_writer(enum idx_status (*change)(struct idx_writer *writer)) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_writer *writer;
    options.compact_records = options.compact_segments = 0;
    enum idx_status status = idx_writer_open(&writer, path, &options, &failure);
    if (status != IDX_OK) return status;
    status = change(writer);
    disarm(); /* closing notes how far the log goes, where it can */
    idx_writer_close(writer);
    return status;
}

static enum idx_status add(struct idx_writer *writer, size_t begin, size_t end) {
    struct idx_item items[TEXTS];
    struct idx_set sets[TEXTS];
    char ids[TEXTS][32];
    for (size_t i = begin; i < end; i++) {
        items[i - begin] = item_of(i, ids[i]);
        sets[i - begin] = set_of(i);
    }
    return idx_writer_add_texts(writer, items, sets, end - begin, &failure);
}

static enum idx_status add_some(struct idx_writer *writer) { return add(writer, 12, 18); }
static enum idx_status try_adding(void) { return with_writer(add_some); }

static enum idx_status add_unlike(struct idx_writer *writer) {
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    struct idx_resembling_lists lists;
    struct idx_item items[TEXTS];
    struct idx_set sets[TEXTS];
    char ids[TEXTS][32];
    for (size_t i = 0; i < TEXTS; i++) {
        items[i] = item_of(i, ids[i]);
        sets[i] = set_of(i);
    }
    enum idx_status status = idx_writer_add_unlike(writer, items, sets, TEXTS, &options, &lists, &failure);
    if (status == IDX_OK) idx_resembling_lists_close(&lists);
    return status;
}

static enum idx_status try_adding_unlike(void) { return with_writer(add_unlike); }

static enum idx_status remove_some(struct idx_writer *writer) {
    struct idx_item items[4];
    struct idx_removal removal;
    char ids[4][32];
    for (size_t i = 0; i < 4; i++) items[i] = item_of(2 + 3 * i, ids[i]);
    return idx_writer_remove(writer, IDX_REMOVE_IDS, items, 4, &removal, &failure);
}

static enum idx_status try_removing(void) { return with_writer(remove_some); }

static enum idx_status try_compacting(void) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.all = true;
    return idx_compact(path, &options, NULL, &failure);
}

static enum idx_status try_merging(void) { return idx_merge(output, &path, 1, NULL, NULL, &failure); }
static enum idx_status try_verifying(void) { return idx_verify(path, NULL, NULL, &failure); }

/* Sums what is visited, in whatever order. */
static bool sum_text(void *context, const struct idx_document *document, const struct idx_set *set) {
    uint64_t sum = idxf_checksum(set->hashes, set->count * sizeof *set->hashes);
    sum =
        (sum ^ (is_text ? idxf_checksum(document->id, document->id_length) : document->number)) * UINT64_C(0x9e3779b1);
    *(uint64_t *)context += sum ^ sum >> 29;
    return true;
}

/* Looks up all texts of a view: what lists them is added to the sum of all that are visited. */
static enum idx_status read_view(const struct idx_index *index, uint64_t *sum) {
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    struct idx_resembling_lists lists;
    struct idx_set sets[TEXTS];
    *sum = 0;
    for (size_t i = 0; i < TEXTS; i++) sets[i] = set_of(i);
    enum idx_status status = idx_visit_sets(index, sum_text, sum, &failure);
    if (status == IDX_OK) status = idx_list_resembling(index, sets, TEXTS, &options, &lists, &failure);
    if (status != IDX_OK) return status;
    *sum = *sum * 31 + (uint64_t)lists.offsets[TEXTS];
    idx_resembling_lists_close(&lists);
    return IDX_OK;
}

static uint64_t read_sum;

static enum idx_status read_at(const char *place, enum idx_residence residence) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    options.residence = residence;
    enum idx_status status = idx_open(&index, place, &options, &failure);
    if (status != IDX_OK) return status;
    status = read_view(index, &read_sum);
    idx_close(index);
    return status;
}

static enum idx_status try_reading(void) { return read_at(path, IDX_RESIDENCE_DIRECTORY); }
static enum idx_status try_reading_disk(void) { return read_at(path, IDX_RESIDENCE_DISK); }

static struct idx_index *view;

/* Refreshes a view that has nothing of what is pending. */
static enum idx_status try_refreshing(void) {
    struct idx_index *newer;
    enum idx_status status = idx_refresh(view, &newer, &failure);
    if (status != IDX_OK || newer == NULL) return status;
    status = read_view(newer, &read_sum);
    idx_close(newer);
    return status;
}

/* ---- How ---- */

static uint64_t sum_of(const char *place) {
    assert_ok(idx_verify(place, NULL, NULL, &failure));
    assert_ok(read_at(place, IDX_RESIDENCE_NONE));
    return read_sum;
}

/* The index that each attempt begins with: a segment, another one, and pending texts, of which some are removed. */
static void make_index(const char *place) {
    path = place;
    assert_ok(build_at(place));
    struct idx_writer *writer = open_simple_writer(place);
    char id[32];
    struct idx_item item = item_of(1, id);
    struct idx_removal removal;
    assert_ok(add(writer, 8, 11));
    assert_ok(idx_compact(place, NULL, NULL, &failure));
    assert_ok(add(writer, 10, 14));
    assert_ok(idx_writer_remove(writer, IDX_REMOVE_IDS, &item, 1, &removal, &failure));
    assert_int_equal(removal.documents, 1);
    idx_writer_close(writer);
}

struct expectation {
    enum fault_kind kind;
    int fault_errno;
    enum idx_status status;
};

static const struct expectation expectations[] = {
    {FAULT_ALLOCATION, ENOMEM, IDX_OUT_OF_MEMORY},
    {FAULT_MAP, ENOMEM, IDX_OUT_OF_MEMORY},
    {FAULT_OPEN, EMFILE, IDX_IO_ERROR},
    {FAULT_READ, EIO, IDX_IO_ERROR},
    {FAULT_WRITE, ENOSPC, IDX_DISK_FULL},
    {FAULT_SYNC, EIO, IDX_IO_ERROR},
    {FAULT_MKDIR, ENOSPC, IDX_DISK_FULL},
};

/* Fails each call of a kind in turn, with a sanitizer every seventh one. Behind a failure the texts of `result` are as
 * they were before, or as they are without failures; where that is the output, it may also be missing. */
static void fail_each(const char *pristine, attempt try, const char *result, const struct expectation *expected) {
    uint64_t before = sum_of(pristine), after = 0;
    int descriptors = count_entries("/proc/self/fd");
    for (size_t call = 0;; call = call == 0 ? 1 : call + (is_sanitized() ? 7 : 1)) {
        if (count_entries(path) >= 0) remove_all(path);
        if (count_entries(output) >= 0) remove_all(output);
        copy_folder(pristine, path);
        if (call > 0) arm(expected->kind, call - 1, 1, expected->fault_errno);
        enum idx_status status = try();
        size_t failures = disarm();
        if (call == 0 || failures == 0 || status == IDX_OK) assert_ok(status);
        if (status != IDX_OK && status != expected->status)
            fail_msg("call %zu of kind %d: status %d: %s", call, (int)expected->kind, (int)status, failure.sentence);
        assert_int_equal(count_entries("/proc/self/fd"), descriptors);
        if (result == NULL) {
            if (call == 0) after = read_sum;
            if (status == IDX_OK) assert_true(read_sum == after);
        } else if (status == IDX_OK || result == path || count_entries(result) >= 0) {
            uint64_t sum = sum_of(result);
            if (call == 0) after = sum;
            assert_true(sum == after || (sum == before && status != IDX_OK && result == path));
        }
        if (call > 0 && failures == 0) break;
    }
}

static void fail_all(void **folder, attempt try, bool has_output, bool has_result) {
    for (int i = 0; i < 2; i++) {
        is_text = i == 1;
        const char *pristine = path_in(*folder, "pristine-%d", i);
        make_index(pristine);
        path = path_in(*folder, "i");
        output = path_in(*folder, "o");
        for (size_t j = 0; j < LENGTH(expectations); j++)
            fail_each(pristine, try, !has_result ? NULL : has_output ? output : path, &expectations[j]);
    }
}

static void test_building(void **folder) { fail_all(folder, try_build, true, true); }
static void test_adding(void **folder) { fail_all(folder, try_adding, false, true); }
static void test_adding_unlike(void **folder) { fail_all(folder, try_adding_unlike, false, true); }
static void test_removing(void **folder) { fail_all(folder, try_removing, false, true); }
static void test_compacting(void **folder) { fail_all(folder, try_compacting, false, true); }
static void test_merging(void **folder) { fail_all(folder, try_merging, true, true); }
static void test_verifying(void **folder) { fail_all(folder, try_verifying, false, true); }

static void test_reading(void **folder) {
    fail_all(folder, try_reading, false, false);
    for (int i = 0; i < 2; i++) remove_all(path_in(*folder, "pristine-%d", i));
    fail_all(folder, try_reading_disk, false, false);
}

/* A refresh that fails in the middle of a text's record begins anew the next time, with the same view. */
static void test_refreshing(void **folder) {
    for (int i = 0; i < 2; i++) {
        is_text = i == 1;
        size_t failures = 1;
        for (size_t call = 0; failures > 0; call++) {
            path = path_in(*folder, "i");
            assert_ok(build_at(path));
            view = open_index(path, IDX_RESIDENCE_DIRECTORY);
            struct idx_writer *writer = open_simple_writer(path);
            assert_ok(add(writer, 8, TEXTS));
            assert_ok(remove_some(writer));
            idx_writer_close(writer);
            uint64_t right = sum_of(path);
            arm(FAULT_ALLOCATION, call, 1, ENOMEM);
            enum idx_status status = try_refreshing();
            failures = disarm();
            assert_status(failures > 0 && status != IDX_OK ? IDX_OUT_OF_MEMORY : IDX_OK, status);
            assert_ok(try_refreshing());
            assert_true(read_sum == right);
            idx_close(view);
            remove_all(path);
        }
    }
}

static void make_members(void) {
    for (size_t i = 0; i < TEXTS; i++) /* the last ones resemble, or equal, some of the first */
        for (size_t j = 0; j < MOST; j++) members[i][j] = (i < 12 ? i + 1 : i - 11) << 32 | j << 4;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_building),  in_folder(test_adding),     in_folder(test_adding_unlike),
        in_folder(test_removing),  in_folder(test_compacting), in_folder(test_merging),
        in_folder(test_verifying), in_folder(test_reading),    in_folder(test_refreshing),
    };
    make_members();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
