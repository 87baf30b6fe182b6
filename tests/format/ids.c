/* ids.c: tests of groups of text IDs: what is encoded comes back, within the room that is promised, and hostile bytes
 * are never read or written beyond. Rules one by one: see the conformance vectors. */
#include "format/ids.h"

#include <stdio.h>

#include "tests/format/sets.h"
#include "tests/format/testing.h"

static struct idxf_pieces pieces;
static uint8_t dictionary[IDXF_MAX_DICTIONARY_BYTES];

#define MOST 300
#define LONGEST 70000

/* IDs with their lengths, and the group made of them. */
static struct {
    uint8_t *ids[MOST];
    size_t lengths[MOST], count;
} all;

static void add(const void *bytes, size_t length) {
    all.ids[all.count] = copy_exactly(bytes, length);
    all.lengths[all.count++] = length;
}

static void free_all(void) {
    while (all.count > 0) free(all.ids[--all.count]);
}

/* Encodes all IDs as one group, decodes them, and returns the group's size. */
static size_t check_ids(size_t dictionary_size) {
    struct idxf_ids ids;
    size_t size = IDXF_IDS_HEADER_BYTES, most = size;
    for (size_t i = 0; i < all.count; i++) most += idxf_ids_get_max_bytes(all.lengths[i]);
    uint8_t *bytes = malloc(most);
    assert_non_null(bytes);
    idxf_ids_write_count(bytes, all.count);
    for (size_t i = 0; i < all.count; i++) {
        size_t made = idxf_ids_encode_id(&pieces, i == 0 ? NULL : all.ids[i - 1], i == 0 ? 0 : all.lengths[i - 1],
                                         all.ids[i], all.lengths[i], bytes + size);
        assert_in_range(made, 2, idxf_ids_get_max_bytes(all.lengths[i]));
        size += made;
    }
    uint8_t *copy = copy_exactly(bytes, size), *words = copy_exactly(dictionary, dictionary_size);
    uint8_t *id = malloc(idxf_ids_get_buffer_bytes(size));
    assert_fault(idxf_ids_open(&ids, copy, size, words, dictionary_size), IDXF_OK);
    assert_int_equal(ids.count, all.count);
    for (size_t i = 0; i < all.count; i++) {
        assert_int_equal(ids.left, all.count - i);
        assert_fault(idxf_ids_next(&ids, id), IDXF_OK);
        assert_int_equal(ids.length, all.lengths[i]);
        if (ids.length > 0) assert_memory_equal(id, all.ids[i], ids.length);
    }
    assert_int_equal(ids.left, 0);
    free(id);
    free(words);
    free(copy);
    free(bytes);
    return size;
}

static void use_dictionary(const char *text) {
    size_t size = strlen(text);
    memcpy(dictionary, text, size);
    idxf_pieces_init(&pieces, dictionary, size);
}

static void test_urls(void **state) {
    (void)state;
    static const char words[] = "https://www.example.org/articles/2021/index.html";
    char url[128];
    for (size_t i = 0; i < MOST; i++) {
        int length = snprintf(url, sizeof url, "https://www.example%zu.org/articles/%zu.html", i * 7919 % 100, i);
        add(url, (size_t)length);
    }
    use_dictionary(words);
    size_t with = check_ids(sizeof words - 1);
    use_dictionary("");
    size_t without = check_ids(0);
    assert_in_range(with, MOST, MOST * 22);
    assert_in_range(without, with + 1, MOST * 40);
    free_all();
}

/* What is in the dictionary as a whole takes a few bytes, and what was before, fewer. */
static void test_exact_bytes(void **state) {
    (void)state;
    static const uint8_t expected[] = {0, 0x0f, 0, 0, 1, 0x10, 'a'}, again[] = {20, 0x10, 'b'};
    uint8_t bytes[100];
    use_dictionary("http://example.org/");
    const uint8_t *a = (const uint8_t *)"http://example.org/a", *b = (const uint8_t *)"http://example.org/ab";
    assert_int_equal(idxf_ids_encode_id(&pieces, NULL, 0, a, 20, bytes), sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
    assert_int_equal(idxf_ids_encode_id(&pieces, a, 20, b, 21, bytes), sizeof again);
    assert_memory_equal(bytes, again, sizeof again);
}

/* Every length about those where a number takes one byte more. */
static void test_lengths(void **state) {
    (void)state;
    uint64_t seed = 4;
    uint8_t *bytes = malloc(LONGEST);
    assert_non_null(bytes);
    for (size_t i = 0; i < LONGEST; i++) bytes[i] = (uint8_t)next_random(&seed);
    memcpy(dictionary, bytes + 100, sizeof dictionary - 100);
    static const size_t lengths[] = {0, 1, 3, 4, 5, 14, 15, 16, 142, 143, 144, 255, 16397, 16399, 16500, 65534, 65535};
    for (size_t dictionary_size = 0; dictionary_size < 65536; dictionary_size += 13107) {
        idxf_pieces_init(&pieces, dictionary, dictionary_size);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            add(bytes, lengths[i]);
            check_ids(dictionary_size);
            free_all();
            add(bytes, 7);
            add(bytes + LONGEST - lengths[i], lengths[i]);
            add(bytes + 50, lengths[i]);
            check_ids(dictionary_size);
            free_all();
        }
    }
    free(bytes);
}

/* Bytes of few kinds, so that pieces and shared beginnings of all lengths meet. */
static void test_random(void **state) {
    (void)state;
    uint64_t seed = 5;
    uint8_t bytes[400];
    for (size_t round = 0; round < 300; round++) {
        size_t dictionary_size = (size_t)(next_random(&seed) % 3000), kinds = 1 + round % 6;
        for (size_t i = 0; i < dictionary_size; i++) dictionary[i] = (uint8_t)(next_random(&seed) % kinds);
        idxf_pieces_init(&pieces, dictionary, dictionary_size);
        for (size_t i = 0; i < 40; i++) {
            size_t length = (size_t)(next_random(&seed) % sizeof bytes), kept = (size_t)(next_random(&seed) % 200);
            for (size_t at = kept; at < length; at++) bytes[at] = (uint8_t)(next_random(&seed) % kinds);
            add(bytes, length);
        }
        check_ids(dictionary_size);
        free_all();
    }
}

static void test_plain(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 14, 15, 142, 143, 65536, IDXF_MAX_ID_BYTES, IDXF_MAX_ID_BYTES + 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct idxf_ids ids;
        uint8_t *bytes = malloc(lengths[i] + 100), *id = malloc(idxf_ids_get_buffer_bytes(lengths[i] + 100));
        idxf_ids_write_count(bytes, 1);
        size_t size = 2 + idxf_ids_write_plain_head(lengths[i], bytes + 2);
        assert_in_range(size, 4, 2 + IDXF_PLAIN_BYTES);
        for (size_t at = 0; at < lengths[i]; at++) bytes[size++] = (uint8_t)(at * 7);
        assert_fault(idxf_ids_open(&ids, bytes, size, NULL, 0), IDXF_OK);
        bool fits = lengths[i] <= IDXF_MAX_ID_BYTES;
        assert_fault(idxf_ids_next(&ids, id), fits ? IDXF_OK : IDXF_FAULT_OVERRUN);
        if (fits) {
            assert_int_equal(ids.length, lengths[i]);
            assert_memory_equal(id, bytes + size - lengths[i], lengths[i]);
        }
        free(bytes);
        free(id);
    }
}

static void test_noise(void **state) {
    (void)state;
    uint64_t seed = 6;
    uint8_t bytes[300];
    for (size_t round = 0; round < 50000; round++) {
        struct idxf_ids ids;
        size_t size = (size_t)(next_random(&seed) % sizeof bytes), dictionary_size = (size_t)(next_random(&seed) % 600);
        for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(next_random(&seed) % (round % 2 ? 256 : 33));
        uint8_t *copy = copy_exactly(bytes, size), *words = copy_exactly(dictionary, dictionary_size);
        uint8_t *id = malloc(idxf_ids_get_buffer_bytes(size));
        enum idxf_fault fault = idxf_ids_open(&ids, copy, size, words, dictionary_size);
        while (fault == IDXF_OK && ids.left > 0) {
            fault = idxf_ids_next(&ids, id);
            assert_in_range(ids.length, 0, idxf_ids_get_buffer_bytes(size));
        }
        free(id);
        free(words);
        free(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),   cmocka_unit_test(test_exact_bytes), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_random), cmocka_unit_test(test_plain),       cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
