/* table_writer.c: tests of writing a table from a stream: windows, keys in a file, both passes of xor, stopping, and
 * streams that fail; and of files without a name. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/error.h"
#include "libidx/file.h"
#include "libidx/table_writer.h"
#include "tests/format/directory.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

/* Three windows and a part. */
#define COUNT 200000
#define WINDOW 65536

/* A stream that gives up to `step` fingerprints at a time, and fails after `fails_after` calls. */
struct slow_stream {
    struct idxi_array_stream array;
    size_t step, fails_after, reads, rewinds;
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

static enum idx_status rewind_slowly(struct idxi_stream *stream, struct idx_error *error) {
    struct slow_stream *slow = (struct slow_stream *)stream;
    struct idxi_array_stream plain;
    slow->rewinds++;
    idxi_array_stream_init(&plain, NULL, NULL, 0);
    return plain.stream.rewind(stream, error);
}

static struct slow_stream stream_of(const uint64_t *fingerprints, size_t count, size_t step) {
    struct slow_stream stream = {.step = step, .fails_after = SIZE_MAX};
    idxi_array_stream_init(&stream.array, fingerprints, NULL, count);
    stream.array.stream.read = read_slowly;
    stream.array.stream.rewind = rewind_slowly;
    return stream;
}

static int open_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    return folder;
}

/* A table of 64 bits whose mask has the first 16. */
static struct idxi_table_job job_for(int folder, struct slow_stream *stream, enum idx_codec codec,
                                     uint32_t block_size) {
    struct idxi_table_job job = {.folder = folder, .name = "table", .path = "table", .temporary_path = "temporary"};
    job.header = (struct idxf_table_header){
        .uuid = {1, 2, 3}, .mask = UINT64_C(0xffff) << 48, .block_size = block_size, .bits = 64, .codec = codec};
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

static int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
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

/* ---- What is written ---- */

/* The blocks as they are encoded from an array, and the directory of their last fingerprints. */
static void check_content(const uint8_t *bytes, const uint64_t *fingerprints, size_t count) {
    struct idxf_table_header header;
    struct idxf_encoder encoder;
    uint32_t version;
    uint8_t expected[IDXF_MAX_BLOCK_SIZE];
    uint64_t *keys = malloc(count * sizeof *keys);
    size_t block = 0;
    assert_non_null(keys);
    assert_int_equal(idxf_table_header_read(&header, bytes, 4096, &version), IDXF_OK);
    assert_int_equal(header.fingerprints, count);
    idxf_encoder_init(&encoder, (enum idxf_codec)header.codec, 64, header.block_size, header.lengths);
    for (size_t done = 0; done < count; block++) {
        done += idxf_block_encode(&encoder, fingerprints + done, count - done, expected);
        keys[block] = fingerprints[done - 1];
        assert_memory_equal(bytes + 4096 + block * header.block_size, expected, header.block_size);
    }
    assert_int_equal(header.blocks, block);
    struct idxf_table_layout layout = idxf_table_layout(&header);
    for (uint64_t line = 0; line < layout.directory_lines; line += 1 + line / 8) {
        model_line(expected, line, layout.directory_lines, keys, block);
        assert_memory_equal(bytes + layout.directory + line * 64, expected, 64);
    }
    free(keys);
}

/* The same bytes, however the fingerprints come and wherever the keys stay. */
static void check_all_ways(const char *path, const uint64_t *fingerprints, size_t count, enum idx_codec codec,
                           uint32_t block_size) {
    static const struct {
        size_t step, key_memory;
    } ways[] = {{1000, SIZE_MAX}, {65535, 64}, {777, 0}, {WINDOW, 8 * 1000}, {SIZE_MAX, 8 * 1024 * 3}};
    size_t size, other_size;
    int folder = open_folder(path);
    struct slow_stream stream = stream_of(fingerprints, count, SIZE_MAX);
    struct idxi_table_job job = job_for(folder, &stream, codec, block_size);
    uint8_t *bytes = write_table(path, &job, &size);
    assert_int_equal(stream.rewinds, codec == IDX_CODEC_XOR);
    check_content(bytes, fingerprints, count);
    for (size_t i = 0; i < LENGTH(ways); i++) {
        stream = stream_of(fingerprints, count, ways[i].step);
        job = job_for(folder, &stream, codec, block_size);
        job.key_memory = ways[i].key_memory;
        uint8_t *other = write_table(path, &job, &other_size);
        assert_int_equal(other_size, size);
        assert_memory_equal(other, bytes, size);
        free(other);
    }
    free(bytes);
    close(folder);
}

static void test_windows_and_keys(void **state) {
    static const uint32_t sizes[] = {64, 4096};
    uint64_t *fingerprints = make_fingerprints(COUNT);
    for (size_t i = 0; i < 2 * LENGTH(sizes); i++)
        check_all_ways(*state, fingerprints, is_sanitized() ? COUNT / 2 : COUNT,
                       i % 2 == 0 ? IDX_CODEC_XOR : IDX_CODEC_DELTA, sizes[i / 2]);
    free(fingerprints);
}

/* A window, one less and one more, and next to nothing. */
static void test_counts(void **state) {
    static const size_t counts[] = {0, 1, 2, 1023, 1024, WINDOW - 1, WINDOW, WINDOW + 1};
    uint64_t *fingerprints = make_fingerprints(COUNT);
    for (size_t i = 0; i < LENGTH(counts); i++)
        check_all_ways(*state, fingerprints + COUNT / 2 - counts[i] / 2, counts[i], IDX_CODEC_DELTA, 1024);
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
static size_t stop_at_each(const char *path, const uint64_t *fingerprints, enum idx_codec codec) {
    int folder = open_folder(path);
    uint64_t size = 1;
    for (size_t i = 0;; i++) {
        struct watch watch = {.stops_at = i};
        struct slow_stream stream = stream_of(fingerprints, COUNT, SIZE_MAX);
        struct idxi_table_job job = job_for(folder, &stream, codec, 1024);
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
    assert_int_equal(stop_at_each(*state, fingerprints, IDX_CODEC_DELTA), 4);
    assert_int_equal(stop_at_each(*state, fingerprints, IDX_CODEC_XOR), 4 + 4);
    free(fingerprints);
}

static void test_streams_that_fail(void **state) {
    uint64_t *fingerprints = make_fingerprints(COUNT), size;
    int folder = open_folder(*state);
    for (size_t i = 0; i < 20; i++) {
        struct slow_stream stream = stream_of(fingerprints, COUNT, 50000);
        struct idxi_table_job job = job_for(folder, &stream, i % 2 == 0 ? IDX_CODEC_XOR : IDX_CODEC_DELTA, 64);
        stream.fails_after = i / 2;
        enum idx_status status = idxi_table_write(&job, &size, &failure);
        remove_all(path_in(*state, "table"));
        if (stream.reads <= i / 2) continue; /* delta has read all */
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
    struct idxi_table_job job = job_for(folder, &stream, IDX_CODEC_DELTA, 64);
    write_file(path_in(*state, "table"), "x", 1);
    assert_status(IDX_EXISTS, idxi_table_write(&job, &size, &failure));
    close(folder);
}

/* ---- Files without a name ---- */

static void test_temporary_files(void **state) {
    int folder = open_folder(*state), files[2];
    char read[6];
    for (int i = 0; i < 2; i++) {
        assert_ok(idxi_temporary_file(&files[i], folder, *state, &failure));
        assert_ok(idxi_write_at(files[i], i == 0 ? "first" : "other", 6, 1000, *state, &failure));
        assert_int_equal(count_entries(*state), 0);
    }
    assert_ok(idxi_read_at(files[0], read, 6, 1000, *state, &failure));
    assert_string_equal(read, "first");
    assert_status(IDX_WRONG_SIZE, idxi_read_at(files[1], read, 6, 1001, *state, &failure));
    close(files[0]);
    close(files[1]);
    close(folder);
    assert_status(IDX_IO_ERROR, idxi_temporary_file(&files[0], folder, "gone", &failure));
    assert_string_equal(failure.sentence, "gone: can't create a temporary file in: Bad file descriptor");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_windows_and_keys),  in_folder(test_counts),           in_folder(test_stopping),
        in_folder(test_streams_that_fail), in_folder(test_files_in_the_way), in_folder(test_temporary_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
