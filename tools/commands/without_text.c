/* without_text.c: what a build without libidxtext has in place of the files that read texts. */
#include "tools/dedup/folders.h"
#include "tools/documents/reading.h"
#include "tools/input/queries.h"
#include "tools/resemblance/compare.h"
#include "tools/resemblance/files.h"

#include <string.h>

const char text_default_recipe[] = "none: this idx was built without text support";

/* Complains that this build does not read texts. Returns false always. */
static bool complain_of_missing_text_support(void) {
    return complain(
        "this idx was built without text support (libidxtext, which needs ICU, and libarchive, libxml2 and zlib)");
}

bool text_reader_open(struct text_reader *reader, const char *recipe, const struct idx_text_table *table, unsigned bits,
                      const struct extract_rules *rules) {
    (void)reader, (void)recipe, (void)table, (void)bits, (void)rules;
    return complain_of_missing_text_support();
}

char *text_make_canonical_recipe(const char *recipe) {
    char *copy = strdup(recipe);
    if (copy == NULL) complain("out of memory");
    return copy;
}

double resembling_compare(struct text_reader *reader, const struct resembling *resembling, struct span id) {
    (void)reader, (void)resembling, (void)id;
    return RESEMBLANCE_UNKNOWN;
}

double resemblance_round_down(double resemblance) { return resemblance; }

bool text_table_read(struct idx_text_table **table, const char *path) {
    (void)table, (void)path;
    return complain_of_missing_text_support();
}

void text_table_free(struct idx_text_table *table) { (void)table; }

void text_reader_close(struct text_reader *reader) { (void)reader; }

void reading_visit_formats(const struct reading_rules *rules, const struct strings *paths, format_visitor visit,
                           void *context) {
    (void)rules, (void)paths, (void)visit, (void)context;
}

bool compare_files(const struct reading_rules *rules, char *const paths[2], bool *same) {
    (void)rules, (void)paths, (void)same;
    return complain_of_missing_text_support();
}

struct reading *reading_open(const struct reading_rules *rules, const struct strings *paths) {
    (void)rules, (void)paths;
    complain_of_missing_text_support();
    return NULL;
}

enum reading_status reading_close(struct reading *reading) {
    (void)reading;
    return READING_FAILED;
}

enum reading_status reading_print(const struct reading_rules *rules, const struct strings *paths) {
    (void)rules, (void)paths;
    complain_of_missing_text_support();
    return READING_FAILED;
}

bool queries_open_fingerprinter(struct queries *queries) {
    (void)queries;
    return complain_of_missing_text_support();
}

void queries_close_texts(struct queries *queries) { (void)queries; }

/* ---- Without texts, none of these functions is called ---- */

const char *reading_get_recipe(const struct reading *reading) {
    (void)reading;
    return NULL;
}

const struct made *reading_next(struct reading *reading) {
    (void)reading;
    return NULL;
}

const struct made *reading_next_ready(struct reading *reading) {
    (void)reading;
    return NULL;
}

enum queries_status queries_next_fingerprint_of_text(struct queries *queries, struct query *query) {
    (void)queries, (void)query;
    return QUERIES_FAILED;
}

bool folders_copy_records(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped,
                          const struct divided *divided, const struct extract_rules *rules) {
    (void)journal, (void)trees, (void)dropped, (void)divided, (void)rules;
    return false;
}
