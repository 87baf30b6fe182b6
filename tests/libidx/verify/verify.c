/* verify.c: tests of idx_verify where no checksum tells: files that are sound each, but don't belong together, and
 * document maps that break a rule. What reading makes of them is tested beside. */
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/bytes.h"
#include "format/group.h"
#include "format/ids.h"
#include "format/log.h"
#include "libidx/view/index.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define COUNT 300

static uint64_t fingerprint_of(uint64_t seed, size_t i) {
    seed = seed << 32 | i;
    return next_random(&seed);
}

static const char *build_small(const char *folder, const char *name, uint64_t seed) {
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    const char *path = path_in(folder, "%s", name);
    uint64_t items[COUNT];
    for (size_t i = 0; i < COUNT; i++) items[i] = fingerprint_of(seed, i);
    options.block_size = 128;
    build_index(path, &options, items, COUNT);
    return path;
}

/* ---- Reports ---- */

struct reports {
    size_t count;
    struct {
        char file[64], sentence[512];
        enum idx_status status;
    } all[16];
};

static void note_report(void *context, const char *file, enum idx_status status, const char *sentence) {
    struct reports *reports = context;
    assert_in_range(reports->count, 0, LENGTH(reports->all) - 1);
    strncpy(reports->all[reports->count].file, file, 63);
    strncpy(reports->all[reports->count].sentence, sentence, 511);
    reports->all[reports->count++].status = status;
}

static struct reports verify(const char *path, enum idx_status expected) {
    struct reports reports = {0};
    assert_status(expected, idx_verify(path, note_report, &reports, &failure));
    assert_int_equal(idx_verify(path, NULL, NULL, NULL), expected);
    return reports;
}

static void expect_report(const struct reports *reports, size_t i, const char *file, enum idx_status status) {
    assert_true(i < reports->count);
    assert_string_equal(reports->all[i].file, file);
    if (reports->all[i].status != status) fail_msg("%s: %s", file, reports->all[i].sentence);
    assert_true((reports->all[i].sentence[0] == '\0') == (status == IDX_OK));
}

/* One file's damage, of which the sentence speaks. */
static void expect_damage(const char *path, size_t i, const char *clause) {
    struct reports reports = verify(path, IDX_BAD_CONTENT);
    static const char *const names[] = {"manifest", "000001/table-00.tbl", "000001/table-01.tbl", "000001/docs.mdb"};
    for (size_t at = 0; at < LENGTH(names); at++)
        expect_report(&reports, at, names[at], at == i ? IDX_BAD_CONTENT : IDX_OK);
    if (strstr(reports.all[i].sentence, clause) == NULL) fail_msg("%s", reports.all[i].sentence);
}

static void test_a_sound_index(void **state) {
    const char *parts[] = {build_small(*state, "a", 1), build_small(*state, "b", 2)};
    const char *path = path_in(*state, "whole");
    join_indexes(path, parts, LENGTH(parts));
    struct reports reports = verify(path, IDX_OK);
    static const char *const names[] = {"manifest",        "000001/table-00.tbl", "000001/table-01.tbl",
                                        "000001/docs.mdb", "000002/table-00.tbl", "000002/table-01.tbl",
                                        "000002/docs.mdb"};
    assert_int_equal(reports.count, LENGTH(names));
    for (size_t i = 0; i < LENGTH(names); i++) expect_report(&reports, i, names[i], IDX_OK);
}

/* It goes on after damage; the first one's status is returned. */
static void test_all_damage_is_reported(void **state) {
    static const uint8_t x = 0x5a;
    const char *parts[] = {build_small(*state, "a", 1), build_small(*state, "b", 2), build_small(*state, "c", 3)};
    const char *path = path_in(*state, "whole");
    join_indexes(path, parts, LENGTH(parts));
    unlink(path_in(path, "000001/table-00.tbl"));
    change_bytes(path_in(path, "000001/docs.mdb"), 8192, &x, 1);
    change_size(path_in(path, "000003/table-01.tbl"), 5000);
    remove_all(path_in(path, "000002"));
    struct reports reports = verify(path, IDX_MISSING_FILE);
    assert_int_equal(reports.count, 8);
    expect_report(&reports, 0, "manifest", IDX_OK);
    expect_report(&reports, 1, "000001/table-00.tbl", IDX_MISSING_FILE);
    expect_report(&reports, 2, "000001/table-01.tbl", IDX_OK);
    expect_report(&reports, 3, "000001/docs.mdb", IDX_BAD_CHECKSUM);
    expect_report(&reports, 4, "000002", IDX_MISSING_FILE);
    expect_report(&reports, 5, "000003/table-00.tbl", IDX_OK);
    expect_report(&reports, 6, "000003/table-01.tbl", IDX_WRONG_SIZE);
    expect_report(&reports, 7, "000003/docs.mdb", IDX_OK);
}

static void test_what_is_no_damage(void **state) {
    assert_int_equal(verify(path_in(*state, "none"), IDX_NOT_FOUND).count, 0);
    assert_int_equal(verify(*state, IDX_NOT_AN_INDEX).count, 0);
    forge_manifest(path_in(*state, "manifest"), "idx-index 2\n");
    assert_int_equal(verify(*state, IDX_NEW_VERSION).count, 0);
}

static void test_a_damaged_manifest(void **state) {
    const char *path = build_small(*state, "i", 1);
    change_size(path_in(path, "manifest"), 100);
    struct reports reports = verify(path, IDX_BAD_CHECKSUM);
    assert_int_equal(reports.count, 1);
    expect_report(&reports, 0, "manifest", IDX_BAD_CHECKSUM);
}

/* ---- Tables ---- */

/* Puts a table of index b in place of index a's, with the uuid of its segment. */
static void take_table(const char *a, const char *b, const char *name) {
    uint8_t uuid[16];
    read_segment_uuid(path_in(a, "%s", name), uuid);
    assert_int_equal(rename(path_in(b, "%s", name), path_in(a, "%s", name)), 0);
    forge_table(path_in(a, "%s", name), 16, uuid, 16);
}

/* A table of other fingerprints, as many, of the same code, with this segment's uuid. */
static void test_tables_that_differ(void **state) {
    static const char *const names[] = {"000001/table-00.tbl", "000001/table-01.tbl"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        const char *a = build_small(*state, i == 0 ? "a" : "c", 1), *b = path_in(*state, i == 0 ? "b" : "d");
        struct idx_build_options options = options_for(64, 3, "2:1:1");
        uint64_t items[COUNT];
        options.block_size = 128;
        for (size_t at = 0; at < COUNT; at++) items[at] = fingerprint_of(1, at);
        items[7] ^= 1;
        build_index(b, &options, items, COUNT);
        take_table(a, b, names[i]);
        struct reports reports = verify(a, IDX_BAD_CONTENT);
        expect_report(&reports, 2, names[1], IDX_BAD_CONTENT); /* the first sound one is the measure */
        assert_non_null(strstr(reports.all[2].sentence, "contains other fingerprints than the first undamaged table"));
        expect_report(&reports, 3, "000001/docs.mdb", i == 0 ? IDX_BAD_CONTENT : IDX_OK);
    }
}

/* Tables in blocks of another size can't be searched side by side. */
static void test_block_sizes_that_differ(void **state) {
    const char *a = build_small(*state, "a", 1), *b = path_in(*state, "b");
    const char *clause = "has a block size that is not a power of two from 64 to 4096, or not that of the other tables";
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    uint64_t items[COUNT];
    struct idx_index *index;
    for (size_t at = 0; at < COUNT; at++) items[at] = fingerprint_of(1, at);
    options.block_size = 256;
    build_index(b, &options, items, COUNT);
    take_table(a, b, "000001/table-01.tbl");
    expect_damage(a, 2, clause);
    assert_status(IDX_BAD_CONTENT, idx_open(&index, a, NULL, &failure));
    assert_non_null(strstr(failure.sentence, clause));
    assert_non_null(strstr(failure.file, "000001/table-01.tbl"));
}

/* What the header of a table is compared with comes in the order of SPEC.md, chapter 4. */
static void test_headers_of_two_faults(void **state) {
    static const uint8_t mask[8] = {1}, count[8] = {(COUNT - 1) & 255, (COUNT - 1) >> 8};
    const char *path = build_small(*state, "i", 1), *table = path_in(path, "000001/table-00.tbl");
    forge_table(table, 48, count, sizeof count);
    expect_damage(path, 1, "has counts that don't agree");
    forge_table(table, 32, mask, sizeof mask);
    expect_damage(path, 1, "has a mask");
}

/* A table with a sound header is the measure of block sizes, whatever else is wrong with it; another is none. */
static void test_block_sizes_beside_damage(void **state) {
    static const uint8_t zero = 0, x = 0x5a;
    static const char *const names[] = {"000001/table-00.tbl", "000001/table-01.tbl"};
    const char *a = build_small(*state, "a", 1), *b = path_in(*state, "b");
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    uint64_t items[COUNT];
    for (size_t at = 0; at < COUNT; at++) items[at] = fingerprint_of(1, at);
    options.block_size = 256;
    build_index(b, &options, items, COUNT);
    take_table(a, b, names[1]);
    change_bytes(path_in(a, "%s", names[0]), 4096, &x, 1);
    struct reports reports = verify(a, IDX_BAD_CHECKSUM);
    expect_report(&reports, 1, names[0], IDX_BAD_CHECKSUM);
    expect_report(&reports, 2, names[1], IDX_BAD_CONTENT);
    change_bytes(path_in(a, "%s", names[0]), 4088, &zero, 1);
    change_bytes(path_in(a, "%s", names[0]), 4089, &zero, 1);
    reports = verify(a, IDX_BAD_CHECKSUM);
    expect_report(&reports, 1, names[0], IDX_BAD_CHECKSUM);
    expect_report(&reports, 2, names[1], IDX_OK);
    expect_report(&reports, 3, "000001/docs.mdb", IDX_OK);
}

/* ---- Blocks ---- */

#define DENSE 1000

static uint64_t ones[DENSE];

/* The fingerprints 0 to 999, in one block of each table. */
static const char *build_dense(const char *folder) {
    const char *path = path_in(folder, "dense");
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    uint64_t dense[DENSE];
    options.block_size = 4096;
    for (size_t i = 0; i < DENSE; i++) dense[i] = i;
    for (size_t i = 0; i < DENSE; i++) ones[i] = 1;
    build_index(path, &options, dense, DENSE);
    return path;
}

/* Of several faults of a block the first is told in the order of SPEC.md, chapter 6: its list of chains, the chains,
 * how many fingerprints there are, padding. */
static void test_faults_behind_disorder(void **state) {
    static const uint64_t beyond[] = {1, DENSE};
    struct forged_block block = {DENSE - 1, false, 3, {{beyond, 2, 0, 0}, {ones, 9, 10, 50}, {ones, 9, 20, 0}}};
    const char *path = build_dense(*state), *table = path_in(path, "000001/table-00.tbl");
    const uint64_t padding = (4096 + 2048) * 8;
    for (int i = 0; i < 4; i++) {
        static const char *const clauses[] = {"doesn't fit into its block", "don't ascend", "unused bits",
                                              "counts that don't agree"};
        if (i == 1) block.chains[1].moved = 0;
        if (i == 2) block.chains[0].differences = ones;
        forge_block(table, 0, &block);
        if (i < 3) set_bits(table, padding, 1, 1);
        seal_table(table);
        expect_damage(path, 1, clauses[i]);
    }
}

/* Bits that belong to nothing: behind a chain, between chains, and in the list, behind the last chain that there is. */
static void test_padding_of_blocks(void **state) {
    const char *path = build_dense(*state), *table = path_in(path, "000001/table-00.tbl");
    const struct forged_block one = {DENSE - 1, true, 1, {{ones, DENSE - 1, 0, 0}}};
    const struct forged_block two = {DENSE - 1, false, 2, {{ones, 499, 0, 0}, {ones, 499, 500, 0}}};
    const uint64_t block = (uint64_t)4096 * 8, whole_list = block + 1 + 64 + 6, entry = 40 + 15;
    const struct {
        const struct forged_block *block;
        uint64_t bit;
    } cases[] = {
        {&one, block + 4096 * 4},          {&one, block + 4096 * 8 - 1},    {&one, block + 4000},
        {&two, block + 4096 * 8 - 1},      {&two, whole_list + entry + 40}, {&two, whole_list + 2 * entry + 40},
        {&two, whole_list + 3 * entry - 1}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        forge_block(table, 0, cases[i].block);
        verify(path, IDX_OK);
        set_bits(table, cases[i].bit, 1, 1);
        seal_table(table);
        expect_damage(path, 1, "has unused bits or bytes that are not 0 (byte 4096)");
    }
}

/* Whatever bit of a table is turned, and all checksums agree, something is wrong with it. */
static void flip_bits_of(const char *path, const char *name, uint64_t begin, uint64_t step) {
    const char *table = path_in(path, "%s", name);
    size_t size;
    uint8_t *bytes = read_file(table, &size);
    uint64_t pages = (size - 4096) / 4104, end = (pages + 1) * 4096 * 8;
    for (uint64_t bit = begin * 8; bit < end; bit += step) {
        uint8_t turned = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
        forge_table(table, bit / 8, &turned, 1);
        if (idx_verify(path, NULL, NULL, &failure) == IDX_OK) fail_msg("%s: bit %llu", name, (unsigned long long)bit);
        forge_table(table, bit / 8, bytes + bit / 8, 1);
    }
    verify(path, IDX_OK);
    free(bytes);
}

/* Half of them far apart, half so near each other that their lines have lists. */
static void test_every_bit(void **state) {
    static const uint32_t sizes[] = {64, 256, 1024, 4096};
    static uint64_t items[2000];
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        const char *path = path_in(*state, "%zu", i);
        struct idx_build_options options = options_for(64, 3, "2:1:1");
        options.block_size = sizes[i];
        options.id_type = IDX_ID_NONE;
        for (size_t at = 0; at < LENGTH(items); at++) {
            items[at] = fingerprint_of(1, at);
            if (at % 2 == 1) items[at] = UINT64_C(0xfedcba9800000000) | items[at] >> 40;
        }
        build_index(path, &options, items, LENGTH(items));
        struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
        const struct idxi_table *table = &index->segments[0]->tables[0];
        uint64_t directory = table->layout.directory, lists = table->layout.lists;
        if (sizes[i] < 4096) assert_true(table->header.list_bytes > 0);
        idx_close(index);
        flip_bits_of(path, "000001/table-00.tbl", 4096, is_sanitized() ? 4999 : 487);
        flip_bits_of(path, "000001/table-00.tbl", directory, is_sanitized() ? 997 : 53);
        if (sizes[i] == 64) flip_bits_of(path, "000001/table-00.tbl", lists, is_sanitized() ? 499 : 11);
        flip_bits_of(path, "000001/table-01.tbl", 4096, is_sanitized() ? 4999 : 997);
    }
}

/* Each of the header's statistics, one more than it should be, and one less. */
static void test_statistics(void **state) {
    const char *path = build_small(*state, "i", 1), *table = path_in(path, "000001/table-01.tbl");
    size_t size;
    uint8_t *bytes = read_file(table, &size);
    for (size_t offset = 128; offset < 160; offset += 8) {
        uint8_t more = (uint8_t)(bytes[offset] + 1), less = (uint8_t)(bytes[offset] - 1);
        forge_table(table, offset, &more, 1);
        expect_damage(path, 2, "has wrong statistics of its fingerprints");
        forge_table(table, offset, &less, 1);
        expect_damage(path, 2, "has wrong statistics of its fingerprints");
        forge_table(table, offset, bytes + offset, 1);
    }
    verify(path, IDX_OK);
    free(bytes);
}

/* ---- Directories ---- */

/* Where the directory of build_small's tables stands, behind two pages of blocks. */
#define DIRECTORY 12288

static void test_directories(void **state) {
    static const struct {
        size_t offset;
        uint8_t byte;
    } cases[] = {{0, 1}, {3, 255}, {4, 1}, {7, 255}, {8, 0}, {8, 255}, {63, 0}, {63, 255}};
    const char *path = build_small(*state, "i", 1), *table = path_in(path, "000001/table-00.tbl");
    size_t size, faults = 0;
    uint8_t *bytes = read_file(table, &size);
    assert_int_equal(size, 4096 + 3 * 4104);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t offset = DIRECTORY + cases[i].offset;
        if (bytes[offset] == cases[i].byte) continue;
        forge_table(table, offset, &cases[i].byte, 1);
        expect_damage(path, 1, "a directory that does not agree with its blocks");
        forge_table(table, offset, bytes + offset, 1);
        faults++;
    }
    assert_in_range(faults, 6, LENGTH(cases));
    verify(path, IDX_OK);
    free(bytes);
}

/* Of two lines that differ the first is told; and a block before both. */
static void test_the_first_line_that_differs(void **state) {
    static const uint8_t most[4] = {255, 255, 255, 255};
    static const struct forged_block least = {0, false, 0, {{0}}};
    const char *path = path_in(*state, "i"), *table = path_in(path, "000001/table-00.tbl");
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    uint64_t items[2000];
    options.block_size = 64;
    options.id_type = IDX_ID_NONE;
    for (size_t i = 0; i < LENGTH(items); i++) items[i] = fingerprint_of(1, i);
    build_index(path, &options, items, LENGTH(items));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    size_t directory = index->segments[0]->tables[0].layout.directory;
    assert_true(index->segments[0]->tables[0].layout.directory_lines >= 4);
    idx_close(index);
    forge_table(table, directory + 3 * 64, most, sizeof most);
    verify(path, IDX_BAD_CONTENT);
    assert_int_equal(failure.offset, directory + 3 * 64);
    forge_table(table, directory + 64, most, sizeof most);
    verify(path, IDX_BAD_CONTENT);
    assert_int_equal(failure.offset, directory + 64);
    forge_block(table, 150, &least);
    expect_damage(path, 1, "don't ascend");
}

static enum idx_status look_up(const char *path, enum idx_residence residence, uint64_t fingerprint) {
    struct idx_index *index = open_index(path, residence);
    size_t count;
    enum idx_status status = idx_lookup(index, fingerprint, 0, NULL, 0, &count, &failure);
    idx_close(index);
    return status;
}

/* Lines that lead beyond the last block are met as damage by every look-up that reads them. */
static void test_directories_that_lead_astray(void **state) {
    static const uint8_t most[4] = {255, 255, 255, 255}, crowded[8] = {1, 0, 0, 0, 255, 255, 255, 255};
    const char *path = build_small(*state, "i", 1), *table = path_in(path, "000001/table-00.tbl");
    uint8_t cells[56];
    memset(cells, 255, sizeof cells);
    for (enum idx_residence residence = 0; residence <= IDX_RESIDENCE_DISK; residence++) {
        forge_table(table, DIRECTORY, most, sizeof most);
        assert_status(IDX_BAD_CONTENT, look_up(path, residence, 0));
        assert_non_null(strstr(failure.sentence, "a directory that does not agree with its blocks (byte 12288)"));
        forge_table(table, DIRECTORY, crowded, sizeof crowded);
        assert_status(IDX_BAD_CONTENT, look_up(path, residence, 0));
        assert_int_equal(failure.offset, DIRECTORY);
    }
    forge_table(table, DIRECTORY, (const uint8_t[8]){0}, 8);
    forge_table(table, DIRECTORY + 8, cells, sizeof cells);
    assert_status(IDX_BAD_CONTENT, look_up(path, IDX_RESIDENCE_DIRECTORY, UINT64_MAX));
    assert_int_equal(failure.offset, DIRECTORY);
}

/* A look-up counts the keys of a line of cells up to where it begins, as SPEC.md, chapter 7, allows: that there are
 * more than blocks behind that is for a verifier to find. */
static void test_keys_that_no_look_up_counts(void **state) {
    const char *path = build_small(*state, "i", 1), *table = path_in(path, "000001/table-00.tbl");
    size_t size;
    uint8_t *bytes = read_file(table, &size), *last = bytes + DIRECTORY + 63;
    assert_int_equal(idxf_load32(bytes + DIRECTORY + 4), 0);
    assert_int_equal(*last & 128, 0);
    *last |= 128;
    forge_table(table, DIRECTORY + 63, last, 1);
    for (enum idx_residence residence = 0; residence <= IDX_RESIDENCE_DISK; residence++) {
        assert_ok(look_up(path, residence, 0));
        assert_ok(look_up(path, residence, UINT64_MAX)); /* in the cell that now has a key */
    }
    expect_damage(path, 1, "a directory that does not agree with its blocks (byte 12288)");
    free(bytes);
}

/* The same of a line that has a list. */
static void test_lists_that_lead_astray(void **state) {
    static const struct {
        size_t offset;
        uint8_t bytes[8];
        size_t length;
    } cases[] = {{0, {255, 255, 255, 255}, 4},       /* beyond the blocks */
                 {4, {255, 255, 255, 255}, 4},       /* more keys than there are */
                 {8, {0, 0, 0, 0, 0, 0, 0, 128}, 8}, /* beyond the lists */
                 {8, {255, 255, 255, 255, 255, 255, 255, 255}, 8},
                 {16, {65}, 1},  /* cells of more bits than there are */
                 {16, {64}, 1}}; /* a list that is longer than the lists */
    const char *path = path_in(*state, "i"), *table = path_in(path, "000001/table-00.tbl");
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    uint64_t items[2000];
    options.block_size = 64;
    options.id_type = IDX_ID_NONE;
    for (size_t i = 0; i < LENGTH(items); i++) items[i] = i;
    build_index(path, &options, items, LENGTH(items));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    size_t directory = index->segments[0]->tables[0].layout.directory, size;
    assert_true(index->segments[0]->tables[0].header.list_bytes > 0);
    idx_close(index);
    uint8_t *bytes = read_file(table, &size);
    for (size_t i = 0; i < LENGTH(cases) * 4; i++) {
        size_t offset = directory + cases[i / 4].offset;
        forge_table(table, offset, cases[i / 4].bytes, cases[i / 4].length);
        assert_status(IDX_BAD_CONTENT, look_up(path, (enum idx_residence)(i % 4), 1000));
        assert_non_null(strstr(failure.sentence, "a directory that does not agree with its blocks"));
        assert_int_equal(failure.offset, directory);
        verify(path, IDX_BAD_CONTENT);
        forge_table(table, offset, bytes + offset, cases[i / 4].length);
        assert_ok(look_up(path, (enum idx_residence)(i % 4), 1000));
    }
    free(bytes);
}

/* A fingerprint that the tables have and the map lacks is damage, and met as such. */
static void test_documents_that_are_missing(void **state) {
    uint8_t uuid[16];
    bool exists;
    struct idx_documents *cursor;
    const char *a = build_small(*state, "a", 1), *b = build_small(*state, "b", 2);
    for (unsigned i = 0; i < 2; i++) {
        const char *table = path_in(a, "000001/table-%02u.tbl", i);
        read_segment_uuid(table, uuid);
        assert_int_equal(rename(path_in(b, "000001/table-%02u.tbl", i), table), 0);
        forge_table(table, 16, uuid, 16);
    }
    expect_damage(a, 3, "contains other fingerprints than the tables");
    struct idx_index *index = open_index(a, IDX_RESIDENCE_DIRECTORY);
    assert_ok(idx_exists(index, fingerprint_of(2, 5), 0, &exists, &failure));
    assert_true(exists);
    assert_ok(idx_documents_open(&cursor, index, &failure));
    assert_status(IDX_BAD_CONTENT, idx_documents_find(cursor, fingerprint_of(2, 5), NULL, &failure));
    assert_ok(idx_documents_find(cursor, fingerprint_of(1, 5), NULL, &failure));
    idx_documents_close(cursor);
    idx_close(index);
}

/* ---- Document maps, changed by LMDB itself ---- */

struct map {
    const char *segment;
    uint8_t uuid[16];
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi docs, ids, meta;
};

static struct map open_map(const char *path) {
    struct map map = {.segment = path_in(path, "000001")};
    read_segment_uuid(path_in(map.segment, "table-00.tbl"), map.uuid);
    assert_int_equal(mdb_env_create(&map.env), 0);
    assert_int_equal(mdb_env_set_maxdbs(map.env, 4), 0);
    assert_int_equal(mdb_env_set_mapsize(map.env, (size_t)1 << 26), 0);
    assert_int_equal(mdb_env_open(map.env, path_in(map.segment, "docs.mdb"), MDB_NOSUBDIR | MDB_NOLOCK, 0666), 0);
    assert_int_equal(mdb_txn_begin(map.env, NULL, 0, &map.txn), 0);
    assert_int_equal(mdb_dbi_open(map.txn, "docs", 0, &map.docs), 0);
    int ids = mdb_dbi_open(map.txn, "ids", 0, &map.ids);
    assert_true(ids == 0 || ids == MDB_NOTFOUND); /* only text has them */
    assert_int_equal(mdb_dbi_open(map.txn, "meta", 0, &map.meta), 0);
    return map;
}

static void close_map(struct map *map) {
    assert_int_equal(mdb_txn_commit(map->txn), 0);
    mdb_env_close(map->env);
    forge_sums(map->segment, map->uuid);
}

static MDB_val value_of(const void *bytes, size_t size) { return (MDB_val){size, (void *)(uintptr_t)bytes}; }

static void put(struct map *map, MDB_dbi database, MDB_val key, MDB_val value) {
    assert_int_equal(mdb_put(map->txn, database, &key, &value, 0), 0);
}

static void drop(struct map *map, MDB_dbi database, MDB_val key) {
    assert_int_equal(mdb_del(map->txn, database, &key, NULL), 0);
}

struct entry {
    uint64_t fingerprint, value;
};

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return x->fingerprint != y->fingerprint ? (x->fingerprint > y->fingerprint ? 1 : -1)
                                            : (x->value > y->value) - (x->value < y->value);
}

/* The entries that build_small makes, ascending. */
static void get_entries(struct entry entries[COUNT]) {
    for (size_t i = 0; i < COUNT; i++) entries[i] = (struct entry){fingerprint_of(1, i), i};
    qsort(entries, COUNT, sizeof *entries, compare_entries);
}

static void store_big_endian(uint8_t bytes[8], uint64_t number) {
    for (size_t i = 0; i < 8; i++) bytes[i] = (uint8_t)(number >> (56 - 8 * i));
}

/* A group of some entries, up to 100, and its key. */
struct group {
    uint8_t key[16], bytes[IDXF_MAX_GROUP_BYTES];
    size_t size;
};

static struct group make_group(const struct entry *entries, size_t count) {
    struct group group;
    uint64_t fingerprints[100], values[100];
    for (size_t i = 0; i < count; i++) {
        fingerprints[i] = entries[i].fingerprint;
        values[i] = entries[i].value;
    }
    assert_int_equal(idxf_group_encode(fingerprints, values, count, sizeof group.bytes, group.bytes, &group.size),
                     count);
    store_big_endian(group.key, fingerprints[count - 1]);
    store_big_endian(group.key + 8, values[count - 1]);
    return group;
}

static void put_group(struct map *map, const struct group *group) {
    put(map, map->docs, value_of(group->key, 16), value_of(group->bytes, group->size));
}

/* Writes all documents anew, in groups of up to 100. */
static void put_entries(struct map *map, const struct entry *entries, size_t count) {
    assert_int_equal(mdb_drop(map->txn, map->docs, 0), 0);
    for (size_t i = 0; i < count; i += 100) {
        struct group group = make_group(entries + i, count - i < 100 ? count - i : 100);
        put_group(map, &group);
    }
}

/* Gives the fingerprint of document `i` another document number. */
static void renumber(const char *path, size_t i, uint64_t number) {
    struct map map = open_map(path);
    struct entry entries[COUNT];
    get_entries(entries);
    for (size_t at = 0; at < COUNT; at++) {
        if (entries[at].value == i) entries[at].value = number;
    }
    put_entries(&map, entries, COUNT);
    close_map(&map);
}

/* Writes the IDs of the numbers from `begin` to `end` as one group. */
static void put_ids(struct map *map, uint64_t begin, uint64_t end) {
    uint8_t key[8], bytes[COUNT * 8];
    size_t size = IDXF_IDS_HEADER_BYTES;
    idxf_ids_write_count(bytes, (size_t)(end - begin));
    for (uint64_t number = begin; number < end; number++) {
        char id[32];
        size_t length = write_id(id, (size_t)number);
        size += idxf_ids_write_plain_head(length, bytes + size);
        assert_true(size + length <= sizeof bytes);
        memcpy(bytes + size, id, length);
        size += length;
    }
    store_big_endian(key, end - 1);
    put(map, map->ids, value_of(key, sizeof key), value_of(bytes, size));
}

static enum idx_status read_documents(const char *path, uint64_t fingerprint) {
    struct idx_documents *cursor;
    struct idx_document document;
    bool found;
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    enum idx_status status = idx_documents_open(&cursor, index, &failure);
    if (status == IDX_OK) {
        status = idx_documents_find(cursor, fingerprint, NULL, &failure);
        if (status == IDX_OK) status = idx_documents_next(cursor, &document, &found, &failure);
        idx_documents_close(cursor);
    }
    idx_close(index);
    return status;
}

/* Opened and closed by LMDB, nothing changed: sound. */
static void test_a_forged_map_can_be_sound(void **state) {
    const char *path = build_small(*state, "i", 1);
    renumber(path, 7, 7);
    verify(path, IDX_OK);
}

static void test_numbers_twice_or_out_of_range(void **state) {
    const char *path = build_small(*state, "i", 1);
    renumber(path, 7, 8);
    expect_damage(path, 3, "has a document number twice or out of range");
    renumber(path, 7, COUNT);
    expect_damage(path, 3, "has a document number twice or out of range");
    assert_status(IDX_BAD_CONTENT, read_documents(path, fingerprint_of(1, 7)));
    renumber(path, 7, SIZE_MAX);
    expect_damage(path, 3, "has a document number twice or out of range");
    renumber(path, 7, 7);
    verify(path, IDX_OK);
}

/* Groups of IDs: those that there should be, in two ways; one of them less; others in front, between, and behind. */
static void test_groups_of_ids(void **state) {
    static const struct {
        uint64_t ranges[3][2];
        bool reads_7, is_sound;
    } cases[] = {
        {{{0, 8}, {8, COUNT}}, true, true},
        {{{0, COUNT}}, true, true},
        {{{0, 7}, {8, COUNT}}, false, false},
        {{{0, COUNT - 1}}, true, false},
        {{{1, COUNT}}, true, false},
        {{{0, 7}, {7, COUNT + 1}}, true, false},
        {{{0, COUNT}, {COUNT, COUNT + 5}}, true, false},
        {{{0, 8}, {7, COUNT}}, true, false},
        {{{0, 7}}, false, false},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *path = build_small(*state, (const char[]){(char)('a' + i), '\0'}, 1);
        struct map map = open_map(path);
        assert_int_equal(mdb_drop(map.txn, map.ids, 0), 0);
        for (size_t at = 0; at < 3 && cases[i].ranges[at][1] > 0; at++)
            put_ids(&map, cases[i].ranges[at][0], cases[i].ranges[at][1]);
        close_map(&map);
        assert_status(cases[i].reads_7 ? IDX_OK : IDX_BAD_CONTENT, read_documents(path, fingerprint_of(1, 7)));
        if (cases[i].is_sound)
            verify(path, IDX_OK);
        else
            expect_damage(path, 3, "has counts that don't agree");
    }
}

/* A group of IDs that does not decode, or has another key. */
static void test_damaged_ids(void **state) {
    static const uint8_t overrun[] = {1, 0, 0, 0x20, 'x'}, none[] = {0, 0}, more[] = {1, 0, 0, 0x10, 'x', 'y'};
    static const struct {
        const uint8_t *bytes;
        size_t size, key_size;
        enum idx_status status;
    } cases[] = {{overrun, 5, 8, IDX_BAD_CONTENT}, {none, 2, 8, IDX_BAD_CONTENT}, {more, 6, 8, IDX_WRONG_SIZE},
                 {more, 1, 8, IDX_WRONG_SIZE},     {more, 5, 7, IDX_WRONG_SIZE},  {more, 5, 9, IDX_WRONG_SIZE}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *path = build_small(*state, (const char[]){(char)('a' + i), '\0'}, 1);
        struct map map = open_map(path);
        static const uint8_t key[9] = {[7] = 7};
        assert_int_equal(mdb_drop(map.txn, map.ids, 0), 0);
        put_ids(&map, 0, 7);
        put(&map, map.ids, value_of(key, cases[i].key_size), value_of(cases[i].bytes, cases[i].size));
        put_ids(&map, 8, COUNT);
        close_map(&map);
        enum idx_status status = read_documents(path, fingerprint_of(1, 7));
        if (cases[i].key_size == 8) assert_status(cases[i].status, status);
        assert_int_equal(idx_verify(path, NULL, NULL, &failure), cases[i].status);
        if (i == 0)
            assert_non_null(strstr(failure.sentence, "content that doesn't fit into its block, group, frame or file"));
    }
}

static void test_fingerprints_too_few_or_other(void **state) {
    const char *path = build_small(*state, "i", 1);
    struct entry entries[COUNT];
    get_entries(entries);
    struct map map = open_map(path);
    put_entries(&map, entries, COUNT - 1);
    close_map(&map);
    expect_damage(path, 3, "has counts that don't agree");
    assert_status(IDX_BAD_CONTENT, read_documents(path, entries[COUNT - 1].fingerprint));
    entries[COUNT - 1].fingerprint++;
    map = open_map(path);
    put_entries(&map, entries, COUNT);
    close_map(&map);
    expect_damage(path, 3, "contains other fingerprints than the tables");
    assert_status(IDX_BAD_CONTENT, read_documents(path, entries[COUNT - 1].fingerprint - 1));
}

/* Two documents of one fingerprint in place of two fingerprints: as many documents, too few fingerprints. */
static void test_fingerprints_too_few_of_as_many_documents(void **state) {
    const char *path = build_small(*state, "i", 1);
    struct entry entries[COUNT];
    get_entries(entries);
    entries[8].fingerprint = entries[7].fingerprint;
    qsort(entries, COUNT, sizeof *entries, compare_entries);
    struct map map = open_map(path);
    put_entries(&map, entries, COUNT);
    close_map(&map);
    expect_damage(path, 3, "has counts that don't agree");
}

/* Reads all documents as a stream. */
static enum idx_status read_stream(const char *path) {
    static struct idxi_map_stream stream;
    uint64_t fingerprints[64], values[64];
    size_t given = 1;
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    enum idx_status status = idxi_map_prepare(&index->segments[0]->map, &failure);
    idxi_map_stream_init(&stream, &index->segments[0]->map, 0);
    while (status == IDX_OK && given > 0)
        status = stream.stream.read(&stream.stream, fingerprints, values, 64, &given, &failure);
    idx_close(index);
    return status;
}

/* Groups that break a rule each; the second of them begins with entry 100 and ends with entry 199. */
static void test_groups(void **state) {
    struct entry entries[COUNT], swapped[100];
    get_entries(entries);
    for (int fault = 0; fault < 9; fault++) {
        const char *sentence = "has fingerprints that don't ascend";
        const char *path = build_small(*state, (const char[]){(char)('a' + fault), '\0'}, 1);
        struct map map = open_map(path);
        put_entries(&map, entries, COUNT);
        struct group group = make_group(entries + 100, 100);
        memcpy(swapped, entries + 100, sizeof swapped);
        drop(&map, map.docs, value_of(group.key, 16));
        if (fault == 0) sentence = NULL;
        if (fault == 1) { /* the same entry twice, in groups of their own */
            group = make_group(entries + 99, 101 - 1);
            struct group rest = make_group(entries + 199, 1);
            put_group(&map, &rest);
        }
        if (fault == 2) { /* values of one fingerprint that descend */
            swapped[51].fingerprint = swapped[50].fingerprint;
            swapped[50].value = swapped[51].value + 1;
            group = make_group(swapped, 100);
        }
        if (fault == 3) { /* the same entry twice in the group */
            swapped[51] = swapped[50];
            group = make_group(swapped, 100);
        }
        if (fault == 4) { /* a value of 2^64 or more */
            memset(group.bytes + 3, 0xff, 8);
            store_big_endian(group.key + 8, idxf_load64(group.bytes + 3));
        }
        if (fault == 5) { /* another key, above the last entry */
            group.key[15]++;
            sentence = "has keys that mislead searches";
        }
        if (fault == 6) { /* another key, below the last entry */
            group.key[0]--;
            sentence = "has keys that mislead searches";
        }
        if (fault == 7) { /* padding behind the values: 100 values of 9 bits end in the middle of a byte */
            assert_int_equal(group.bytes[2], 9);
            group.bytes[group.size - 1] |= 0x10;
            sentence = "has unused bits or bytes that are not 0";
        }
        if (fault == 8) { /* values that are wider than 64 bits */
            group.bytes[2] = 65;
            sentence = "doesn't fit";
        }
        put_group(&map, &group);
        close_map(&map);
        if (sentence == NULL)
            verify(path, IDX_OK);
        else
            expect_damage(path, 3, sentence);
        if (fault <= 3) assert_status(fault == 0 ? IDX_OK : IDX_BAD_CONTENT, read_stream(path));
        enum idx_status status = read_documents(path, entries[150].fingerprint);
        if (fault == 0 || fault == 8) assert_status(fault == 0 ? IDX_OK : IDX_BAD_CONTENT, status);
    }
}

/* A group of a size that none has, or with a key of another size. */
static void test_sizes_of_groups(void **state) {
    static const size_t sizes[][2] = {{18, 16}, {0, 16}, {4097, 16}, {4096, 15}, {4096, 17}};
    struct entry entries[COUNT];
    get_entries(entries);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        const char *path = build_small(*state, (const char[]){(char)('a' + i), '\0'}, 1);
        static uint8_t bytes[5000] = {0}, key[17];
        struct group group = make_group(entries + 100, 100);
        memcpy(key, group.key, 16);
        memcpy(bytes, group.bytes, group.size);
        struct map map = open_map(path);
        put_entries(&map, entries, COUNT);
        drop(&map, map.docs, value_of(group.key, 16));
        put(&map, map.docs, value_of(key, sizes[i][1]), value_of(bytes, sizes[i][0]));
        close_map(&map);
        struct reports reports = verify(path, IDX_WRONG_SIZE);
        expect_report(&reports, 3, "000001/docs.mdb", IDX_WRONG_SIZE);
    }
}

/* A number of LMDB's pages, which are in the machine's byte order. */
static uint16_t host16(const uint8_t *bytes) {
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Changes the separating key in the second node of a branch page by more than the keys of two groups differ by. */
static void change_separator(uint8_t *page, size_t key_size, int sign) {
    size_t node = host16(page + 18);
    uint8_t *byte = page + node + 8 + (key_size == 16 ? 0 : 6);
    *byte = (uint8_t)(*byte + sign * (key_size == 16 ? 16 : 1));
}

/* Searches that go astray, though all groups are there, in their order. */
static void test_separators(void **state) {
    uint64_t seed = 1;
    uint8_t uuid[16];
    size_t size, found = 0;
    static uint64_t items[4000];
    const char *path = path_in(*state, "i"), *map = path_in(path, "000001/docs.mdb");
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    for (size_t i = 0; i < LENGTH(items); i++) items[i] = next_random(&seed);
    build_index(path, &options, items, LENGTH(items));
    read_segment_uuid(path_in(path, "000001/table-00.tbl"), uuid);
    uint8_t *bytes = read_file(map, &size);
    for (size_t page = 2 * 4096; page < size; page += 4096) {
        if (host16(bytes + page + 10) != 1) continue; /* a branch page */
        size_t node = host16(bytes + page + 18), key_size = host16(bytes + page + node + 6);
        for (int by = -1; by <= 1; by++) {
            change_separator(bytes + page, key_size, by);
            write_file(map, bytes, size);
            forge_sums(path_in(path, "000001"), uuid);
            if (by == 0)
                verify(path, IDX_OK);
            else
                expect_damage(path, 3, "has keys that mislead searches");
            change_separator(bytes + page, key_size, -by);
        }
        found++;
    }
    assert_int_equal(found, 2); /* of documents, and of IDs */
    free(bytes);
}

/* What the map says of itself is compared before its first use. */
static void test_meta_data(void **state) {
    static const char *const names[] = {"uuid", "fingerprints", "documents"};
    static const uint8_t other[16] = {1};
    for (size_t i = 0; i < LENGTH(names); i++) {
        for (int wrong = 0; wrong < 3; wrong++) {
            const char *path = build_small(*state, (const char[]){(char)('a' + i), (char)('0' + wrong), '\0'}, 1);
            struct map map = open_map(path);
            MDB_val name = value_of(names[i], strlen(names[i]));
            enum idx_status expected = i == 0 && wrong > 0 ? IDX_FOREIGN_FILE : IDX_BAD_CONTENT;
            drop(&map, map.meta, name);
            if (wrong == 1) put(&map, map.meta, name, value_of(other, i == 0 ? 16 : 8));
            if (wrong == 2) put(&map, map.meta, name, value_of(other, 3));
            close_map(&map);
            assert_status(expected, read_documents(path, fingerprint_of(1, 7)));
            struct reports reports = verify(path, expected);
            expect_report(&reports, 3, "000001/docs.mdb", expected);
        }
    }
}

/* The manifest and the map may agree on any number of documents: they are counted. No memory is asked for by it. */
static void test_forged_numbers_of_documents(void **state) {
    static const uint64_t numbers[] = {COUNT + 1, COUNT + 64, UINT64_C(1) << 40, UINT64_C(1) << 62, UINT64_MAX};
    const char *path = build_small(*state, "i", 1);
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    assert_non_null(manifest);
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        struct map map = open_map(path);
        uint8_t documents[8];
        idxf_store64(documents, numbers[i]);
        put(&map, map.meta, value_of("documents", 9), value_of(documents, sizeof documents));
        close_map(&map);
        read_manifest(path, manifest);
        manifest->segments[0].documents = numbers[i];
        write_manifest(path, manifest);
        expect_damage(path, 3, "has counts that don't agree");
    }
    free(manifest);
}

/* The file that docs.sum speaks of has the fault, where they don't agree on its size. */
static void test_sizes_of_the_map(void **state) {
    const char *path = build_small(*state, "i", 1), *file = path_in(path, "000001/docs.mdb");
    struct stat status;
    assert_int_equal(stat(file, &status), 0);
    change_size(file, (size_t)status.st_size + 4096);
    struct reports reports = verify(path, IDX_WRONG_SIZE);
    expect_report(&reports, 3, "000001/docs.mdb", IDX_WRONG_SIZE);
    assert_non_null(strstr(reports.all[3].sentence, "but docs.sum says"));
    assert_non_null(strstr(failure.file, "docs.mdb"));
}

static void put_heaviest(const char *path, const uint8_t *bytes, size_t size) {
    struct map map = open_map(path);
    put(&map, map.meta, value_of("heaviest", 8), value_of(bytes, size));
    close_map(&map);
}

static enum idx_status get_heaviest(const char *path, uint64_t *fingerprint, uint64_t *documents) {
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    enum idx_status status = idx_get_heaviest(index, fingerprint, documents, &failure);
    idx_close(index);
    return status;
}

/* Readers take the heaviest fingerprint as the map says it is; a verifier counts again. */
static void test_the_heaviest(void **state) {
    const char *path = build_small(*state, "i", 1);
    uint64_t fingerprint, documents, smallest = UINT64_MAX;
    uint8_t bytes[17] = {0};
    for (size_t i = 0; i < COUNT; i++)
        if (fingerprint_of(1, i) < smallest) smallest = fingerprint_of(1, i);
    idxf_store64(bytes, smallest);
    for (uint8_t said = 0; said < 3; said++) {
        bytes[8] = said;
        put_heaviest(path, bytes, 16);
        assert_ok(get_heaviest(path, &fingerprint, &documents));
        assert_int_equal(fingerprint, said == 0 ? 0 : smallest);
        assert_int_equal(documents, said);
        if (said == 1)
            verify(path, IDX_OK);
        else
            expect_damage(path, 3, "wrong statistics of its fingerprints");
    }
    idxf_store64(bytes, fingerprint_of(1, 7));
    bytes[8] = 1;
    put_heaviest(path, bytes, 16);
    expect_damage(path, 3, "wrong statistics of its fingerprints");
    for (size_t size = 15; size <= 17; size += 2) {
        put_heaviest(path, bytes, size);
        assert_status(IDX_WRONG_SIZE, get_heaviest(path, &fingerprint, &documents));
        assert_status(IDX_WRONG_SIZE, read_documents(path, fingerprint_of(1, 7)));
        struct reports reports = verify(path, IDX_WRONG_SIZE);
        expect_report(&reports, 3, "000001/docs.mdb", IDX_WRONG_SIZE);
    }
    struct map map = open_map(path);
    drop(&map, map.meta, value_of("heaviest", 8));
    close_map(&map);
    assert_status(IDX_BAD_CONTENT, get_heaviest(path, &fingerprint, &documents));
    struct reports reports = verify(path, IDX_BAD_CONTENT);
    expect_report(&reports, 3, "000001/docs.mdb", IDX_BAD_CONTENT);
}

/* Without documents there is no heaviest fingerprint. */
static void test_the_heaviest_of_none(void **state) {
    static const uint64_t items[] = {3, 5};
    static const uint8_t other[16] = {3, [8] = 1};
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    const char *path = path_in(*state, "i");
    options.id_type = IDX_ID_NONE;
    build_index(path, &options, items, LENGTH(items));
    verify(path, IDX_OK);
    put_heaviest(path, other, sizeof other);
    expect_damage(path, 3, "wrong statistics of its fingerprints");
}

/* An index without IDs has no documents in its map, though it says that there are none. */
static void test_documents_of_none(void **state) {
    static const uint64_t items[] = {3, 5};
    static const struct entry entries[] = {{3, 0}, {5, 1}};
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    const char *path = path_in(*state, "i");
    options.id_type = IDX_ID_NONE;
    build_index(path, &options, items, LENGTH(items));
    struct map map = open_map(path);
    put_entries(&map, entries, LENGTH(entries));
    close_map(&map);
    expect_damage(path, 3, "has counts that don't agree");
    map = open_map(path);
    put_entries(&map, NULL, 0);
    close_map(&map);
    verify(path, IDX_OK);
}

/* Databases that are missing, or of another kind. */
static void test_databases(void **state) {
    static const char *const names[] = {"docs", "ids", "meta"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        for (int again = 0; again < 2; again++) {
            const char *path = build_small(*state, (const char[]){(char)('a' + i), (char)('0' + again), '\0'}, 1);
            struct map map = open_map(path);
            MDB_dbi databases[] = {map.docs, map.ids, map.meta};
            assert_int_equal(mdb_drop(map.txn, databases[i], 1), 0);
            if (again) assert_int_equal(mdb_dbi_open(map.txn, names[i], MDB_CREATE | MDB_REVERSEKEY, &databases[i]), 0);
            close_map(&map);
            assert_status(IDX_BAD_CONTENT, read_documents(path, fingerprint_of(1, 7)));
            struct reports reports = verify(path, IDX_BAD_CONTENT);
            expect_report(&reports, 3, "000001/docs.mdb", IDX_BAD_CONTENT);
        }
    }
}

/* ---- The log ---- */

/* A log keeps records that are in segments until it is replaced. Where they break a rule, a verifier alone reports it;
 * where pending records do, all readers. */
static void test_records_that_are_in_segments(void **state) {
    const char *path = build_small(*state, "i", 1), *file = path_in(path, "pending.log");
    struct idx_writer *writer;
    struct idx_index *index;
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    size_t size;
    assert_non_null(manifest);
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    for (size_t i = 0; i < 2; i++) {
        struct idx_item item = {.fingerprint = fingerprint_of(2, i), .id = "an ID", .id_length = 5};
        assert_ok(idx_writer_add(writer, &item, 1, &failure));
    }
    idx_writer_close(writer);
    read_manifest(path, manifest);
    manifest->sequence = 1; /* as if the first one were in the segment */
    write_manifest(path, manifest);
    verify(path, IDX_OK);
    uint8_t *whole = read_file(file, &size), *bytes = read_file(file, &size);
    for (size_t i = 0; i < 2; i++) {
        size_t frame = IDXF_LOG_FRAMES + i * (size_t)idxf_load64(whole + IDXF_LOG_FRAMES);
        bytes[frame + IDXF_FRAME_HEADER_BYTES + 8] = IDXF_OPERATION_COUNT;
        seal_log(bytes, whole, size);
        write_file(file, bytes, size);
        enum idx_status opened = idx_open(&index, path, NULL, &failure);
        assert_int_equal(opened, i == 0 ? IDX_OK : IDX_BAD_CONTENT);
        if (opened == IDX_OK) idx_close(index);
        struct reports reports = verify(path, IDX_BAD_CONTENT);
        expect_report(&reports, 4, "pending.log", IDX_BAD_CONTENT);
        assert_non_null(strstr(reports.all[4].sentence, i == 0 ? "has record 1, which has an unknown operation"
                                                               : "has record 2, which has an unknown operation"));
        memcpy(bytes, whole, size);
    }
    write_file(file, whole, size);
    verify(path, IDX_OK);
    free(manifest);
    free(bytes);
    free(whole);
}

/* ---- Beside compactions ---- */

/* Adds and compacts, now into one segment, now into more, until the pipe is closed. Returns an exit status. */
static int grow_on_and_on(const char *path, int go_on) {
    char byte;
    uint64_t next = 0;
    do {
        struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
        struct idx_item items[20] = {{0}};
        struct idx_writer *writer;
        options.all = next % 60 == 0;
        options.growth = 1;
        for (size_t i = 0; i < LENGTH(items); i++) items[i].fingerprint = fingerprint_of(2, next++);
        if (idx_writer_open(&writer, path, NULL, NULL) != IDX_OK) return 1;
        if (idx_writer_add(writer, items, LENGTH(items), NULL) != IDX_OK) return 2;
        if (next % 40 == 0) remove_by_fingerprint(writer, &items[0].fingerprint, 1, NULL, NULL);
        idx_writer_close(writer);
        if (idx_compact(path, &options, NULL, NULL) != IDX_OK) return 3;
    } while (read(go_on, &byte, 1) != 0);
    return 0;
}

static void test_beside_compactions(void **state) {
    const char *path = build_small(*state, "i", 1);
    int pipe_ends[2], status;
    size_t changes = 0;
    assert_int_equal(pipe2(pipe_ends, O_NONBLOCK), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(pipe_ends[1]);
        _exit(grow_on_and_on(path, pipe_ends[0]));
    }
    while (changes < scale(300)) {
        struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
        bool replaced;
        assert_ok(idx_verify(path, NULL, NULL, &failure));
        assert_ok(idx_replaced(index, &replaced, &failure));
        changes += replaced;
        idx_close(index);
        assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    }
    close(pipe_ends[1]);
    assert_true(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    close(pipe_ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_a_sound_index),
        in_folder(test_all_damage_is_reported),
        in_folder(test_what_is_no_damage),
        in_folder(test_a_damaged_manifest),
        in_folder(test_tables_that_differ),
        in_folder(test_block_sizes_that_differ),
        in_folder(test_headers_of_two_faults),
        in_folder(test_block_sizes_beside_damage),
        in_folder(test_faults_behind_disorder),
        in_folder(test_padding_of_blocks),
        in_folder(test_every_bit),
        in_folder(test_statistics),
        in_folder(test_directories),
        in_folder(test_the_first_line_that_differs),
        in_folder(test_directories_that_lead_astray),
        in_folder(test_keys_that_no_look_up_counts),
        in_folder(test_lists_that_lead_astray),
        in_folder(test_documents_that_are_missing),
        in_folder(test_a_forged_map_can_be_sound),
        in_folder(test_numbers_twice_or_out_of_range),
        in_folder(test_groups_of_ids),
        in_folder(test_damaged_ids),
        in_folder(test_fingerprints_too_few_or_other),
        in_folder(test_fingerprints_too_few_of_as_many_documents),
        in_folder(test_groups),
        in_folder(test_sizes_of_groups),
        in_folder(test_separators),
        in_folder(test_meta_data),
        in_folder(test_forged_numbers_of_documents),
        in_folder(test_sizes_of_the_map),
        in_folder(test_the_heaviest),
        in_folder(test_the_heaviest_of_none),
        in_folder(test_documents_of_none),
        in_folder(test_databases),
        in_folder(test_records_that_are_in_segments),
        in_folder(test_beside_compactions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
