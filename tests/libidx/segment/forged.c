/* forged.c: fields of every file of an index are forged, and all checksums made right: whatever is read then ends,
 * stays within the files, and says what is damaged; wrong answers are allowed. For the address sanitizer above all.
 *
 *   forged [SEED [CASES]]
 *
 * Without a seed, it takes a new one; the seed is printed, and repeats a run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define COUNT 400
#define PENDING 40 /* of them */
#define DEFAULT_CASES 2000

static uint64_t seed;
static size_t case_count = DEFAULT_CASES;

/* ---- The index ---- */

struct file {
    const char *name;
    enum { TABLE, MAP, SUMS, REMOVED, MANIFEST, LOG } kind;
};

/* Of the second segment, which removes from the first; some of the first one's; and what is pending. */
static const struct file files[] = {
    {"manifest", MANIFEST},     {"000002/table-00.tbl", TABLE}, {"000002/table-01.tbl", TABLE},
    {"000002/docs.mdb", MAP},   {"000002/docs.sum", SUMS},      {"000002/by-id.mdb", MAP},
    {"000002/by-id.sum", SUMS}, {"000002/removed", REMOVED},    {"000001/table-00.tbl", TABLE},
    {"000001/docs.mdb", MAP},   {"000001/by-id.mdb", MAP},      {"pending.log", LOG},
};

static uint64_t fingerprints[COUNT];

static void add_all(struct idx_writer *writer, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
        char id[32];
        struct idx_item item = {.fingerprint = fingerprints[i], .number = i, .id = id, .id_length = write_id(id, i)};
        leave_out_ids(writer, &item, 1);
        assert_ok(idx_writer_add(writer, &item, 1, &failure));
    }
}

static void remove_some(struct idx_writer *writer, size_t begin, size_t end) {
    struct idx_removal removal;
    for (size_t i = begin; i < end; i++) {
        char id[32];
        struct idx_item item = {.fingerprint = fingerprints[i], .number = i, .id = id, .id_length = write_id(id, i)};
        leave_out_ids(writer, &item, 1);
        assert_ok(idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, &item, 1, &removal, &failure));
    }
}

/* Two segments and a log; in each some fingerprints with many documents, and in the second segment and the log removals
 * of both kinds. */
static void build(const char *path, enum idx_id_type id_type) {
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    struct idx_writer_options writing = IDX_WRITER_OPTIONS_INIT;
    struct idx_compact_options compacting = IDX_COMPACT_OPTIONS_INIT;
    struct idx_writer *writer;
    struct idx_properties properties;
    uint64_t state = 1;
    options.id_type = id_type;
    options.by_id = true;
    writing.compact_records = 0;
    compacting.growth = 1;
    for (size_t i = 0; i < COUNT; i++)
        fingerprints[i] = i % 4 == 3 ? fingerprints[i % 100 / 4 * 4] ^ (i % 8 == 7) : next_random(&state);
    build_index(path, &options, fingerprints, 3 * COUNT / 4);
    assert_ok(idx_writer_open(&writer, path, &writing, &failure));
    add_all(writer, 3 * COUNT / 4, COUNT - PENDING);
    remove_some(writer, 0, 40);
    idx_writer_close(writer);
    assert_ok(idx_compact(path, &compacting, NULL, &failure));
    assert_ok(idx_writer_open(&writer, path, &writing, &failure));
    add_all(writer, COUNT - PENDING, COUNT);
    remove_some(writer, 40, 60);
    idx_writer_close(writer);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_DIRECTORY);
    idx_get_properties(index, &properties);
    assert_int_equal(properties.segments, 2);
    assert_true(properties.removals > 0 && properties.pending_documents > 0 && properties.pending_removals > 0);
    idx_close(index);
}

/* ---- Forging ---- */

static size_t below(size_t bound) { return (size_t)(next_random(&seed) % bound); }

/* What makes arithmetic wrap, bounds be met, and counts be believed. */
static uint64_t choose_value(uint64_t old, size_t file_size) {
    switch (below(8)) {
        case 0: return 0;
        case 1: return UINT64_MAX - below(3);
        case 2: return old + 1;
        case 3: return old - 1;
        case 4: return UINT64_C(1) << below(64);
        case 5: return file_size + below(5000);
        case 6: return old ^ UINT64_C(1) << below(64);
        default: return next_random(&seed);
    }
}

/* Headers of files and of pages more often than the rest. */
static size_t choose_place(size_t size) {
    switch (below(4)) {
        case 0: return below(size < 200 ? size : 200);
        case 1: return (below(size) / 4096 * 4096 + below(64)) % size;
        default: return below(size);
    }
}

static void forge_field(uint8_t *bytes, size_t size) {
    static const size_t widths[] = {1, 2, 4, 8};
    size_t width = widths[below(4)], at = choose_place(size);
    if (width > size - at) width = 1;
    if (below(2) == 0) at -= at % width;
    uint64_t value = 0;
    memcpy(&value, bytes + at, width);
    value = choose_value(value, size);
    memcpy(bytes + at, &value, width);
}

/* A number of a manifest becomes another one. `text` has room for it. */
static void forge_number(char *text) {
    static const char digits[] = "0123456789";
    char *at = text + below(strlen(text)), number[32], *end;
    at += strcspn(at, digits);
    if (*at == '\0' || strncmp(text, "idx-index", 9) != 0) return;
    size_t length = strspn(at, digits);
    uint64_t value = choose_value(strtoull(at, &end, 10), 1000);
    int made = snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    memmove(at + made, at + length, strlen(at + length) + 1);
    memcpy(at, number, (size_t)made);
}

static void forge_text(const char *path, const uint8_t *bytes, size_t size, size_t changes) {
    char *text = calloc(size + 200, 1), *last;
    assert_non_null(text);
    memcpy(text, bytes, size);
    assert_non_null(last = strstr(text, "checksum "));
    *last = '\0';
    for (size_t i = 0; i < changes; i++) forge_number(text);
    if (below(8) == 0) text[below(strlen(text))] = (char)below(256);
    forge_manifest(path, text);
    free(text);
}

/* Makes the checksums right that a file has, or others have of it. `whole` is the file before it was forged. */
static void seal(const char *index, const struct file *file, uint8_t *bytes, const uint8_t *whole, size_t size) {
    const char *path = path_in(index, "%s", file->name), *folder = path_in(index, "%.6s", file->name);
    uint8_t uuid[16];
    if (file->kind == REMOVED) idxf_store64(bytes + 48, idxf_checksum(bytes + 64, size - 64));
    if (file->kind == REMOVED || file->kind == SUMS) idxf_store64(bytes + 56, idxf_checksum(bytes, 56));
    if (file->kind == LOG) seal_log(bytes, whole, size);
    write_file(path, bytes, size);
    if (file->kind == TABLE) seal_table(path);
    if (file->kind != MAP) return;
    read_segment_uuid(path_in(folder, "table-00.tbl"), uuid);
    if (strstr(file->name, "docs") != NULL)
        forge_sums(folder, uuid);
    else
        forge_sums_by_id(folder, uuid);
}

/* ---- Reading all ---- */

static bool take_fingerprints(void *context, const uint64_t *some, size_t count) {
    (void)some;
    return (*(size_t *)context += count) < 100000;
}

static bool take_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    (void)pairs;
    return (*(size_t *)context += count) < 100000;
}

static bool take_member(void *context, const struct idx_cluster_member *member) {
    (void)member;
    return ++*(size_t *)context < 100000;
}

static void read_documents(struct idx_documents *documents, uint64_t fingerprint) {
    struct idx_document document;
    bool found = true;
    if (idx_documents_find(documents, fingerprint, NULL, &failure) != IDX_OK) return;
    while (found && idx_documents_next(documents, &document, &found, &failure) == IDX_OK) {
        if (found && document.id_length > 0) failure.offset += ((const uint8_t *)document.id)[document.id_length - 1];
    }
}

static void read_index(const struct idx_index *index, enum idx_id_type id_type) {
    struct idx_match matches[COUNT];
    struct idx_documents *documents;
    size_t count, seen = 0;
    if (idx_documents_open(&documents, index, &failure) == IDX_OK) {
        for (size_t i = 0; i < COUNT; i += 7) {
            uint64_t found[4];
            char id[32];
            read_documents(documents, fingerprints[i]);
            if (id_type == IDX_ID_TEXT)
                idx_find_id(index, &(struct idx_item){.id = id, .id_length = write_id(id, i)}, found, 4, &count,
                            &failure);
            else
                idx_find_id(index, &(struct idx_item){.number = i}, found, 4, &count, &failure);
        }
        idx_documents_close(documents);
    }
    for (size_t i = 0; i < COUNT; i += 11) idx_lookup(index, fingerprints[i] ^ 1, 3, matches, COUNT, &count, &failure);
    idx_visit_part(index, 0, 1, take_fingerprints, &seen, &failure);
    idx_pairs(index, NULL, take_pairs, &seen, &failure);
    idx_clusters(index, NULL, take_member, &seen, NULL, &failure);
}

static void read_all(const char *path, enum idx_id_type id_type) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    options.residence = (enum idx_residence)below(4);
    options.skip_page_checks = below(4) == 0;
    enum idx_status status = idx_open(&index, path, &options, &failure);
    if (status == IDX_OK) {
        read_index(index, id_type);
        idx_close(index);
    }
    bool expected = status == IDX_OK || is_damage(status) || status == IDX_UNSUPPORTED || status == IDX_NEW_VERSION ||
                    status == IDX_NOT_AN_INDEX || status == IDX_LIMIT || status == IDX_OUT_OF_MEMORY;
    if (!expected) assert_status(IDX_BAD_CONTENT, status);
    idx_verify(path, NULL, NULL, &failure);
}

/* A writer goes on with the log, or refuses; and what it changes is as it was before. */
static void write_log(const char *path) {
    struct idx_item item = {.fingerprint = 1, .number = 1, .id = "1", .id_length = 1};
    struct idx_writer *writer;
    size_t size;
    uint8_t *manifest = read_file(path_in(path, "manifest"), &size);
    if (idx_writer_open(&writer, path, NULL, &failure) == IDX_OK) {
        leave_out_ids(writer, &item, 1);
        idx_writer_add(writer, &item, 1, &failure);
        idx_writer_close(writer);
    }
    write_file(path_in(path, "manifest"), manifest, size);
    free(manifest);
}

/* ---- The cases ---- */

static void play(const char *path, enum idx_id_type id_type) {
    const struct file *file = &files[below(LENGTH(files))];
    size_t size, changes = 1 + below(3);
    uint8_t *whole = read_file(path_in(path, "%s", file->name), &size), *bytes = malloc(size);
    const char *sums = file->kind != MAP            ? NULL
                       : strstr(file->name, "docs") ? path_in(path, "%.6s/docs.sum", file->name)
                                                    : path_in(path, "%.6s/by-id.sum", file->name);
    size_t sums_size = 0;
    uint8_t *whole_sums = sums == NULL ? NULL : read_file(sums, &sums_size);
    assert_non_null(bytes);
    memcpy(bytes, whole, size);
    if (file->kind == MANIFEST) {
        forge_text(path_in(path, "manifest"), bytes, size, changes);
    } else {
        size_t forged = file->kind == LOG ? seal_log(bytes, whole, size) : size; /* behind it are zeros */
        for (size_t i = 0; i < changes; i++) forge_field(bytes, forged);
        seal(path, file, bytes, whole, size);
    }
    read_all(path, id_type);
    if (file->kind == LOG) write_log(path);
    write_file(path_in(path, "%s", file->name), whole, size);
    if (sums != NULL) write_file(sums, whole_sums, sums_size);
    free(whole_sums);
    free(whole);
    free(bytes);
}

static void forge_index(const char *path, enum idx_id_type id_type) {
    build(path, id_type);
    for (size_t i = 0; i < case_count / 2; i++) {
        uint64_t before = seed;
        play(path, id_type);
        if (i % 100 == 99 && idx_verify(path, NULL, NULL, &failure) != IDX_OK)
            fail_msg("the index is not as before: case %zu, seed %llu", i, (unsigned long long)before);
    }
}

static void test_text_ids(void **state) { forge_index(path_in(*state, "i"), IDX_ID_TEXT); }

static void test_integer_ids(void **state) { forge_index(path_in(*state, "i"), IDX_ID_U64); }

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {in_folder(test_text_ids), in_folder(test_integer_ids)};
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 10);
    else if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return 1;
    if (argc > 2) case_count = strtoull(argv[2], NULL, 10);
    printf("seed %llu, %zu cases\n", (unsigned long long)seed, case_count);
    fflush(stdout);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
