/* support.c: see support.h. */
#include "tests/libidx/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#if defined(__has_feature)
#define HAS_FEATURE(feature) __has_feature(feature)
#else
#define HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HAS_FEATURE(address_sanitizer) ||                 \
    HAS_FEATURE(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

struct idx_error failure;

bool is_sanitized(void) { return SANITIZED; }

size_t scale(size_t n) {
    const char *percent = getenv("IDX_TEST_SCALE");
    size_t share = n * (percent != NULL ? strtoul(percent, NULL, 10) : SANITIZED ? 10 : 100) / 100;
    return share > 0 ? share : 1;
}

/* ---- Statuses ---- */

void check_status(enum idx_status wanted, enum idx_status found, const char *file, int line) {
    if (found != wanted) {
        print_error("status %d (%s), not %d: %s\n", found, idx_status_string(found), wanted,
                    found == IDX_OK ? "" : failure.sentence);
        _fail(file, line);
    }
    if (found == IDX_OK) return;
    if (failure.status == found && failure.sentence[0] != '\0' && strchr(failure.sentence, '\n') == NULL) return;
    print_error("status %d, but the error has %d: %s\n", found, failure.status, failure.sentence);
    _fail(file, line);
}

bool is_damage(enum idx_status status) {
    return (status >= IDX_MISSING_FILE && status <= IDX_BAD_CONTENT) || status == IDX_NOT_AN_INDEX ||
           status == IDX_NEW_VERSION;
}

/* ---- Files and folders ---- */

/* Where builds, which sync a lot, are fast: in memory, if there is plenty of that. */
static const char *choose_place(void) {
    struct statvfs status;
    const char *place = getenv("TMPDIR");
    if (place != NULL) return place;
    bool roomy = statvfs("/dev/shm", &status) == 0 && status.f_bavail >= ((uint64_t)1 << 30) / status.f_frsize;
    return roomy && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

/* The strings of path_in, newest first. */
struct path {
    struct path *next;
    char text[];
};

static struct path *paths;

const char *path_in(const char *folder, const char *name, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, name);
    assert_true((size_t)vsnprintf(text, sizeof text, name, arguments) < sizeof text);
    va_end(arguments);
    size_t room = strlen(folder) + strlen(text) + 2;
    struct path *path = malloc(sizeof *path + room);
    assert_non_null(path);
    snprintf(path->text, room, "%s/%s", folder, text);
    path->next = paths;
    paths = path;
    return path->text;
}

static void free_paths(void) {
    while (paths != NULL) {
        struct path *next = paths->next;
        free(paths);
        paths = next;
    }
}

int make_folder(void **state) {
    char *path = strdup(path_in(choose_place(), "idx-test-XXXXXX"));
    *state = path;
    return path != NULL && mkdtemp(path) != NULL ? 0 : -1;
}

int remove_folder(void **state) {
    remove_all(*state);
    free(*state);
    free_paths();
    return 0;
}

uint8_t *read_file(const char *path, size_t *size) {
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("can't open %s", path);
    assert_int_equal(fstat(fileno(file), &status), 0);
    *size = (size_t)status.st_size;
    uint8_t *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) fail_msg("can't write %s", path);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

typedef void (*entry_visitor)(void *context, const char *path, const char *name);

/* False where there is no such folder. */
static bool visit_entries(const char *path, entry_visitor visit, void *context) {
    DIR *folder = opendir(path);
    if (folder == NULL) return false;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) visit(context, path, entry->d_name);
    }
    closedir(folder);
    return true;
}

static bool is_folder(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void copy_entry(void *context, const char *folder, const char *name) {
    const char *from = path_in(folder, "%s", name), *to = path_in(context, "%s", name);
    size_t size;
    if (is_folder(from)) {
        copy_folder(from, to);
        return;
    }
    uint8_t *bytes = read_file(from, &size);
    write_file(to, bytes, size);
    free(bytes);
}

void copy_folder(const char *from, const char *to) {
    assert_int_equal(mkdir(to, 0777), 0);
    assert_true(visit_entries(from, copy_entry, (void *)(uintptr_t)to));
}

static void remove_entry(void *context, const char *folder, const char *name) {
    (void)context;
    remove_all(path_in(folder, "%s", name));
}

void remove_all(const char *path) {
    if (is_folder(path)) {
        chmod(path, 0700);
        visit_entries(path, remove_entry, NULL);
        rmdir(path);
    } else {
        unlink(path);
    }
}

static void count_entry(void *context, const char *folder, const char *name) {
    (void)folder;
    (void)name;
    ++*(int *)context;
}

int count_entries(const char *path) {
    int count = 0;
    return visit_entries(path, count_entry, &count) ? count : -1;
}

/* ---- Indexes ---- */

struct idx_build_options options_for(unsigned bits, unsigned k, const char *scheme) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    options.bits = bits;
    options.k = k;
    options.scheme = scheme;
    return options;
}

size_t write_id(char text[32], size_t place) { return (size_t)snprintf(text, 32, "%zu", place); }

void build_index(const char *path, const struct idx_build_options *options, const uint64_t *fingerprints,
                 size_t count) {
    struct idx_builder *builder;
    char id[32];
    assert_ok(idx_builder_open(&builder, path, options, &failure));
    for (size_t i = 0; i < count; i++) {
        if (options == NULL || options->id_type == IDX_ID_TEXT)
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = fingerprints[i], .id = id, .id_length = write_id(id, i)},
                &failure));
        else
            assert_ok(
                idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprints[i], .number = i}, &failure));
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

void leave_out_ids(const struct idx_writer *writer, struct idx_item *items, size_t count) {
    struct idx_properties properties;
    idx_get_properties(idx_writer_view(writer), &properties);
    if (properties.id_type == IDX_ID_TEXT) return;
    for (size_t i = 0; i < count; i++) {
        items[i].id = NULL;
        items[i].id_length = 0;
    }
}

enum idx_status remove_by_fingerprint(struct idx_writer *writer, const uint64_t *fingerprints, size_t count,
                                      struct idx_removal *removal, struct idx_error *error) {
    struct idx_item *items = calloc(count + 1, sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < count; i++) items[i].fingerprint = fingerprints[i];
    enum idx_status status = idx_writer_remove(writer, IDX_REMOVE_FINGERPRINTS, items, count, removal, error);
    free(items);
    return status;
}

struct idx_index *open_index(const char *path, enum idx_residence residence) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    options.residence = residence;
    assert_ok(idx_open(&index, path, &options, &failure));
    return index;
}

struct idx_writer *open_simple_writer(const char *path) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_writer *writer;
    options.compact_records = options.compact_segments = 0;
    assert_ok(idx_writer_open(&writer, path, &options, &failure));
    return writer;
}

enum idx_status look_up_many(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                             unsigned distance, unsigned threads, struct idx_match *matches, size_t capacity,
                             size_t *match_counts, struct idx_error *error) {
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    options.distance = distance;
    options.threads = threads;
    return idx_lookup_many(index, fingerprints, count, &options, matches, capacity, match_counts, error);
}

enum idx_status check_and_add(struct idx_writer *writer, const struct idx_item *items, size_t count, unsigned distance,
                              struct idx_match *matches, size_t capacity, size_t *match_counts,
                              struct idx_error *error) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    options.distance = distance;
    options.max_matches = capacity;
    enum idx_status status = idx_writer_check_and_add(writer, items, count, &options, &lists, error);
    if (status != IDX_OK) return status;
    for (size_t i = 0; i < count; i++) {
        size_t listed = (size_t)(lists.offsets[i + 1] - lists.offsets[i]);
        match_counts[i] = (size_t)lists.counts[i];
        if (listed > 0) memcpy(matches + i * capacity, lists.matches + lists.offsets[i], listed * sizeof *matches);
    }
    idx_match_lists_close(&lists);
    return IDX_OK;
}

void read_manifest(const char *path, struct idxf_manifest *manifest) {
    size_t size;
    unsigned line;
    uint32_t version;
    uint8_t *text = read_file(path_in(path, "manifest"), &size);
    assert_int_equal(idxf_manifest_read(manifest, (const char *)text, size, &line, &version), IDXF_OK);
    free(text);
}

void write_manifest(const char *path, struct idxf_manifest *manifest) {
    char *text = malloc(IDXF_MAX_MANIFEST_BYTES);
    assert_non_null(text);
    size_t size = idxf_manifest_write(manifest, text);
    write_file(path_in(path, "manifest"), text, size);
    free(text);
}

void join_indexes(const char *path, const char *const *parts, size_t count) {
    struct idxf_manifest *whole = malloc(sizeof *whole), *part = malloc(sizeof *part);
    assert_non_null(whole);
    assert_non_null(part);
    read_manifest(parts[0], whole);
    whole->segment_count = 0;
    assert_int_equal(mkdir(path, 0777), 0);
    for (size_t i = 0; i < count; i++) {
        unsigned number = (unsigned)i + 1;
        read_manifest(parts[i], part);
        assert_int_equal(part->segment_count, 1);
        assert_int_equal(rename(path_in(parts[i], "000001"), path_in(path, "%06u", number)), 0);
        whole->segments[whole->segment_count] = part->segments[0];
        whole->segments[whole->segment_count++].number = number;
        remove_all(parts[i]);
    }
    write_manifest(path, whole);
    free(whole);
    free(part);
}
