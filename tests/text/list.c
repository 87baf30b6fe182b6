/* list.c: tests of lists of words that other programs made, as tables. */
#include "libidx/text/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/random.h"
#include "tests/text/testing.h"

static uint64_t hash_of(const char *word) { return idx_hash(IDX_HASH_XXH3, word, strlen(word)); }

/* Reads a copy of its exact size, so that reading past it is seen. NULL, with the error, where it can't. */
static struct idx_text_table *read_bytes(const char *bytes, size_t length, struct idx_error *error) {
    struct idx_text_table *table = idxt_table_new();
    char *copy = malloc(length + (length == 0));
    assert_non_null(table);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    enum idx_status status = idxt_list_read(table, copy, length, "LIST", error);
    free(copy);
    if (status == IDX_OK) return table;
    assert_int_equal(status, IDX_BAD_CONTENT);
    idx_text_table_close(table);
    return NULL;
}

static struct idx_text_table *read_list(const char *list) {
    struct idx_error error;
    struct idx_text_table *table = read_bytes(list, strlen(list), &error);
    if (table == NULL) fail_msg("%s", error.sentence);
    return table;
}

static void test_idf(void **state) {
    (void)state;
    static const char *const lists[] = {
        "\xE7\x9A\x84 0.5\nnear 13.900677652\nweb 2.25\ncopy 7.0\n",
        "\xEF\xBB\xBF#idf\r\n\r\nNEAR\t13.900677652999999\r\n\xE7\x9A\x84\t00.5\r\ncopy\t7\r\nWeb 2.25",
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct idx_text_table *table = read_list(lists[i]);
        struct idx_text_table_properties properties;
        idx_text_table_get_properties(table, &properties);
        assert_true(properties.documents == 0 && properties.terms == 4 && properties.dropped == 0);
        assert_string_equal(properties.features, "words:1;nfkc-cf;w=tf;v1");
        assert_int_equal(idxt_table_get_idf(table, hash_of("\xE7\x9A\x84")), 32768);
        assert_int_equal(idxt_table_get_idf(table, hash_of("near")), 910994); /* 13.900677652 * 65536, rounded down */
        assert_int_equal(idxt_table_get_idf(table, hash_of("web")), 147456);
        assert_int_equal(idxt_table_get_idf(table, hash_of("unknown")), 7 * 65536); /* of 0.5, 2.25, 7 and 13.9 */
        idx_text_table_close(table);
    }
    struct idx_text_table *table = read_list("#idf\na\t0\nb\t1000.0\nc\t1\n");
    assert_int_equal(idxt_table_get_idf(table, hash_of("a")), 0);
    assert_int_equal(idxt_table_get_idf(table, hash_of("b")), INT64_C(1000) * 65536);
    assert_int_equal(idxt_table_get_idf(table, hash_of("unknown")), 65536);
    idx_text_table_close(table);
}

/* Terms have the forms that both versions of recipes look for. */
static void test_forms(void **state) {
    (void)state;
    struct idx_text_table *table = read_list("#idf\n\xD8\xB9\xD9\x80\xD9\x85 3\n\xE0\xB4\x85\xE0\xB5\xBB 2\nx 1\n");
    static const struct {
        const char *term;
        int64_t idf;
    } expected[] = {{"\xD8\xB9\xD9\x80\xD9\x85", 3},
                    {"\xD8\xB9\xD9\x85", 3},
                    {"\xE0\xB4\x85\xE0\xB5\xBB", 2},
                    {"\xE0\xB4\x85\xE0\xB4\xA8\xE0\xB5\x8D", 2},
                    {"x", 1}};
    struct idx_text_table_properties properties;
    idx_text_table_get_properties(table, &properties);
    assert_int_equal(properties.terms, 5);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(idxt_table_get_idf(table, hash_of(expected[i].term)), expected[i].idf * 65536);
    idx_text_table_close(table);
}

static void test_counts(void **state) {
    (void)state;
    struct idx_text_table *table = read_list("#documents\t1000\nnear\t3\nnew york\t5\nthe\t1000\n#x\t7\n");
    struct idx_text_table_properties properties;
    idx_text_table_get_properties(table, &properties);
    assert_true(properties.documents == 1000 && properties.terms == 4);
    assert_int_equal(idxt_table_get_idf(table, hash_of("near")), idxt_log_weight(1001) - idxt_log_weight(4));
    assert_int_equal(idxt_table_get_idf(table, hash_of("new york")), idxt_log_weight(1001) - idxt_log_weight(6));
    assert_int_equal(idxt_table_get_idf(table, hash_of("#x")), idxt_log_weight(1001) - idxt_log_weight(8));
    assert_int_equal(idxt_table_get_idf(table, hash_of("the")), 0);
    assert_int_equal(idxt_table_get_idf(table, hash_of("unknown")), idxt_log_weight(1001) - idxt_log_weight(1));
    idx_text_table_close(table);
}

/* Of terms that are the same once they are normalised, the most frequent counts, whatever their order is. */
static void test_equal_terms(void **state) {
    (void)state;
    static const char *const idf[] = {"A 3.5\na 1.5\n\xEF\xBC\xA1 2.5\n", "a 1.5\nA 3.5\n\xEF\xBC\xA1 2.5\n"};
    static const char *const counts[] = {"#documents 9\nA 3\na 7\n", "#documents 9\nA 7\na 3\n"};
    for (size_t i = 0; i < 2; i++) {
        struct idx_text_table *table = read_list(idf[i]);
        assert_int_equal(table->term_count, 1);
        assert_int_equal(idxt_table_get_idf(table, hash_of("a")), 98304);
        idx_text_table_close(table);
        table = read_list(counts[i]);
        assert_int_equal(idxt_table_get_idf(table, hash_of("a")), idxt_log_weight(10) - idxt_log_weight(8));
        idx_text_table_close(table);
    }
    struct idx_text_table *table = read_list("\xC2\xAD 1.0\nb 2.0\n"); /* a soft hyphen is nothing */
    assert_int_equal(table->term_count, 1);
    idx_text_table_close(table);
}

static void test_what_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *list, *sentence;
    } cases[] = {
        {"", "LIST is not a table of document frequencies"},
        {"\n\n", "LIST is not a table of document frequencies"},
        {"some text that is no list\n", "LIST is not a table of document frequencies"},
        {"word\n", "LIST is not a table of document frequencies"},
        {"two words 1.5\n", "LIST is not a table of document frequencies"},
        {"\t1.5\n", "LIST is not a table of document frequencies"},
        {"a 1.5x\n", "LIST is not a table of document frequencies"},
        {"a .5\n", "LIST is not a table of document frequencies"},
        {"a 1.5\n#idf\n", "LIST:2: there must be a term, a tab and a number"},
        {"#idf\n", "LIST is a list without terms"},
        {"#documents\t7\n\n", "LIST is a list without terms"},
        {"#idf\n\xC2\xAD\t1.0\n", "LIST is a list without terms"},
        {"a\t5\n", "LIST:1: is this a count or an idf? Begin a list of counts with the line #documents, tab, number of "
                   "documents, "
                   "and a list of idf with the line #idf"},
        {"a 1.5\n\nb 3\n", "LIST:3: is this a count"},
        {"#idf\na\t1\nb\n", "LIST:3: there must be a term, a tab and a number"},
        {"#idf\na b 1\n", "LIST:2: there must be a term, a tab and a number"},
        {"#idf\na\t\n", "LIST:2: the second column must be an idf"},
        {"#idf\na\t-1\n", "LIST:2: the second column must be an idf"},
        {"#idf\na\t1e3\n", "LIST:2: the second column must be an idf"},
        {"#idf\na\tnan\n", "LIST:2: the second column must be an idf"},
        {"#idf\na\t1001\n", "LIST:2: the second column must be an idf"},
        {"#idf\na\t1000.0001\n", "LIST:2: the second column must be an idf"},
        {"#idf\na\t99999999999999999999999999\n", "LIST:2: the second column must be an idf"},
        {"#documents\t0\na\t1\n", "LIST:1: after #documents and a tab"},
        {"#documents\t4294967296\na\t1\n", "LIST:1: after #documents and a tab"},
        {"#documents\t1.5\na\t1\n", "LIST:1: after #documents and a tab"},
        {"#documents\t\na\t1\n", "LIST:1: after #documents and a tab"},
        {"#documents\t9\na\t0\n", "LIST:2: the second column must be the number of documents"},
        {"#documents\t9\na\t10\n", "LIST:2: the second column must be the number of documents"},
        {"#documents\t9\na\t1.5\n", "LIST:2: the second column must be the number of documents"},
        {"#documents\t9\na\t99999999999999999999999999\n", "LIST:2: the second column must be the number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct idx_error error = {.sentence = ""};
        struct idx_text_table *table = read_bytes(cases[i].list, strlen(cases[i].list), &error);
        if (table != NULL || strstr(error.sentence, cases[i].sentence) == NULL)
            fail_msg("'%s': %s", cases[i].list, table != NULL ? "it is taken" : error.sentence);
    }
}

static void test_too_many_terms(void **state) {
    (void)state;
    static const char list[] = "#idf\na\t1\nb\t2\na\t2\nc\t3\n";
    struct idx_text_table *table = idxt_table_new();
    struct idx_error error;
    assert_non_null(table);
    table->max_terms = 2;
    assert_int_equal(idxt_list_read(table, list, strlen(list), "LIST", &error), IDX_BAD_CONTENT);
    assert_string_equal(error.sentence, "LIST:4: the list has too many terms");
    idx_text_table_close(table);
}

/* Written and read again it is the same table, of the same hash; and so is the list in another order. */
static void test_files(void **state) {
    (void)state;
    static const char *const lists[2][2] = {{"a 1.5\nb 2.5\nc 9.0\n", "#idf\nc\t9\nb\t2.5\na\t1.5\n"},
                                            {"#documents\t9\na\t1\nb\t2\n", "#documents 9\r\nb 2\na 1"}};
    char path[] = "/tmp/idx-list-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (size_t i = 0; i < 2; i++) {
        struct idx_text_table *table = read_list(lists[i][0]), *same = read_list(lists[i][1]), *read;
        uint64_t hash, again;
        assert_true(idxt_table_get_hash(table, &hash) && idxt_table_get_hash(same, &again) && hash == again);
        assert_int_equal(idx_text_table_write(table, path, NULL), IDX_OK);
        assert_int_equal(idx_text_table_read(&read, path, NULL), IDX_OK);
        assert_true(idxt_table_get_hash(read, &again) && hash == again && read->kind == table->kind);
        for (const char *const *word = (const char *const[]){"a", "b", "c", "unknown", NULL}; *word != NULL; word++)
            assert_int_equal(idxt_table_get_idf(read, hash_of(*word)), idxt_table_get_idf(table, hash_of(*word)));
        idx_text_table_close(read);
        idx_text_table_close(same);
        idx_text_table_close(table);
    }
    unlink(path);
}

/* Files whose checksums are right, and whose numbers are not. */
static void test_forged_files(void **state) {
    (void)state;
    enum { UNKNOWN = 24, FIRST_TERM = 40 + 23 };
    struct idx_text_table *table = read_list("a 1.5\nb 2.5\n");
    size_t length;
    unsigned char *bytes = idxt_table_encode(table, &length);
    const char *fault;
    assert_non_null(bytes);
    idx_text_table_close(table);
    for (int forged = 0; forged < 4; forged++) {
        bytes[UNKNOWN + 4] = forged == 1;
        if (forged >= 2) memset(bytes + FIRST_TERM + 8, forged == 2 ? 0 : 4, 4); /* idf of 1028 */
        uint64_t hash = idx_hash(IDX_HASH_XXH3, bytes, length - 8);
        for (unsigned i = 0; i < 8; i++) bytes[length - 8 + i] = (unsigned char)(hash >> 8 * i);
        table = idxt_table_new();
        assert_non_null(table);
        assert_int_equal(idxt_table_decode(table, bytes, length, &fault), forged == 0 ? IDX_OK : IDX_BAD_CONTENT);
        if (forged == 1) assert_string_equal(fault, "is damaged: its idf is too large");
        if (forged >= 2) assert_string_equal(fault, "is damaged: a term has no documents, or too many");
        idx_text_table_close(table);
    }
    free(bytes);
}

static enum idx_status try_to_open(const char *recipe, const struct idx_text_table *table, struct idx_text **text,
                                   struct idx_error *error) {
    struct idx_text_options options = {sizeof options, recipe, table};
    return idx_text_open(text, &options, error);
}

/* A list serves single words of every kind; a fingerprint is the SimHash of the words by their weights. */
static void test_recipes(void **state) {
    (void)state;
    static const char *const good[] = {"words:1;w=tfidf",       "words:1;w=idf;stop=en", "words:1;cut=spaces;w=tfidf",
                                       "words:1,stop=en;w=idf", "segments:2;w=idf",      "terms:3;w=tfidf;cut=spaces",
                                       "idf:50;stop=en"};
    static const char *const bad[] = {"words:2;w=idf", "chars:1;w=idf"};
    struct idx_text_table *table = read_list("web 2.5\ncopy 7.0\nnear 1.0\n");
    struct idx_text *text;
    struct idx_error error;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (try_to_open(good[i], table, &text, &error) != IDX_OK) fail_msg("%s", error.sentence);
        idx_text_close(text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(try_to_open(bad[i], table, &text, &error), IDX_BAD_RECIPE);
        assert_non_null(strstr(error.sentence, "a list of words can weigh single words only"));
    }
    struct idx_simhash sums;
    uint64_t made;
    idx_simhash_init(&sums);
    idx_simhash_add(&sums, "web", 3, 2 * 163840);
    idx_simhash_add(&sums, "near", 4, 65536);
    idx_simhash_add(&sums, "new", 3, 163840);
    assert_int_equal(try_to_open("words:1;w=tfidf", table, &text, &error), IDX_OK);
    assert_int_equal(idx_text_fingerprint(text, "Near, web; new web", 18, 64, &made, NULL, NULL), IDX_OK);
    assert_true(made == idx_simhash_finish(&sums, 64));

    /* nothing is added to a list */
    struct idx_text_field field = {"body", "a", 1};
    assert_int_equal(idx_text_table_add(table, text, &field, 1, &error), IDX_INVALID_ARGUMENT);
    assert_non_null(strstr(error.sentence, "a list of words that another program made"));
    idx_text_close(text);
    idx_text_table_close(table);
}

/* The greatest weights: of a word that is most of a text, and its title. */
static void test_the_greatest_weights(void **state) {
    (void)state;
    enum { WORDS = 1 << 20 };
    struct idx_text_table *table = read_list("#idf\na\t1000\n");
    struct idx_text *text;
    struct idx_text_counts counts;
    char *bytes = malloc(2 * WORDS);
    uint64_t made;
    size_t count;
    assert_non_null(bytes);
    for (size_t i = 0; i < WORDS; i++) memcpy(bytes + 2 * i, "a ", 2);
    struct idx_text_field fields[] = {{"body", bytes, 2 * WORDS}, {"title", bytes, 2 * WORDS}};
    assert_int_equal(try_to_open("words:1;w=tfidf;title=100", table, &text, NULL), IDX_OK);
    assert_int_equal(idx_text_fingerprints(text, fields, 2, 64, &made, 1, &count, &counts, NULL), IDX_OK);
    assert_true(counts.weight == INT64_C(101) * WORDS * 1000 * 65536);
    assert_true(counts.weight < INT64_MAX / (1 << 9)); /* as many times as long is a text at most */
    idx_text_close(text);
    idx_text_table_close(table);
    free(bytes);
}

/* Random lists, for the sanitizers: they are read, or refused by a sentence. */
static void test_hostile_lists(void **state) {
    (void)state;
    static const char *const atoms[] = {"#idf",  "#documents", "\t",   "\n",       " ",        "1",    "9",
                                        "1.5",   ".",          "\r\n", "\xE7\x9A", "\xFF",     "term", "\xEF\xBB\xBF",
                                        "0.001", "1000.1",     "-",    "\xC2\xAD", "idxterms", ":",    "\n#idf\nq\t1"};
    uint64_t random = 5;
    for (int round = 0; round < 20000; round++) {
        char list[512];
        size_t length = 0, wanted = next_random(&random) % 60;
        struct idx_error error = {.sentence = ""};
        if (next_random(&random) % 2 == 0) length = (size_t)sprintf(list, "%s\n", round % 3 ? "#idf" : "#documents\t9");
        while (wanted-- > 0 && length < sizeof list - 32) {
            const char *atom = atoms[next_random(&random) % (sizeof atoms / sizeof *atoms)];
            if (next_random(&random) % 20 == 0)
                list[length++] = (char)next_random(&random);
            else
                length += (size_t)sprintf(list + length, "%s", atom);
        }
        struct idx_text_table *table = read_bytes(list, length, &error);
        assert_true(table != NULL || error.sentence[0] != '\0');
        idx_text_table_close(table);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idf),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_equal_terms),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_too_many_terms),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_forged_files),
        cmocka_unit_test(test_recipes),
        cmocka_unit_test(test_the_greatest_weights),
        cmocka_unit_test(test_hostile_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
