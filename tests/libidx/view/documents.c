/* documents.c: tests of documents: IDs of every kind and length, their order, and cursors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

/* ---- Helpers ---- */

struct document {
    uint64_t fingerprint;
    const char *id;
    size_t length;
};

static struct idx_builder *begin(const char *path, enum idx_id_type id_type) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    options.id_type = id_type;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    return builder;
}

static struct idx_index *end(struct idx_builder *builder, const char *path, uint64_t documents, uint64_t fingerprints) {
    struct idx_build_summary summary;
    assert_ok(idx_builder_finish(builder, &summary, &failure));
    idx_builder_close(builder);
    assert_int_equal(summary.documents, documents);
    assert_int_equal(summary.fingerprints, fingerprints);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    return open_index(path, IDX_RESIDENCE_DIRECTORY);
}

static void build_text(const char *path, const struct document *documents, size_t count) {
    struct idx_builder *builder = begin(path, IDX_ID_TEXT);
    for (size_t i = 0; i < count; i++)
        assert_ok(idx_builder_add(builder,
                                  &(struct idx_item){.fingerprint = documents[i].fingerprint,
                                                     .id = documents[i].id,
                                                     .id_length = documents[i].length},
                                  &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

static struct idx_documents *open_cursor(const struct idx_index *index) {
    struct idx_documents *cursor;
    assert_ok(idx_documents_open(&cursor, index, &failure));
    return cursor;
}

static uint64_t find(struct idx_documents *cursor, uint64_t fingerprint) {
    uint64_t count;
    assert_ok(idx_documents_find(cursor, fingerprint, &count, &failure));
    return count;
}

static void expect_end(struct idx_documents *cursor) {
    struct idx_document document;
    for (int again = 0; again < 2; again++) {
        bool found = true;
        assert_ok(idx_documents_next(cursor, &document, &found, &failure));
        assert_false(found);
    }
}

static void expect_text(struct idx_documents *cursor, uint64_t number, const void *id, size_t length) {
    struct idx_document document;
    bool found;
    assert_ok(idx_documents_next(cursor, &document, &found, &failure));
    assert_true(found);
    assert_int_equal(document.number, number);
    assert_int_equal(document.id_length, length);
    if (length > 0) assert_memory_equal(document.id, id, length);
}

static void expect_u64(struct idx_documents *cursor, uint64_t id) {
    struct idx_document document;
    bool found;
    assert_ok(idx_documents_next(cursor, &document, &found, &failure));
    assert_true(found);
    assert_int_equal(document.number, id);
    assert_null(document.id);
    assert_int_equal(document.id_length, 0);
}

static void expect_heaviest(const struct idx_index *index, uint64_t fingerprint, uint64_t documents) {
    uint64_t heaviest = 77, count = 77;
    assert_ok(idx_get_heaviest(index, &heaviest, &count, &failure));
    assert_int_equal(heaviest, fingerprint);
    assert_int_equal(count, documents);
}

/* ---- Text ---- */

static void test_text_of_any_bytes_and_length(void **state) {
    const char *path = path_in(*state, "i");
    char bytes[256];
    size_t longest = IDX_MAX_ID_BYTES;
    char *text = malloc(longest);
    assert_non_null(text);
    memset(text, 'u', longest);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)i;
    const struct document documents[] = {
        {7, "http://example.org/", 19},
        {7, "", 0},
        {UINT64_MAX, bytes, sizeof bytes},
        {0, "\0", 1},
        {7, NULL, 0},
        {7, text, 5000},
        {7, text, 511},
        {7, text, 512},
        {0, text, longest},
        {7, "\n\t", 2},
        {0, "\xff\xfe", 2},
    };
    struct idx_builder *builder = begin(path, IDX_ID_TEXT);
    for (size_t i = 0; i < LENGTH(documents); i++)
        assert_ok(idx_builder_add(builder,
                                  &(struct idx_item){.fingerprint = documents[i].fingerprint,
                                                     .id = documents[i].id,
                                                     .id_length = documents[i].length},
                                  &failure));
    struct idx_index *index = end(builder, path, LENGTH(documents), 3);
    struct idx_documents *cursor = open_cursor(index);
    static const uint64_t fingerprints[] = {7, 0, UINT64_MAX};
    for (size_t i = 0; i < LENGTH(fingerprints); i++) {
        find(cursor, fingerprints[i]);
        for (size_t number = 0; number < LENGTH(documents); number++) {
            if (documents[number].fingerprint == fingerprints[i])
                expect_text(cursor, number, documents[number].id, documents[number].length);
        }
        expect_end(cursor);
    }
    idx_documents_close(cursor);
    idx_close(index);
    free(text);
}

/* The first IDs, each behind four bytes, are kept for a dictionary until they fill 4 MiB: the rest of that is from 0 to
 * 9 bytes when an ID comes that finds no room. */
static void test_ids_that_fill_the_sample(void **state) {
    const char *path = path_in(*state, "i");
    size_t full = (size_t)4 << 20, most = full / 1004 + 1;
    char *text = malloc(2000);
    assert_non_null(text);
    for (size_t i = 0; i < 2000; i++) text[i] = (char)('a' + i * i % 23);
    for (size_t rest = 0; rest < 10; rest++) {
        struct idx_builder *builder = begin(path, IDX_ID_TEXT);
        for (size_t i = 0; i < most; i++) {
            size_t length = i + 1 < most ? 1000 : full - (most - 1) * 1004 - 4 - rest;
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = 5, .id = text + i % 7, .id_length = length}, &failure));
        }
        assert_ok(
            idx_builder_add(builder, &(struct idx_item){.fingerprint = 5, .id = text, .id_length = 1990}, &failure));
        struct idx_index *index = end(builder, path, most + 1, 1);
        struct idx_documents *cursor = open_cursor(index);
        find(cursor, 5);
        for (size_t i = 0; i < most; i++) {
            size_t length = i + 1 < most ? 1000 : full - (most - 1) * 1004 - 4 - rest;
            expect_text(cursor, i, text + i % 7, length);
        }
        expect_text(cursor, most, text, 1990);
        expect_end(cursor);
        idx_documents_close(cursor);
        idx_close(index);
        remove_all(path);
    }
    free(text);
}

/* Long URLs, more than the map writer puts into one transaction, under few fingerprints. */
static void test_long_urls(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_builder *builder = begin(path, IDX_ID_TEXT);
    char url[5001];
    size_t count = scale(8000);
    for (size_t i = 0; i < count; i++) {
        snprintf(url, sizeof url, "%05000zu", i);
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = i % 5 << 60, .id = url, .id_length = 5000},
                                  &failure));
    }
    struct idx_index *index = end(builder, path, count, count < 5 ? count : 5);
    struct idx_documents *cursor = open_cursor(index);
    for (size_t first = 0; first < 5 && first < count; first++) {
        assert_int_equal(find(cursor, first << 60), (count - first + 4) / 5);
        for (size_t i = first; i < count; i += 5) {
            snprintf(url, sizeof url, "%05000zu", i);
            expect_text(cursor, i, url, 5000);
        }
        expect_end(cursor);
    }
    idx_documents_close(cursor);
    idx_close(index);
}

static void test_ids_need_not_be_unique(void **state) {
    const char *path = path_in(*state, "i");
    static const struct document documents[] = {{1, "a", 1}, {2, "a", 1}, {1, "a", 1}, {1, "b", 1}, {1, "a", 1}};
    build_text(path, documents, LENGTH(documents));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_documents *cursor = open_cursor(index);
    assert_int_equal(find(cursor, 1), 4);
    expect_text(cursor, 0, "a", 1);
    expect_text(cursor, 2, "a", 1);
    expect_text(cursor, 3, "b", 1);
    expect_text(cursor, 4, "a", 1);
    expect_end(cursor);
    idx_documents_close(cursor);
    idx_close(index);
}

/* ---- Integers, and none ---- */

static void test_integers(void **state) {
    const char *path = path_in(*state, "i");
    static const uint64_t pairs[][2] = {
        {5, UINT64_MAX}, {5, 0}, {9, 3},          {5, UINT64_C(1) << 63}, {5, 3}, {5, 0},
        {9, 3},          {5, 1}, {0, UINT64_MAX}, {UINT64_MAX, 0},        {5, 3}, {5, UINT64_MAX - 1},
    };
    static const uint64_t of_5[] = {0, 1, 3, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
    struct idx_builder *builder = begin(path, IDX_ID_U64);
    for (size_t i = 0; i < LENGTH(pairs); i++)
        assert_ok(
            idx_builder_add(builder, &(struct idx_item){.fingerprint = pairs[i][0], .number = pairs[i][1]}, &failure));
    struct idx_index *index = end(builder, path, 9, 4);
    struct idx_documents *cursor = open_cursor(index);
    assert_int_equal(find(cursor, 5), LENGTH(of_5));
    for (size_t i = 0; i < LENGTH(of_5); i++) expect_u64(cursor, of_5[i]);
    expect_end(cursor);
    expect_heaviest(index, 5, LENGTH(of_5));
    assert_int_equal(find(cursor, UINT64_MAX), 1);
    expect_u64(cursor, 0);
    expect_end(cursor);
    assert_int_equal(find(cursor, 0), 1);
    expect_u64(cursor, UINT64_MAX);
    assert_int_equal(find(cursor, 9), 1);
    expect_u64(cursor, 3);
    expect_end(cursor);
    idx_documents_close(cursor);
    idx_close(index);
}

static void test_none(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_builder *builder = begin(path, IDX_ID_NONE);
    for (uint64_t i = 0; i < 100; i++)
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = i % 7, .number = i}, &failure));
    struct idx_index *index = end(builder, path, 100, 7);
    struct idx_documents *cursor = open_cursor(index);
    assert_int_equal(find(cursor, 3), 0);
    expect_end(cursor);
    assert_int_equal(find(cursor, 77), 0);
    expect_end(cursor);
    expect_heaviest(index, 0, 0);
    idx_documents_close(cursor);
    idx_close(index);
}

static void test_other_kinds_of_ids_are_refused(void **state) {
    static const enum idx_id_type types[] = {IDX_ID_TEXT, IDX_ID_U64, IDX_ID_NONE};
    for (size_t i = 0; i < LENGTH(types); i++) {
        const char *path = path_in(*state, "%zu", i);
        struct idx_builder *builder = begin(path, types[i]);
        if (types[i] == IDX_ID_TEXT) {
            assert_status(IDX_INVALID_ARGUMENT,
                          idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .number = 1}, &failure));
            assert_status(IDX_INVALID_ARGUMENT, /* a length without bytes */
                          idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .id_length = 3}, &failure));
            assert_string_equal(failure.sentence, "this builder needs text IDs");
            assert_ok(
                idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .id = "a", .id_length = 1}, &failure));
        } else {
            assert_status(
                IDX_INVALID_ARGUMENT,
                idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .id = "a", .id_length = 1}, &failure));
            assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = 1, .number = 1}, &failure));
        }
        idx_close(end(builder, path, 1, 1));
    }
}

/* ---- Many ---- */

static void test_a_million_on_one_fingerprint(void **state) {
    size_t count = scale(1000000);
    for (int text = 0; text < 2; text++) {
        const char *path = path_in(*state, "%d", text);
        struct idx_builder *builder = begin(path, text ? IDX_ID_TEXT : IDX_ID_U64);
        char id[32];
        for (size_t i = 0; i < count; i++) {
            uint64_t fingerprint = i % 10 == 0 ? i : 77;
            if (text)
                assert_ok(idx_builder_add(
                    builder, &(struct idx_item){.fingerprint = fingerprint, .id = id, .id_length = write_id(id, i)},
                    &failure));
            else /* falling */
                assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprint, .number = count - i},
                                          &failure));
        }
        size_t others = (count + 9) / 10;
        struct idx_index *index = end(builder, path, count, others + 1);
        struct idx_documents *cursor = open_cursor(index);
        assert_int_equal(find(cursor, 77), count - others);
        expect_heaviest(index, 77, count - others);
        for (size_t i = 0; i < count; i++) {
            size_t place = text ? i : count - i - 1;
            if (place % 10 == 0) continue;
            if (text)
                expect_text(cursor, place, id, write_id(id, place));
            else
                expect_u64(cursor, count - place);
        }
        expect_end(cursor);
        idx_documents_close(cursor);
        idx_close(index);
    }
}

/* Each fingerprint of a set with doubles has the documents that it was added with, in that order. */
static void test_every_fingerprint_has_its_documents(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 20, scale(20000), 1);
    const char *path = path_in(*state, "i");
    struct idx_build_options options = options_for(20, 3, "4");
    size_t *first = calloc((size_t)1 << 20, sizeof *first), *next = calloc(set.count, sizeof *next), documents = 0;
    uint64_t heaviest = 0, most = 0;
    assert_non_null(first);
    assert_non_null(next);
    for (size_t i = set.count; i-- > 0;) { /* chains of places, each 1 more */
        next[i] = first[set.items[i]];
        first[set.items[i]] = i + 1;
    }
    build_index(path, &options, set.items, set.count);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_documents *cursor = open_cursor(index);
    for (size_t i = 0; i < set.distinct_count; i++) {
        uint64_t count = find(cursor, set.distinct[i]);
        documents += count;
        if (count > most || (count == most && set.distinct[i] < heaviest)) {
            heaviest = set.distinct[i];
            most = count;
        }
        for (size_t place = first[set.distinct[i]]; place > 0; place = next[place - 1], count--) {
            char id[32];
            expect_text(cursor, place - 1, id, write_id(id, place - 1));
        }
        assert_int_equal(count, 0);
        expect_end(cursor);
    }
    assert_int_equal(documents, set.count);
    expect_heaviest(index, heaviest, most);
    idx_documents_close(cursor);
    idx_close(index);
    free(first);
    free(next);
    free_set(&set);
}

/* ---- Several segments ---- */

static void test_text_of_several_segments(void **state) {
    static const struct document first[] = {{5, "a0", 2}, {6, "a1", 2}, {5, "a2", 2}};
    static const struct document second[] = {{7, "b0", 2}};
    static const struct document third[] = {{8, "c0", 2}, {5, "a0", 2}, {5, "c2", 2}};
    const char *parts[] = {path_in(*state, "a"), path_in(*state, "b"), path_in(*state, "c")};
    const char *path = path_in(*state, "whole");
    build_text(parts[0], first, LENGTH(first));
    build_text(parts[1], second, LENGTH(second));
    build_text(parts[2], third, LENGTH(third));
    join_indexes(path, parts, LENGTH(parts));
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_documents *cursor = open_cursor(index);
    assert_int_equal(find(cursor, 5), 4);
    expect_text(cursor, 0, "a0", 2);
    expect_text(cursor, 2, "a2", 2);
    expect_text(cursor, 1, "a0", 2);
    expect_text(cursor, 2, "c2", 2);
    expect_end(cursor);
    assert_int_equal(find(cursor, 7), 1);
    expect_text(cursor, 0, "b0", 2);
    expect_end(cursor);
    idx_documents_close(cursor);
    idx_close(index);
}

static void build_u64(const char *path, const uint64_t (*pairs)[2], size_t count) {
    struct idx_builder *builder = begin(path, IDX_ID_U64);
    for (size_t i = 0; i < count; i++)
        assert_ok(
            idx_builder_add(builder, &(struct idx_item){.fingerprint = pairs[i][0], .number = pairs[i][1]}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

/* Ascending over all segments, each ID once. */
static void test_integers_of_several_segments(void **state) {
    static const uint64_t first[][2] = {{5, 10}, {5, 30}, {6, 1}, {5, UINT64_MAX}};
    static const uint64_t second[][2] = {{5, 20}, {5, 10}, {5, UINT64_MAX}};
    static const uint64_t third[][2] = {{7, 5}, {5, 10}, {5, 0}, {6, 0}};
    static const uint64_t of_5[] = {0, 10, 20, 30, UINT64_MAX}, of_6[] = {0, 1};
    const char *parts[] = {path_in(*state, "a"), path_in(*state, "b"), path_in(*state, "c")};
    const char *path = path_in(*state, "whole");
    build_u64(parts[0], first, LENGTH(first));
    build_u64(parts[1], second, LENGTH(second));
    build_u64(parts[2], third, LENGTH(third));
    join_indexes(path, parts, LENGTH(parts));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_documents *cursor = open_cursor(index);
    assert_int_equal(find(cursor, 5), 8); /* as it is documented: with those that stand in two */
    for (size_t i = 0; i < LENGTH(of_5); i++) expect_u64(cursor, of_5[i]);
    expect_end(cursor);
    assert_int_equal(find(cursor, 6), 2);
    for (size_t i = 0; i < LENGTH(of_6); i++) expect_u64(cursor, of_6[i]);
    expect_end(cursor);
    idx_documents_close(cursor);
    idx_close(index);
}

/* ---- The heaviest fingerprint ---- */

static void test_the_heaviest(void **state) {
    static const struct {
        struct document documents[6];
        size_t count;
        uint64_t fingerprint, most;
    } cases[] = {
        {{{9, "a", 1}}, 1, 9, 1},
        {{{9, "a", 1}, {0, "b", 1}, {9, "a", 1}, {7, "c", 1}}, 4, 9, 2},
        {{{9, "a", 1}, {0, "b", 1}, {0, "c", 1}, {7, "c", 1}}, 4, 0, 2},
        {{{9, "a", 1}, {7, "b", 1}, {0, "c", 1}}, 3, 0, 1},
        {{{9, "a", 1}, {9, "b", 1}, {7, "c", 1}, {7, "d", 1}, {8, "e", 1}, {0, "f", 1}}, 6, 7, 2},
        {{{UINT64_MAX, "a", 1}, {UINT64_MAX, "b", 1}, {5, "c", 1}, {5, "d", 1}, {UINT64_MAX, "e", 1}},
         5,
         UINT64_MAX,
         3},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *path = path_in(*state, "%zu", i);
        build_text(path, cases[i].documents, cases[i].count);
        assert_ok(idx_verify(path, NULL, NULL, &failure));
        struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
        expect_heaviest(index, cases[i].fingerprint, cases[i].most);
        idx_close(index);
    }
}

/* That of the segment in which it is most, though 5 has more documents in all; of as many, the smallest. */
static void test_the_heaviest_of_several_segments(void **state) {
    static const uint64_t first[][2] = {{5, 1}, {5, 2}}, second[][2] = {{9, 1}, {9, 2}, {9, 3}};
    static const uint64_t third[][2] = {{8, 1}, {8, 2}, {8, 3}, {5, 3}, {5, 4}}, last[][2] = {{7, 1}, {7, 2}};
    const char *parts[] = {path_in(*state, "a"), path_in(*state, "b"), path_in(*state, "c"), path_in(*state, "d")};
    const char *path = path_in(*state, "whole");
    build_u64(parts[0], first, LENGTH(first));
    build_u64(parts[1], second, LENGTH(second));
    build_u64(parts[2], third, LENGTH(third));
    build_u64(parts[3], last, LENGTH(last));
    join_indexes(path, parts, LENGTH(parts));
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    expect_heaviest(index, 8, 3);
    idx_close(index);
}

/* ---- Cursors ---- */

static void test_cursors(void **state) {
    const char *path = path_in(*state, "i");
    static const struct document documents[] = {{1, "a", 1}, {1, "b", 1}, {2, "c", 1}};
    build_text(path, documents, LENGTH(documents));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_documents *one = open_cursor(index), *two = open_cursor(index);
    expect_end(one); /* before anything was sought */
    find(one, 1);
    find(two, 2);
    expect_text(one, 0, "a", 1);
    expect_text(two, 2, "c", 1);
    expect_text(one, 1, "b", 1);
    find(one, 1); /* begins again */
    expect_text(one, 0, "a", 1);
    find(one, 2);
    expect_text(one, 2, "c", 1);
    expect_end(one);
    expect_end(two);
    assert_ok(idx_documents_find(one, 2, NULL, &failure));
    idx_documents_close(two);
    expect_text(one, 2, "c", 1);
    idx_documents_close(one);
    idx_documents_close(NULL);
    idx_close(index);
}

static void test_fingerprints_that_are_not_there(void **state) {
    const char *path = path_in(*state, "i");
    static const struct document documents[] = {{5, "a", 1}, {7, "b", 1}};
    static const uint64_t others[] = {0, 4, 6, 8, UINT64_MAX};
    build_text(path, documents, LENGTH(documents));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_documents *cursor = open_cursor(index);
    for (size_t i = 0; i < LENGTH(others); i++) {
        find(cursor, 5);
        assert_int_equal(find(cursor, others[i]), 0);
        expect_end(cursor);
    }
    find(cursor, 7);
    expect_text(cursor, 1, "b", 1);
    idx_documents_close(cursor);
    idx_close(index);
}

/* As of idx_lookup, and not taken for a fingerprint without documents. */
static void test_fingerprints_of_more_bits_are_refused(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    uint64_t count = 77;
    options.bits = 16;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = 0xffff, .id = "a", .id_length = 1}, &failure));
    struct idx_index *index = end(builder, path, 1, 1);
    struct idx_documents *cursor = open_cursor(index);
    assert_status(IDX_INVALID_ARGUMENT, idx_documents_find(cursor, 0x10000, &count, &failure));
    assert_string_equal(failure.sentence, "fingerprint 0000000000010000 has more than 16 bits");
    assert_int_equal(count, 77);
    assert_int_equal(find(cursor, 0xffff), 1);
    expect_text(cursor, 0, "a", 1);
    idx_documents_close(cursor);
    idx_close(index);
}

static void test_no_documents(void **state) {
    const char *path = path_in(*state, "i");
    build_text(path, NULL, 0);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    struct idx_documents *cursor = open_cursor(index);
    assert_int_equal(find(cursor, 0), 0);
    expect_end(cursor);
    expect_heaviest(index, 0, 0);
    idx_documents_close(cursor);
    idx_close(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_text_of_any_bytes_and_length),
        in_folder(test_ids_that_fill_the_sample),
        in_folder(test_long_urls),
        in_folder(test_ids_need_not_be_unique),
        in_folder(test_integers),
        in_folder(test_none),
        in_folder(test_other_kinds_of_ids_are_refused),
        in_folder(test_a_million_on_one_fingerprint),
        in_folder(test_every_fingerprint_has_its_documents),
        in_folder(test_text_of_several_segments),
        in_folder(test_integers_of_several_segments),
        in_folder(test_the_heaviest),
        in_folder(test_the_heaviest_of_several_segments),
        in_folder(test_cursors),
        in_folder(test_fingerprints_that_are_not_there),
        in_folder(test_fingerprints_of_more_bits_are_refused),
        in_folder(test_no_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
