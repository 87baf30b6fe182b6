/* directory.c: tests of a directory's lines: where values fall, what a line says of its keys, how its cells are
 * counted, and that it leads to the right block. */
#include "format/directory.h"

#include "tests/format/directory.h"
#include "tests/format/sets.h"

__extension__ typedef unsigned __int128 wide;

static const uint64_t line_counts[] = {1, 2, 3, 5, 7, 64, 447, 448, 449, 1000, 65536, 76695844, 76695845};

/* ---- Lines and cells ---- */

static void test_lines(void **state) {
    (void)state;
    static const uint64_t cases[][2] = {{0, 0},   {1, 1},   {55, 1},     {56, 1},     {57, 2},
                                        {112, 2}, {113, 3}, {5600, 100}, {5601, 101}, {4294967295, 76695845}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) assert_int_equal(idxf_directory_lines(cases[i][0]), cases[i][1]);
}

static void check_cell(uint64_t x, uint64_t lines, uint64_t line, unsigned cell) {
    struct idxf_cell found = idxf_find_cell(x, lines);
    assert_int_equal(found.line, line);
    assert_int_equal(found.cell, cell);
}

static void test_known_cells(void **state) {
    (void)state;
    check_cell(0, 1, 0, 0);
    check_cell(UINT64_MAX, 1, 0, 447);
    check_cell(UINT64_C(1) << 63, 1, 0, 224);
    check_cell((UINT64_C(1) << 63) - 1, 1, 0, 223);
    check_cell(UINT64_C(1) << 63, 2, 1, 0);
    check_cell((UINT64_C(1) << 63) - 1, 2, 0, 447);
    check_cell(UINT64_C(0x0092492492492492), 1, 0, 0); /* 2^64 / 448 = 0x92492492492492.49… */
    check_cell(UINT64_C(0x0092492492492493), 1, 0, 1);
    check_cell(UINT64_C(0x5555555555555555), 3, 0, 447); /* 2^64 / 3 = 0x5555555555555555.5… */
    check_cell(UINT64_C(0x5555555555555556), 3, 1, 0);
    check_cell(UINT64_C(0xAAAAAAAAAAAAAAAA), 3, 1, 447);
    check_cell(UINT64_C(0xAAAAAAAAAAAAAAAB), 3, 2, 0);
    check_cell(UINT64_MAX, 76695845, 76695844, 447);
    check_cell(0, 76695845, 0, 0);
}

static void check_against_model(uint64_t x, uint64_t lines) {
    struct idxf_cell expected = model_cell(x, lines);
    check_cell(x, lines, expected.line, expected.cell);
    assert_in_range(expected.line, 0, lines - 1);
    assert_in_range(expected.cell, 0, 447);
}

static void test_any_cell(void **state) {
    (void)state;
    uint64_t random = 1;
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t lines = 1 + next_random_of_any_size(&random) % 76695845;
        uint64_t x = next_random_of_any_size(&random);
        check_against_model(x, lines);
        check_against_model(~x, lines);
    }
}

/* The first value of a line is ⌈line · 2^64 / lines⌉: the one before it is in the last cell of the line before. */
static void test_borders_of_lines(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(line_counts); i++) {
        uint64_t lines = line_counts[i];
        for (uint64_t line = 1; line < lines; line += 1 + line / 3) {
            uint64_t x = (uint64_t)((((wide)line << 64) + lines - 1) / lines);
            check_cell(x, lines, line, 0);
            check_cell(x - 1, lines, line - 1, 447);
            check_against_model(x, lines);
            check_against_model(x - 1, lines);
        }
    }
}

/* The first value of a cell: the least x for which (x · lines) mod 2^64 is ⌈cell · 2^64 / 448⌉ or more. */
static void test_borders_of_cells(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(line_counts); i++) {
        uint64_t lines = line_counts[i], line = lines * 2 / 3;
        for (unsigned cell = 1; cell < 448; cell++) {
            wide rest = (((wide)cell << 64) + 447) / 448;
            uint64_t x = (uint64_t)((((wide)line << 64) + rest + lines - 1) / lines);
            check_cell(x, lines, line, cell);
            check_cell(x - 1, lines, line, cell - 1);
        }
    }
}

/* ---- Writing ---- */

/* Writes line `line`, before which `first` of the keys fall; returns how many fall into it. */
static size_t write_line(uint8_t bytes[64], uint64_t line, uint64_t lines, const uint64_t *keys, size_t first,
                         size_t count) {
    struct idxf_directory_writer writer;
    size_t at = first;
    idxf_directory_begin(&writer, lines);
    writer.line = line;
    writer.first = first;
    while (at < count && idxf_directory_add(&writer, keys[at])) at++;
    idxf_directory_take(&writer, bytes);
    assert_int_equal(writer.line, line + 1);
    assert_int_equal(writer.first, at);
    return at - first;
}

/* Writes all lines one after the other, and compares each. */
static void check_directory(uint64_t lines, const uint64_t *keys, size_t count) {
    size_t first = 0;
    for (uint64_t line = 0; line < lines; line++) {
        uint8_t bytes[64], expected[64];
        memset(bytes, 0xFF, sizeof bytes);
        size_t here = write_line(bytes, line, lines, keys, first, count);
        model_line(expected, line, lines, keys, count);
        assert_memory_equal(bytes, expected, sizeof bytes);
        assert_int_equal(idxf_line_first(bytes), first);
        assert_in_range(idxf_line_crowded(bytes), 0, here);
        first += here;
    }
    assert_int_equal(first, count);
}

static void check_line(const uint64_t *keys, size_t count, uint64_t line, uint64_t lines, size_t first,
                       const uint8_t expected[64]) {
    uint8_t bytes[64];
    memset(bytes, 0xFF, sizeof bytes);
    write_line(bytes, line, lines, keys, first, count);
    assert_memory_equal(bytes, expected, sizeof bytes);
}

/* Keys in the first and the last cell, and on both sides of a border between two words, and between two lines. */
static void test_known_lines(void **state) {
    (void)state;
    static const uint64_t keys[] = {
        0,
        UINT64_C(0x1249249249249249), /* the last value of cell 63 */
        UINT64_C(0x124924924924924A), /* the first of cell 64 */
        UINT64_C(0x7FFFFFFFFFFFFFFF), /* cell 447 */
        UINT64_C(0x8000000000000000), /* line 1, cell 0 */
        UINT64_MAX,
    };
    static const uint8_t line_0[64] = {0, 0, 0, 0, 0, 0, 0, 0, 0x01, [8 + 7] = 0x80, [8 + 8] = 0x01, [63] = 0x80};
    static const uint8_t line_1[64] = {4, 0, 0, 0, 0, 0, 0, 0, 0x01, [63] = 0x80};
    check_line(keys, COUNT_OF(keys), 0, 2, 0, line_0);
    check_line(keys, COUNT_OF(keys), 1, 2, 4, line_1);
    check_directory(2, keys, COUNT_OF(keys));
}

/* Two keys in one cell, at its first and last value: the line is crowded, and says how many keys it has. */
static void test_crowded_lines(void **state) {
    (void)state;
    static const uint64_t crowded[] = {UINT64_C(0x0092492492492493), UINT64_C(0x0124924924924924), UINT64_MAX};
    static const uint64_t beside[] = {UINT64_C(0x0092492492492492), UINT64_C(0x0092492492492493), UINT64_MAX};
    static const uint8_t of_crowded[64] = {0, 0, 0, 0, 3, 0, 0, 0, 0x02, [63] = 0x80};
    static const uint8_t of_beside[64] = {0, 0, 0, 0, 0, 0, 0, 0, 0x03, [63] = 0x80};
    check_line(crowded, 3, 0, 1, 0, of_crowded);
    check_line(beside, 3, 0, 1, 0, of_beside);
    /* The crowded line's neighbours are not, and a line without keys is not either. */
    static const uint64_t keys[] = {0, 1, UINT64_C(0xC000000000000000)};
    static const uint8_t lines[4][64] = {{[4] = 2, [8] = 1}, {2}, {2}, {2, [8] = 1}};
    check_line(keys, 3, 0, 4, 0, lines[0]);
    check_line(keys, 3, 1, 4, 2, lines[1]);
    check_line(keys, 3, 2, 4, 2, lines[2]);
    check_line(keys, 3, 3, 4, 2, lines[3]);
}

static void test_full_lines(void **state) {
    (void)state;
    static uint64_t keys[449];
    uint8_t expected[64];
    for (size_t i = 0; i < 448; i++) keys[i] = (uint64_t)((((wide)i << 64) + 447) / 448);
    memset(expected, 0xFF, sizeof expected);
    memset(expected, 0, 8);
    check_line(keys, 448, 0, 1, 0, expected); /* one key a cell */
    keys[448] = UINT64_MAX;
    expected[4] = 449 % 256;
    expected[5] = 449 / 256;
    check_line(keys, 449, 0, 1, 0, expected);
}

/* `first` and `crowded` of more than 16 bits. */
static void test_many_keys(void **state) {
    (void)state;
    enum { COUNT = 150000 };
    static uint64_t keys[COUNT];
    static const uint8_t line_1[64] = {0x70, 0x11, 0x01, 0, 0x80, 0x38, 0x01, 0, [8] = 0x01};
    for (size_t i = 0; i < COUNT; i++) keys[i] = i < 70000 ? i : UINT64_C(0x8000000000000000) + i;
    assert_int_equal(70000, 0x11170);
    assert_int_equal(COUNT - 70000, 0x13880);
    check_line(keys, COUNT, 1, 2, 70000, line_1);
}

/* Keys of many kinds, in directories that have as many lines as they should, and other numbers. */
static void test_any_directory(void **state) {
    (void)state;
    static uint64_t keys[MAX_SET];
    uint64_t random = 2;
    for (unsigned round = 0; round < 50 * SHAPES; round++) {
        unsigned bits = round % 3 ? 64 : 1 + (unsigned)(next_random(&random) % 64);
        size_t count = make_set((enum shape)(round % SHAPES), bits, round % 4 ? 600 : MAX_SET, &random, keys);
        check_directory(idxf_directory_lines(count), keys, count);
        if (count < 600) check_directory(1 + next_random(&random) % 40, keys, count);
    }
}

/* ---- Counting ---- */

/* All ways count the cells before each cell, and nothing of `first` and `crowded`, from exactly the line's bytes. */
static void check_ranks(const uint8_t line[64]) {
    idxf_rank ranks[IDXF_MAX_RANKS];
    size_t count = idxf_line_ranks(ranks);
    uint8_t *copy = copy_exactly(line, 64);
    assert_in_range(count, 1, IDXF_MAX_RANKS);
    for (size_t i = 0; i < count; i++) {
        unsigned expected = 0;
        for (unsigned cell = 0; cell < 448; cell++) {
            assert_int_equal(ranks[i](copy, cell), expected);
            expected += line[8 + cell / 8] >> cell % 8 & 1;
        }
    }
    free(copy);
}

static void test_ranks(void **state) {
    (void)state;
    uint8_t line[64];
    uint64_t random = 3;
    memset(line, 0, sizeof line);
    check_ranks(line);
    memset(line, 0xFF, sizeof line);
    check_ranks(line);
    memset(line + 8, 0, 56);
    check_ranks(line);
    for (unsigned cell = 0; cell < 448; cell++) {
        line[8 + cell / 8] = (uint8_t)(1u << cell % 8);
        check_ranks(line);
        line[8 + cell / 8] = 0;
    }
    for (unsigned round = 0; round < 500; round++) {
        for (size_t i = 0; i < sizeof line; i++) line[i] = (uint8_t)(next_random(&random) >> round % 8);
        check_ranks(line);
    }
}

/* ---- Finding ---- */

/* The first block whose key is at least x is the one that an uncrowded line leads to, or the next; in a crowded line,
 * one of those from `first` to `first + crowded`. */
static void check_leads(const uint8_t *directory, uint64_t lines, const uint64_t *keys, size_t count, uint64_t x) {
    idxf_rank ranks[IDXF_MAX_RANKS];
    size_t block = 0;
    idxf_line_ranks(ranks);
    while (block < count && keys[block] < x) block++;
    struct idxf_cell cell = idxf_find_cell(x, lines);
    const uint8_t *line = directory + cell.line * 64;
    uint32_t first = idxf_line_first(line), crowded = idxf_line_crowded(line);
    size_t begin = crowded > 0 ? first : first + ranks[0](line, cell.cell);
    assert_in_range(block, begin, crowded > 0 ? first + crowded : begin + 1);
}

static void test_leads_to_the_block(void **state) {
    (void)state;
    static uint64_t keys[MAX_SET];
    static uint8_t directory[(MAX_SET / 56 + 1) * 64];
    uint64_t random = 4;
    unsigned crowded = 0;
    for (unsigned round = 0; round < 10 * SHAPES; round++) {
        size_t count = make_set((enum shape)(round % SHAPES), 64, 1000, &random, keys), first = 0;
        uint64_t lines = idxf_directory_lines(count);
        for (uint64_t line = 0; line < lines; line++) {
            first += write_line(directory + line * 64, line, lines, keys, first, count);
            crowded += idxf_line_crowded(directory + line * 64) > 0;
        }
        for (size_t i = 0; i < count; i++) {
            check_leads(directory, lines, keys, count, keys[i]);
            check_leads(directory, lines, keys, count, keys[i] - 1);
            check_leads(directory, lines, keys, count, keys[i] + 1);
            check_leads(directory, lines, keys, count, next_random(&random));
        }
    }
    assert_in_range(crowded, 50, 600);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_known_cells),
        cmocka_unit_test(test_any_cell),
        cmocka_unit_test(test_borders_of_lines),
        cmocka_unit_test(test_borders_of_cells),
        cmocka_unit_test(test_known_lines),
        cmocka_unit_test(test_crowded_lines),
        cmocka_unit_test(test_full_lines),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_any_directory),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_leads_to_the_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
