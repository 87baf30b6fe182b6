/* passing.c: reads the fingerprints that stream past queries, and passes them on many at a time. */
#include "tools/input/passing.h"

#include "tools/input/input.h"
#include "tools/shared/library.h"

#include <stdlib.h>
#include <sys/stat.h>

/* How many fingerprints the visitor gets at a time. */
enum { KEPT = 1 << 20 };

struct kept {
    struct passing *passing;
    passing_visitor visit;
    void *context;
    size_t count;
    uint64_t fingerprints[KEPT];
};

static bool hand_over(struct kept *kept) {
    size_t count = kept->count;
    kept->count = 0;
    return count == 0 || kept->visit(kept->context, kept->fingerprints, count);
}

static bool keep_fingerprint(struct kept *kept, uint64_t fingerprint) {
    kept->fingerprints[kept->count++] = fingerprint;
    return kept->count < KEPT || hand_over(kept);
}

/* Passes on the fingerprints of all files, whose recipe must match that of the queries. */
static bool read_files(struct kept *kept) {
    const struct passing *passing = kept->passing;
    struct input input = {.paths = passing->paths,
                          .format = passing->format,
                          .rules = passing->rules,
                          .partial = passing->partial,
                          .index_recipe = passing->recipe == NULL ? "" : passing->recipe,
                          .recipe_owner = RECIPE_OF_QUERIES,
                          .reader = READER_INIT};
    const struct tsv_record *records;
    enum input_status status;
    size_t count;
    bool ok = true;
    while (ok && (status = input_next(&input, &records, &count)) == INPUT_DOCUMENTS) {
        for (size_t i = 0; i < count && ok; i++) ok = keep_fingerprint(kept, records[i].fingerprint);
    }
    input_free(&input);
    return ok && status == INPUT_END;
}

static bool keep_all(void *context, const uint64_t *fingerprints, size_t count) {
    struct kept *kept = context;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) ok = keep_fingerprint(kept, fingerprints[i]);
    kept->passing->failed |= !ok;
    return ok;
}

static bool read_index(struct kept *kept) {
    struct passing *passing = kept->passing;
    struct idx_error error;
    uint32_t parts = passing->parts == 0 ? 1 : passing->parts;
    return succeeded(idx_visit_part(passing->index, passing->part, parts, keep_all, kept, &error), &error) &&
           !passing->failed;
}

bool passing_open(struct passing *passing) {
    struct stat status;
    bool is_index =
        passing->paths.count == 1 && stat(passing->paths.values[0], &status) == 0 && S_ISDIR(status.st_mode);
    if (!is_index && passing->parts > 0) complain_of_usage("--part needs an index");
    if (!is_index) return passing->parts == 0 && input_await_format(&passing->paths, &passing->format);
    return open_unloaded(&passing->index, passing->paths.values[0]);
}

bool passing_read(struct passing *passing, passing_visitor visit, void *context) {
    struct kept *kept = malloc(sizeof *kept);
    if (kept == NULL) return complain("out of memory");
    kept->passing = passing;
    kept->visit = visit;
    kept->context = context;
    kept->count = 0;
    bool ok = (passing->index != NULL ? read_index(kept) : read_files(kept)) && hand_over(kept);
    free(kept);
    return ok;
}

void passing_close(struct passing *passing) { idx_close(passing->index); }
