/* manifest.c: tests of manifests that are right: written and read again, with the most of everything. */
#include "format/manifest.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "tests/format/testing.h"

static struct idxf_manifest manifest, again;
static char text[IDXF_MAX_MANIFEST_BYTES], text_again[IDXF_MAX_MANIFEST_BYTES];

static void make_uuid(uint8_t uuid[IDXF_UUID_BYTES], unsigned number) {
    for (unsigned i = 0; i < IDXF_UUID_BYTES; i++) uuid[i] = (uint8_t)(0x10 * i + i);
    idxf_store32(uuid + 4, number);
}

static void make_small(void) {
    memset(&manifest, 0, sizeof manifest);
    make_uuid(manifest.uuid, 0x77665544);
    manifest.bits = 12;
    manifest.k = 3;
    manifest.id_type = IDXF_ID_TEXT;
    strcpy(manifest.recipe, "words 1");
    strcpy(manifest.scheme, "4:1");
    manifest.table_count = 2;
    manifest.tables[0] = (struct idxf_manifest_table){0xE00, 0};
    manifest.tables[1] = (struct idxf_manifest_table){0x00F, 3};
    manifest.segment_count = 1;
    manifest.segments[0] = (struct idxf_manifest_segment){1, {0}, 5, 7, 0};
    make_uuid(manifest.segments[0].uuid, 1);
}

static enum idxf_fault read_text(const char *bytes, size_t size) {
    unsigned line;
    uint32_t version = 99;
    char *copy = copy_exactly(bytes, size);
    enum idxf_fault fault = idxf_manifest_read(&again, copy, size, &line, &version);
    free(copy);
    if (fault == IDXF_OK) assert_int_equal(version, 1);
    return fault;
}

/* Writes the manifest, reads it, and compares all fields. */
static void check_round_trip(void) {
    size_t size = idxf_manifest_write(&manifest, text);
    assert_in_range(size, 1, sizeof text);
    assert_fault(read_text(text, size), IDXF_OK);
    assert_memory_equal(again.uuid, manifest.uuid, sizeof again.uuid);
    assert_int_equal(again.bits, manifest.bits);
    assert_int_equal(again.k, manifest.k);
    assert_int_equal(again.id_type, manifest.id_type);
    assert_int_equal(again.by_id, manifest.by_id);
    assert_string_equal(again.recipe, manifest.recipe);
    assert_string_equal(again.scheme, manifest.scheme);
    assert_int_equal(again.table_count, manifest.table_count);
    for (uint32_t i = 0; i < again.table_count; i++) {
        assert_true(again.tables[i].mask == manifest.tables[i].mask);
        assert_int_equal(again.tables[i].radius, manifest.tables[i].radius);
    }
    assert_true(again.sequence == manifest.sequence);
    assert_int_equal(again.segment_count, manifest.segment_count);
    for (uint32_t i = 0; i < again.segment_count; i++) {
        assert_int_equal(again.segments[i].number, manifest.segments[i].number);
        assert_memory_equal(again.segments[i].uuid, manifest.segments[i].uuid, IDXF_UUID_BYTES);
        assert_true(again.segments[i].fingerprints == manifest.segments[i].fingerprints);
        assert_true(again.segments[i].documents == manifest.segments[i].documents);
        assert_true(again.segments[i].removed == manifest.segments[i].removed);
    }
    assert_true(again.checksum == manifest.checksum);
    assert_true(again.checksum == idxf_checksum(text, size - 26));
    assert_int_equal(idxf_manifest_write(&again, text_again), size);
    assert_memory_equal(text_again, text, size);
}

static void test_every_line_has_its_place(void **state) {
    (void)state;
    static const char expected[] = "idx-index 1\n"
                                   "uuid 00112233-4455-6677-8899-aabbccddeeff\n"
                                   "bits 12\n"
                                   "k 3\n"
                                   "id-type text\n"
                                   "by-id no\n"
                                   "recipe words 1\n"
                                   "scheme 4:1\n"
                                   "table e00 0\n"
                                   "table 00f 3\n"
                                   "sequence 0\n"
                                   "segment 000001 00112233-0100-0000-8899-aabbccddeeff 5 7 0\n";
    char last[27];
    make_small();
    size_t size = idxf_manifest_write(&manifest, text);
    snprintf(last, sizeof last, "checksum %016" PRIx64 "\n", idxf_checksum(expected, sizeof expected - 1));
    assert_int_equal(size, sizeof expected - 1 + 26);
    assert_memory_equal(text, expected, sizeof expected - 1);
    assert_memory_equal(text + sizeof expected - 1, last, 26);
    check_round_trip();
}

static void test_id_types(void **state) {
    (void)state;
    static const char *const lines[] = {"\nid-type text\n", "\nid-type u64\n", "\nid-type none\n"};
    for (unsigned type = 0; type < IDXF_ID_TYPE_COUNT; type++) {
        make_small();
        manifest.id_type = (enum idxf_id_type)type;
        if (type == IDXF_ID_NONE) manifest.segments[0].documents = 0;
        check_round_trip();
        assert_non_null(strstr(text, lines[type]));
    }
}

static void test_by_id(void **state) {
    (void)state;
    for (unsigned type = 0; type < IDXF_ID_NONE; type++) {
        make_small();
        manifest.id_type = (enum idxf_id_type)type;
        manifest.by_id = true;
        check_round_trip();
        assert_non_null(strstr(text, type == IDXF_ID_TEXT ? "\nid-type text\nby-id yes\nrecipe"
                                                          : "\nid-type u64\nby-id yes\nrecipe"));
    }
}

/* Every f with each k below it, and masks at their widest. */
static void test_bits_and_k(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        for (unsigned k = 0; k < bits && k <= 16; k++) {
            make_small();
            manifest.bits = (uint8_t)bits;
            manifest.k = (uint8_t)k;
            manifest.tables[0].mask = UINT64_MAX >> (64 - bits);
            manifest.tables[1].mask = 1;
            check_round_trip();
        }
    }
}

/* A recipe may be absent, and be of any bytes but control characters; 255 of them. */
static void test_recipes(void **state) {
    (void)state;
    make_small();
    manifest.recipe[0] = '\0';
    check_round_trip();
    assert_non_null(strstr(text, "\nrecipe\nscheme "));
    for (unsigned c = 32; c < 256; c++) {
        if (c == 127) continue;
        memset(manifest.recipe, (int)c, 1 + c % 255);
        manifest.recipe[1 + c % 255] = '\0';
        check_round_trip();
    }
    memset(manifest.recipe, 'r', 255);
    manifest.recipe[255] = '\0';
    check_round_trip();
}

static void test_names_of_schemes(void **state) {
    (void)state;
    make_small();
    for (size_t length = 1; length <= 63; length++) {
        memset(manifest.scheme, 's', length);
        manifest.scheme[length] = '\0';
        check_round_trip();
    }
}

static void test_counts(void **state) {
    (void)state;
    static const uint64_t counts[][2] = {
        {0, 0}, {0, 1}, {1, 1}, {9, 10}, {10, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}, {UINT64_MAX / 10, UINT64_MAX - 5}};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        make_small();
        manifest.segments[0].fingerprints = counts[i][0];
        manifest.segments[0].documents = counts[i][1];
        check_round_trip();
    }
}

/* Of any two segments, the older stands first, whatever their numbers; the newer may remove from it. */
static void test_sequence_order_and_removals(void **state) {
    (void)state;
    static const uint64_t sequences[] = {0, 1, 9, 10, UINT64_MAX / 10, UINT64_MAX - 1};
    for (size_t i = 0; i < COUNT_OF(sequences); i++) {
        make_small();
        manifest.sequence = sequences[i];
        manifest.segment_count = 3;
        manifest.segments[0].number = 30;
        manifest.segments[1] = (struct idxf_manifest_segment){29, {1}, 1, 1, sequences[i]};
        manifest.segments[2] = (struct idxf_manifest_segment){31, {2}, 0, 0, 1};
        check_round_trip();
    }
}

/* The most tables and segments, all of them as long as they can be: it fits by far. */
static void test_the_most_of_everything(void **state) {
    (void)state;
    make_small();
    manifest.bits = 64;
    manifest.k = 16;
    memset(manifest.recipe, 'r', 255);
    memset(manifest.scheme, 's', 63);
    manifest.table_count = IDXF_MAX_TABLES;
    for (unsigned i = 0; i < IDXF_MAX_TABLES; i++)
        manifest.tables[i] = (struct idxf_manifest_table){UINT64_MAX - i, (uint8_t)(i % 4)};
    manifest.sequence = UINT64_MAX - 1;
    manifest.segment_count = IDXF_MAX_SEGMENTS;
    for (unsigned i = 0; i < IDXF_MAX_SEGMENTS; i++) {
        manifest.segments[i] =
            (struct idxf_manifest_segment){999999 - i, {0}, UINT64_MAX, UINT64_MAX, i > 0 ? UINT64_MAX : 0};
        make_uuid(manifest.segments[i].uuid, i);
    }
    check_round_trip();
}

static void test_uuid_as_text(void **state) {
    (void)state;
    static const uint8_t uuid[IDXF_UUID_BYTES] = {0xF0, 0x1E, 0xD2, 0xC3, 0xB4, 0xA5, 0x96, 0x87,
                                                  0x78, 0x69, 0x5A, 0x4B, 0x3C, 0x2D, 0x1E, 0x0F};
    char uuid_text[IDXF_UUID_TEXT_BYTES + 1];
    idxf_uuid_write(uuid, uuid_text);
    assert_string_equal(uuid_text, "f01ed2c3-b4a5-9687-7869-5a4b3c2d1e0f");
    assert_int_equal(strlen(uuid_text), IDXF_UUID_TEXT_BYTES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_line_has_its_place),
        cmocka_unit_test(test_id_types),
        cmocka_unit_test(test_by_id),
        cmocka_unit_test(test_bits_and_k),
        cmocka_unit_test(test_recipes),
        cmocka_unit_test(test_names_of_schemes),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_sequence_order_and_removals),
        cmocka_unit_test(test_the_most_of_everything),
        cmocka_unit_test(test_uuid_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
