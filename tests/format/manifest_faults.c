/* manifest_faults.c: tests of manifests that break a rule of SPEC.md, chapter 3: each with the fault that must come
 * back and the line it is in. */
#include <inttypes.h>
#include <stdio.h>

#include "format/checksum.h"
#include "format/manifest.h"
#include "tests/format/testing.h"

#define UUID "00112233-4455-6677-8899-aabbccddeeff"
#define UUID_A "aaaaaaaa-4455-6677-8899-aabbccddeeff"
#define UUID_B "bbbbbbbb-4455-6677-8899-aabbccddeeff"

/* A valid manifest but for its last line, the checksum. Lines count from 1. */
static const char *const valid[] = {
    "idx-index 1\n",
    "uuid " UUID "\n",
    "bits 12\n",
    "k 3\n",
    "id-type text\n",
    "by-id no\n",
    "recipe words-1\n",
    "scheme 4:1\n",
    "table e00 0\n",
    "table 1c0 1\n",
    "sequence 3\n",
    "segment 000001 " UUID_A " 5 7 0\n",
    "segment 000007 " UUID_B " 0 0 0\n",
};
enum { LINES = 13, CHECKSUM_BYTES = 26 };

struct result {
    enum idxf_fault fault;
    unsigned line;
    uint32_t version;
};

static struct result read_text(const char *text, size_t size) {
    static struct idxf_manifest manifest;
    struct result result = {.line = 99, .version = 99};
    char *copy = copy_exactly(text, size);
    result.fault = idxf_manifest_read(&manifest, copy, size, &result.line, &result.version);
    free(copy);
    return result;
}

/* Appends the line of the checksum, and reads. */
static struct result read_summed(char *text, size_t size) {
    sprintf(text + size, "checksum %016" PRIx64 "\n", idxf_checksum(text, size));
    return read_text(text, size + CHECKSUM_BYTES);
}

static void check(struct result result, enum idxf_fault fault, unsigned line) {
    assert_fault(result.fault, fault);
    assert_int_equal(result.line, line);
}

/* Reads the valid manifest with line `line` replaced, where that is not 0. */
static struct result read_replaced(unsigned line, const char *replacement, size_t length) {
    static char text[400000];
    size_t size = 0;
    for (unsigned i = 0; i < LINES; i++) {
        const char *from = i + 1 == line ? replacement : valid[i];
        size_t bytes = i + 1 == line ? length : strlen(valid[i]);
        memcpy(text + size, from, bytes);
        size += bytes;
    }
    return read_summed(text, size);
}

static void check_replaced(unsigned line, const char *replacement, enum idxf_fault fault, unsigned fault_line) {
    struct result result = read_replaced(line, replacement, strlen(replacement));
    if (result.fault != fault || (fault != IDXF_OK && result.line != fault_line))
        print_error("line %u replaced by: %s", line, replacement);
    assert_fault(result.fault, fault);
    if (fault != IDXF_OK) assert_int_equal(result.line, fault_line);
}

struct replaced {
    unsigned line;
    const char *replacement;
    enum idxf_fault fault;
    unsigned fault_line;
};

static void check_all(const struct replaced *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        check_replaced(cases[i].line, cases[i].replacement, cases[i].fault, cases[i].fault_line);
}

/* ---- The whole ---- */

static void test_valid(void **state) {
    (void)state;
    assert_fault(read_replaced(0, NULL, 0).fault, IDXF_OK);
}

static void test_first_line(void **state) {
    (void)state;
    static const struct replaced cases[] = {
        {1, "", IDXF_FAULT_MAGIC, 1},
        {1, "idx-index\n", IDXF_FAULT_MAGIC, 1},
        {1, "idx-index \n", IDXF_FAULT_MAGIC, 1},
        {1, "idx-index x\n", IDXF_FAULT_MAGIC, 1},
        {1, "Idx-index 1\n", IDXF_FAULT_MAGIC, 1},
        {1, " idx-index 1\n", IDXF_FAULT_MAGIC, 1},
        {1, "idx-index  1\n", IDXF_FAULT_MAGIC, 1},
        {1, "idx-index\t1\n", IDXF_FAULT_MAGIC, 1},
        {1, "idx-index -1\n", IDXF_FAULT_MAGIC, 1},
        {1, "idx-index 01\n", IDXF_FAULT_MAGIC, 1},
        {1, "idx-index 4294967296\n", IDXF_FAULT_MAGIC, 1},
        {1, "idx-index 99999999999999999999\n", IDXF_FAULT_MAGIC, 1},
        {1, "idx-index 2\n", IDXF_FAULT_VERSION, 1},
        {1, "idx-index 0\n", IDXF_FAULT_VERSION, 1},
        {1, "idx-index 4294967295\n", IDXF_FAULT_VERSION, 1},
        {1, "idx-index 1 \n", IDXF_FAULT_SYNTAX, 1},
        {1, "idx-index 1x\n", IDXF_FAULT_SYNTAX, 1},
        {1, "idx-index 1\r\n", IDXF_FAULT_SYNTAX, 1},
        {1, "idx-index 1", IDXF_FAULT_SYNTAX, 1},
    };
    check_all(cases, COUNT_OF(cases));
}

/* A version comes before everything else, and is named. */
static void test_versions(void **state) {
    (void)state;
    static const char *const newer[] = {"idx-index 7\nwhat comes then is not for us", "idx-index 7"};
    for (size_t i = 0; i < COUNT_OF(newer); i++) {
        struct result result = read_text(newer[i], strlen(newer[i]));
        check(result, IDXF_FAULT_VERSION, 1);
        assert_int_equal(result.version, 7);
    }
    assert_int_equal(read_replaced(1, "idx-index 4294967295\n", 21).version, UINT32_MAX);
    assert_int_equal(read_replaced(0, NULL, 0).version, 1);
}

static void test_sizes(void **state) {
    (void)state;
    static char text[IDXF_MAX_MANIFEST_BYTES + CHECKSUM_BYTES + 2];
    const size_t most = IDXF_MAX_MANIFEST_BYTES;
    check(read_text("", 0), IDXF_FAULT_MAGIC, 1);
    check(read_text("idx-index 1", 11), IDXF_FAULT_CHECKSUM, 0);
    check(read_text("idx-index 1\nchecksum 0123456789abcde", 36), IDXF_FAULT_CHECKSUM, 0);
    memset(text, 'x', sizeof text);
    memcpy(text, "idx-index 1\n", 12);
    text[most - CHECKSUM_BYTES - 1] = '\n';
    check(read_summed(text, most - CHECKSUM_BYTES), IDXF_FAULT_SYNTAX, 2);
    text[most - CHECKSUM_BYTES - 1] = 'x';
    text[most - CHECKSUM_BYTES] = '\n';
    check(read_summed(text, most - CHECKSUM_BYTES + 1), IDXF_FAULT_SIZE, 0);
    memcpy(text, "idx-index 2\n", 12);
    check(read_text(text, most + 1), IDXF_FAULT_VERSION, 1);
}

/* Each truncation, and each byte changed: the checksum sees it, where nothing comes before. */
static void test_every_byte(void **state) {
    (void)state;
    char text[1000] = "";
    for (unsigned i = 0; i < LINES; i++) strcat(text, valid[i]);
    size_t size = strlen(text);
    assert_fault(read_summed(text, size).fault, IDXF_OK);
    size += CHECKSUM_BYTES;
    for (size_t cut = 0; cut < size; cut++) {
        enum idxf_fault fault = cut < 11 ? IDXF_FAULT_MAGIC : IDXF_FAULT_CHECKSUM;
        check(read_text(text, cut), fault, fault == IDXF_FAULT_MAGIC ? 1 : 0);
    }
    for (size_t bit = 0; bit < size * 8; bit++) {
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        struct result result = read_text(text, size);
        bool is_digit = text[10] >= '0' && text[10] <= '9';
        enum idxf_fault fault = IDXF_FAULT_CHECKSUM;
        if (bit / 8 < 10) fault = IDXF_FAULT_MAGIC;
        if (bit / 8 == 10) fault = is_digit ? IDXF_FAULT_VERSION : IDXF_FAULT_MAGIC;
        check(result, fault, fault == IDXF_FAULT_CHECKSUM ? 0 : 1);
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
    }
}

/* The last line has the right checksum, and is not written as it must be. */
static void test_line_of_the_checksum(void **state) {
    (void)state;
    static const char *const formats[] = {
        "checksum %016" PRIX64 "\n",
        "checksum  %015" PRIx64 "\n",
        "Checksum %016" PRIx64 "\n",
        "checksum\t%016" PRIx64 "\n",
        "checksum %016" PRIx64 "\r",
        "checksum %016" PRIx64 " ",
        "\n\n",
        "checksum %016" PRIx64 "\n\n",
        " checksum %016" PRIx64 "\n",
    };
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        char text[1000] = "";
        for (unsigned line = 0; line < LINES; line++) strcat(text, valid[line]);
        size_t size = strlen(text);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        sprintf(text + size, formats[i], idxf_checksum(text, size));
#pragma GCC diagnostic pop
        check(read_text(text, strlen(text)), IDXF_FAULT_CHECKSUM, 0);
    }
    char glued[] = "idx-index 1 checksum 0123456789abcdef\n"; /* right, and not at the beginning of a line */
    check(read_summed(glued, 12), IDXF_FAULT_SYNTAX, 1);
}

/* ---- Line by line ---- */

static void test_lines_missing_doubled_or_swapped(void **state) {
    (void)state;
    for (unsigned line = 2; line <= 8; line++) {
        char twice[200];
        check_replaced(line, "", IDXF_FAULT_SYNTAX, line);
        check_replaced(line, "\n", IDXF_FAULT_SYNTAX, line);
        check_replaced(line, "what is this\n", IDXF_FAULT_SYNTAX, line);
        snprintf(twice, sizeof twice, "%s%s", valid[line - 1], valid[line - 1]);
        check_replaced(line, twice, line == 8 ? IDXF_FAULT_MASK : IDXF_FAULT_SYNTAX, line + 1);
        snprintf(twice, sizeof twice, "%.*s \n", (int)strlen(valid[line - 1]) - 1, valid[line - 1]);
        if (line != 7 && line != 8) check_replaced(line, twice, IDXF_FAULT_SYNTAX, line);
        snprintf(twice, sizeof twice, "%.*s\r\n", (int)strlen(valid[line - 1]) - 1, valid[line - 1]);
        if (line == 2 || line == 7 || line == 8) continue;
    }
    check_replaced(13, "segment 000007 " UUID_B " 0 0 0\nmore\n", IDXF_FAULT_SYNTAX, 14);
    check_replaced(13, "segment 000007 " UUID_B " 0 0 0\n\n", IDXF_FAULT_SYNTAX, 14);
    check_replaced(13, "segment 000007 " UUID_B " 0 0 0\ntable 001 0\n", IDXF_FAULT_SYNTAX, 14);
    check_replaced(13, "segment 000007 " UUID_B " 0 0 0\nchecksum 0123456789abcdef\n", IDXF_FAULT_SYNTAX, 14);
}

static void test_uuid(void **state) {
    (void)state;
    static const struct replaced cases[] = {
        {2, "uuid \n", IDXF_FAULT_UUID, 2},
        {2, "uuid 00112233-4455-6677-8899-aabbccddeef\n", IDXF_FAULT_UUID, 2},
        {2, "uuid 00112233-4455-6677-8899-aabbccddeefff\n", IDXF_FAULT_UUID, 2},
        {2, "uuid 00112233-4455-6677-8899-AABBCCDDEEFF\n", IDXF_FAULT_UUID, 2},
        {2, "uuid 00112233445566778899aabbccddeeff\n", IDXF_FAULT_UUID, 2},
        {2, "uuid 0011223-34455-6677-8899-aabbccddeeff\n", IDXF_FAULT_UUID, 2},
        {2, "uuid 00112233-4455-6677-8899-aabbccddeefg\n", IDXF_FAULT_UUID, 2},
        {2, "uuid 00112233-4455-6677-8899_aabbccddeeff\n", IDXF_FAULT_UUID, 2},
        {2, "uuid\n", IDXF_FAULT_SYNTAX, 2},
        {2, "uuid " UUID " \n", IDXF_FAULT_SYNTAX, 2},
        {12, "segment 000001 aaaaaaaa-4455-6677-8899-aabbccddeefF 5 7 0\n", IDXF_FAULT_UUID, 12},
        {12, "segment 000001 aaaaaaaa-4455-6677-8899-aabbccddeefff 5 7 0\n", IDXF_FAULT_UUID, 12},
        {13, "segment 000007 aaaaaaaa-4455-6677-8899 0 0 0\n", IDXF_FAULT_UUID, 13},
    };
    check_all(cases, COUNT_OF(cases));
}

static void test_bits_and_k(void **state) {
    (void)state;
    static const struct replaced cases[] = {
        {3, "bits 0\n", IDXF_FAULT_BITS, 3},
        {3, "bits 65\n", IDXF_FAULT_BITS, 3},
        {3, "bits 012\n", IDXF_FAULT_SYNTAX, 3},
        {3, "bits +12\n", IDXF_FAULT_SYNTAX, 3},
        {3, "bits -12\n", IDXF_FAULT_SYNTAX, 3},
        {3, "bits \n", IDXF_FAULT_SYNTAX, 3},
        {3, "bits 12x\n", IDXF_FAULT_SYNTAX, 3},
        {3, "bits 0xc\n", IDXF_FAULT_SYNTAX, 3},
        {3, "bits 65x\n", IDXF_FAULT_SYNTAX, 3},
        {3, "bits 18446744073709551628\n", IDXF_FAULT_BITS, 3}, /* 2^64 + 12 */
        {3, "bits  12\n", IDXF_FAULT_SYNTAX, 3},
        {3, "bits\n", IDXF_FAULT_SYNTAX, 3},
        {3, "bits 12 12\n", IDXF_FAULT_SYNTAX, 3},
        {3, "bits 4\n", IDXF_FAULT_MASK, 9}, /* k is still below, the masks are too long */
        {3, "bits 3\n", IDXF_FAULT_K, 4},
        {3, "bits 64\n", IDXF_FAULT_MASK, 9},
        {4, "k 12\n", IDXF_FAULT_K, 4},
        {4, "k 11\n", IDXF_OK, 0},
        {4, "k 0\n", IDXF_OK, 0},
        {4, "k 16\n", IDXF_FAULT_K, 4},
        {4, "k 03\n", IDXF_FAULT_SYNTAX, 4},
        {4, "k \n", IDXF_FAULT_SYNTAX, 4},
        {4, "k 3x\n", IDXF_FAULT_SYNTAX, 4},
        {4, "k\n", IDXF_FAULT_SYNTAX, 4},
        {4, "k 3 \n", IDXF_FAULT_SYNTAX, 4},
    };
    check_all(cases, COUNT_OF(cases));
}

/* k up to 16 where f leaves room, and no more. */
static void test_largest_k(void **state) {
    (void)state;
    static const char *const rest =
        "id-type text\nby-id no\nrecipe\nscheme x\ntable 00000001 0\nsequence 0\nsegment 000001 " UUID_A " 0 0 0\n";
    for (unsigned k = 15; k <= 18; k++) {
        char text[1000];
        int size = sprintf(text, "%s%sbits 32\nk %u\n%s", valid[0], valid[1], k, rest);
        struct result result = read_summed(text, (size_t)size);
        assert_fault(result.fault, k <= 16 ? IDXF_OK : IDXF_FAULT_K);
        if (k > 16) assert_int_equal(result.line, 4);
    }
}

static void test_id_type(void **state) {
    (void)state;
    static const struct replaced cases[] = {
        {5, "id-type Text\n", IDXF_FAULT_ID_TYPE, 5},     {5, "id-type \n", IDXF_FAULT_ID_TYPE, 5},
        {5, "id-type u32\n", IDXF_FAULT_ID_TYPE, 5},      {5, "id-type texts\n", IDXF_FAULT_ID_TYPE, 5},
        {5, "id-type u64x\n", IDXF_FAULT_ID_TYPE, 5},     {5, "id-type\n", IDXF_FAULT_SYNTAX, 5},
        {5, "id-type text text\n", IDXF_FAULT_SYNTAX, 5}, {5, "id-type u64\n", IDXF_OK, 0},
    };
    check_all(cases, COUNT_OF(cases));
}

static void test_by_id(void **state) {
    (void)state;
    static const struct replaced cases[] = {
        {6, "by-id yes\n", IDXF_OK, 0},
        {6, "by-id Yes\n", IDXF_FAULT_BY_ID, 6},
        {6, "by-id \n", IDXF_FAULT_BY_ID, 6},
        {6, "by-id not\n", IDXF_FAULT_BY_ID, 6},
        {6, "by-id yesno\n", IDXF_FAULT_BY_ID, 6},
        {6, "by-id 1\n", IDXF_FAULT_BY_ID, 6},
        {6, "by-id\n", IDXF_FAULT_SYNTAX, 6},
        {6, "by-id no no\n", IDXF_FAULT_SYNTAX, 6},
        {5, "id-type none\n", IDXF_FAULT_COUNT, 12}, /* without a map from IDs it may be */
    };
    check_all(cases, COUNT_OF(cases));
}

/* Where there are no IDs there is no map from them. */
static void test_by_id_of_none(void **state) {
    (void)state;
    static const struct {
        const char *id_type, *by_id;
        enum idxf_fault fault;
    } cases[] = {{"none", "no", IDXF_OK}, {"none", "yes", IDXF_FAULT_BY_ID}, {"u64", "yes", IDXF_OK}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1000];
        int size =
            sprintf(text, "%s%s%s%sid-type %s\nby-id %s\n%s%s%s%ssegment 000001 " UUID_A " 0 0 0\n", valid[0], valid[1],
                    valid[2], valid[3], cases[i].id_type, cases[i].by_id, valid[6], valid[7], valid[8], valid[10]);
        struct result result = read_summed(text, (size_t)size);
        assert_fault(result.fault, cases[i].fault);
        if (cases[i].fault != IDXF_OK) assert_int_equal(result.line, 6);
    }
}

static void test_recipe_and_scheme(void **state) {
    (void)state;
    static const struct replaced cases[] = {
        {7, "recipe\n", IDXF_OK, 0},
        {7, "recipe  \n", IDXF_OK, 0}, /* a space */
        {7, "recipe \n", IDXF_FAULT_RECIPE, 7},
        {7, "recipe a\tb\n", IDXF_FAULT_RECIPE, 7},
        {7, "recipe a\r\n", IDXF_FAULT_RECIPE, 7},
        {7, "recipe \x1f\n", IDXF_FAULT_RECIPE, 7},
        {7, "recipe \x7f\n", IDXF_FAULT_RECIPE, 7},
        {7, "recipe \x80\xff\n", IDXF_OK, 0},
        {7, "recipes\n", IDXF_FAULT_SYNTAX, 7},
        {8, "scheme \n", IDXF_FAULT_SYNTAX, 8},
        {8, "scheme\n", IDXF_FAULT_SYNTAX, 8},
        {8, "scheme a\tb\n", IDXF_FAULT_SYNTAX, 8},
        {8, "scheme a\x7f\n", IDXF_FAULT_SYNTAX, 8},
        {8, "scheme a\x80\n", IDXF_FAULT_SYNTAX, 8}, /* not ASCII */
        {8, "scheme a b~\n", IDXF_OK, 0},
    };
    check_all(cases, COUNT_OF(cases));
    assert_fault(read_replaced(7, "recipe a\0b\n", 11).fault, IDXF_FAULT_RECIPE);
    assert_fault(read_replaced(7, "recipe \0\n", 9).fault, IDXF_FAULT_RECIPE);
    assert_fault(read_replaced(8, "scheme a\0b\n", 11).fault, IDXF_FAULT_SYNTAX);
}

static void test_longest_recipe_and_scheme(void **state) {
    (void)state;
    static const struct {
        unsigned line;
        const char *word;
        size_t most;
        enum idxf_fault fault;
    } cases[] = {{7, "recipe ", 255, IDXF_FAULT_RECIPE}, {8, "scheme ", 63, IDXF_FAULT_SYNTAX}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (size_t length = cases[i].most - 1; length <= cases[i].most + 2; length++) {
            char line[300] = "";
            strcpy(line, cases[i].word);
            memset(line + 7, 'x', length);
            strcpy(line + 7 + length, "\n");
            check_replaced(cases[i].line, line, length <= cases[i].most ? IDXF_OK : cases[i].fault, cases[i].line);
        }
    }
}

static void test_table(void **state) {
    (void)state;
    static const struct replaced cases[] = {
        {9, "table 000 0\n", IDXF_FAULT_MASK, 9},
        {9, "table fff 0\n", IDXF_OK, 0},
        {9, "table E00 0\n", IDXF_FAULT_MASK, 9},
        {9, "table e0 0\n", IDXF_FAULT_MASK, 9},
        {9, "table 0e00 0\n", IDXF_FAULT_MASK, 9},
        {9, "table 0xe 0\n", IDXF_FAULT_MASK, 9},
        {9, "table  0\n", IDXF_FAULT_MASK, 9},
        {9, "table e00 4\n", IDXF_FAULT_RADIUS, 9},
        {9, "table e00 3\n", IDXF_OK, 0},
        {9, "table e00 00\n", IDXF_FAULT_SYNTAX, 9},
        {9, "table e00 \n", IDXF_FAULT_SYNTAX, 9},
        {9, "table e00 1x\n", IDXF_FAULT_SYNTAX, 9},
        {9, "table e00\n", IDXF_FAULT_SYNTAX, 9},
        {9, "table e00  0\n", IDXF_FAULT_SYNTAX, 9},
        {9, "table e00 0 0\n", IDXF_FAULT_SYNTAX, 9},
        {9, "table\n", IDXF_FAULT_MASK, 9}, /* no line `table MASK RADIUS` at all */
        {9, "", IDXF_OK, 0},                /* one less */
        {10, "table e00 0\n", IDXF_OK, 0},  /* the same again: allowed */
        {10, "table 1c0 4\n", IDXF_FAULT_RADIUS, 10},
    };
    check_all(cases, COUNT_OF(cases));
}

/* Bits of a mask at f and above, where the last digit has room for them. */
static void test_mask_too_wide(void **state) {
    (void)state;
    for (unsigned bits = 61; bits <= 64; bits++) {
        for (unsigned bit = 60; bit < 64; bit++) {
            char text[1000];
            int size =
                sprintf(text, "%s%sbits %u\n%s%s%s%s%stable %016" PRIx64 " 0\n%s%s", valid[0], valid[1], bits, valid[3],
                        valid[4], valid[5], valid[6], valid[7], UINT64_C(1) << bit, valid[10], valid[11]);
            struct result result = read_summed(text, (size_t)size);
            assert_fault(result.fault, bit < bits ? IDXF_OK : IDXF_FAULT_MASK);
            if (bit >= bits) assert_int_equal(result.line, 9);
        }
    }
}

static void test_segment(void **state) {
    (void)state;
    static const struct replaced cases[] = {
        {12, "segment 000000 " UUID_A " 5 7 0\n", IDXF_FAULT_SEGMENT, 12},
        {12, "segment 000007 " UUID_A " 5 7 0\n", IDXF_FAULT_SEGMENT, 13}, /* the same number twice */
        {12, "segment 000008 " UUID_A " 5 7 0\n", IDXF_OK, 0},             /* the order is that of age */
        {12, "segment 000006 " UUID_A " 5 7 0\n", IDXF_OK, 0},
        {13, "segment 999999 " UUID_B " 0 0 0\n", IDXF_OK, 0},
        {13, "segment 000007 " UUID_A " 0 0 0\n", IDXF_FAULT_SEGMENT, 13}, /* the same uuid twice */
        {13, "segment 000007 " UUID " 0 0 0\n", IDXF_OK, 0},               /* as the index: not forbidden */
        {13, "segment 00007 " UUID_B " 0 0 0\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 0000007 " UUID_B " 0 0 0\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 00000x " UUID_B " 0 0 0\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment  00007 " UUID_B " 0 0 0\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B " 0 0\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B "\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B " 0 0 0 0\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B " 0 0 0 \n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B "  0 0 0\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B " 00 0 0\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B " 0 00 0\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B " -0 0 0\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B " 18446744073709551615 18446744073709551615 0\n", IDXF_OK, 0},
        {13, "segment 000007 " UUID_B " 0 18446744073709551616 0\n", IDXF_FAULT_COUNT, 13},
        {13, "segment 000007 " UUID_B " 18446744073709551616 18446744073709551616 0\n", IDXF_FAULT_COUNT, 13},
        {13, "segment 000007 " UUID_B " 1 0 0\n", IDXF_FAULT_COUNT, 13},
        {13, "segment 000007 " UUID_B " 18446744073709551615 18446744073709551614 0\n", IDXF_FAULT_COUNT, 13},
        {13, "segment\n", IDXF_FAULT_SYNTAX, 13},
        {13, "", IDXF_OK, 0},
    };
    check_all(cases, COUNT_OF(cases));
}

/* Removals, which the oldest segment has none of. */
static void test_removed(void **state) {
    (void)state;
    static const struct replaced cases[] = {
        {12, "segment 000001 " UUID_A " 5 7 1\n", IDXF_FAULT_COUNT, 12},
        {12, "segment 000001 " UUID_A " 5 7 18446744073709551616\n", IDXF_FAULT_COUNT, 12},
        {13, "segment 000007 " UUID_B " 0 0 1\n", IDXF_OK, 0},
        {13, "segment 000007 " UUID_B " 5 7 18446744073709551615\n", IDXF_OK, 0},
        {13, "segment 000007 " UUID_B " 5 7 18446744073709551616\n", IDXF_FAULT_COUNT, 13},
        {13, "segment 000007 " UUID_B " 5 7 01\n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B " 5 7 \n", IDXF_FAULT_SYNTAX, 13},
        {13, "segment 000007 " UUID_B " 5 7\n", IDXF_FAULT_SYNTAX, 13},
    };
    check_all(cases, COUNT_OF(cases));
}

static void test_sequence(void **state) {
    (void)state;
    static const struct replaced cases[] = {
        {11, "sequence 0\n", IDXF_OK, 0},
        {11, "sequence 18446744073709551614\n", IDXF_OK, 0},
        {11, "sequence 18446744073709551615\n", IDXF_FAULT_COUNT, 11}, /* nothing could follow */
        {11, "sequence 18446744073709551616\n", IDXF_FAULT_COUNT, 11},
        {11, "sequence 00\n", IDXF_FAULT_SYNTAX, 11},
        {11, "sequence -1\n", IDXF_FAULT_SYNTAX, 11},
        {11, "sequence \n", IDXF_FAULT_SYNTAX, 11},
        {11, "sequence\n", IDXF_FAULT_SYNTAX, 11},
        {11, "sequence 1 \n", IDXF_FAULT_SYNTAX, 11},
        {11, "sequence 1 1\n", IDXF_FAULT_SYNTAX, 11},
        {11, "", IDXF_FAULT_SYNTAX, 11},
        {11, "sequence 0\nsequence 0\n", IDXF_FAULT_SEGMENT, 12},
    };
    check_all(cases, COUNT_OF(cases));
}

/* With id-type none there are no documents. */
static void test_documents_of_none(void **state) {
    (void)state;
    for (unsigned documents = 0; documents < 9; documents++) {
        char text[1000];
        int size = sprintf(text, "%s%s%s%sid-type none\n%s%s%s%s%ssegment 000001 " UUID_A " 5 %u 0\n", valid[0],
                           valid[1], valid[2], valid[3], valid[5], valid[6], valid[7], valid[8], valid[10], documents);
        struct result result = read_summed(text, (size_t)size);
        assert_fault(result.fault, documents == 0 ? IDXF_OK : IDXF_FAULT_COUNT);
        if (documents > 0) assert_int_equal(result.line, 11);
    }
}

/* ---- None, the most, one more ---- */

static struct result read_with(unsigned tables, unsigned segments) {
    static char text[400000];
    size_t size = 0;
    for (unsigned i = 0; i < 8; i++) size += (size_t)sprintf(text + size, "%s", valid[i]);
    for (unsigned i = 0; i < tables; i++) size += (size_t)sprintf(text + size, "table %03x 0\n", i + 1);
    size += (size_t)sprintf(text + size, "sequence 0\n");
    for (unsigned i = 0; i < segments; i++)
        size += (size_t)sprintf(text + size, "segment %06u %08x-4455-6677-8899-aabbccddeeff 0 0 0\n", i + 1, i);
    return read_summed(text, size);
}

static void test_number_of_tables_and_segments(void **state) {
    (void)state;
    check(read_with(0, 1), IDXF_FAULT_MASK, 9);
    check(read_with(0, 0), IDXF_FAULT_MASK, 9);
    check(read_with(3, 0), IDXF_FAULT_SEGMENT, 13);
    assert_fault(read_with(1, 1).fault, IDXF_OK);
    assert_fault(read_with(256, 1).fault, IDXF_OK);
    check(read_with(257, 1), IDXF_FAULT_MASK, 8 + 257);
    assert_fault(read_with(1, 1024).fault, IDXF_OK);
    check(read_with(1, 1025), IDXF_FAULT_SEGMENT, 10 + 1025);
    assert_fault(read_with(256, 1024).fault, IDXF_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_first_line),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_line_of_the_checksum),
        cmocka_unit_test(test_lines_missing_doubled_or_swapped),
        cmocka_unit_test(test_uuid),
        cmocka_unit_test(test_bits_and_k),
        cmocka_unit_test(test_largest_k),
        cmocka_unit_test(test_id_type),
        cmocka_unit_test(test_by_id),
        cmocka_unit_test(test_by_id_of_none),
        cmocka_unit_test(test_recipe_and_scheme),
        cmocka_unit_test(test_longest_recipe_and_scheme),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_mask_too_wide),
        cmocka_unit_test(test_segment),
        cmocka_unit_test(test_removed),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_documents_of_none),
        cmocka_unit_test(test_number_of_tables_and_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
