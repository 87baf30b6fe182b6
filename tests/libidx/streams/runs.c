/* runs.c: tests of sorted runs in temporary files: what is written is what is read, however it is written and read;
 * what was damaged in between is told. */
#include "libidx/streams/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/group.h"
#include "tests/libidx/entries.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define RUNS 6

static struct {
    struct idxi_run_file file;
    struct idxi_run runs[RUNS];
    struct entries entries[RUNS]; /* of each run */
    size_t count;
    bool with_values;
} world;

/* ---- Files ---- */

static void open_file(const char *path, bool with_values) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    world.with_values = with_values;
    world.count = 0;
    assert_ok(idxi_run_file_open(&world.file, folder, path, with_values, &failure));
    close(folder);
}

static void close_file(void) {
    idxi_run_file_close(&world.file);
    for (size_t i = 0; i < world.count; i++) free_entries(&world.entries[i]);
}

/* Writes a sorted run, 1 to 5000 entries at a time. */
static void write_run(uint64_t *seed) {
    struct entries *entries = &world.entries[world.count];
    sort_entries(entries, world.with_values);
    for (size_t done = 0, count; done < entries->count; done += count) {
        count = 1 + next_random(seed) % (next_random(seed) % 5000 + 1);
        if (count > entries->count - done) count = entries->count - done;
        assert_ok(idxi_run_file_write(&world.file, entries->fingerprints + done,
                                      world.with_values ? entries->values + done : NULL, count, &failure));
    }
    assert_ok(idxi_run_file_end(&world.file, &world.runs[world.count++], &failure));
}

static void add_run(enum kind kind, size_t count, uint64_t *seed) {
    world.entries[world.count] = (struct entries){0};
    add_entries(&world.entries[world.count], kind, count, seed);
    write_run(seed);
}

static void assert_reads(size_t number, size_t buffer, size_t capacity) {
    struct idxi_run_stream stream;
    assert_ok(idxi_run_stream_open(&stream, &world.runs[number], false, buffer, &failure));
    assert_gives_all(&stream.stream, &world.entries[number], world.with_values, capacity);
    idxi_run_stream_close(&stream);
}

/* ---- Round trips ---- */

static void test_round_trips(void **state) {
    static const size_t buffers[] = {IDXI_MIN_RUN_BUFFER, IDXI_MIN_RUN_BUFFER + 1, 50000, 1 << 20};
    static const size_t capacities[] = {2048, 1, 1023, 3, 5000};
    uint64_t seed = 1;
    for (size_t trial = 0; trial < 2 * KIND_COUNT; trial++) {
        open_file(*state, trial % 2 == 0);
        for (size_t i = 0; i < RUNS; i++)
            add_run((enum kind)(trial / 2), next_random(&seed) % (next_random(&seed) % 20000 + 1), &seed);
        for (size_t i = RUNS; i-- > 0;) {
            size_t choice = trial + i;
            assert_reads(i, buffers[choice % LENGTH(buffers)], capacities[choice % LENGTH(capacities)]);
        }
        assert_int_equal(count_entries(*state), 0); /* the file has no name */
        close_file();
    }
}

/* Every count about that of a full group, written at once and one by one. */
static void test_counts(void **state) {
    static const size_t counts[] = {0, 1, 2, 1022, 1023, 1024, 2045, 2046, 2047, 4092};
    uint64_t seed = 2;
    for (size_t i = 0; i < 4 * LENGTH(counts); i++) {
        open_file(*state, i % 2 == 0);
        struct entries *entries = &world.entries[0];
        *entries = (struct entries){0};
        add_entries(entries, i % 4 < 2 ? KIND_DENSE : KIND_UNIFORM, counts[i / 4], &seed);
        sort_entries(entries, world.with_values);
        for (size_t done = 0; done < entries->count; done++)
            assert_ok(idxi_run_file_write(&world.file, entries->fingerprints + done,
                                          world.with_values ? entries->values + done : NULL, 1, &failure));
        assert_ok(idxi_run_file_end(&world.file, &world.runs[world.count++], &failure));
        assert_true((world.runs[0].end == 0) == (entries->count == 0));
        assert_reads(0, IDXI_MIN_RUN_BUFFER, 4092);
        world.entries[1] = (struct entries){0};
        append_entries(&world.entries[1], entries);
        assert_ok(idxi_run_file_write(&world.file, entries->fingerprints, world.with_values ? entries->values : NULL,
                                      entries->count, &failure));
        assert_ok(idxi_run_file_end(&world.file, &world.runs[world.count++], &failure));
        assert_int_equal(world.runs[1].begin, world.runs[0].end);
        assert_int_equal(world.runs[1].end - world.runs[1].begin, world.runs[0].end); /* as large either way */
        assert_int_equal(world.file.written, world.runs[1].end);
        assert_reads(1, IDXI_MIN_RUN_BUFFER, 4092);
        close_file();
    }
}

/* Runs larger than the buffer that the file is written through. */
static void test_large(void **state) {
    uint64_t seed = 3;
    open_file(*state, true);
    add_run(KIND_UNIFORM, 150000, &seed);
    add_run(KIND_UNIFORM, 10, &seed);
    add_run(KIND_DENSE, 150000, &seed);
    assert_true(world.runs[0].end > 2 << 20);
    assert_reads(0, IDXI_MIN_RUN_BUFFER, 2048);
    assert_reads(1, IDXI_MIN_RUN_BUFFER, 2048);
    assert_reads(2, 1 << 20, 2048);
    close_file();
}

static void test_rewinding(void **state) {
    static const size_t places[] = {0, 1, 1023, 1024, 9000, 10000};
    uint64_t seed = 4;
    open_file(*state, true);
    add_run(KIND_FEW, 500, &seed);
    add_run(KIND_UNIFORM, 10000, &seed);
    add_run(KIND_FEW, 500, &seed);
    struct idxi_run_stream stream;
    assert_ok(idxi_run_stream_open(&stream, &world.runs[1], false, IDXI_MIN_RUN_BUFFER, &failure));
    for (size_t i = 0; i < LENGTH(places); i++) {
        assert_gives(&stream.stream, &world.entries[1], 0, places[i], true, 600);
        assert_ok(stream.stream.rewind(&stream.stream, &failure));
    }
    assert_gives_all(&stream.stream, &world.entries[1], true, 2048);
    idxi_run_stream_close(&stream);
    close_file();
}

/* Streams on one file, on one run even, that take turns, while another run is written behind them. */
static void test_streams_side_by_side(void **state) {
    uint64_t seed = 5;
    struct idxi_run_stream streams[3];
    open_file(*state, false);
    add_run(KIND_UNIFORM, 30000, &seed);
    add_run(KIND_DENSE, 30000, &seed);
    for (size_t i = 0; i < 3; i++)
        assert_ok(idxi_run_stream_open(&streams[i], &world.runs[i % 2], false, IDXI_MIN_RUN_BUFFER, &failure));
    for (size_t done = 0; done < 30000; done += 1000) {
        for (size_t i = 0; i < 3; i++) assert_gives(&streams[i].stream, &world.entries[i % 2], done, 1000, false, 1000);
        if (done == 10000) add_run(KIND_UNIFORM, 300000, &seed);
    }
    for (size_t i = 0; i < 3; i++) idxi_run_stream_close(&streams[i]);
    assert_reads(2, 100000, 2048);
    close_file();
}

/* ---- Damage ---- */

/* The status in which reading a run ends. */
static enum idx_status read_out(size_t number) {
    struct idxi_run_stream stream;
    uint64_t fingerprints[500], values[500];
    enum idx_status status = idxi_run_stream_open(&stream, &world.runs[number], false, IDXI_MIN_RUN_BUFFER, &failure);
    for (size_t done = 0, count = 1; status == IDX_OK && count > 0; done += count) {
        status = stream.stream.read(&stream.stream, fingerprints, values, 500, &count, &failure);
        if (status != IDX_OK) break;
        assert_true(done + count <= world.entries[number].count);
        assert_memory_equal(fingerprints, world.entries[number].fingerprints + done, count * sizeof *fingerprints);
        assert_memory_equal(values, world.entries[number].values + done, count * sizeof *values);
    }
    idxi_run_stream_close(&stream);
    return status;
}

/* Two runs of several groups, and one more between. */
static void open_three(const char *folder) {
    uint64_t seed = 6;
    open_file(folder, true);
    add_run(KIND_UNIFORM, 300, &seed);
    add_run(KIND_UNIFORM, 600, &seed);
    add_run(KIND_FEW, 300, &seed);
}

static void test_every_byte(void **state) {
    open_three(*state);
    struct idxi_run run = world.runs[1];
    assert_true(run.end - run.begin > 2 * IDXF_MAX_GROUP_BYTES); /* three groups */
    for (uint64_t at = run.begin; at < run.end; at++) {
        uint8_t byte, wrong;
        assert_int_equal(pread(world.file.fd, &byte, 1, (off_t)at), 1);
        wrong = byte ^ (uint8_t)(1u << at % 8);
        assert_int_equal(pwrite(world.file.fd, &wrong, 1, (off_t)at), 1);
        assert_status(IDX_BAD_CHECKSUM, read_out(1));
        assert_string_equal(failure.file, *state);
        if (at % 512 == 0) assert_ok(read_out(0));
        if (at % 512 == 0) assert_ok(read_out(2));
        assert_int_equal(pwrite(world.file.fd, &byte, 1, (off_t)at), 1);
    }
    assert_ok(read_out(1));
    close_file();
}

static void test_truncation(void **state) {
    open_three(*state);
    struct idxi_run run = world.runs[1];
    for (uint64_t size = run.end - 1; size >= run.begin; size -= 97) {
        assert_int_equal(ftruncate(world.file.fd, (off_t)size), 0);
        assert_status(IDX_BAD_CHECKSUM, read_out(1));
        assert_non_null(strstr(failure.sentence, "temporary file"));
        assert_string_equal(failure.file, *state);
        assert_ok(read_out(0));
    }
    close_file();
}

/* A forged file may leave a run any number of bytes behind its last group, such as less than a group's header. */
static void test_ends_in_a_header(void **state) {
    open_three(*state);
    struct idxi_run *run = &world.runs[1];
    for (uint64_t left = 1; left <= 16; left++) {
        run->end = run->begin + left;
        assert_status(IDX_BAD_CHECKSUM, read_out(1));
    }
    close_file();
}

/* ---- Dropping ---- */

static bool can_punch(int file) {
    return ftruncate(file, 1 << 16) == 0 && fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1) == 0 &&
           ftruncate(file, 0) == 0;
}

static int64_t count_blocks(void) {
    struct stat status;
    assert_int_equal(fstat(world.file.fd, &status), 0);
    return (int64_t)status.st_blocks;
}

/* The space is given back, and the runs beside stay. */
static void test_dropping(void **state) {
    uint64_t seed = 7;
    open_file(*state, true);
    if (!can_punch(world.file.fd)) {
        close_file();
        skip();
    }
    add_run(KIND_UNIFORM, 1500, &seed);
    add_run(KIND_UNIFORM, 60000, &seed);
    add_run(KIND_UNIFORM, 1500, &seed);
    int64_t before = count_blocks(), bytes = (int64_t)(world.runs[1].end - world.runs[1].begin);
    idxi_run_drop(&world.runs[1]);
    assert_true(before - count_blocks() >= bytes / 512 - 2 * 8);
    assert_status(IDX_BAD_CHECKSUM, read_out(1));
    assert_ok(read_out(0));
    assert_ok(read_out(2));
    idxi_run_drop(&world.runs[0]);
    assert_ok(read_out(2));
    close_file();
}

/* A run that is read once gives its space back meanwhile, and is what was written all the same. */
static void test_dropping_while_reading(void **state) {
    uint64_t seed = 8;
    struct idxi_run_stream stream;
    open_file(*state, true);
    if (!can_punch(world.file.fd)) {
        close_file();
        skip();
    }
    add_run(KIND_UNIFORM, 1500, &seed);
    add_run(KIND_UNIFORM, 700000, &seed);
    add_run(KIND_UNIFORM, 1500, &seed);
    int64_t before = count_blocks(), bytes = (int64_t)(world.runs[1].end - world.runs[1].begin);
    assert_ok(idxi_run_stream_open(&stream, &world.runs[1], true, IDXI_MIN_RUN_BUFFER, &failure));
    assert_gives(&stream.stream, &world.entries[1], 0, 500000, true, 2000);
    assert_true(before - count_blocks() >= bytes / 512 / 7);
    assert_gives(&stream.stream, &world.entries[1], 500000, 200000, true, 2000);
    idxi_run_stream_close(&stream);
    assert_true(before - count_blocks() >= bytes / 512 - 2 * 8);
    assert_ok(read_out(0));
    assert_ok(read_out(2));
    close_file();
}

/* ---- Opening ---- */

static void test_no_folder(void **state) {
    struct idxi_run_file file;
    assert_status(IDX_IO_ERROR, idxi_run_file_open(&file, -1, *state, true, &failure));
    assert_string_equal(failure.file, *state);
    assert_int_equal(failure.system_errno, EBADF);
    idxi_run_file_close(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_round_trips),
        in_folder(test_counts),
        in_folder(test_large),
        in_folder(test_rewinding),
        in_folder(test_every_byte),
        in_folder(test_truncation),
        in_folder(test_ends_in_a_header),
        in_folder(test_streams_side_by_side),
        in_folder(test_dropping),
        in_folder(test_dropping_while_reading),
        in_folder(test_no_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
