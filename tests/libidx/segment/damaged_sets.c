/* damaged_sets.c: the file of sets of a small index damaged in every way that one change of a byte or of a length can,
 * and forged so that its checksums agree: every fault of SPEC.md's chapter 15 is found, and the file is named. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/checksum.h"
#include "format/sets.h"
#include "libidx/base/base.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/support.h"

#define FILE_NAME "000001/sets"

/* The second text fills more than two pages, so that the third has an entry, and there is room for one entry more. */
enum { TEXTS = 4, SKETCH = 4, MOST = 1200 };
static const size_t sizes[TEXTS] = {3, MOST, 2, 4};
static uint64_t members[TEXTS][MOST];

/* Where things are in the file; the keys are 10, 20, 30 and 40, or the numbers 0 to 3. */
enum {
    RECORD_0 = 4096,
    RECORD_2 = RECORD_0 + 2 + 3 * 8 + 3 + MOST * 8,
    RECORD_3 = RECORD_2 + 2 + 2 * 8,
    RECORDS_END = RECORD_3 + 2 + 4 * 8,
    DIRECTORY = 4 * 4096,
    ENTRY_1 = DIRECTORY + 16,
    DIRECTORY_END = ENTRY_1 + 16,
    FILE_SIZE = 5 * 4096 + 4 * 8
};

static const char *path;
static uint64_t right_answers;

/* ---- The index, and what it answers ---- */

static void build(enum idx_id_type id_type) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    char id[32];
    options.k = 0;
    options.sketch = SKETCH;
    options.id_type = id_type;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < TEXTS; i++) {
        struct idx_item item = {.number = 10 * (i + 1)};
        if (id_type == IDX_ID_TEXT) item = (struct idx_item){.id = id, .id_length = write_id(id, i)};
        for (size_t j = 0; j < sizes[i]; j++) members[i][j] = (i + 1) * 1000000 + j * 7;
        assert_ok(idx_builder_add_text(builder, &item, &(struct idx_set){members[i], sizes[i]}, &failure));
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

static void mix(uint64_t *digest, const void *bytes, size_t length) {
    *digest = (*digest ^ idxf_checksum(bytes, length)) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool mix_text(void *context, const struct idx_document *document, const struct idx_set *set) {
    mix(context, &document->number, sizeof document->number);
    mix(context, document->id, document->id_length);
    mix(context, set->hashes, set->count * sizeof *set->hashes);
    return true;
}

/* Looks up texts `begin` to before `end`. */
static enum idx_status look_up(const struct idx_index *index, size_t begin, size_t end, uint64_t *digest) {
    struct idx_resembling_options options = IDX_RESEMBLING_OPTIONS_INIT;
    struct idx_resembling_lists lists;
    for (size_t i = begin; i < end; i++) {
        struct idx_set set = {members[i], sizes[i]};
        enum idx_status status = idx_list_resembling(index, &set, 1, &options, &lists, &failure);
        if (status != IDX_OK) return status;
        mix(digest, lists.offsets, 2 * sizeof *lists.offsets);
        if (lists.offsets[1] > 0) mix(digest, lists.documents, (size_t)lists.offsets[1] * sizeof *lists.documents);
        idx_resembling_lists_close(&lists);
    }
    return IDX_OK;
}

/* Looks up texts, and visits all unless only one is looked up. */
static enum idx_status read_answers(enum idx_residence residence, size_t begin, size_t end, uint64_t *digest) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    *digest = 0;
    options.residence = residence;
    enum idx_status status = idx_open(&index, path, &options, &failure);
    if (status != IDX_OK) return status;
    status = look_up(index, begin, end, digest);
    if (status == IDX_OK && end - begin > 1) status = idx_visit_sets(index, mix_text, digest, &failure);
    idx_close(index);
    return status;
}

static int set_up(void **state, enum idx_id_type id_type) {
    size_t size;
    if (make_folder(state) != 0) return -1;
    path = path_in(*state, "i");
    build(id_type);
    assert_ok(read_answers(IDX_RESIDENCE_DIRECTORY, 0, TEXTS, &right_answers));
    free(read_file(path_in(path, FILE_NAME), &size));
    assert_int_equal(size, FILE_SIZE);
    return 0;
}

static int set_up_integers(void **state) { return set_up(state, IDX_ID_U64); }

static int set_up_text(void **state) { return set_up(state, IDX_ID_TEXT); }

/* ---- What is expected of damage ---- */

struct report {
    size_t damaged;
    char file[64];
};

static void note_report(void *context, const char *file, enum idx_status status, const char *sentence) {
    struct report *report = context;
    (void)sentence;
    if (status != IDX_OK && report->damaged++ == 0) snprintf(report->file, sizeof report->file, "%s", file);
}

static bool names_file(void) {
    size_t length = strlen(failure.file), end = strlen(FILE_NAME);
    return length >= end && strcmp(failure.file + length - end, FILE_NAME) == 0;
}

static void refuse(const char *name, size_t offset, const char *what, enum idx_status status) {
    fail_msg("%s, byte %zu: %s, status %d: %s", name, offset, what, (int)status,
             status == IDX_OK ? "" : failure.sentence);
}

/* idx_verify finds the damage, with that status, in this file alone. */
static void expect_found(const char *name, size_t offset, enum idx_status expected) {
    struct report report = {0};
    enum idx_status status = idx_verify(path, note_report, &report, &failure);
    if (status != expected || !names_file()) refuse(name, offset, "verify", status);
    if (report.damaged != 1 || strcmp(report.file, FILE_NAME) != 0) refuse(name, offset, report.file, status);
}

/* ---- Bytes and lengths ---- */

static enum idx_status status_of_byte(size_t offset) {
    return offset < 8 ? IDX_BAD_CONTENT : offset < 12 ? IDX_NEW_VERSION : IDX_BAD_CHECKSUM;
}

static void expect_right_or_refused(size_t offset, enum idx_status expected) {
    uint64_t answers;
    enum idx_status status = read_answers((enum idx_residence)(offset % 4), 0, TEXTS, &answers);
    if (status == IDX_OK && answers != right_answers) refuse("flipped", offset, "wrong answers", status);
    if (status == IDX_OK && (offset < RECORDS_END || offset >= 5 * 4096)) refuse("flipped", offset, "unseen", status);
    if (status != IDX_OK && (status != expected || !names_file())) refuse("flipped", offset, "reading", status);
}

static void flip_bit(int file, size_t offset, uint8_t byte, unsigned bit) {
    uint8_t flipped = byte ^ (uint8_t)(1u << bit);
    assert_int_equal(pwrite(file, &flipped, 1, (off_t)offset), 1);
    expect_right_or_refused(offset, status_of_byte(offset));
    expect_found("flipped", offset, status_of_byte(offset));
    assert_int_equal(pwrite(file, &byte, 1, (off_t)offset), 1);
}

/* Every bit of the fields of the header, of the shorter records, of the directory and of the checksums, and of every
 * seventh other byte one bit, or fewer when scaled. */
static void test_bits(void **state) {
    (void)state;
    size_t size, step = 700 / scale(100);
    uint8_t *bytes = read_file(path_in(path, FILE_NAME), &size);
    int file = open(path_in(path, FILE_NAME), O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    for (size_t offset = 0; offset < size; offset++) {
        bool is_plain = (offset >= 64 && offset < RECORD_0) || (offset >= RECORD_0 + 40 && offset < RECORD_2) ||
                        (offset >= RECORDS_END && offset < DIRECTORY) ||
                        (offset >= DIRECTORY_END && offset < FILE_SIZE - 32);
        if (is_plain && offset % step == 0) flip_bit(file, offset, bytes[offset], (offset + offset / 8) % 8);
        for (unsigned bit = 0; bit < 8 && !is_plain; bit += step > 1 ? 3 : 1)
            flip_bit(file, offset, bytes[offset], (bit + (unsigned)offset) % 8);
    }
    close(file);
    free(bytes);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

static void test_lengths(void **state) {
    (void)state;
    size_t size;
    uint64_t answers;
    const char *file = path_in(path, FILE_NAME);
    uint8_t *bytes = read_file(file, &size);
    for (size_t length = 0; length < size + 4096; length += length % 4096 < 20 || length % 4096 > 4080 ? 1 : 61) {
        enum idx_status expected = length < 8 ? IDX_BAD_CONTENT : IDX_WRONG_SIZE;
        if (length == size) continue;
        change_size(file, length);
        expect_found("cut", length, expected);
        assert_status(expected, read_answers((enum idx_residence)(length % 4), 0, TEXTS, &answers));
        assert_true(names_file());
        write_file(file, bytes, size);
    }
    free(bytes);
    assert_int_equal(unlink(file), 0);
    expect_found("missing", 0, IDX_MISSING_FILE);
    assert_status(IDX_MISSING_FILE, read_answers(IDX_RESIDENCE_DIRECTORY, 0, TEXTS, &answers));
    assert_true(names_file());
}

/* ---- Behind the checksums ---- */

#define NOWHERE TEXTS       /* a fault that only idx_verify finds */
#define UNSEEN (TEXTS + 1)  /* such a one that makes answers wrong */
#define EVERYWHERE SIZE_MAX /* one that opening finds */

struct change {
    size_t offset;
    const char *bytes;
    size_t length;
};

#define BYTES(text) text, sizeof(text) - 1

struct forgery {
    const char *name;
    enum idxf_fault fault; /* IDXF_OK: the sets are sound, but not those of the document map */
    size_t met;            /* by looking up which text */
    struct change changes[2];
};

static const struct forgery forgeries[] = {
    {"magic", IDXF_FAULT_MAGIC, EVERYWHERE, {{0, BYTES("idx-sett")}}},
    {"version", IDXF_FAULT_VERSION, EVERYWHERE, {{8, BYTES("\2")}}},
    {"reserved", IDXF_FAULT_RESERVED, EVERYWHERE, {{100, BYTES("\1")}}},
    {"uuid", IDXF_FAULT_UUID, EVERYWHERE, {{16, BYTES("anothersegment..")}}},
    {"no sets", IDXF_FAULT_COUNT, EVERYWHERE, {{32, BYTES("\0")}}},
    {"more sets than members", IDXF_FAULT_COUNT, EVERYWHERE, {{32, BYTES("\0\0\1")}}},
    {"members for no bytes", IDXF_FAULT_COUNT, EVERYWHERE, {{40, BYTES("\0\0\0\0\0\0\0\xff")}}},
    {"records of too many bytes", IDXF_FAULT_COUNT, EVERYWHERE, {{48, BYTES("\0\0\0\0\0\0\0\2")}}},
    {"no entries", IDXF_FAULT_COUNT, EVERYWHERE, {{56, BYTES("\0")}}},
    {"more entries than fit", IDXF_FAULT_COUNT, EVERYWHERE, {{56, BYTES("\4")}}},
    {"bytes of extra", IDXF_FAULT_SIZE, EVERYWHERE, {{12, BYTES("\1")}}},
    {"records of more pages", IDXF_FAULT_SIZE, EVERYWHERE, {{49, BYTES("\x40")}}},
    {"a set more", IDXF_FAULT_COUNT, NOWHERE, {{32, BYTES("\5")}}},
    {"a member less", IDXF_FAULT_COUNT, NOWHERE, {{40, BYTES("\xb8")}}},
    {"a byte more", IDXF_FAULT_OVERRUN, NOWHERE, {{48, BYTES("\xd2")}}},
    {"a byte less", IDXF_FAULT_OVERRUN, 3, {{48, BYTES("\xd0")}}},
    {"an entry more", IDXF_FAULT_DIRECTORY, NOWHERE, {{56, BYTES("\3")}}},
    {"an entry less",
     IDXF_FAULT_DIRECTORY,
     2,
     {{56, BYTES("\1")}, {ENTRY_1, BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")}}},
    {"a first step", IDXF_FAULT_DIRECTORY, 0, {{RECORD_0, BYTES("\1")}}},
    {"a step beside an entry", IDXF_FAULT_DIRECTORY, 2, {{RECORD_2, BYTES("\1")}}},
    {"an empty set", IDXF_FAULT_COUNT, 0, {{RECORD_0 + 1, BYTES("\0")}}},
    {"a set of too many members", IDXF_FAULT_COUNT, 0, {{RECORD_0 + 1, BYTES("\x80\x80\x80\x08")}}},
    {"members behind the end", IDXF_FAULT_OVERRUN, 3, {{RECORD_3 + 1, BYTES("\5")}}},
    {"a number without end", IDXF_FAULT_OVERRUN, 3, {{RECORD_3, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")}}},
    {"a number of more bits", IDXF_FAULT_OVERRUN, 3, {{RECORD_3, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\2")}}},
    {"a key above all", IDXF_FAULT_ORDER, 3, {{RECORD_3, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1")}}},
    {"a key that descends", IDXF_FAULT_ORDER, UNSEEN, {{ENTRY_1, BYTES("\0")}}},
    {"an entry elsewhere", IDXF_FAULT_DIRECTORY, 2, {{ENTRY_1 + 8, BYTES("\x9e")}}},
    {"an entry behind the end", IDXF_FAULT_DIRECTORY, 3, {{ENTRY_1 + 15, BYTES("\xff")}}},
    {"the first entry elsewhere", IDXF_FAULT_DIRECTORY, NOWHERE, {{DIRECTORY + 8, BYTES("\x1a")}}},
    {"members that descend", IDXF_FAULT_ORDER, UNSEEN, {{RECORD_0 + 4, BYTES("\x7f")}}},
    {"padding of records", IDXF_FAULT_PADDING, NOWHERE, {{RECORDS_END, BYTES("\1")}}},
    {"last padding of records", IDXF_FAULT_PADDING, NOWHERE, {{DIRECTORY - 1, BYTES("\1")}}},
    {"padding of the directory", IDXF_FAULT_PADDING, NOWHERE, {{DIRECTORY_END, BYTES("\1")}}},
    {"last padding of the directory", IDXF_FAULT_PADDING, NOWHERE, {{5 * 4096 - 1, BYTES("\1")}}},
    {"another sketch", IDXF_OK, UNSEEN, {{RECORD_0 + 2, BYTES("\x41")}}},
    {"another last value", IDXF_OK, UNSEEN, {{RECORDS_END - 8, BYTES("\x16")}}},
};

/* Writes the file with changes, and makes its checksums right. */
static void forge(const uint8_t *whole, const struct change *changes) {
    uint8_t bytes[FILE_SIZE];
    memcpy(bytes, whole, sizeof bytes);
    for (size_t i = 0; i < 2 && changes[i].length > 0; i++)
        memcpy(bytes + changes[i].offset, changes[i].bytes, changes[i].length);
    idxf_store64(bytes + 4088, idxf_checksum(bytes, 4088));
    for (size_t page = 0; page < 4; page++)
        idxf_store64(bytes + 5 * 4096 + page * 8, idxf_checksum(bytes + (page + 1) * 4096, 4096));
    write_file(path_in(path, FILE_NAME), bytes, sizeof bytes);
}

/* Text `text` is looked up: the fault is met there, or the answer is right. */
static void check_look_up(const struct forgery *forgery, size_t text, uint64_t right) {
    uint64_t answers;
    bool meets = forgery->met == EVERYWHERE || forgery->met == text;
    enum idx_status expected = idxi_get_fault_status(forgery->fault);
    enum idx_status status = read_answers((enum idx_residence)(text % 4), text, text + 1, &answers);
    if (status == IDX_OK && (meets || answers != right)) refuse(forgery->name, text, "looking up", status);
    if (status != IDX_OK && (status != expected || !names_file())) refuse(forgery->name, text, "looking up", status);
}

static void check_forgery(const struct forgery *forgery) {
    enum idx_status expected = forgery->fault == IDXF_OK ? IDX_BAD_CONTENT : idxi_get_fault_status(forgery->fault);
    const char *sentence = forgery->fault == IDXF_OK ? "sets of other texts" : idxf_get_fault_predicate(forgery->fault);
    enum idx_status status = idx_verify(path, NULL, NULL, &failure);
    if (status != expected || !names_file()) refuse(forgery->name, 0, "verify", status);
    if (expected == IDX_BAD_CONTENT && strstr(failure.sentence, sentence) == NULL)
        refuse(forgery->name, 0, sentence, status);
}

static void test_forgeries(void **state) {
    (void)state;
    size_t size;
    uint64_t right[TEXTS];
    uint8_t *whole = read_file(path_in(path, FILE_NAME), &size);
    for (size_t text = 0; text < TEXTS; text++)
        assert_ok(read_answers(IDX_RESIDENCE_DIRECTORY, text, text + 1, &right[text]));
    for (size_t i = 0; i < LENGTH(forgeries); i++) {
        forge(whole, forgeries[i].changes);
        check_forgery(&forgeries[i]);
        for (size_t text = 0; text < TEXTS; text++)
            if (forgeries[i].met != UNSEEN) check_look_up(&forgeries[i], text, right[text]);
    }
    forge(whole, (struct change[2]){{0}});
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    free(whole);
}

/* Keys are the numbers of texts, or the IDs of the document map. */
static void check_key(enum idx_status expected, const char *sentence) {
    size_t size;
    uint8_t *whole = read_file(path_in(path, FILE_NAME), &size);
    forge(whole, (struct change[2]){{RECORD_3, whole[RECORD_3] == 1 ? "\2" : "\x0b", 1}});
    assert_status(expected, idx_verify(path, NULL, NULL, &failure));
    assert_true(names_file());
    assert_non_null(strstr(failure.sentence, sentence));
    free(whole);
}

static void test_integer_keys(void **state) {
    (void)state;
    check_key(IDX_BAD_CONTENT, "sets of other texts");
}

static void test_numbers_as_keys(void **state) {
    (void)state;
    uint64_t answers;
    check_key(IDX_BAD_CONTENT, idxf_get_fault_predicate(IDXF_FAULT_ORDER));
    assert_status(IDX_BAD_CONTENT, read_answers(IDX_RESIDENCE_DIRECTORY, 3, 4, &answers));
    assert_true(names_file());
}

/* What is decoded without checks of pages is noise, or one change of a sound file; what matters is that it ends. */
static void test_noise_is_decoded_safely(void **state) {
    (void)state;
    size_t size;
    uint64_t digest = 0;
    uint8_t *whole = read_file(path_in(path, FILE_NAME), &size);
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    options.skip_page_checks = true;
    for (size_t offset = RECORD_0; offset < FILE_SIZE - 32; offset += offset == RECORD_0 + 40 ? MOST * 8 - 40 : 1) {
        struct idx_index *index;
        if (offset == RECORDS_END) offset = DIRECTORY;
        if (offset == DIRECTORY_END) break;
        for (unsigned byte = 0; byte < 256; byte += 51) {
            forge(whole, (struct change[2]){{offset, (const char[]){(char)(whole[offset] ^ byte)}, 1}});
            assert_ok(idx_open(&index, path, &options, &failure));
            for (size_t text = 0; text < TEXTS; text++)
                if (look_up(index, text, text + 1, &digest) != IDX_OK) assert_true(names_file());
            if (idx_visit_sets(index, mix_text, &digest, &failure) != IDX_OK && !names_file())
                refuse(failure.file, offset, "visit", failure.status);
            idx_close(index);
        }
    }
    free(whole);
}

#define on_integers(test) cmocka_unit_test_setup_teardown(test, set_up_integers, remove_folder)
#define on_text(test) cmocka_unit_test_setup_teardown(test, set_up_text, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        on_integers(test_bits),
        on_text(test_lengths),
        on_integers(test_forgeries),
        on_text(test_forgeries),
        on_integers(test_integer_keys),
        on_text(test_numbers_as_keys),
        on_integers(test_noise_is_decoded_safely),
        on_text(test_noise_is_decoded_safely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
