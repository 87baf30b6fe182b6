/* table_writer.c: tests of writing a table from a stream: windows, keys in a file, stopping, and streams that fail; and
 * of files without a name. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/base/base.h"
#include "libidx/building/segment_output.h"
#include "libidx/segment/table_writer.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

/* Three windows and a part. */
#define COUNT 200000
#define WINDOW 65536

/* A stream that gives up to `step` fingerprints at a time, and fails after `fails_after` calls. */
struct slow_stream {
    struct idxi_array_stream array;
    size_t step, fails_after, reads;
};

static enum idx_status read_slowly(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values,
                                   size_t capacity, size_t *count, struct idx_error *error) {
    struct slow_stream *slow = (struct slow_stream *)stream;
    struct idxi_array_stream plain;
    assert_null(values);
    assert_true(capacity > 0);
    if (slow->reads++ == slow->fails_after) return idxi_fail(error, IDX_BAD_CONTENT, "stream", "fails");
    idxi_array_stream_init(&plain, NULL, NULL, 0);
    return plain.stream.read(stream, fingerprints, NULL, capacity < slow->step ? capacity : slow->step, count, error);
}

static struct slow_stream stream_of(const uint64_t *fingerprints, size_t count, size_t step) {
    struct slow_stream stream = {.step = step, .fails_after = SIZE_MAX};
    idxi_array_stream_init(&stream.array, fingerprints, NULL, count);
    stream.array.stream.read = read_slowly;
    stream.array.stream.rewind = NULL;
    return stream;
}

static int open_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    return folder;
}

/* Ascending: the first half all over, the other near its last one, so that blocks of the two hold very different
 * numbers. */
static uint64_t *make_fingerprints(size_t count) {
    uint64_t *made = malloc(count * sizeof *made), seed = 3;
    assert_non_null(made);
    for (size_t i = 0; i < count / 2; i++) made[i] = next_random(&seed) >> 1;
    qsort(made, count / 2, sizeof *made, compare_numbers);
    uint64_t last = UINT64_MAX / 2;
    for (size_t i = count / 2; i < count; i++) made[i] = last += 1 + next_random(&seed) % 4;
    return made;
}

/* A table of 64 bits whose mask has the first 16. Its code is that of make_fingerprints. */
static struct idxi_table_job job_for(int folder, struct slow_stream *stream, uint32_t block_size) {
    static struct idxi_survey survey;
    struct idxi_table_job job = {.folder = folder, .name = "table", .path = "table", .temporary_path = "temporary"};
    if (survey.fingerprints == 0) {
        uint64_t *fingerprints = make_fingerprints(COUNT);
        idxi_survey_add(&survey, fingerprints, COUNT, 64);
        free(fingerprints);
    }
    struct idxf_block_form form = idxi_survey_choose_form(&survey, 64, block_size);
    job.header = (struct idxf_table_header){.uuid = {1, 2, 3},
                                            .mask = UINT64_C(0xffff) << 48,
                                            .block_size = block_size,
                                            .bits = 64,
                                            .anchor_bits = (uint8_t)form.anchor_bits,
                                            .code = form.code};
    job.fingerprints = &stream->array.stream;
    job.key_memory = SIZE_MAX;
    job.temporary_folder = folder;
    return job;
}

/* Writes a table, and gives its bytes; the folder is empty again then. */
static uint8_t *write_table(const char *path, struct idxi_table_job *job, size_t *size) {
    uint64_t file_size;
    assert_ok(idxi_table_write(job, &file_size, &failure));
    assert_int_equal(count_entries(path), 1);
    uint8_t *bytes = read_file(path_in(path, "table"), size);
    assert_int_equal(file_size, *size);
    remove_all(path_in(path, "table"));
    return bytes;
}

/* ---- What is written ---- */

/* A directory as SPEC.md, chapter 7, has it, once more and slowly. */
struct model {
    uint8_t *lines, *lists;
    uint64_t line_count, list_bytes;
};

/* The part of a line that a key falls into: the lower half of key · lines, from products of 32 bits. Sets the line. */
static uint64_t find_part(uint64_t key, uint64_t lines, uint64_t *line) {
    uint64_t low = (key & 0xffffffff) * lines, high = (key >> 32) * lines + (low >> 32); /* fewer than 2^31 lines */
    *line = high >> 32;
    return high << 32 | (low & 0xffffffff);
}

/* 448 times a part, without its fraction. */
static unsigned find_cell(uint64_t part) {
    return (unsigned)(((part >> 32) * 448 + ((part & 0xffffffff) * 448 >> 32)) >> 32);
}

/* The least number of leading bits that tell these parts, ascending, apart; 0 where their cells do. */
static unsigned find_width(const uint64_t *parts, size_t count) {
    unsigned width = 0;
    for (size_t i = 1; i < count; i++) {
        if (find_cell(parts[i]) == find_cell(parts[i - 1])) width = 1;
    }
    for (size_t i = 1; i < count && width > 0; i++) {
        while (parts[i] >> (64 - width) == parts[i - 1] >> (64 - width)) width++;
    }
    return width;
}

static void model_line(struct model *model, uint64_t line, size_t first, const uint64_t *parts, size_t count) {
    uint8_t *bytes = model->lines + line * 64;
    unsigned width = find_width(parts, count);
    idxf_store32(bytes, (uint32_t)first);
    for (size_t i = 0; i < count && width == 0; i++) {
        unsigned cell = find_cell(parts[i]);
        bytes[8 + cell / 8] |= (uint8_t)(1u << cell % 8);
    }
    if (width == 0) return;
    idxf_store32(bytes + 4, (uint32_t)count);
    idxf_store64(bytes + 8, model->list_bytes);
    bytes[16] = (uint8_t)width;
    for (size_t i = 0; i < count * width; i++) {
        uint64_t bit = parts[i / width] >> (64 - width) >> i % width & 1;
        model->lists[model->list_bytes + i / 8] |= (uint8_t)(bit << i % 8);
    }
    model->list_bytes += (count * width + 7) / 8;
}

static struct model make_model(const uint64_t *keys, size_t count) {
    struct model model = {.line_count = (count + 55) / 56};
    uint64_t *parts = malloc(count * sizeof *parts + 1), line;
    model.lines = calloc(model.line_count + 1, 64);
    model.lists = calloc(count + 1, 8);
    assert_true(parts != NULL && model.lines != NULL && model.lists != NULL);
    for (size_t i = 0; i < count; i++) parts[i] = find_part(keys[i], model.line_count, &line);
    for (size_t number = 0, begin = 0, end = 0; number < model.line_count; number++, begin = end) {
        while (end < count && (find_part(keys[end], model.line_count, &line), line == number)) end++;
        model_line(&model, number, begin, parts + begin, end - begin);
    }
    free(parts);
    return model;
}

static void check_directory(const uint8_t *bytes, const struct idxf_table_header *header, const uint64_t *keys) {
    struct idxf_table_layout layout = idxf_table_lay_out(header);
    struct model model = make_model(keys, (size_t)header->blocks);
    assert_int_equal(layout.directory_lines, model.line_count);
    assert_int_equal(header->list_bytes, model.list_bytes);
    assert_memory_equal(bytes + layout.directory, model.lines, model.line_count * 64);
    assert_memory_equal(bytes + layout.lists, model.lists, model.list_bytes);
    for (uint64_t at = layout.lists + model.list_bytes; at < layout.checksums; at++) assert_int_equal(bytes[at], 0);
    free(model.lines);
    free(model.lists);
}

/* The blocks as they are encoded from an array, and the directory of their last fingerprints. Returns the bytes of the
 * directory's lists. */
static uint64_t check_content(const uint8_t *bytes, const uint64_t *fingerprints, size_t count) {
    struct idxf_table_header header;
    struct idxf_encoder encoder;
    uint32_t version;
    uint8_t expected[IDXF_MAX_BLOCK_SIZE];
    uint64_t *keys = malloc(count * sizeof *keys + 1);
    size_t block = 0;
    assert_non_null(keys);
    assert_int_equal(idxf_table_header_read(&header, bytes, 4096, &version), IDXF_OK);
    assert_int_equal(header.fingerprints, count);
    struct idxf_block_form form = idxf_table_get_block_form(&header);
    idxf_encoder_init(&encoder, &form);
    for (size_t done = 0; done < count; block++) {
        done += idxf_block_encode(&encoder, fingerprints + done, count - done, expected);
        keys[block] = fingerprints[done - 1];
        assert_memory_equal(bytes + 4096 + block * header.block_size, expected, header.block_size);
    }
    assert_int_equal(header.blocks, block);
    check_directory(bytes, &header, keys);
    free(keys);
    return header.list_bytes;
}

/* The same bytes, however the fingerprints come and wherever the keys stay. Returns the bytes of the directory's lists.
 */
static uint64_t check_all_ways(const char *path, const uint64_t *fingerprints, size_t count, uint32_t block_size) {
    static const struct {
        size_t step, key_memory;
    } ways[] = {{1000, SIZE_MAX}, {65535, 64}, {777, 0}, {WINDOW, 8 * 1000}, {SIZE_MAX, 8 * 1024 * 3}};
    size_t size, other_size;
    int folder = open_folder(path);
    struct slow_stream stream = stream_of(fingerprints, count, SIZE_MAX);
    struct idxi_table_job job = job_for(folder, &stream, block_size);
    uint8_t *bytes = write_table(path, &job, &size);
    uint64_t list_bytes = check_content(bytes, fingerprints, count);
    for (size_t i = 0; i < LENGTH(ways); i++) {
        stream = stream_of(fingerprints, count, ways[i].step);
        job = job_for(folder, &stream, block_size);
        job.key_memory = ways[i].key_memory;
        uint8_t *other = write_table(path, &job, &other_size);
        assert_int_equal(other_size, size);
        assert_memory_equal(other, bytes, size);
        free(other);
    }
    free(bytes);
    close(folder);
    return list_bytes;
}

static void test_windows_and_keys(void **state) {
    static const uint32_t sizes[] = {64, 4096};
    uint64_t *fingerprints = make_fingerprints(COUNT);
    for (size_t i = 0; i < LENGTH(sizes); i++) assert_true(check_all_ways(*state, fingerprints, COUNT, sizes[i]) > 0);
    /* Evenly spread keys share cells here and there. */
    assert_true(check_all_ways(*state, fingerprints, COUNT / 2, 64) < 200);
    free(fingerprints);
}

/* A window, one less and one more, and next to nothing. */
static void test_counts(void **state) {
    static const size_t counts[] = {0, 1, 2, 1023, 1024, WINDOW - 1, WINDOW, WINDOW + 1};
    uint64_t *fingerprints = make_fingerprints(COUNT);
    for (size_t i = 0; i < LENGTH(counts); i++)
        check_all_ways(*state, fingerprints + COUNT / 2 - counts[i] / 2, counts[i], 1024);
    free(fingerprints);
}

/* ---- What goes wrong ---- */

struct watch {
    size_t calls, stops_at;
    uint64_t fingerprints;
};

static bool watch_progress(void *context, uint64_t fingerprints) {
    struct watch *watch = context;
    watch->fingerprints += fingerprints;
    return watch->calls++ != watch->stops_at;
}

/* Stops writing at each of its reports; returns how many there are. */
static size_t stop_at_each(const char *path, const uint64_t *fingerprints) {
    int folder = open_folder(path);
    uint64_t size = 1;
    for (size_t i = 0;; i++) {
        struct watch watch = {.stops_at = i};
        struct slow_stream stream = stream_of(fingerprints, COUNT, SIZE_MAX);
        struct idxi_table_job job = job_for(folder, &stream, 1024);
        job.progress = watch_progress;
        job.context = &watch;
        enum idx_status status = idxi_table_write(&job, &size, &failure);
        remove_all(path_in(path, "table"));
        if (watch.calls > i) {
            assert_status(IDX_CANCELLED, status);
            assert_string_equal(failure.sentence, "cancelled: nothing was published");
            assert_true(watch.calls == i + 1);
            continue;
        }
        assert_ok(status);
        assert_int_equal(watch.fingerprints, COUNT);
        close(folder);
        return watch.calls;
    }
}

static void test_stopping(void **state) {
    uint64_t *fingerprints = make_fingerprints(COUNT);
    assert_int_equal(stop_at_each(*state, fingerprints), 4);
    free(fingerprints);
}

static void test_streams_that_fail(void **state) {
    uint64_t *fingerprints = make_fingerprints(COUNT), size;
    int folder = open_folder(*state);
    for (size_t i = 0; i < 10; i++) {
        struct slow_stream stream = stream_of(fingerprints, COUNT, 50000);
        struct idxi_table_job job = job_for(folder, &stream, 64);
        stream.fails_after = i;
        enum idx_status status = idxi_table_write(&job, &size, &failure);
        remove_all(path_in(*state, "table"));
        if (stream.reads <= i) continue; /* it has read all */
        assert_status(IDX_BAD_CONTENT, status);
        assert_string_equal(failure.sentence, "stream: fails");
    }
    close(folder);
    free(fingerprints);
}

static void test_files_in_the_way(void **state) {
    uint64_t one = 1, size;
    int folder = open_folder(*state);
    struct slow_stream stream = stream_of(&one, 1, 1);
    struct idxi_table_job job = job_for(folder, &stream, 64);
    write_file(path_in(*state, "table"), "x", 1);
    assert_status(IDX_EXISTS, idxi_table_write(&job, &size, &failure));
    close(folder);
}

/* ---- Files without a name ---- */

static void test_temporary_files(void **state) {
    int folder = open_folder(*state), files[2];
    char read[6];
    for (int i = 0; i < 2; i++) {
        assert_ok(idxi_make_temporary_file(&files[i], folder, *state, &failure));
        assert_ok(idxi_write_at(files[i], i == 0 ? "first" : "other", 6, 1000, *state, &failure));
        assert_int_equal(count_entries(*state), 0);
    }
    assert_ok(idxi_read_at(files[0], read, 6, 1000, *state, &failure));
    assert_string_equal(read, "first");
    assert_status(IDX_WRONG_SIZE, idxi_read_at(files[1], read, 6, 1001, *state, &failure));
    close(files[0]);
    close(files[1]);
    close(folder);
    assert_status(IDX_IO_ERROR, idxi_make_temporary_file(&files[0], folder, "gone", &failure));
    assert_string_equal(failure.sentence, "gone: can't create a temporary file in: Bad file descriptor");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_windows_and_keys),  in_folder(test_counts),           in_folder(test_stopping),
        in_folder(test_streams_that_fail), in_folder(test_files_in_the_way), in_folder(test_temporary_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
