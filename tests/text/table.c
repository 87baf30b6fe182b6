/* table.c: tests of tables of document frequencies: counting, dropping, merging, files and their damage. */
#include "libidx/text/table.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/text/testing.h"

static char folder[] = "/tmp/idx-table-XXXXXX";
static char path[64];

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(path, sizeof path, "%s/table", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void add(struct idx_text_table *table, struct idx_text *text, const char *body) {
    struct idx_text_field field = {"body", body, strlen(body)};
    assert_int_equal(idx_text_table_add(table, text, &field, 1, NULL), IDX_OK);
}

static int64_t idf_of(const struct idx_text_table *table, const char *word) {
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    idx_simhash_add(&simhash, word, strlen(word), 1);
    return idxt_table_get_idf(table, idx_simhash_finish(&simhash, 64));
}

static struct idx_text_table *small_table(void) {
    struct idx_text *text = open_by("words:1;v1");
    struct idx_text_table *table;
    assert_int_equal(idx_text_table_open(&table, text, NULL), IDX_OK);
    add(table, text, "a b a a");
    add(table, text, "A c");
    add(table, text, "");
    idx_text_close(text);
    return table;
}

static void test_counts_documents(void **state) {
    (void)state;
    struct idx_text_table *table = small_table();
    struct idx_text_table_properties properties;
    static const uint64_t zeros[8] = {0};
    memset(&properties, 0xff, sizeof properties);
    idx_text_table_get_properties(table, &properties);
    assert_memory_equal(properties.reserved, zeros, sizeof zeros);
    assert_true(properties.documents == 3 && properties.terms == 3 && properties.dropped == 0);
    assert_string_equal(properties.features, "words:1;nfkc-cf;w=tf;v1");
    assert_int_equal(idf_of(table, "a"), 131072 - 103872); /* log2(4 / 3), each rounded down */
    assert_int_equal(idf_of(table, "b"), 131072 - 65536);
    assert_int_equal(idf_of(table, "unknown"), 131072);
    idx_text_table_close(table);
    idx_text_table_close(NULL);
}

/* The file, byte by byte: hashes and checksum by the xxhash module of Python. */
static void test_bytes(void **state) {
    (void)state;
    static const unsigned char head[] = {
        'i', 'd', 'x', 't', 'e', 'r', 'm', 's',                          /* magic */
        1,   0,   0,   0,   23,  0,   0,   0,                            /* version, bytes of the name */
        3,   0,   0,   0,   0,   0,   0,   0,                            /* documents */
        0,   0,   0,   0,   0,   0,   0,   0,                            /* dropped */
        3,   0,   0,   0,   0,   0,   0,   0,                            /* terms */
        'w', 'o', 'r', 'd', 's', ':', '1', ';', 'n', 'f', 'k', 'c', '-', /* features */
        'c', 'f', ';', 'w', '=', 't', 'f', ';', 'v', '1',
    };
    static const unsigned char rest[] = {0x3f, 0x84, 0xd8, 0x44, 0x1c, 0x0b, 0x5a, 0x57, 0x01, 0x00, 0x00,
                                         0x00, 0x1b, 0xf8, 0xb9, 0x46, 0x9a, 0x21, 0x40, 0x8c, 0x01, 0x00,
                                         0x00, 0x00, 0x1f, 0x4e, 0x96, 0x1e, 0xb6, 0x32, 0xc6, 0xe6, 0x02,
                                         0x00, 0x00, 0x00, 0x3f, 0x1c, 0x3d, 0x01, 0xcf, 0xa9, 0x17, 0x2c};
    struct idx_text_table *table = small_table();
    size_t length;
    unsigned char *bytes = idxt_table_encode(table, &length);
    assert_int_equal(length, sizeof head + sizeof rest);
    assert_memory_equal(bytes, head, sizeof head);
    assert_memory_equal(bytes + sizeof head, rest, sizeof rest);
    uint64_t hash;
    assert_true(idxt_table_get_hash(table, &hash));
    for (unsigned i = 0; i < 8; i++) assert_int_equal(bytes[length - 8 + i], hash >> 8 * i & 0xFF);
    free(bytes);
    idx_text_table_close(table);
}

static void test_write_and_read(void **state) {
    (void)state;
    struct idx_text_table *table = small_table(), *read;
    struct idx_error error;
    uint64_t hash, again;
    assert_int_equal(idx_text_table_write(table, path, &error), IDX_OK);
    assert_int_equal(idx_text_table_read(&read, path, &error), IDX_OK);
    assert_true(idxt_table_get_hash(table, &hash) && idxt_table_get_hash(read, &again) && hash == again);
    assert_int_equal(idf_of(read, "a"), idf_of(table, "a"));
    /* what is added then changes the hash */
    struct idx_text *text = open_by("words:1;v1");
    add(read, text, "");
    assert_true(idxt_table_get_hash(read, &again) && hash != again);
    idx_text_close(text);
    idx_text_table_close(read);
    idx_text_table_close(table);

    assert_int_equal(idx_text_table_read(&read, folder, &error), IDX_IO_ERROR);
    assert_string_equal(error.file, folder);
    assert_int_equal(idx_text_table_read(&read, "/nonexistent/table", &error), IDX_NOT_FOUND);
    assert_non_null(strstr(error.sentence, "can't open the table /nonexistent/table"));
    table = small_table();
    assert_int_equal(idx_text_table_write(table, "/nonexistent/table", &error), IDX_NOT_FOUND);
    assert_int_equal(idx_text_table_write(table, folder, &error), IDX_IO_ERROR); /* a folder can't be replaced */
    idx_text_table_close(table);
}

static size_t count_entries(const char *of) {
    size_t count = 0;
    DIR *entries = opendir(of);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
        count += entry->d_name[0] != '.' || entry->d_name[1] == 'i';
    closedir(entries);
    return count;
}

/* Neither a name that could be foreseen, nor the table's own, is followed if it is a link; nothing else is left. */
static void test_links_are_not_followed(void **state) {
    (void)state;
    struct idx_text_table *table = small_table(), *read;
    char victim[64], foreseen[96];
    struct stat status;
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(foreseen, sizeof foreseen, "%s.tmp%ld", path, (long)getpid());
    FILE *file = fopen(victim, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(symlink(victim, foreseen), 0);
    unlink(path);
    assert_int_equal(symlink(victim, path), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(idx_text_table_write(table, path, NULL), IDX_OK);
        assert_int_equal(lstat(path, &status), 0);
        assert_true(S_ISREG(status.st_mode));
        assert_int_equal(idx_text_table_read(&read, path, NULL), IDX_OK);
        idx_text_table_close(read);
        assert_int_equal(count_entries(folder), 3);
    }
    assert_int_equal(lstat(foreseen, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(victim, &status), 0);
    assert_int_equal(status.st_size, 0);
    unlink(foreseen);
    unlink(victim);
    idx_text_table_close(table);
}

static void test_recipes_by_table(void **state) {
    (void)state;
    struct idx_text_table *table = small_table(), *read;
    assert_int_equal(idx_text_table_write(table, path, NULL), IDX_OK);
    assert_int_equal(idx_text_table_read(&read, path, NULL), IDX_OK);
    struct idx_text *text = open_with("words:1;w=tfidf;v1", table);
    char recipe[IDX_MAX_RECIPE_BYTES + 1];
    snprintf(recipe, sizeof recipe, "%s", idx_text_recipe(text));
    assert_non_null(strstr(recipe, "words:1;nfkc-cf;w=tfidf:2c17a9cf013d1c3f;v1;icu="));
    idx_text_close(text);
    /* the recipe as it is printed takes the same table again, and no other */
    text = open_with(recipe, read);
    assert_string_equal(idx_text_recipe(text), recipe);
    idx_text_close(text);
    static const struct {
        const char *recipe, *why;
        bool table;
    } cases[] = {
        {"words:1;w=tfidf", "make one with recipe 'words:1;nfkc-cf;w=tf;v2', and give it", false},
        {"idf:70", "none is given", false},
        {"words:1;w=tfidf:0123456789abcdef", "none is given: give that table", false},
        {"words:1;w=tfidf:0123456789abcdef;v1", "not the one it names", true},
        {"words:2;w=tfidf", "but must be made with '", true},
        {"words:1;stop=en;w=idf;v1", "but must be made with '", true},
        {"words:1;w=tfidf",
         "made with recipe 'words:1;nfkc-cf;w=tf;v1', but must be made with 'words:1;nfkc-cf;w=tf;v2'", true},
        {"chars:1;w=tfidf:2c17a9cf013d1c3f", "but must be made with '", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct idx_text_options options = {sizeof options, cases[i].recipe, cases[i].table ? table : NULL};
        struct idx_error error;
        assert_int_equal(idx_text_open(&text, &options, &error), IDX_BAD_RECIPE);
        assert_non_null(strstr(error.sentence, cases[i].why));
    }
    idx_text_table_close(read);
    idx_text_table_close(table);
}

/* A table takes no features but its own, nor 2^32 documents, and is not made where there are no features. */
static void test_refused(void **state) {
    (void)state;
    struct idx_text *text = open_by("words:1;stop=en;v1"), *other = open_by("words:2;v1");
    struct idx_text_table *whole, *foreign;
    struct idx_error error;
    struct idx_text_field field = {"body", "a b c", 5};
    assert_int_equal(idx_text_table_open(&whole, text, NULL), IDX_OK);
    assert_int_equal(idx_text_table_open(&foreign, other, NULL), IDX_OK);
    assert_int_equal(idx_text_table_add(whole, other, &field, 1, &error), IDX_INVALID_ARGUMENT);
    whole->document_count = UINT32_MAX;
    assert_int_equal(idx_text_table_add(whole, text, &field, 1, &error), IDX_LIMIT);
    idx_text_close(other);
    other = open_by("sentences:3");
    idx_text_table_close(foreign);
    assert_int_equal(idx_text_table_open(&foreign, other, &error), IDX_INVALID_ARGUMENT);
    idx_text_table_close(whole);
    idx_text_close(other);
    idx_text_close(text);
}

/* Term i of 1 to 1000 comes i times, in rounds, to a table of 100 terms: no term has more than came, nor less by more
 * than `dropped`, and the commonest are there. */
static void test_dropping(void **state) {
    (void)state;
    enum { TERMS = 1000, MOST = 100 };
    struct idx_text_table *table = idxt_table_new();
    assert_non_null(table);
    table->max_terms = MOST;
    table->document_count = TERMS;
    for (uint32_t round = 1; round <= TERMS; round++) {
        for (uint64_t term = round; term <= TERMS; term++) {
            assert_true(idxt_table_add_documents(table, term, 1));
            assert_true(table->term_count <= MOST);
        }
    }
    assert_true(table->dropped > 0 && table->dropped < TERMS * TERMS);
    struct idxt_term *terms = idxt_table_sort_terms(table);
    for (size_t i = 0; i < table->term_count; i++) {
        assert_true(terms[i].document_count <= terms[i].hash);
        assert_true(terms[i].document_count + table->dropped >= terms[i].hash);
        assert_true(i == 0 || terms[i].hash > terms[i - 1].hash);
    }
    assert_true(terms[table->term_count - 1].hash == TERMS);
    free(terms);

    /* with one common term, that one is counted right, and `dropped` is what the others lost */
    idx_text_table_close(table);
    table = idxt_table_new();
    assert_non_null(table);
    table->max_terms = MOST;
    for (uint64_t i = 1; i <= MOST * 10; i++) {
        assert_true(idxt_table_add_documents(table, 0, 1));
        assert_true(idxt_table_add_documents(table, i, 1));
    }
    table->document_count = MOST * 10;
    assert_int_equal(idxt_table_get_idf(table, 0), 0);
    /* 99 rare terms come before the first drop, which takes them all; so does each that follows */
    assert_int_equal(table->dropped, 10);
    assert_int_equal(table->term_count, 1 + 10);
    idx_text_table_close(table);
}

static void seal(unsigned char *bytes, size_t length) {
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    idx_simhash_add(&simhash, bytes, length - 8, 1);
    uint64_t hash = idx_simhash_finish(&simhash, 64);
    for (unsigned i = 0; i < 8; i++) bytes[length - 8 + i] = (unsigned char)(hash >> 8 * i);
}

/* Decodes a copy of its exact size, so that reading past it is seen. */
static enum idx_status decode(const unsigned char *bytes, size_t length, const char **fault) {
    struct idx_text_table *table = idxt_table_new();
    unsigned char *copy = malloc(length + (length == 0));
    assert_non_null(table);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    enum idx_status status = idxt_table_decode(table, copy, length, fault);
    free(copy);
    idx_text_table_close(table);
    return status;
}

enum { NAME = 40, NAME_BYTES = 23, TERMS_AT = NAME + NAME_BYTES };

/* A file that anybody may have made: its terms have equal low bits, by which a table without a seed would place them
 * all behind one another, and take hours. */
static void test_terms_with_equal_low_bits(void **state) {
    enum { TERMS = 1 << 20 };
    struct idx_text_table *table = small_table(), *read = idxt_table_new();
    const char *fault;
    size_t length;
    (void)state;
    assert_non_null(read);
    for (uint64_t i = 1; i <= TERMS; i++) assert_true(idxt_table_add_documents(table, i << 24, 1));
    unsigned char *bytes = idxt_table_encode(table, &length);
    assert_non_null(bytes);
    assert_int_equal(idxt_table_decode(read, bytes, length, &fault), IDX_OK);
    assert_int_equal(read->term_count, table->term_count);
    free(bytes);
    idx_text_table_close(table);
    idx_text_table_close(read);
}

static void test_damage(void **state) {
    (void)state;
    struct idx_text_table *table = small_table();
    size_t length;
    unsigned char *bytes = idxt_table_encode(table, &length), copy[256];
    const char *fault;
    assert_non_null(bytes);
    assert_int_equal(decode(bytes, length, &fault), IDX_OK);
    for (size_t cut = 0; cut < length; cut++) assert_int_equal(decode(bytes, cut, &fault), IDX_BAD_CONTENT);
    for (size_t bit = 0; bit < length * 8; bit++) {
        memcpy(copy, bytes, length);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(decode(copy, length, &fault), IDX_BAD_CONTENT);
    }
    static const struct {
        size_t at;
        unsigned char byte;
        const char *why;
    } cases[] = {
        {0, 'I', "is not a table"},
        {8, 3, "an unknown version"},
        {8, 0, "an unknown version"},
        {12, 0, "features is too long"},
        {13, 1, "features is too long"},
        {12, 24, "its size does not match"},
        {15, 255, "features is too long"},
        {20, 1, "too many documents"},
        {32, 2, "its size does not match"},
        {39, 0x40, "its size does not match"},
        {NAME, 'W', "its features is unknown"},
        {NAME + 5, 0, "its features is unknown"},
        {NAME + 18, '1', "its features is unknown"},
        {16, 1, "has no documents, or too many"},
        {TERMS_AT + 8, 0, "has no documents, or too many"},
        {TERMS_AT + 8, 4, "has no documents, or too many"},
        {TERMS_AT + 7, 255, "not in order"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(copy, bytes, length);
        copy[cases[i].at] = cases[i].byte;
        seal(copy, length);
        assert_int_equal(decode(copy, length, &fault), IDX_BAD_CONTENT);
        if (strstr(fault, cases[i].why) == NULL) fail_msg("case %zu: %s", i, fault);
    }
    /* a term twice */
    memcpy(copy, bytes, length);
    memcpy(copy + TERMS_AT + 12, copy + TERMS_AT, 12);
    seal(copy, length);
    assert_int_equal(decode(copy, length, &fault), IDX_BAD_CONTENT);
    assert_string_equal(fault, "is damaged: its terms are not in order");
    free(bytes);
    idx_text_table_close(table);
}

static void test_damaged_files(void **state) {
    (void)state;
    struct idx_text_table *table = NULL;
    struct idx_error error;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a text", file);
    fclose(file);
    assert_int_equal(idx_text_table_read(&table, path, &error), IDX_BAD_CONTENT);
    assert_non_null(strstr(error.sentence, "table is not a table of document frequencies"));
    assert_string_equal(error.file, path);
    assert_null(table);
}

/* Writes a path of the folder that is longer than error.file. */
static const char *write_long_path(char long_path[3000], const char *name) {
    strcpy(long_path, folder);
    for (int i = 0; i < 1000; i++) memcpy(long_path + sizeof folder - 1 + 2 * i, "/.", 3);
    return strcat(long_path, name);
}

/* Checks that an error has the end of a path that is too long for error.file, and says this. */
static void assert_end_named(const struct idx_error *error, const char *long_path, const char *said) {
    assert_string_equal(error->file, long_path + strlen(long_path) - (sizeof error->file - 1));
    if (strstr(error->sentence, said) == NULL) fail_msg("%s", error->sentence);
}

static void test_long_paths(void **state) {
    (void)state;
    static const char *const contents[][2] = {
        {"a text", "/./table is not a table of document frequencies"},
        {"#idf\na b c", "/./table:2: "},
        {"#idf\n", "/./table is a list without terms"},
    };
    struct idx_text_table *table = small_table(), *read;
    struct idx_error error;
    char long_path[3000];
    write_long_path(long_path, "/none/table");
    assert_int_equal(idx_text_table_read(&read, long_path, &error), IDX_NOT_FOUND);
    assert_end_named(&error, long_path, "/none/table: ");
    assert_int_equal(idx_text_table_write(table, long_path, &error), IDX_NOT_FOUND);
    assert_end_named(&error, long_path, "/none/table: ");
    write_long_path(long_path, "/table");
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        FILE *file = fopen(long_path, "w");
        assert_non_null(file);
        fputs(contents[i][0], file);
        fclose(file);
        assert_int_equal(idx_text_table_read(&read, long_path, &error), IDX_BAD_CONTENT);
        assert_end_named(&error, long_path, contents[i][1]);
    }
    assert_int_equal(idx_text_table_write(table, long_path, &error), IDX_OK);
    assert_int_equal(truncate(long_path, 70), 0);
    assert_int_equal(idx_text_table_read(&read, long_path, &error), IDX_BAD_CONTENT);
    assert_end_named(&error, long_path, "/./table is damaged");
    idx_text_table_close(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_documents),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_links_are_not_followed),
        cmocka_unit_test(test_recipes_by_table),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_dropping),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_terms_with_equal_low_bits),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_long_paths),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
