/* golden_calls.c: makes the calls of a writer that tests/golden/NAME.calls lists. Today's writer must write the same
 * log as the release that made NAME.idx, byte by byte: then that release reads what today's writer wrote.
 *
 * `golden_calls CALLS INDEX` only makes the calls: tests/golden/make runs that for a new golden index.
 *
 * Each line of a list is one item of a call: the call's name, a fingerprint in hex, or of a text all members of its set
 * with commas, and an ID, in hex as well (`-`: none). An empty line ends a call, and `reopen` closes the writer and
 * opens another one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/log.h"
#include "libidx/base/base.h"
#include "tests/libidx/support.h"

enum { MOST_ITEMS = 64, MOST_ID_BYTES = 512, MOST_MEMBERS = 64, LINE_BYTES = 2048, DISTANCE = 3 };

struct call {
    char name[32];
    struct idx_item items[MOST_ITEMS];
    uint8_t ids[MOST_ITEMS][MOST_ID_BYTES];
    uint64_t members[MOST_ITEMS][MOST_MEMBERS];
    struct idx_set sets[MOST_ITEMS];
    size_t count;
};

static void read_item(struct call *call, const char *line) {
    char values[LINE_BYTES], id[LINE_BYTES], *end = values;
    struct idx_item *item = &call->items[call->count];
    struct idx_set *set = &call->sets[call->count];
    uint64_t *members = call->members[call->count];
    uint8_t *bytes = call->ids[call->count];
    assert_true(call->count < MOST_ITEMS);
    assert_int_equal(sscanf(line, "%31s %2047s %2047s", call->name, values, id), 3);
    *set = (struct idx_set){members, 0};
    for (const char *value = values; end == values || *end == ','; value = end + 1) {
        assert_true(set->count < MOST_MEMBERS);
        members[set->count++] = strtoull(value, &end, 16);
    }
    size_t length = strcmp(id, "-") == 0 ? 0 : strlen(id) / 2;
    assert_true(length <= MOST_ID_BYTES);
    for (size_t i = 0; i < length; i++) assert_int_equal(sscanf(id + 2 * i, "%2hhx", &bytes[i]), 1);
    *item = (struct idx_item){*members, strtoull(id, NULL, 16), bytes, length};
    call->count++;
}

static void make_call(struct idx_writer *writer, struct call *call) {
    const struct idx_item *items = call->items;
    size_t count = call->count, match_counts[MOST_ITEMS];
    uint64_t fingerprints[MOST_ITEMS];
    leave_out_ids(writer, call->items, count);
    for (size_t i = 0; i < count; i++) fingerprints[i] = items[i].fingerprint;
    if (strcmp(call->name, "add") == 0)
        assert_ok(idx_writer_add(writer, items, count, &failure));
    else if (strcmp(call->name, "add-texts") == 0)
        assert_ok(idx_writer_add_texts(writer, items, call->sets, count, &failure));
    else if (strcmp(call->name, "check-and-add") == 0)
        assert_ok(check_and_add(writer, items, count, DISTANCE, NULL, 0, match_counts, &failure));
    else if (strcmp(call->name, "remove") == 0)
        assert_ok(idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, items, count, NULL, &failure));
    else if (strcmp(call->name, "remove-ids") == 0)
        assert_ok(idx_writer_remove(writer, IDX_REMOVE_IDS, items, count, NULL, &failure));
    else if (strcmp(call->name, "remove-fingerprints") == 0)
        assert_ok(remove_by_fingerprint(writer, fingerprints, count, NULL, &failure));
    else
        fail_msg("there is no call %s", call->name);
}

/* Returns the number of calls. */
static size_t make_calls(const char *list, const char *path) {
    static struct call call;
    char line[LINE_BYTES];
    size_t calls = 0;
    FILE *file = fopen(list, "re");
    struct idx_writer *writer = open_simple_writer(path);
    assert_non_null(file);
    call.count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strcmp(line, "reopen\n") == 0) {
            idx_writer_close(writer);
            writer = open_simple_writer(path);
        } else if (strcmp(line, "\n") == 0) {
            make_call(writer, &call);
            calls++;
            call.count = 0;
        } else {
            read_item(&call, line);
        }
    }
    fclose(file);
    idx_writer_close(writer);
    return calls;
}

/* ---- What is drawn at random ---- */

/* The log to be written once more; NULL: a new one. */
static const struct idxf_log *known;
static unsigned drawn;

enum idx_status __real_idxi_make_uuid(uint8_t uuid[IDXF_UUID_BYTES], struct idx_error *error);
enum idx_status __wrap_idxi_make_uuid(uint8_t uuid[IDXF_UUID_BYTES], struct idx_error *error);

/* A writer draws the ID of its log, and then its salt. */
enum idx_status __wrap_idxi_make_uuid(uint8_t uuid[IDXF_UUID_BYTES], struct idx_error *error) {
    if (known == NULL) return __real_idxi_make_uuid(uuid, error);
    memset(uuid, 0, IDXF_UUID_BYTES);
    if (drawn++ == 0)
        memcpy(uuid, known->id, IDXF_UUID_BYTES);
    else
        memcpy(uuid, &known->salt, sizeof known->salt);
    return IDX_OK;
}

/* ---- The test ---- */

static void compare_files(const char *a, const char *b) {
    size_t a_size, b_size;
    uint8_t *a_bytes = read_file(a, &a_size), *b_bytes = read_file(b, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a_bytes, b_bytes, a_size);
    free(a_bytes);
    free(b_bytes);
}

static void read_log_header(const char *path, struct idxf_log *log) {
    size_t size;
    uint32_t version;
    uint8_t *bytes = read_file(path, &size);
    assert_int_equal(idxf_log_header_read(log, bytes, size, &version), IDXF_OK);
    free(bytes);
}

static void test_same_log(void **state) {
    static const char *const names[] = {"pending", "pending-u64", "pending-none", "pending-sets", "pending-sets-u64"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        const char *golden = path_in(IDX_SOURCE_DIR "/tests/golden", "%s.idx", names[i]);
        const char *calls = path_in(IDX_SOURCE_DIR "/tests/golden", "%s.calls", names[i]);
        const char *path = path_in(*state, "%s.idx", names[i]);
        struct idxf_manifest manifest;
        struct idxf_log log;
        copy_folder(golden, path);
        remove_all(path_in(path, "pending.log"));
        read_manifest(path, &manifest);
        manifest.log = (struct idxf_manifest_log){.exists = false};
        write_manifest(path, &manifest);
        read_log_header(path_in(golden, "pending.log"), &log);
        known = &log;
        drawn = 0;
        assert_in_range(make_calls(calls, path), 50, 500);
        known = NULL;
        assert_int_equal(drawn, 2);
        compare_files(path_in(path, "pending.log"), path_in(golden, "pending.log"));
        compare_files(path_in(path, "manifest"), path_in(golden, "manifest"));
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {in_folder(test_same_log)};
    if (argc != 3) return cmocka_run_group_tests(tests, NULL, NULL);
    make_calls(argv[1], argv[2]);
    return 0;
}
