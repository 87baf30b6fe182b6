/* corruption.c: a small index damaged in every way that one change of a byte or of a length can: what it answers is
 * right or it says that it is damaged, and idx_verify finds every damage and names the file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/checksum.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define COUNT 300
#define QUERIES 40

static const char *const files[] = {
    "manifest",        "000001/table-00.tbl", "000001/table-01.tbl", "000001/docs.sum",
    "000001/docs.mdb", "000001/by-id.sum",    "000001/by-id.mdb",
};

static struct set set;
static const char *path;
static uint64_t right_answers;

/* Of many bytes alike one in so many is tried: under a sanitizer one in five (see scale). Not a multiple of 3. */
static size_t step(void) { return (100 / scale(100) + 1) / 2; }

/* ---- The index, and what it answers ---- */

/* Two tables; text IDs, some of which are long enough for pages of their own; some fingerprints with many documents. */
static void build(void) {
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    struct idx_builder *builder;
    char id[6000];
    options.block_size = 128;
    options.by_id = true;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = 0; i < COUNT; i++) {
        size_t length = i % 100 == 50 ? 5000 : 12;
        snprintf(id, sizeof id, "%012zu%05000d", i, 0);
        assert_ok(idx_builder_add(
            builder, &(struct idx_item){.fingerprint = set.items[i], .id = id, .id_length = length}, &failure));
    }
    for (size_t i = 0; i < 2 * COUNT; i++)
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = set.items[7], .id = "x", .id_length = 1},
                                  &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

static void mix(uint64_t *digest, const void *bytes, size_t length) {
    *digest = (*digest ^ idxf_checksum(bytes, length)) * UINT64_C(0x9e3779b97f4a7c15);
}

static enum idx_status read_documents(struct idx_documents *cursor, uint64_t fingerprint, uint64_t *digest) {
    struct idx_document document;
    uint64_t count;
    bool found = true;
    enum idx_status status = idx_documents_find(cursor, fingerprint, &count, &failure);
    while (status == IDX_OK && found) {
        status = idx_documents_next(cursor, &document, &found, &failure);
        if (status != IDX_OK || !found) continue;
        mix(digest, &document.number, sizeof document.number);
        mix(digest, document.id, document.id_length);
    }
    return status;
}

static enum idx_status look_up(const struct idx_index *index, struct idx_documents *cursor, uint64_t query,
                               uint64_t *digest) {
    struct idx_match matches[COUNT];
    size_t count;
    enum idx_status status = idx_lookup(index, query, 3, matches, COUNT, &count, &failure);
    if (status != IDX_OK) return status;
    mix(digest, &count, sizeof count);
    for (size_t i = 0; i < count && i < COUNT && status == IDX_OK; i++) {
        mix(digest, &matches[i].fingerprint, sizeof matches[i].fingerprint);
        mix(digest, &matches[i].distance, sizeof matches[i].distance);
        if (cursor != NULL) status = read_documents(cursor, matches[i].fingerprint, digest);
    }
    return status;
}

static enum idx_status find_id(const struct idx_index *index, size_t i, uint64_t *digest) {
    uint64_t fingerprints[4] = {0};
    char id[6000];
    size_t count, length = i % 100 == 50 ? 5000 : 12;
    snprintf(id, sizeof id, "%012zu%05000d", i, 0);
    enum idx_status status =
        idx_find_id(index, &(struct idx_item){.id = i % 11 == 0 ? "x" : id, .id_length = i % 11 == 0 ? 1 : length},
                    fingerprints, 4, &count, &failure);
    if (status != IDX_OK) return status;
    mix(digest, &count, sizeof count);
    mix(digest, fingerprints, sizeof fingerprints);
    return IDX_OK;
}

static enum idx_status look_up_some(const struct idx_index *index, uint64_t *digest) {
    struct idx_documents *cursor;
    enum idx_status status = idx_documents_open(&cursor, index, &failure);
    if (status != IDX_OK) return status;
    for (size_t i = 0; i < QUERIES && status == IDX_OK; i++)
        status = look_up(index, cursor, set.items[i * 7 % COUNT] ^ (i % 4), digest);
    idx_documents_close(cursor);
    for (size_t i = 0; i < COUNT && status == IDX_OK; i += 25) status = find_id(index, i, digest);
    return status;
}

static enum idx_status read_answers(enum idx_residence residence, uint64_t *digest) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    *digest = 0;
    options.residence = residence;
    enum idx_status status = idx_open(&index, path, &options, &failure);
    if (status != IDX_OK) return status;
    status = look_up_some(index, digest);
    idx_close(index);
    return status;
}

static int set_up(void **state) {
    if (make_folder(state) != 0) return -1;
    set = make_set(SHAPE_CLUSTERED, 64, COUNT, 1);
    path = path_in(*state, "i");
    build();
    assert_ok(read_answers(IDX_RESIDENCE_DIRECTORY, &right_answers));
    return 0;
}

static int tear_down(void **state) {
    free_set(&set);
    return remove_folder(state);
}

/* ---- What is expected of damage ---- */

/* What idx_verify reported. */
struct report {
    size_t damaged;
    char file[64];
};

static void note_report(void *context, const char *file, enum idx_status status, const char *sentence) {
    struct report *report = context;
    if (status == IDX_OK) {
        assert_string_equal(sentence, "");
        return;
    }
    assert_string_not_equal(sentence, "");
    if (report->damaged++ == 0) snprintf(report->file, sizeof report->file, "%s", file);
}

static void refuse(const char *file, size_t offset, const char *what, enum idx_status status) {
    fail_msg("%s, byte %zu: %s, status %d: %s", file, offset, what, status, failure.sentence);
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* A map and its checksums speak for each other: where they differ, either may be the damaged one. */
static bool names_file(const char *named, const char *file) {
    return ends_with(named, file) || (strstr(file, "docs.") != NULL && strstr(named, "docs.") != NULL) ||
           (strstr(file, "by-id.") != NULL && strstr(named, "by-id.") != NULL);
}

/* idx_verify finds the damage, with that status, in that file alone. */
static void expect_found(const char *file, size_t offset, enum idx_status expected) {
    struct report report = {0};
    enum idx_status status = idx_verify(path, note_report, &report, &failure);
    if (status != expected) refuse(file, offset, "verify", status);
    if (!names_file(failure.file, file)) refuse(file, offset, failure.file, status);
    if (expected == IDX_NOT_AN_INDEX || (expected == IDX_NEW_VERSION && strcmp(file, "manifest") == 0)) return;
    if (report.damaged != 1 || !names_file(report.file, file)) refuse(file, offset, report.file, status);
}

/* Answers are right, or refused with that status and the file's name. */
static void expect_right_or_refused(const char *file, size_t offset, enum idx_status expected) {
    uint64_t answers;
    enum idx_status status = read_answers((enum idx_residence)(offset % 4), &answers);
    if (status == IDX_OK && answers != right_answers) refuse(file, offset, "wrong answers", status);
    if (status == IDX_OK) return;
    if (status != expected || !is_damage(status)) refuse(file, offset, "reading", status);
    if (!names_file(failure.file, file)) refuse(file, offset, failure.file, status);
}

/* ---- Bytes ---- */

static enum idx_status status_of_manifest(size_t offset, uint8_t byte) {
    bool is_digit = byte >= '0' && byte <= '9';
    if (offset < 10) return IDX_NOT_AN_INDEX;
    if (offset == 10) return is_digit ? IDX_NEW_VERSION : IDX_NOT_AN_INDEX;
    return IDX_BAD_CHECKSUM;
}

/* What must come of a byte changed to `byte`. Magic, then version, then checksums. */
static enum idx_status status_of_byte(const char *file, size_t offset, uint8_t byte) {
    if (strcmp(file, "manifest") == 0) return status_of_manifest(offset, byte);
    if (ends_with(file, ".mdb")) return IDX_BAD_CHECKSUM;
    return offset < 8 ? IDX_BAD_CONTENT : offset < 12 ? IDX_NEW_VERSION : IDX_BAD_CHECKSUM;
}

static void flip(int file, const char *name, size_t offset, uint8_t byte, uint8_t pattern) {
    uint8_t flipped = byte ^ pattern;
    enum idx_status expected = status_of_byte(name, offset, flipped);
    assert_int_equal(pwrite(file, &flipped, 1, (off_t)offset), 1);
    expect_right_or_refused(name, offset, expected);
    expect_found(name, offset, expected);
    assert_int_equal(pwrite(file, &byte, 1, (off_t)offset), 1);
}

/* Bytes of a file are shared out to a test of a quarter of them, and one of all others. */
enum share { QUARTER, OTHERS };

/* Every byte: one bit, another from byte to byte, or all bits. A share of the bytes when scaled; of the first ones, a
 * quarter is all of them. */
static void flip_every_byte(const char *name, enum share share) {
    size_t size;
    uint64_t answers;
    uint8_t *bytes = read_file(path_in(path, "%s", name), &size);
    int file = open(path_in(path, "%s", name), O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    for (size_t offset = 0, number = 0; offset < size; offset += offset < 200 ? 1 : step(), number++) {
        if ((offset < 200 || number % 4 == 0) != (share == QUARTER)) continue;
        flip(file, name, offset, bytes[offset], offset % 3 == 0 ? 0xff : (uint8_t)(1 << (offset + offset / 8) % 8));
    }
    close(file);
    free(bytes);
    assert_ok(read_answers(IDX_RESIDENCE_DIRECTORY, &answers));
    assert_true(answers == right_answers);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

static void test_bytes_of_the_manifest(void **state) {
    (void)state;
    flip_every_byte(files[0], QUARTER);
    flip_every_byte(files[0], OTHERS);
}

static void test_bytes_of_tables(void **state) {
    (void)state;
    flip_every_byte(files[1], QUARTER);
    flip_every_byte(files[2], QUARTER);
}

static void test_bytes_of_documents(void **state) {
    (void)state;
    flip_every_byte(files[3], QUARTER);
    flip_every_byte(files[4], QUARTER);
}

static void test_bytes_of_maps_from_ids(void **state) {
    (void)state;
    flip_every_byte(files[5], QUARTER);
    flip_every_byte(files[6], QUARTER);
}

static void test_more_bytes(void **state) {
    (void)state;
    for (size_t i = 1; i < LENGTH(files); i++) flip_every_byte(files[i], OTHERS);
}

/* ---- Lengths ---- */

/* A file that ends before its magic does is another file, and a manifest cut anywhere lacks its checksum. */
static enum idx_status status_of_length(const char *file, size_t length) {
    if (strcmp(file, "manifest") == 0) return length < 11 ? IDX_NOT_AN_INDEX : IDX_BAD_CHECKSUM;
    return length < 8 && !ends_with(file, ".mdb") ? IDX_BAD_CONTENT : IDX_WRONG_SIZE;
}

/* Every length down to 0; of large files, most lengths near those of pages and some of the others. */
static size_t next_length(size_t length, size_t whole) {
    bool is_near = whole < 1000 || length % 4096 < 20 || length % 4096 > 4076;
    size_t less = is_near ? 1 : 13 * step();
    return length < less ? 0 : length - less;
}

static void test_truncations(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(files); i++) {
        size_t size;
        const char *file = path_in(path, "%s", files[i]);
        uint8_t *bytes = read_file(file, &size);
        for (size_t length = size; length > 0;) {
            length = next_length(length, size);
            change_size(file, length);
            enum idx_status expected = status_of_length(files[i], length);
            expect_found(files[i], length, expected);
            assert_status(expected, read_answers(IDX_RESIDENCE_DIRECTORY, &(uint64_t){0}));
            assert_true(names_file(failure.file, files[i]) || expected == IDX_NOT_AN_INDEX);
        }
        write_file(file, bytes, size);
        free(bytes);
        assert_ok(idx_verify(path, NULL, NULL, &failure));
    }
}

static void test_lengthened_files(void **state) {
    (void)state;
    static const size_t more[] = {1, 8, 4096, 1000000};
    for (size_t i = 0; i < LENGTH(files) * LENGTH(more); i++) {
        size_t size;
        const char *name = files[i / LENGTH(more)], *file = path_in(path, "%s", name);
        uint8_t *bytes = read_file(file, &size);
        bool is_long = strcmp(name, "manifest") != 0 || more[i % LENGTH(more)] == 1000000;
        enum idx_status expected = is_long ? IDX_WRONG_SIZE : IDX_BAD_CHECKSUM;
        change_size(file, size + more[i % LENGTH(more)]);
        expect_found(name, size, expected);
        assert_status(expected, read_answers(IDX_RESIDENCE_NONE, &(uint64_t){0}));
        write_file(file, bytes, size);
        free(bytes);
    }
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

/* ---- Behind the checksums ---- */

static bool visit_on(void *context, const struct idx_match *match) {
    (void)context;
    (void)match;
    return true;
}

/* Reads all that a damaged table lets, checks of pages left out; what matters is that it ends. */
static void read_unchecked(enum idx_residence residence) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    uint64_t digest = 0;
    options.residence = residence;
    options.skip_page_checks = true;
    assert_ok(idx_open(&index, path, &options, &failure));
    for (size_t i = 0; i < 5; i++) {
        enum idx_status status = look_up(index, NULL, set.items[i * 50], &digest);
        if (status != IDX_OK) assert_status(IDX_BAD_CONTENT, status);
    }
    enum idx_status status = idx_visit_all(index, visit_on, NULL, &failure);
    if (status != IDX_OK) assert_status(IDX_BAD_CONTENT, status);
    idx_close(index);
}

static void test_tables_are_decoded_safely(void **state) {
    (void)state;
    size_t size;
    const char *name = path_in(path, "%s", files[1]);
    uint8_t *bytes = read_file(name, &size);
    int file = open(name, O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    for (size_t offset = 4096; offset < size; offset += step()) {
        uint8_t flipped = bytes[offset] ^ (uint8_t)(offset % 2 == 0 ? 0xff : 1 << (offset / 2) % 8);
        assert_int_equal(pwrite(file, &flipped, 1, (off_t)offset), 1);
        read_unchecked((enum idx_residence)(offset % 4));
        assert_int_equal(pwrite(file, bytes + offset, 1, (off_t)offset), 1);
    }
    close(file);
    free(bytes);
}

/* Noise for the page of the blocks and that of the directory. Blocks with a sound header and lines that stay inside the
 * table come further: every other round has them. */
static void make_noise(uint8_t noise[2 * 4096], size_t round, uint64_t *seed) {
    for (size_t i = 0; i < 2 * 4096; i += 8) memcpy(noise + i, &(uint64_t){next_random(seed)}, 8);
    if (round % 2 == 1) return;
    for (size_t i = 0; i < 4096; i += 128) {
        noise[i] = noise[i] % 30 + 1;
        noise[i + 1] = noise[i + 1] % 28 * 4;
    }
    for (size_t i = 4096; i < 2 * 4096; i += 64) {
        noise[i] %= 8;
        noise[i + 4] %= 8;
        memset(noise + i + 1, 0, 3);
        memset(noise + i + 5, 0, 3);
        memset(noise + i + 9, 0, 55);
    }
}

static void test_noise_is_decoded_safely(void **state) {
    (void)state;
    size_t size, rounds = scale(1000);
    uint64_t seed = 1;
    const char *name = path_in(path, "%s", files[2]);
    uint8_t *bytes = read_file(name, &size), noise[2 * 4096];
    assert_int_equal(size, 4096 + 2 * 4104);
    int file = open(name, O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    for (size_t round = 0; round < rounds; round++) {
        size_t length = round % 3 == 0 ? 4096 : sizeof noise;
        make_noise(noise, round, &seed);
        assert_int_equal(pwrite(file, noise, length, 4096), (ssize_t)length);
        read_unchecked((enum idx_residence)(round / 2 % 4));
    }
    close(file);
    write_file(name, bytes, size);
    free(bytes);
}

/* Not near the fields of the header, the begin of the first block, or the line of the directory. */
static bool is_plain(size_t offset) {
    return (offset >= 200 && offset < 4080) || (offset >= 4200 && offset < 8192) || offset >= 8256;
}

/* Every bit of a table means something: changed, with all checksums made right again, idx_verify still finds it. */
static void test_verify_looks_behind_checksums(void **state) {
    (void)state;
    size_t size;
    const char *name = path_in(path, "%s", files[2]);
    uint8_t *bytes = read_file(name, &size);
    size_t sums = size - 2 * 8;
    for (size_t offset = 0; offset < sums; offset += is_plain(offset) ? 3 * step() : 1) {
        if (offset >= 4088 && offset < 4096) continue; /* the header's checksum, which is made right */
        uint8_t flipped = bytes[offset] ^ (uint8_t)(1 << (offset * 5 + offset / 8) % 8);
        forge_table(name, offset, &flipped, 1);
        enum idx_status status = idx_verify(path, NULL, NULL, &failure);
        if (!is_damage(status) || status == IDX_BAD_CHECKSUM) refuse(files[2], offset, "verify", status);
        write_file(name, bytes, size);
    }
    free(bytes);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

#define on_index(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        on_index(test_bytes_of_the_manifest),
        on_index(test_bytes_of_tables),
        on_index(test_bytes_of_documents),
        on_index(test_bytes_of_maps_from_ids),
        on_index(test_more_bytes),
        on_index(test_truncations),
        on_index(test_lengthened_files),
        on_index(test_tables_are_decoded_safely),
        on_index(test_noise_is_decoded_safely),
        on_index(test_verify_looks_behind_checksums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
