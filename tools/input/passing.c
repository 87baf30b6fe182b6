/* passing.c: reads the fingerprints of an index or of files, and passes them to a visitor many at a time. */
#include "tools/input/passing.h"

#include "tools/input/input.h"
#include "tools/shared/library.h"

#include <stdlib.h>
#include <sys/stat.h>

/* How many fingerprints the visitor gets at a time. */
enum { CHUNK_FINGERPRINTS = 1 << 20 };

/* Fingerprints that were read, but not passed to the visitor yet. */
struct chunk {
    struct fingerprint_source *source;
    fingerprint_visitor visit;
    void *context;
    size_t count;
    uint64_t fingerprints[CHUNK_FINGERPRINTS];
};

/* Passes the chunk to the visitor unless it is empty, and empties it. Returns false if the visitor returned false. */
static bool pass_chunk_to_visitor(struct chunk *chunk) {
    size_t count = chunk->count;
    chunk->count = 0;
    return count == 0 || chunk->visit(chunk->context, chunk->fingerprints, count);
}

/* Adds a fingerprint to the chunk, and passes the chunk to the visitor once it is full. Returns false if the visitor
 * returned false. */
static bool add_fingerprint_to_chunk(struct chunk *chunk, uint64_t fingerprint) {
    chunk->fingerprints[chunk->count++] = fingerprint;
    return chunk->count < CHUNK_FINGERPRINTS || pass_chunk_to_visitor(chunk);
}

/* Adds the fingerprints of all files to the chunk, and passes each full chunk to the visitor; the last fingerprints
 * stay in the chunk. The recipe of the files must match that of the queries. Returns false after a complaint, or
 * without one if the visitor stopped or a signal was noted. */
static bool pass_file_fingerprints(struct chunk *chunk) {
    const struct fingerprint_source *source = chunk->source;
    struct input input = {.paths = source->paths,
                          .format = source->format,
                          .rules = source->rules,
                          .partial = source->partial,
                          .required_recipe = source->recipe == NULL ? "" : source->recipe,
                          .recipe_owner = RECIPE_OF_QUERIES,
                          .reader = READER_INIT};
    const struct tsv_record *records;
    enum input_status status;
    size_t count;
    bool ok = true;
    while (ok && (status = input_read_records(&input, &records, &count)) == INPUT_DOCUMENTS) {
        for (size_t i = 0; i < count && ok; i++) ok = add_fingerprint_to_chunk(chunk, records[i].fingerprint);
    }
    input_free(&input);
    return ok && status == INPUT_END;
}

/* Adds fingerprints of the index to the chunk. Sets visitor_stopped and returns false if the visitor stops; the flag is
 * needed, since idx_visit_part, whose visitor this is, then returns IDX_OK. Its context is a struct chunk. */
static bool add_all_to_chunk(void *context, const uint64_t *fingerprints, size_t count) {
    struct chunk *chunk = context;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) ok = add_fingerprint_to_chunk(chunk, fingerprints[i]);
    if (!ok) chunk->source->visitor_stopped = true;
    return ok;
}

/* Adds the fingerprints of the index, or of one part of it if `part_count` is not 0, to the chunk, and passes each full
 * chunk to the visitor; the last fingerprints stay in the chunk. Returns false after a complaint, or without one if the
 * visitor stopped. */
static bool pass_index_fingerprints(struct chunk *chunk) {
    struct fingerprint_source *source = chunk->source;
    struct idx_error error;
    uint32_t parts = source->part_count == 0 ? 1 : source->part_count;
    return succeeded(idx_visit_part(source->index, source->part, parts, add_all_to_chunk, chunk, &error), &error) &&
           !source->visitor_stopped;
}

bool open_fingerprint_source(struct fingerprint_source *source) {
    struct stat status;
    bool is_index = source->paths.count == 1 && stat(source->paths.values[0], &status) == 0 && S_ISDIR(status.st_mode);
    if (is_index) return open_index_unloaded(&source->index, source->paths.values[0]);
    if (source->part_count > 0) return complain_of_usage("--part needs an index");
    return input_wait_and_resolve_format(&source->paths, &source->format);
}

bool visit_source_fingerprints(struct fingerprint_source *source, fingerprint_visitor visit, void *context) {
    struct chunk *chunk = malloc(sizeof *chunk);
    if (chunk == NULL) return complain("out of memory");
    chunk->source = source;
    chunk->visit = visit;
    chunk->context = context;
    chunk->count = 0;
    bool ok = (source->index != NULL ? pass_index_fingerprints(chunk) : pass_file_fingerprints(chunk)) &&
              pass_chunk_to_visitor(chunk);
    free(chunk);
    return ok;
}

void close_fingerprint_source(struct fingerprint_source *source) { idx_close(source->index); }
