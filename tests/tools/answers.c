/* answers.c: tests of what becomes of queries and answers when memory runs out. Linked so that it calls the function
 * below
 * (-Wl,--wrap), which fails when it is told to. */
#include "tools/answers/answers.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/testing.h"

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool fails;

void *__wrap_realloc(void *memory, size_t size) { return fails ? NULL : __real_realloc(memory, size); }

static const char long_id[10000];

/* A query whose ID was not copied is not answered: the batch is empty, so no index is asked. */
static void test_query_without_memory(void **state) {
    (void)state;
    const struct question question = {.index = NULL};
    const struct query query = {.fingerprint = 1, .id = long_id, .id_length = sizeof long_id};
    struct query_batch *batch = query_batch_new(&question, 1);
    struct output output = OUTPUT_BUFFER;
    struct idx_error error;
    fails = true;
    assert_false(query_batch_add(batch, &query));
    fails = false;
    assert_true(query_batch_answer(batch, &output, &error));
    assert_int_equal(output.length, 0);
    query_batch_free(batch);
}

/* Of a record, the head alone was kept: its bytes are not read, and the output fails. */
static void test_record_without_memory(void **state) {
    (void)state;
    const struct question question = {.properties = {.bits = 64}, .agree = 1};
    const struct query query = {.id = "query", .id_length = 5};
    const struct idx_document document = {.id = long_id, .id_length = sizeof long_id};
    struct agree agree = AGREE_INIT(&question);
    struct output output = OUTPUT_BUFFER;
    agree_append_query(&question, &query, &agree.records);
    fails = true;
    agree_append_document(&document, &agree.records);
    fails = false;
    assert_int_equal(agree.records.error, ENOMEM);
    agree_count_records(&agree, &output);
    assert_int_equal(agree.ids.length, 0);
    assert_int_equal(output.error, ENOMEM);
    agree_free(&agree);
    free(output.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_query_without_memory),
                                       cmocka_unit_test(test_record_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
