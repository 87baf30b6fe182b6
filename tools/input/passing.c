/* passing.c: reads the fingerprints that stream past queries, and passes them on many at a time. */
#include "tools/input/passing.h"

#include "tools/input/input.h"
#include "tools/shared/library.h"

#include <stdlib.h>
#include <sys/stat.h>

/* How many fingerprints the visitor gets at a time. */
enum { CHUNK = 1 << 20 };

/* Fingerprints that the visitor has not got yet. */
struct chunk {
    struct passing *passing;
    passing_visitor visit;
    void *context;
    size_t count;
    uint64_t fingerprints[CHUNK];
};

/* Passes the chunk to the visitor unless it is empty, and empties it. Returns false if the visitor did. */
static bool hand_over_chunk(struct chunk *chunk) {
    size_t count = chunk->count;
    chunk->count = 0;
    return count == 0 || chunk->visit(chunk->context, chunk->fingerprints, count);
}

/* Adds a fingerprint to the chunk. Returns false if that was full then, and the visitor stopped. */
static bool add_fingerprint(struct chunk *chunk, uint64_t fingerprint) {
    chunk->fingerprints[chunk->count++] = fingerprint;
    return chunk->count < CHUNK || hand_over_chunk(chunk);
}

/* Passes on the fingerprints of all files, whose recipe must match that of the queries. Returns false after a
 * complaint, or without one if the visitor stopped or a signal was noted. */
static bool pass_files(struct chunk *chunk) {
    const struct passing *passing = chunk->passing;
    struct input input = {.paths = passing->paths,
                          .format = passing->format,
                          .rules = passing->rules,
                          .partial = passing->partial,
                          .required_recipe = passing->recipe == NULL ? "" : passing->recipe,
                          .recipe_owner = RECIPE_OF_QUERIES,
                          .reader = READER_INIT};
    const struct tsv_record *records;
    enum input_status status;
    size_t count;
    bool ok = true;
    while (ok && (status = input_next(&input, &records, &count)) == INPUT_DOCUMENTS) {
        for (size_t i = 0; i < count && ok; i++) ok = add_fingerprint(chunk, records[i].fingerprint);
    }
    input_free(&input);
    return ok && status == INPUT_END;
}

/* Adds fingerprints of the index to the chunk, and notes whether the visitor stopped, since for the library that is no
 * error. This is a visitor of idx_visit_part. */
static bool add_index_fingerprints(void *context, const uint64_t *fingerprints, size_t count) {
    struct chunk *chunk = context;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) ok = add_fingerprint(chunk, fingerprints[i]);
    if (!ok) chunk->passing->failed = true;
    return ok;
}

/* Passes on the fingerprints of the index, or of one part of it if it is divided into parts. Returns false after a
 * complaint, or without one if the visitor stopped. */
static bool pass_index(struct chunk *chunk) {
    struct passing *passing = chunk->passing;
    struct idx_error error;
    uint32_t parts = passing->parts == 0 ? 1 : passing->parts;
    return succeeded(idx_visit_part(passing->index, passing->part, parts, add_index_fingerprints, chunk, &error),
                     &error) &&
           !passing->failed;
}

bool passing_open(struct passing *passing) {
    struct stat status;
    bool is_index =
        passing->paths.count == 1 && stat(passing->paths.values[0], &status) == 0 && S_ISDIR(status.st_mode);
    if (is_index) return open_index_unloaded(&passing->index, passing->paths.values[0]);
    if (passing->parts > 0) return complain_of_usage("--part needs an index");
    return input_await_format(&passing->paths, &passing->format);
}

bool passing_read(struct passing *passing, passing_visitor visit, void *context) {
    struct chunk *chunk = malloc(sizeof *chunk);
    if (chunk == NULL) return complain("out of memory");
    chunk->passing = passing, chunk->visit = visit, chunk->context = context;
    chunk->count = 0;
    bool ok = (passing->index != NULL ? pass_index(chunk) : pass_files(chunk)) && hand_over_chunk(chunk);
    free(chunk);
    return ok;
}

void passing_close(struct passing *passing) { idx_close(passing->index); }
