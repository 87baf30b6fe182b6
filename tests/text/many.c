/* many.c: tests of idx_text_fingerprint_many: what idx_text_fingerprints makes of each document, on any threads. */
#include <stdio.h>

#include "tests/text/testing.h"

#define DOCUMENTS 300
#define THREADS 5
#define CAPACITY 4

static struct idx_text *texts[THREADS];
static char bodies[DOCUMENTS][64], titles[DOCUMENTS][64];
static struct idx_text_field fields[2 * DOCUMENTS];
static struct idx_text_document documents[DOCUMENTS];

static struct {
    uint64_t fingerprints[DOCUMENTS * CAPACITY], features[DOCUMENTS], counts[DOCUMENTS];
    struct idx_error error;
} made;

/* Documents of no to three words; each third one has a title. */
static void make_documents(void) {
    for (size_t i = 0; i < DOCUMENTS; i++) {
        int length = i % 4 == 0 ? 0 : snprintf(bodies[i], sizeof bodies[i], "word%zu other third%zu", i, i / 2);
        if (i % 4 == 1) length = 5;
        fields[2 * i] = (struct idx_text_field){"body", bodies[i], (size_t)length};
        fields[2 * i + 1] =
            (struct idx_text_field){"title", titles[i], (size_t)snprintf(titles[i], sizeof titles[i], "title %zu", i)};
        documents[i] = (struct idx_text_document){&fields[2 * i], i % 3 == 0 ? 2 : 1};
    }
}

static enum idx_status make(unsigned threads, size_t count, unsigned bits, idx_progress_visitor visit, void *context) {
    memset(made.fingerprints, 0xee, sizeof made.fingerprints);
    return idx_text_fingerprint_many(texts, threads, documents, count, bits, made.fingerprints, CAPACITY, made.counts,
                                     made.features, visit, context, &made.error);
}

static void assert_made(size_t count, unsigned bits) {
    static const uint64_t nothing[CAPACITY];
    for (size_t i = 0; i < count; i++) {
        uint64_t expected[CAPACITY];
        struct idx_text_counts counts;
        size_t number;
        assert_int_equal(idx_text_fingerprints(texts[0], documents[i].fields, documents[i].field_count, bits, expected,
                                               CAPACITY, &number, &counts, NULL),
                         IDX_OK);
        assert_int_equal(made.counts[i], number);
        assert_true(made.features[i] == counts.features);
        assert_memory_equal(made.fingerprints + i * CAPACITY, expected, number * sizeof *expected);
        assert_memory_equal(made.fingerprints + i * CAPACITY + number, nothing, (CAPACITY - number) * sizeof *nothing);
    }
    for (size_t i = count * CAPACITY; i < DOCUMENTS * CAPACITY; i++)
        assert_true(made.fingerprints[i] == UINT64_C(0xeeeeeeeeeeeeeeee));
}

static void open_all(const char *recipe) {
    make_documents();
    for (size_t i = 0; i < THREADS; i++) texts[i] = open_by(recipe);
}

static void close_all(void) {
    for (size_t i = 0; i < THREADS; i++) idx_text_close(texts[i]);
}

static void test_as_one_by_one(void **state) {
    static const char *const recipes[] = {"words:1", "words:2;title=3", "segments:3", "sentences:2", "minhash:3"};
    static const size_t counts[] = {0, 1, 63, 64, 65, DOCUMENTS};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        open_all(recipes[i]);
        for (size_t j = 0; j < 6; j++) {
            assert_int_equal(make(1 + (unsigned)j % THREADS, counts[j], 60 + (unsigned)i, NULL, NULL), IDX_OK);
            assert_made(counts[j], 60 + (unsigned)i);
        }
        close_all();
    }
}

/* The other arrays may be left out. */
static void test_fingerprints_alone(void **state) {
    uint64_t fingerprints[DOCUMENTS];
    (void)state;
    open_all("words:1");
    assert_int_equal(make(1, DOCUMENTS, 64, NULL, NULL), IDX_OK);
    assert_int_equal(idx_text_fingerprint_many(texts, THREADS, documents, DOCUMENTS, 64, fingerprints, 1, NULL, NULL,
                                               NULL, NULL, NULL),
                     IDX_OK);
    for (size_t i = 0; i < DOCUMENTS; i++) assert_true(fingerprints[i] == made.fingerprints[i * CAPACITY]);
    close_all();
}

static bool cancel(void *context, const struct idx_progress *progress) {
    (void)context;
    assert_int_equal(progress->phase, IDX_PHASE_TASKS);
    assert_int_equal(progress->total, 5);
    return false;
}

static void test_failures(void **state) {
    (void)state;
    open_all("words:1");
    assert_int_equal(make(2, DOCUMENTS, 64, cancel, NULL), IDX_CANCELLED);
    assert_int_equal(make(2, DOCUMENTS, 65, NULL, NULL), IDX_INVALID_ARGUMENT);
    assert_string_equal(made.error.sentence, "a fingerprint has 1 to 64 bits, not 65");
    assert_int_equal(make(0, DOCUMENTS, 64, NULL, NULL), IDX_INVALID_ARGUMENT);
    assert_string_equal(made.error.sentence, "0 threads: the number must be 1 to 256");
    fields[2 * (DOCUMENTS - 1)].name = "nothing";
    assert_int_equal(make(3, DOCUMENTS, 64, NULL, NULL), IDX_INVALID_ARGUMENT);
    assert_non_null(strstr(made.error.sentence, "nothing"));
    close_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_one_by_one),
        cmocka_unit_test(test_fingerprints_alone),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
