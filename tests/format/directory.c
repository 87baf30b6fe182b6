/* directory.c: tests of a directory: where values fall, what lines and lists say of keys, how cells are counted, and
 * that it leads to the right block; and that lines of any bytes lead nowhere else. */
#include "format/directory.h"

#include "tests/format/blocks.h"

static const uint64_t line_counts[] = {1, 2, 3, 5, 7, 64, 447, 448, 449, 1000, 65536, 76695844, 76695845};

/* ---- Lines ---- */

static void test_lines(void **state) {
    (void)state;
    static const uint64_t cases[][2] = {{0, 0},   {1, 1},   {55, 1},     {56, 1},     {57, 2},
                                        {112, 2}, {113, 3}, {5600, 100}, {5601, 101}, {4294967295, 76695845}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) assert_int_equal(idxf_directory_count_lines(cases[i][0]), cases[i][1]);
}

/* a · b / 2^64, and the remainder, from products of 32 bits. */
static uint64_t multiply_slowly(uint64_t a, uint64_t b, uint64_t *rest) {
    uint64_t a_low = a & 0xFFFFFFFF, a_high = a >> 32, b_low = b & 0xFFFFFFFF, b_high = b >> 32;
    uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32), other = a_low * b_high + (middle & 0xFFFFFFFF);
    *rest = other << 32 | (low & 0xFFFFFFFF);
    return a_high * b_high + (middle >> 32) + (other >> 32);
}

static void check_place(uint64_t x, uint64_t lines) {
    uint64_t part, line = multiply_slowly(x, lines, &part);
    struct idxf_place place = idxf_find_place(x, lines);
    assert_int_equal(place.line, line);
    assert_int_equal(place.part, part);
    assert_in_range(line, 0, lines - 1);
}

static void test_places(void **state) {
    (void)state;
    uint64_t random = 1;
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t lines = 1 + next_random_of_any_size(&random) % 76695845;
        uint64_t x = next_random_of_any_size(&random);
        check_place(x, lines);
        check_place(~x, lines);
    }
    for (size_t i = 0; i < COUNT_OF(line_counts); i++) {
        check_place(0, line_counts[i]);
        check_place(UINT64_MAX, line_counts[i]);
    }
}

static void test_leading_bits(void **state) {
    (void)state;
    assert_int_equal(idxf_get_top_bits(UINT64_MAX, 0), 0);
    for (unsigned bits = 1; bits <= 64; bits++) {
        assert_int_equal(idxf_get_top_bits(UINT64_MAX, bits), get_most(bits));
        assert_int_equal(idxf_get_top_bits(UINT64_C(1) << (64 - bits), bits), 1);
        assert_int_equal(idxf_get_top_bits((UINT64_C(1) << (64 - bits)) - 1, bits), 0);
    }
}

/* ---- A model ---- */

enum { MOST_LINES = MAX_SET, LISTS_ROOM = MAX_SET * 8 + 16 };

/* A directory of keys, with all that SPEC.md says of it. */
struct model {
    const uint64_t *keys;
    size_t count;
    uint64_t lines, list_bytes;
    uint8_t bytes[MOST_LINES * 64], lists[LISTS_ROOM];
};

static struct model model;

static unsigned get_cell(uint64_t part) {
    uint64_t rest;
    return (unsigned)multiply_slowly(part, 448, &rest);
}

/* The fewest bits that tell these parts apart. */
static unsigned find_width(const uint64_t *parts, size_t count) {
    for (unsigned width = 1;; width++) {
        bool apart = true;
        for (size_t i = 1; i < count; i++) apart = apart && parts[i] >> (64 - width) != parts[i - 1] >> (64 - width);
        if (apart) return width;
    }
}

static void put_bytes(uint8_t *bytes, uint64_t number, unsigned count) {
    for (unsigned i = 0; i < count; i++) bytes[i] = (uint8_t)(number >> 8 * i);
}

static void model_list(uint8_t *line, const uint64_t *parts, size_t count) {
    unsigned width = find_width(parts, count);
    memset(line + 8, 0, 56);
    put_bytes(line + 4, count, 4);
    put_bytes(line + 8, model.list_bytes, 8);
    line[16] = (uint8_t)width;
    for (size_t bit = 0; bit < count * width; bit++) {
        uint64_t cell = parts[bit / width] >> (64 - width);
        if (cell >> bit % width & 1) model.lists[model.list_bytes + bit / 8] |= (uint8_t)(1u << bit % 8);
    }
    model.list_bytes += (count * width + 7) / 8;
}

/* Sets the model's line; its keys are those from `first` on. Returns the number of them. */
static size_t model_line(uint64_t line, size_t first) {
    static uint64_t parts[MAX_SET];
    uint8_t *bytes = model.bytes + line * 64;
    size_t count = 0;
    bool is_crowded = false;
    memset(bytes, 0, 64);
    put_bytes(bytes, first, 4);
    for (; first + count < model.count; count++) {
        if (multiply_slowly(model.keys[first + count], model.lines, &parts[count]) != line) break;
        unsigned cell = get_cell(parts[count]), bit = 1u << cell % 8;
        is_crowded = is_crowded || (bytes[8 + cell / 8] & bit);
        bytes[8 + cell / 8] |= (uint8_t)bit;
    }
    if (is_crowded) model_list(bytes, parts, count);
    return count;
}

static void make_model(const uint64_t *keys, size_t count, uint64_t lines) {
    size_t first = 0;
    model.keys = keys;
    model.count = count;
    model.lines = lines;
    model.list_bytes = 0;
    memset(model.lists, 0, sizeof model.lists);
    assert_in_range(lines, 1, MOST_LINES);
    for (uint64_t line = 0; line < lines; line++) first += model_line(line, first);
    assert_int_equal(first, count);
}

/* ---- Writing ---- */

/* Writes the list of a line, in two pieces. */
static void write_list(const uint8_t line[64], size_t first, uint8_t *lists, uint64_t cut) {
    struct idxf_list list = idxf_line_read_list(line);
    for (uint32_t i = 0; i < list.count; i++) {
        uint64_t part = idxf_find_place(model.keys[first + i], model.lines).part;
        idxf_list_write_key(&list, i, part, 0, cut, lists);
        idxf_list_write_key(&list, i, part, cut, model.list_bytes, lists + cut);
    }
}

/* Writes all lines one after the other, and compares each; then the lists. */
static void check_writer(uint64_t *random) {
    struct idxf_directory_writer writer;
    size_t at = 0;
    uint8_t *lists = calloc(1, model.list_bytes + 1);
    assert_non_null(lists);
    memset(&writer, 0xFF, sizeof writer);
    idxf_directory_begin(&writer, model.lines);
    for (uint64_t line = 0; line < model.lines; line++) {
        uint8_t bytes[64];
        size_t first = at;
        memset(bytes, 0xFF, sizeof bytes);
        while (at < model.count && idxf_directory_add_key(&writer, model.keys[at])) at++;
        idxf_directory_write_line(&writer, bytes);
        assert_memory_equal(bytes, model.bytes + line * 64, 64);
        assert_int_equal(writer.line, line + 1);
        assert_int_equal(writer.keys_before, at);
        assert_int_equal(idxf_get_first_block(bytes), first);
        if (idxf_count_listed_keys(bytes) > 0)
            write_list(bytes, first, lists, next_random(random) % (model.list_bytes + 1));
    }
    assert_int_equal(at, model.count);
    assert_int_equal(writer.list_bytes, model.list_bytes);
    assert_memory_equal(lists, model.lists, model.list_bytes);
    free(lists);
}

/* ---- Finding ---- */

/* The least value that falls into the cell of x. */
static uint64_t get_beginning(uint64_t x, uint64_t *line) {
    uint64_t part, ignored, begin;
    *line = multiply_slowly(x, model.lines, &part);
    unsigned width = model.bytes[*line * 64 + 16];
    bool is_listed = idxf_load32(model.bytes + *line * 64 + 4) > 0;
    if (is_listed)
        begin = part >> (64 - width) << (64 - width);
    else
        begin = (uint64_t)((((wide)multiply_slowly(part, 448, &ignored) << 64) + 447) / 448);
    return (uint64_t)((((wide)*line << 64 | begin) + model.lines - 1) / model.lines);
}

static void check_found(const struct idxf_directory *directory, uint64_t x, bool *is_exact) {
    size_t block = 0, end = model.count;
    struct idxf_start start = {UINT64_MAX, 0};
    uint64_t line;
    while (block < end) {
        size_t middle = (block + end) / 2;
        if (model.keys[middle] < x)
            block = middle + 1;
        else
            end = middle;
    }
    assert_true(idxf_directory_find_start(directory, x, &start));
    assert_in_range(start.block, block == 0 ? 0 : block - 1, block);
    uint64_t begin = get_beginning(x, &line);
    if (start.block < block) assert_true(model.keys[start.block] >= begin); /* in the cell of x */
    if (start.block > 0) assert_true(start.above >= model.keys[start.block - 1]);
    if (start.block < model.count) assert_true(start.above <= model.keys[start.block]);
    if (idxf_count_listed_keys(model.bytes + line * 64) > 0) assert_int_equal(start.above, begin);
    assert_true(start.above == begin || start.above + 1 == begin);
    *is_exact = start.above == begin;
}

static void check_located(const struct idxf_directory *directory) {
    for (size_t i = 0; i < model.count; i++) {
        struct idxf_start start = {UINT64_MAX, 0};
        uint64_t line;
        assert_true(idxf_directory_get_block_start(directory, i, &start));
        assert_int_equal(start.block, i);
        assert_int_equal(start.above, get_beginning(model.keys[i], &line));
        assert_true(start.above <= model.keys[i] && (i == 0 || start.above > model.keys[i - 1]));
    }
}

/* The model's directory, in allocations of exactly its size. */
static void check_finding(uint64_t *random) {
    idxf_key_counter counters[IDXF_MAX_KEY_COUNTERS];
    size_t count = idxf_list_key_counters(counters), room = model.list_bytes < 8 ? 8 : model.list_bytes;
    uint8_t *lines = copy_exactly(model.bytes, model.lines * 64), *lists = copy_exactly(model.lists, room);
    struct idxf_directory directory;
    bool is_exact;
    idxf_directory_init(&directory, lines, lists, model.list_bytes, room, model.count);
    assert_int_equal(directory.line_count, model.lines);
    assert_ptr_equal(directory.count_keys_before, counters[count - 1]);
    check_located(&directory);
    for (size_t i = 0; i < model.count; i++) {
        directory.count_keys_before = counters[i % count];
        check_found(&directory, model.keys[i], &is_exact);
        check_found(&directory, model.keys[i] - 1, &is_exact);
        check_found(&directory, model.keys[i] + 1, &is_exact);
        check_found(&directory, next_random(random), &is_exact);
    }
    check_found(&directory, 0, &is_exact);
    assert_true(is_exact);
    check_found(&directory, UINT64_MAX, &is_exact);
    free(lines);
    free(lists);
}

/* Keys of many kinds; lists are made of some. */
static void test_any_directory(void **state) {
    (void)state;
    static uint64_t keys[MAX_SET];
    uint64_t random = 2;
    unsigned lists = 0, none = 0;
    for (unsigned round = 0; round < 50 * SHAPES; round++) {
        unsigned bits = round % 3 ? 64 : 1 + (unsigned)(next_random(&random) % 64);
        size_t count = make_set((enum shape)(round % SHAPES), bits, round % 4 ? 600 : MAX_SET, &random, keys);
        make_model(keys, count, idxf_directory_count_lines(count));
        check_writer(&random);
        check_finding(&random);
        lists += model.list_bytes > 0;
        none += model.list_bytes == 0;
        make_model(keys, count, 1 + next_random(&random) % 40);
        check_writer(&random);
    }
    assert_in_range(lists, 50, 290);
    assert_in_range(none, 10, 250);
}

/* Borders of cells: keys there, and values beside them. */
static void test_borders(void **state) {
    (void)state;
    static uint64_t keys[MAX_SET];
    uint64_t random = 3;
    for (uint64_t lines = 1; lines < 9; lines++) {
        size_t count = 0;
        for (unsigned cell = 0; cell < 448 * lines; cell += 8)
            keys[count++] = (uint64_t)((((wide)cell << 64) + 448 * lines - 1) / (448 * lines));
        assert_int_equal(idxf_directory_count_lines(count), lines);
        for (unsigned beside = 0; beside < 3; beside++) {
            make_model(keys, count, lines);
            check_writer(&random);
            check_finding(&random);
            assert_int_equal(model.list_bytes, 0);
            for (size_t i = 0; i < count; i++) keys[i] = beside == 0 ? keys[i] + 1 : i == 0 ? 0 : keys[i] - 2;
        }
    }
}

/* Neighbours need all 64 bits, and as many as there are lines need less; 448 keys fill a line's cells. */
static void test_widths(void **state) {
    (void)state;
    static uint64_t keys[449];
    uint64_t random = 4;
    for (uint64_t lines = 1; lines <= 8; lines *= 2) {
        for (unsigned i = 0; i < 56 * lines; i++) keys[i] = UINT64_C(0x4000000000000000) + i;
        make_model(keys, 56 * lines, lines);
        check_writer(&random);
        check_finding(&random);
        uint64_t line = idxf_find_place(keys[0], lines).line;
        assert_int_equal(model.bytes[line * 64 + 16], lines == 1 ? 64 : lines == 2 ? 63 : lines == 4 ? 62 : 61);
    }
    keys[0] = 0;
    keys[1] = UINT64_MAX / 448; /* both in the first cell */
    make_model(keys, 2, 1);
    assert_in_range(model.bytes[16], 9, 9);
    check_writer(&random);
    check_finding(&random);
    for (size_t i = 0; i < 448; i++) keys[i] = (uint64_t)((((wide)i << 64) + 447) / 448);
    make_model(keys, 448, 1);
    assert_int_equal(model.list_bytes, 0);
    check_writer(&random);
}

/* ---- Hostile directories ---- */

/* Lines and lists beside which nothing may be read. */
static void check_hostile(const uint8_t *lines, size_t line_bytes, const uint8_t *lists, uint64_t list_bytes,
                          size_t room, uint64_t blocks, uint64_t *random) {
    idxf_key_counter counters[IDXF_MAX_KEY_COUNTERS];
    size_t count = idxf_list_key_counters(counters);
    bool is_last = next_random(random) % 2;
    const uint8_t *placed = place_bytes(0, lines, line_bytes, is_last),
                  *lists_placed = place_bytes(1, lists, room, is_last);
    struct idxf_directory directory;
    idxf_directory_init(&directory, placed, lists_placed, list_bytes, room, blocks);
    for (unsigned tries = 0; tries < 30; tries++) {
        uint64_t x = tries == 0 ? 0 : tries == 1 ? UINT64_MAX : next_random_of_any_size(random);
        uint64_t first = UINT64_MAX, above = 0;
        for (size_t i = 0; i < count; i++) {
            struct idxf_start start = {UINT64_MAX, 0};
            directory.count_keys_before = counters[i];
            if (!idxf_directory_find_start(&directory, x, &start))
                start.block = UINT64_MAX;
            else
                assert_true(start.block <= blocks && start.above <= x);
            if (i == 0) first = start.block, above = start.above;
            assert_int_equal(start.block, first);
            if (first != UINT64_MAX) assert_int_equal(start.above, above);
        }
        struct idxf_start start;
        uint64_t block = next_random(random) % blocks;
        if (idxf_directory_get_block_start(&directory, block, &start)) assert_int_equal(start.block, block);
    }
}

/* Lines of any bytes, and lists that are nearly right. */
static void test_hostile_lines(void **state) {
    (void)state;
    uint64_t random = 5;
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t blocks = 1 + next_random(&random) % 700, line_count = idxf_directory_count_lines(blocks);
        uint64_t list_bytes = round % 5 == 0 ? 0 : next_random(&random) % 300;
        size_t room = list_bytes == 0 ? 0 : list_bytes < 8 ? 8 : list_bytes;
        uint8_t lines[13 * 64], lists[300];
        for (size_t i = 0; i < sizeof lines; i++) lines[i] = (uint8_t)next_random(&random);
        for (size_t i = 0; i < sizeof lists; i++) lists[i] = (uint8_t)next_random(&random);
        for (uint64_t line = 0; line < line_count && round % 8 != 0; line++) {
            uint64_t any = next_random(&random);
            uint32_t listed = any % 4 == 0 ? 0 : (uint32_t)(any / 4 % (any / 512 % 2 ? blocks + 2 : 12));
            uint64_t width = any / 1024 % 3 ? any / 4096 % 9 : any / 4096 % 67;
            put_bytes(lines + line * 64, any / 65536 % (blocks + 2), 4);
            put_bytes(lines + line * 64 + 4, listed, 4);
            if (listed == 0) continue;
            uint64_t bytes = (listed * width + 7) / 8, end = list_bytes > bytes ? list_bytes - bytes : 0;
            put_bytes(lines + line * 64 + 8, any >> 60 ? end + (any >> 40) % 2 : next_random_of_any_size(&random), 8);
            lines[line * 64 + 16] = (uint8_t)width;
        }
        check_hostile(lines, line_count * 64, lists, list_bytes, room, blocks, &random);
    }
}

/* So many keys are said to be before the line that with its own one they don't fit into 32 bits. */
static void test_too_many_keys_before(void **state) {
    (void)state;
    uint8_t line[64] = {[8] = 1};
    struct idxf_directory directory;
    struct idxf_start start;
    put_bytes(line, UINT32_MAX, 4);
    idxf_directory_init(&directory, line, NULL, 0, 0, 50);
    assert_false(idxf_directory_find_start(&directory, UINT64_MAX, &start));
}

/* ---- Counting ---- */

/* All ways count the cells before each cell, and nothing of `first` and `listed`, from exactly the line's bytes. */
static void check_ranks(const uint8_t line[64]) {
    idxf_key_counter counters[IDXF_MAX_KEY_COUNTERS];
    size_t count = idxf_list_key_counters(counters);
    uint8_t *copy = copy_exactly(line, 64);
    assert_in_range(count, 1, IDXF_MAX_KEY_COUNTERS);
    for (size_t i = 0; i < count; i++) {
        unsigned expected = 0;
        for (unsigned cell = 0; cell < 448; cell++) {
            assert_int_equal(counters[i](copy, cell), expected);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),         cmocka_unit_test(test_places),
        cmocka_unit_test(test_leading_bits),  cmocka_unit_test(test_any_directory),
        cmocka_unit_test(test_borders),       cmocka_unit_test(test_widths),
        cmocka_unit_test(test_hostile_lines), cmocka_unit_test(test_too_many_keys_before),
        cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, map_stretches, NULL);
}
