/* spec.c: tests that SPEC.md and the headers say the same: limits, and the names of faults. */
#include <idx.h>

#include <inttypes.h>
#include <stdio.h>

#include "format/limits.h"
#include "format/manifest.h"
#include "tests/format/testing.h"

enum { LINE_BYTES = 1000, NAME_BYTES = 64, MAX_ROWS = 64 };

/* A file's lines, one at a time, without their end. */
static bool next_line(FILE *file, char line[LINE_BYTES]) {
    if (fgets(line, LINE_BYTES, file) == NULL) return false;
    char *end = strchr(line, '\n');
    assert_non_null(end); /* no line is longer than LINE_BYTES */
    *end = '\0';
    return true;
}

static FILE *open_source(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", IDX_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

/* Opens SPEC.md behind the line that begins with this title. */
static FILE *open_chapter(const char *title) {
    char line[LINE_BYTES];
    FILE *file = open_source("SPEC.md");
    while (next_line(file, line)) {
        if (strncmp(line, title, strlen(title)) == 0) return file;
    }
    fail_msg("SPEC.md has no chapter '%s'", title);
    return NULL;
}

/* The next line of the chapter; false at its end. */
static bool next_line_of_chapter(FILE *file, char line[LINE_BYTES]) {
    return next_line(file, line) && strncmp(line, "## ", 3) != 0;
}

/* ---- Limits ---- */

struct limits {
    size_t count;
    struct limit {
        char name[NAME_BYTES];
        uint64_t value;
    } rows[MAX_ROWS];
};

static void add_limit(struct limits *limits, const char *name, uint64_t value) {
    assert_in_range(limits->count, 0, MAX_ROWS - 1);
    snprintf(limits->rows[limits->count].name, NAME_BYTES, "%s", name);
    limits->rows[limits->count++].value = value;
}

/* `| what | value | constant |` */
static void read_spec(struct limits *limits) {
    char line[LINE_BYTES], name[NAME_BYTES];
    uint64_t value;
    FILE *file = open_chapter("### Limits");
    while (next_line_of_chapter(file, line)) {
        if (sscanf(line, "| %*[^|] | %" SCNu64 " | `%63[A-Z0-9_]` |", &value, name) == 2)
            add_limit(limits, name, value);
    }
    fclose(file);
}

/* `#define IDXF_NAME value` */
static void read_header(struct limits *limits) {
    char line[LINE_BYTES], name[NAME_BYTES];
    uint64_t value;
    FILE *file = open_source("format/limits.h");
    while (next_line(file, line)) {
        if (sscanf(line, "#define %63[A-Z0-9_] %" SCNu64, name, &value) == 2) add_limit(limits, name, value);
    }
    fclose(file);
}

static const struct limit *find_limit(const struct limits *limits, const char *name) {
    for (size_t i = 0; i < limits->count; i++) {
        if (strcmp(limits->rows[i].name, name) == 0) return &limits->rows[i];
    }
    fail_msg("%s is missing", name);
    return NULL;
}

static void test_limits_are_those_of_spec(void **state) {
    (void)state;
    static struct limits spec, header;
    read_spec(&spec);
    read_header(&header);
    assert_int_equal(spec.count, 38);
    assert_int_equal(header.count, spec.count);
    for (size_t i = 0; i < spec.count; i++) {
        const struct limit *limit = find_limit(&header, spec.rows[i].name);
        assert_int_equal(limit->value, spec.rows[i].value);
        assert_ptr_equal(find_limit(&spec, limit->name), &spec.rows[i]); /* no name stands there twice */
    }
}

/* The fault of a block size names the least and the greatest one, in SPEC.md as in the sentence. */
static void test_block_sizes_are_named(void **state) {
    (void)state;
    char line[LINE_BYTES], sizes[NAME_BYTES];
    unsigned named = 0;
    snprintf(sizes, sizeof sizes, "power of two from %d to %d", IDXF_MIN_BLOCK_SIZE, IDXF_MAX_BLOCK_SIZE);
    assert_non_null(strstr(idxf_get_fault_predicate(IDXF_FAULT_BLOCK_SIZE), sizes));
    FILE *file = open_source("SPEC.md");
    while (next_line(file, line)) named += strstr(line, sizes) != NULL;
    fclose(file);
    assert_int_equal(named, 2); /* chapters 4 and 13 */
}

static void test_limits_are_those_of_idx_h(void **state) {
    (void)state;
    assert_int_equal(IDX_MAX_BITS, IDXF_MAX_BITS);
    assert_int_equal(IDX_MAX_K, IDXF_MAX_K);
    assert_int_equal(IDX_MAX_RADIUS, IDXF_MAX_RADIUS);
    assert_int_equal(IDX_MAX_TABLES, IDXF_MAX_TABLES);
    assert_int_equal(IDX_MIN_BLOCK_SIZE, IDXF_MIN_BLOCK_SIZE);
    assert_int_equal(IDX_MAX_BLOCK_SIZE, IDXF_MAX_BLOCK_SIZE);
    assert_int_equal(IDX_MAX_RECIPE_BYTES, IDXF_MAX_RECIPE_BYTES);
    assert_int_equal(IDX_MAX_ID_BYTES, IDXF_MAX_ID_BYTES);
    assert_int_equal(sizeof((struct idx_scheme *)NULL)->name, IDXF_MAX_SCHEME_NAME_BYTES + 1);
    assert_int_equal(sizeof((struct idx_properties *)NULL)->uuid, IDXF_UUID_TEXT_BYTES + 1);
}

static void test_numbers_are_those_of_idx_h(void **state) {
    (void)state;
    assert_int_equal(IDX_ID_TEXT, IDXF_ID_TEXT);
    assert_int_equal(IDX_ID_U64, IDXF_ID_U64);
    assert_int_equal(IDX_ID_NONE, IDXF_ID_NONE);
}

/* ---- Faults ---- */

/* The rows of chapter 13 are the faults, in the same order. */
static void test_faults_are_those_of_spec(void **state) {
    (void)state;
    char line[LINE_BYTES], name[NAME_BYTES];
    unsigned fault = IDXF_OK;
    FILE *file = open_chapter("## 13. Faults");
    while (next_line_of_chapter(file, line)) {
        if (sscanf(line, "| `%63[^`]` |", name) != 1) continue;
        fault++;
        assert_in_range(fault, 1, IDXF_FAULT_COUNT_OF_FAULTS - 1);
        assert_string_equal(idxf_get_fault_name((enum idxf_fault)fault), name);
    }
    fclose(file);
    assert_int_equal(fault, IDXF_FAULT_COUNT_OF_FAULTS - 1);
}

static bool is_fault(const char *name) {
    for (unsigned fault = 1; fault < IDXF_FAULT_COUNT_OF_FAULTS; fault++) {
        if (strcmp(idxf_get_fault_name((enum idxf_fault)fault), name) == 0) return true;
    }
    return false;
}

/* Wherever SPEC.md says `fault: name`, there is such a fault; and each one stands beside some rule. */
static void test_rules_name_all_faults(void **state) {
    (void)state;
    char line[LINE_BYTES], name[NAME_BYTES];
    bool seen[IDXF_FAULT_COUNT_OF_FAULTS] = {true};
    FILE *file = open_source("SPEC.md");
    while (next_line(file, line)) {
        for (const char *at = line; (at = strstr(at, "`fault: ")) != NULL; at++) {
            assert_int_equal(sscanf(at, "`fault: %63[^`]`", name), 1);
            if (strcmp(name, "name") == 0) continue; /* where the notation is explained */
            assert_true(is_fault(name));
            for (unsigned fault = 1; fault < IDXF_FAULT_COUNT_OF_FAULTS; fault++)
                seen[fault] |= strcmp(idxf_get_fault_name((enum idxf_fault)fault), name) == 0;
        }
    }
    fclose(file);
    for (unsigned fault = 0; fault < IDXF_FAULT_COUNT_OF_FAULTS; fault++) {
        if (!seen[fault]) fail_msg("no rule names the fault '%s'", idxf_get_fault_name((enum idxf_fault)fault));
    }
}

static void test_names_and_sentences(void **state) {
    (void)state;
    assert_string_equal(idxf_get_fault_name(IDXF_OK), "ok");
    for (unsigned a = 0; a < IDXF_FAULT_COUNT_OF_FAULTS; a++) {
        assert_in_range(strlen(idxf_get_fault_predicate((enum idxf_fault)a)), 10, 200);
        for (unsigned b = 0; b < a; b++) {
            assert_string_not_equal(idxf_get_fault_name((enum idxf_fault)a), idxf_get_fault_name((enum idxf_fault)b));
            assert_string_not_equal(idxf_get_fault_predicate((enum idxf_fault)a),
                                    idxf_get_fault_predicate((enum idxf_fault)b));
        }
    }
    assert_string_equal(idxf_get_fault_name(IDXF_FAULT_COUNT_OF_FAULTS), "unknown");
    assert_string_equal(idxf_get_fault_name((enum idxf_fault) - 1), "unknown");
    assert_string_equal(idxf_get_fault_predicate(IDXF_FAULT_COUNT_OF_FAULTS), "has an unknown fault");
    assert_string_equal(idxf_get_fault_predicate((enum idxf_fault) - 1), "has an unknown fault");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_are_those_of_spec),  cmocka_unit_test(test_block_sizes_are_named),
        cmocka_unit_test(test_limits_are_those_of_idx_h), cmocka_unit_test(test_numbers_are_those_of_idx_h),
        cmocka_unit_test(test_faults_are_those_of_spec),  cmocka_unit_test(test_rules_name_all_faults),
        cmocka_unit_test(test_names_and_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
