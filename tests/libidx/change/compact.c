/* compact.c: tests of compaction: what it makes is what a build would make; leftovers, locks, cancelling, the writer's
 * thread, kills. That answers stay right in all ID types is tested by writer.c. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/libidx/apart.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define BITS 40
#define COUNT 3000

/* Document i of a set where some fingerprints have several documents. */
static uint64_t fingerprint_of(size_t i) {
    uint64_t seed = i / 2 * 7919;
    return next_random(&seed) >> (64 - BITS);
}

static bool is_removed(size_t i) { return i % 3 == 0 || i % 64 < 4; }

static struct idx_build_options options_of(enum idx_id_type id_type) {
    struct idx_build_options options = options_for(BITS, 3, "4");
    options.id_type = id_type;
    options.by_id = id_type != IDX_ID_NONE;
    return options;
}

/* Builds an index of the documents from `begin` on, before `end`, with or without those that will be removed. */
static void build(const char *path, enum idx_id_type id_type, size_t begin, size_t end, bool without) {
    struct idx_build_options options = options_of(id_type);
    struct idx_builder *builder;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    for (size_t i = begin; i < end; i++) {
        char id[32];
        if (without && is_removed(id_type == IDX_ID_NONE ? i / 2 : i)) continue;
        if (id_type == IDX_ID_TEXT)
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = fingerprint_of(i), .id = id, .id_length = write_id(id, i)},
                &failure));
        else
            assert_ok(
                idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprint_of(i), .number = i}, &failure));
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

static struct idx_writer *open_writer(const char *path, uint64_t records, unsigned segments) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_writer *writer;
    options.compact_records = records;
    options.compact_segments = segments;
    assert_ok(idx_writer_open(&writer, path, &options, &failure));
    return writer;
}

static struct idx_item item_of(size_t i, char id[32]) {
    size_t length = write_id(id, i);
    return (struct idx_item){fingerprint_of(i), i, id, length};
}

static void add(struct idx_writer *writer, size_t i) {
    char id[32];
    struct idx_item item = item_of(i, id);
    leave_out_ids(writer, &item, 1);
    assert_ok(idx_writer_add(writer, &item, 1, &failure));
}

static enum idx_status add_many(struct idx_writer *writer, size_t begin, size_t count) {
    static struct idx_item items[1000];
    for (size_t i = 0; i < count; i++) items[i] = (struct idx_item){fingerprint_of(begin + i), begin + i, NULL, 0};
    return idx_writer_add(writer, items, count, &failure);
}

static void compact(const char *path, bool all, struct idx_compact_summary *summary) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.all = all;
    assert_ok(idx_compact(path, &options, summary, &failure));
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

/* The one segment of an index. */
static const char *segment_of(const char *path) {
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    assert_non_null(manifest);
    read_manifest(path, manifest);
    assert_int_equal(manifest->segment_count, 1);
    unsigned number = manifest->segments[0].number;
    free(manifest);
    return path_in(path, "%06u", number);
}

/* ---- What is made ---- */

/* All but the first page, which has the uuid, is the same; of maps, the size. */
static void check_same(const char *one, const char *other, const char *name, bool bytes) {
    size_t size, other_size;
    uint8_t *a = read_file(path_in(one, "%s", name), &size), *b = read_file(path_in(other, "%s", name), &other_size);
    assert_int_equal(size, other_size);
    if (bytes) {
        assert_true(size > 4096);
        assert_memory_equal(a + 4096, b + 4096, size - 4096);
    }
    free(a);
    free(b);
}

static void remove_some(const char *path, enum idx_id_type id_type) {
    struct idx_writer *writer = open_writer(path, 0, 0);
    for (size_t i = 0; i < COUNT; i++) {
        char id[32];
        struct idx_item item = item_of(i, id);
        struct idx_removal removal;
        leave_out_ids(writer, &item, 1);
        if (!is_removed(id_type == IDX_ID_NONE ? i / 2 : i)) continue;
        if (id_type == IDX_ID_NONE)
            assert_ok(remove_by_fingerprint(writer, &item.fingerprint, 1, &removal, &failure));
        else
            assert_ok(idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, &item, 1, &removal, &failure));
        if (id_type != IDX_ID_NONE) assert_int_equal(removal.documents, 1);
    }
    idx_writer_close(writer);
}

/* Built of half, grown by the other half, some removed: all of it, compacted, is as if built without those. */
static void check_as_built(const char *folder, enum idx_id_type id_type) {
    const char *grown = path_in(folder, "grown"), *built = path_in(folder, "built");
    struct idx_compact_summary summary;
    build(grown, id_type, 0, COUNT / 2, false);
    struct idx_writer *writer = open_writer(grown, 0, 0);
    for (size_t i = COUNT / 2; i < COUNT * 3 / 4; i++) add(writer, i);
    idx_writer_close(writer);
    compact(grown, false, &summary); /* half as much: becomes part of one */
    assert_int_equal(summary.merged, 1);
    writer = open_writer(grown, 0, 0);
    for (size_t i = COUNT * 3 / 4; i < COUNT; i++) add(writer, i);
    idx_writer_close(writer);
    remove_some(grown, id_type);
    compact(grown, true, &summary);
    assert_int_equal(summary.removals, 0);
    build(built, id_type, 0, COUNT, true);
    const char *one = segment_of(grown), *other = segment_of(built);
    for (size_t i = 0; i < 4; i++) check_same(one, other, path_in(".", "table-%02zu.tbl", i), true);
    check_same(one, other, "docs.mdb", false);
    check_same(one, other, "docs.sum", false);
    if (id_type != IDX_ID_NONE) check_same(one, other, "by-id.mdb", false);
    compact(grown, true, &summary);
    assert_false(summary.changed);
    remove_all(grown);
    remove_all(built);
}

static void test_as_built(void **state) {
    check_as_built(*state, IDX_ID_TEXT);
    check_as_built(*state, IDX_ID_U64);
    check_as_built(*state, IDX_ID_NONE);
}

#define ROUND 10    /* documents that are pending each time */
#define GROWTH 24   /* by default */
#define LARGE 20000 /* documents that were built: so many that they become part of another segment late */

/* Begins with an index of `built` documents, and compacts when some are pending, `rounds` times. Fills `sizes` with the
 * segments' documents, the oldest first, after each time; returns the most segments that there were. */
static size_t grow(const char *path, size_t built, unsigned max_segments, size_t rounds, uint64_t (*sizes)[8]) {
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    size_t most = 0;
    assert_non_null(manifest);
    options.max_segments = max_segments;
    build(path, IDX_ID_U64, 0, built, false);
    memset(sizes, 0, rounds * sizeof *sizes);
    for (size_t round = 0; round < rounds; round++) {
        struct idx_writer *writer = open_writer(path, 0, 0);
        for (size_t i = 0; i < ROUND; i++) add(writer, built + ROUND * round + i);
        idx_writer_close(writer);
        assert_ok(idx_compact(path, &options, NULL, &failure));
        read_manifest(path, manifest);
        uint64_t documents = 0;
        for (size_t i = 0; i < manifest->segment_count; i++) {
            sizes[round][i] = manifest->segments[i].documents;
            documents += sizes[round][i];
        }
        assert_int_equal(documents, built + ROUND * (round + 1));
        if (manifest->segment_count > most) most = manifest->segment_count;
    }
    remove_all(path);
    free(manifest);
    return most;
}

/* Whether each segment is more than GROWTH times as large as all that are newer. */
static bool are_tiers(const uint64_t sizes[8]) {
    uint64_t newer = 0;
    for (size_t i = 8; i-- > 0; newer += sizes[i])
        if (newer > 0 && sizes[i] <= GROWTH * newer) return false;
    return true;
}

/* A small one becomes part of the new one each time; a large one stays until what is newer adds up. */
static void test_tiers(void **state) {
    static uint64_t sizes[40][8];
    assert_int_equal(grow(path_in(*state, "i"), ROUND, 8, 20, sizes), 1);
    assert_int_equal(grow(path_in(*state, "i"), LARGE, 8, LENGTH(sizes), sizes), 3);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        assert_true(are_tiers(sizes[i]));
        assert_int_equal(sizes[i][0], LARGE);
    }
    const size_t last = (GROWTH + 1) * (ROUND + 1) / ROUND; /* the round after which it is too large for that, too */
    for (size_t i = 0; i <= last; i++) assert_int_equal(sizes[i][1], ROUND * (i + 1));
    assert_int_equal(sizes[last + 1][1], sizes[last][1]);
    assert_int_equal(sizes[last + 1][2], ROUND);
}

/* Where there may be no more segments than two, the newer one grows until the older one is no more times as large as
 * both than it is as what is pending; then both become one. */
static void test_bounds(void **state) {
    static uint64_t sizes[60][8];
    size_t joined = 0;
    assert_int_equal(grow(path_in(*state, "i"), LARGE, 1, 3, sizes), 1);
    assert_int_equal(grow(path_in(*state, "i"), LARGE, 2, LENGTH(sizes), sizes), 2);
    while (joined < LENGTH(sizes) && sizes[joined][1] > 0) joined++;
    assert_in_range(joined, 40, 50); /* near the root of LARGE / ROUND */
    for (size_t i = 0; i < joined; i++) assert_int_equal(sizes[i][0], LARGE);
    assert_int_equal(sizes[joined][0], LARGE + ROUND * (joined + 1));
}

/* A manifest may say that segments have as many documents as there are numbers; that is damage. */
static void test_impossible_counts(void **state) {
    const char *parts[] = {path_in(*state, "a"), path_in(*state, "b"), path_in(*state, "c")};
    const char *path = path_in(*state, "i");
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    assert_non_null(manifest);
    for (size_t i = 0; i < LENGTH(parts); i++) build(parts[i], IDX_ID_U64, 100 * i, 100 * (i + 1), false);
    join_indexes(path, parts, LENGTH(parts));
    read_manifest(path, manifest);
    for (size_t i = LENGTH(parts); i-- > 1;) {
        manifest->segments[i].documents = UINT64_MAX;
        write_manifest(path, manifest);
        assert_true(is_damage(idx_compact(path, NULL, NULL, &failure)));
    }
    free(manifest);
}

/* By its default a writer compacts a small index when more than 100,000 records are pending, and no sooner. */
static void test_by_size(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_properties properties;
    struct idx_writer *writer;
    build(path, IDX_ID_U64, 0, 100, false);
    assert_ok(idx_writer_open(&writer, path, NULL, &failure));
    for (size_t i = 0; i < 100; i++) assert_int_equal(add_many(writer, 1000 * (i + 1), 1000), IDX_OK);
    assert_ok(idx_writer_wait(writer, &failure));
    for (size_t i = 0; i < 2; i++) {
        struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
        idx_get_properties(index, &properties);
        assert_int_equal(properties.pending_documents, i == 0 ? 100000 : 0);
        assert_int_equal(properties.documents, i == 0 ? 100 : 100101);
        idx_close(index);
        if (i == 0) add(writer, 200000);
        assert_ok(idx_writer_wait(writer, &failure));
    }
    idx_writer_close(writer);
}

/* ---- Who else is there ---- */

static void test_leftovers(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_compact_summary summary;
    build(path, IDX_ID_U64, 0, 100, false);
    assert_int_equal(mkdir(path_in(path, "000007"), 0777), 0);
    assert_int_equal(mkdir(path_in(path, "0000008"), 0777), 0);
    assert_int_equal(mkdir(path_in(path, "00000x"), 0777), 0);
    write_file(path_in(path, "000007/docs.mdb"), "x", 1);
    write_file(path_in(path, "manifest.new"), "x", 1);
    compact(path, false, &summary);
    assert_false(summary.changed);
    assert_int_equal(summary.leftovers, 1);
    struct idx_writer *writer = open_writer(path, 0, 0);
    add(writer, 200);
    compact(path, true, &summary);
    assert_true(summary.changed);
    assert_int_equal(summary.leftovers, 0);
    assert_int_equal(access(path_in(path, "000001"), F_OK), -1);
    assert_int_equal(access(path_in(path, "0000008"), F_OK), 0);
    assert_int_equal(access(path_in(path, "manifest.new"), F_OK), -1);
    idx_writer_close(writer);
}

static void test_one_at_a_time(void **state) {
    const char *path = path_in(*state, "i");
    build(path, IDX_ID_U64, 0, 100, false);
    int lock = open(path_in(path, "compact.lock"), O_RDWR | O_CREAT, 0666);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_status(IDX_BUSY, idx_compact(path, NULL, NULL, &failure));
    struct idx_build_options options = options_of(IDX_ID_U64);
    options.replace = true;
    struct idx_builder *builder;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    assert_status(IDX_BUSY, idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    close(lock);
    assert_ok(idx_compact(path, NULL, NULL, &failure));
}

static off_t size_of_log(const char *path) {
    struct stat status;
    assert_int_equal(stat(path_in(path, "pending.log"), &status), 0);
    return status.st_size;
}

/* Removals by the thousand, compacted, leave an index as large as one that never had them, log and all. */
static void test_removals_give_room_back(void **state) {
    enum { MANY = 30000 };
    const char *path = path_in(*state, "i");
    static uint64_t fingerprints[MANY];
    static struct idx_item items[2 * MANY];
    struct idx_compact_summary summary;
    struct idx_removal removal;
    build(path, IDX_ID_U64, 0, 2 * MANY, false);
    for (size_t i = 0; i < MANY; i++) fingerprints[i] = fingerprint_of(2 * i);
    for (size_t i = 0; i < 2 * MANY; i++) items[i] = (struct idx_item){fingerprint_of(i), i, NULL, 0};
    for (size_t round = 0; round < 2; round++) {
        struct idx_writer *writer = open_writer(path, 0, 0);
        if (round == 1) assert_ok(idx_writer_add(writer, items, 2 * MANY - 2, &failure));
        assert_ok(remove_by_fingerprint(writer, fingerprints, MANY - 1, &removal, &failure));
        assert_int_equal(removal.documents, 2 * MANY - 2);
        assert_true(size_of_log(path) > 200000);
        if (round == 0) idx_writer_close(writer);
        compact(path, true, &summary);
        assert_int_equal(summary.documents, 2);
        assert_int_equal(size_of_log(path) < 100000, round == 0);
        if (round == 0) continue;
        idx_writer_close(writer); /* which had the log, and did not come to it */
        compact(path, true, &summary);
        assert_false(summary.changed);
        assert_true(size_of_log(path) < 100000);
    }
}

static bool stop(void *context, const struct idx_progress *progress) {
    (void)progress;
    return --*(int *)context > 0;
}

/* Cancelled anywhere, the index is as it was, and nothing is left. */
static void test_cancelled(void **state) {
    const char *path = path_in(*state, "i");
    build(path, IDX_ID_TEXT, 0, 300, false);
    struct idx_writer *writer = open_writer(path, 0, 0);
    add(writer, 400);
    idx_writer_close(writer);
    enum idx_status status = IDX_CANCELLED;
    int entries = count_entries(path);
    for (int calls = 1; status != IDX_OK && calls < 1000; calls++) {
        struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
        int left = calls;
        options.all = true;
        options.progress = stop;
        options.context = &left;
        status = idx_compact(path, &options, NULL, &failure);
        if (calls == 1) entries = count_entries(path); /* with the lock */
        if (status != IDX_OK) assert_int_equal(status, IDX_CANCELLED);
        assert_int_equal(count_entries(path), entries);
        assert_ok(idx_verify(path, NULL, NULL, &failure));
    }
    assert_ok(status);
}

/* How many of these documents there are. */
static size_t count_there(const char *path, size_t begin, size_t end) {
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    size_t there = 0;
    for (size_t i = begin; i < end; i++) {
        uint64_t fingerprint;
        size_t count;
        assert_ok(idx_find_id(index, &(struct idx_item){.number = i}, &fingerprint, 1, &count, &failure));
        if (count > 0) assert_true(fingerprint == fingerprint_of(i));
        there += count;
    }
    idx_close(index);
    return there;
}

struct move {
    const char *path, *away, *other;
    int left; /* calls of progress before it happens */
};

static bool move_there(void *context, const struct idx_progress *progress) {
    struct move *move = context;
    (void)progress;
    if (--move->left != 0) return true;
    assert_int_equal(rename(move->path, move->away), 0);
    assert_int_equal(rename(move->other, move->path), 0);
    return true;
}

/* Another index comes to stand at the path in the midst of it, and stays as it is. */
static void test_moved_away(void **state) {
    struct move move = {path_in(*state, "i"), path_in(*state, "away"), path_in(*state, "other"), 0};
    for (int calls = 1; move.left <= 0; calls++) {
        build(move.other, IDX_ID_U64, 1000, 1100, false);
        build(move.path, IDX_ID_U64, 0, 100, false);
        struct idx_writer *writer = open_writer(move.path, 0, 0);
        add(writer, 400);
        idx_writer_close(writer);
        struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
        options.all = true;
        options.progress = move_there;
        options.context = &move;
        move.left = calls;
        enum idx_status status = idx_compact(move.path, &options, NULL, &failure);
        if (move.left > 0) assert_ok(status);
        if (move.left > 0) break;
        assert_ok(idx_verify(move.path, NULL, NULL, &failure));
        assert_int_equal(count_there(move.path, 1000, 1100), 100);
        assert_ok(idx_verify(move.away, NULL, NULL, &failure));
        assert_int_equal(count_there(move.away, 0, 100) + count_there(move.away, 400, 401), 101);
        remove_all(move.path);
        remove_all(move.away);
    }
}

/* A writer's thread keeps what is pending, and the segments, few. */
static void test_background(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_properties properties;
    build(path, IDX_ID_TEXT, 0, 100, false);
    struct idx_writer *writer = open_writer(path, 100, 3);
    for (size_t i = 100; i < 1000; i++) add(writer, i);
    assert_ok(idx_writer_wait(writer, &failure));
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    idx_get_properties(index, &properties);
    assert_true(properties.pending_documents <= 401);
    assert_true(properties.segments <= 3);
    assert_int_equal(properties.documents + properties.pending_documents, 1000);
    idx_close(index);
    idx_writer_close(writer);
    assert_ok(idx_verify(path, NULL, NULL, &failure));
}

/* A number of segments that compaction would refuse is refused before. */
static void test_background_limits(void **state) {
    const char *path = path_in(*state, "i");
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_writer *writer;
    build(path, IDX_ID_U64, 0, 100, false);
    options.compact_segments = 1025;
    assert_status(IDX_INVALID_ARGUMENT, idx_writer_open(&writer, path, &options, &failure));
    assert_string_equal(failure.sentence, "compact_segments = 1025: it must be 0 to 1024");
    writer = open_writer(path, 1, 1024);
    for (size_t i = 100; i < 102; i++) add(writer, i);
    assert_ok(idx_writer_wait(writer, &failure));
    idx_writer_close(writer);
}

/* What went wrong in the thread is told, also when it ended long ago, until one goes well. */
static void test_background_failure(void **state) {
    const char *path = path_in(*state, "i");
    build(path, IDX_ID_U64, 0, 100, false);
    struct idx_writer *writer = open_writer(path, 50, 0);
    assert_ok(idx_writer_wait(writer, &failure));
    int lock = open(path_in(path, "compact.lock"), O_RDWR | O_CREAT, 0666);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    for (size_t i = 100; i < 151; i++) add(writer, i);
    for (size_t i = 0; i < 3; i++) {
        failure = (struct idx_error){0};
        assert_status(IDX_BUSY, idx_writer_wait(writer, &failure));
        assert_non_null(strstr(failure.sentence, "is being compacted already"));
        add(writer, 151 + i);
    }
    close(lock);
    for (size_t i = 154; i < 300; i++) add(writer, i);
    assert_ok(idx_writer_wait(writer, &failure));
    idx_writer_close(writer);
}

/* ---- Full disks ---- */

/* Adds `count` documents, numbered by what follows, in one call. */
static bool has_all(const char *path, size_t count) {
    struct idx_index *index;
    if (idx_open(&index, path, NULL, &failure) != IDX_OK) return false;
    size_t there = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t fingerprint;
        size_t found = 0;
        there += idx_find_id(index, &(struct idx_item){.number = i}, &fingerprint, 1, &found, &failure) == IDX_OK &&
                 found == 1;
    }
    idx_close(index);
    return there == count;
}

/* Leaves `room` bytes on the disk that the file is on. */
static bool fill_disk(const char *path, size_t room) {
    struct statvfs status;
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return false;
    bool filled = fstatvfs(file, &status) == 0 && status.f_bavail * status.f_bsize > room &&
                  posix_fallocate(file, 0, (off_t)(status.f_bavail * status.f_bsize - room)) == 0;
    close(file);
    return filled;
}

/* The writer's thread meets a full disk, after more and more bytes: the index is as it was, and nothing is left. */
static int play_full_disk(const char *folder) {
    char small[4096], from[4096], path[4096], ballast[4096];
    size_t count = 100, full = 0;
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_writer *writer;
    enum idx_status status = IDX_DISK_FULL;
    snprintf(small, sizeof small, "%s/small", folder);
    snprintf(path, sizeof path, "%s/small/i", folder);
    snprintf(from, sizeof from, "%s/i", folder);
    snprintf(ballast, sizeof ballast, "%s/small/ballast", folder);
    if (mkdir(small, 0777) != 0 || !mount_small(small, 16 << 20)) return CANNOT;
    copy_folder(from, path);
    options.compact_records = 100;
    EXPECT(idx_writer_open(&writer, path, &options, &failure) == IDX_OK);
    for (size_t room = 40000; status == IDX_DISK_FULL; room += 8192) {
        EXPECT(fill_disk(ballast, room));
        enum idx_status added = add_many(writer, count, 101);
        EXPECT(added == IDX_OK || added == IDX_DISK_FULL);
        if (added == IDX_OK) count += 101;
        if (added == IDX_OK) status = idx_writer_wait(writer, &failure);
        EXPECT(status == IDX_OK || status == IDX_DISK_FULL);
        full += added == IDX_OK && status == IDX_DISK_FULL;
        /* Manifest, segment, log with its lock, the writer's lock, and that of compaction. */
        if (added == IDX_OK) EXPECT(count_entries(path) == 6);
        EXPECT(unlink(ballast) == 0);
        EXPECT(idx_verify(path, NULL, NULL, &failure) == IDX_OK);
        EXPECT(has_all(path, count));
    }
    EXPECT(full > 5);
    idx_writer_close(writer);
    return 0;
}

static void test_full_disk(void **state) {
    build(path_in(*state, "i"), IDX_ID_U64, 0, 100, false);
    play_apart(play_full_disk, *state);
}

/* ---- Kills ---- */

/* A child adds and compacts until it is killed; what it told of on the pipe is there. */
static void work(const char *path, size_t begin, int told) {
    struct idx_writer *writer = open_writer(path, 20, 3);
    for (size_t i = begin;; i++) {
        add(writer, i);
        if (write(told, &i, sizeof i) != (ssize_t)sizeof i) _exit(1);
    }
}

static size_t work_and_die(const char *path, size_t begin, useconds_t time) {
    size_t last = begin, number;
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) work(path, begin, told[1]);
    assert_true(child > 0);
    close(told[1]);
    usleep(time);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    while (read(told[0], &number, sizeof number) == (ssize_t)sizeof number) last = number + 1;
    close(told[0]);
    return last;
}

static void test_kills(void **state) {
    const char *path = path_in(*state, "i");
    size_t kills = getenv("IDX_KILLS") == NULL ? 20 : strtoul(getenv("IDX_KILLS"), NULL, 10), end = 100;
    uint64_t seed = 1;
    build(path, IDX_ID_U64, 0, end, false);
    for (size_t i = 0; i < kills; i++) {
        size_t told = work_and_die(path, end, (useconds_t)(next_random(&seed) % 150000));
        assert_ok(idx_verify(path, NULL, NULL, &failure));
        assert_int_equal(count_there(path, 0, told), told);
        end = told + count_there(path, told, told + 1); /* one may be there that it did not tell of */
        assert_int_equal(count_there(path, end, end + 2), 0);
    }
    assert_true(end > 100);
    compact(path, true, NULL);
    assert_int_equal(count_there(path, 0, end), end);
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    assert_non_null(manifest);
    read_manifest(path, manifest);
    assert_int_equal(manifest->segments[0].documents, end);
    free(manifest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_as_built),
        in_folder(test_tiers),
        in_folder(test_bounds),
        in_folder(test_impossible_counts),
        in_folder(test_by_size),
        in_folder(test_leftovers),
        in_folder(test_one_at_a_time),
        in_folder(test_cancelled),
        in_folder(test_removals_give_room_back),
        in_folder(test_background),
        in_folder(test_background_limits),
        in_folder(test_kills),
        in_folder(test_background_failure),
        in_folder(test_full_disk),
        in_folder(test_moved_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
