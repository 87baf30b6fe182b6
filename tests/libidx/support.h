/* support.h: what the tests of libidx share: checked statuses, temporary folders, files, and indexes to read. */
#ifndef IDX_TESTS_LIBIDX_SUPPORT_H
#define IDX_TESTS_LIBIDX_SUPPORT_H

#include <stdbool.h>

#include <idx.h>

#include "format/manifest.h"
#include "tests/testing.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* A share of n, at least 1, for tests that take long: IDX_TEST_SCALE percent of it; without that variable 100, and 10
 * under a sanitizer. */
size_t scale(size_t n);

/* Whether a sanitizer watches this program. */
bool is_sanitized(void);

/* ---- Statuses ---- */

/* The error of the last call; pass it to every call that takes one. */
extern struct idx_error failure;

#define assert_status(wanted, call) check_status(wanted, call, __FILE__, __LINE__)
#define assert_ok(call) assert_status(IDX_OK, call)

/* Fails with the sentence of `failure` where the statuses differ; else checks that `failure` tells the same. */
void check_status(enum idx_status wanted, enum idx_status found, const char *file, int line);

/* Whether a status says that a file is not as it was written. */
bool is_damage(enum idx_status status);

/* ---- Files and folders ---- */

/* Set-up and tear-down of a test: *state is the path of a new folder. */
int make_folder(void **state);
int remove_folder(void **state);
#define in_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

/* `folder/name`, formatted. Lives until the test ends. */
const char *path_in(const char *folder, const char *name, ...) __attribute__((format(printf, 2, 3)));

/* A file's bytes, which the caller frees, and one 0 more. */
uint8_t *read_file(const char *path, size_t *size);
void write_file(const char *path, const void *bytes, size_t size);
void copy_folder(const char *from, const char *to);
void remove_all(const char *path);

/* How many entries a folder has; -1 where there is none. */
int count_entries(const char *path);

/* ---- Indexes ---- */

/* Options for an index of `bits`, `k` and a scheme, all else the default. */
struct idx_build_options options_for(unsigned bits, unsigned k, const char *scheme);

/* Builds an index, `options` may be NULL. A document's ID is its place in `fingerprints`, as number or decimal text. */
void build_index(const char *path, const struct idx_build_options *options, const uint64_t *fingerprints, size_t count);

/* The same in text, as the ID of an item; returns its length. */
size_t write_id(char text[32], size_t place);

struct idx_index *open_index(const char *path, enum idx_residence residence);

/* Opens a writer that never compacts by itself. */
struct idx_writer *open_simple_writer(const char *path);

/* Takes the text IDs of items away unless the writer's index has such IDs. */
void leave_out_ids(const struct idx_writer *writer, struct idx_item *items, size_t count);

/* Removes `count` fingerprints with all their documents, by one call of idx_writer_remove. */
enum idx_status remove_by_fingerprint(struct idx_writer *writer, const uint64_t *fingerprints, size_t count,
                                      struct idx_removal *removal, struct idx_error *error);

/* idx_lookup_many, with the options that it has. */
enum idx_status look_up_many(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                             unsigned distance, unsigned threads, struct idx_match *matches, size_t capacity,
                             size_t *match_counts, struct idx_error *error);

/* idx_writer_check_and_add, which copies the lists: of items[i] the nearest `capacity` matches from
 * matches[i · capacity] on. */
enum idx_status check_and_add(struct idx_writer *writer, const struct idx_item *items, size_t count, unsigned distance,
                              struct idx_match *matches, size_t capacity, size_t *match_counts,
                              struct idx_error *error);

/* Reads and rewrites the manifest of an index, with a right checksum. */
void read_manifest(const char *path, struct idxf_manifest *manifest);
void write_manifest(const char *path, struct idxf_manifest *manifest);

/* Moves the segments of `parts`, indexes of one segment each that are otherwise alike, into one index at `path`. */
void join_indexes(const char *path, const char *const *parts, size_t count);

#endif
