/* without_text.c: what a build without libidxtext has in place of the files that read texts. */
#include "tools/dedup/folders.h"
#include "tools/report/excerpt.h"
#include "tools/text/compare.h"
#include "tools/text/folder_texts.h"
#include "tools/text/pipeline.h"
#include "tools/text/resembling.h"

#include <string.h>

const char text_default_recipe[] = "none: this idx was built without text support";

static bool complain_of_build(void) {
    return complain(
        "this idx was built without text support (libidxtext, which needs ICU, and libarchive, libxml2 and zlib)");
}

bool text_reader_open(struct text_reader *reader, const char *recipe, const struct idx_text_table *table, unsigned bits,
                      const struct extract_rules *rules) {
    (void)reader, (void)recipe, (void)table, (void)bits, (void)rules;
    return complain_of_build();
}

bool text_reader_fingerprint_file(struct text_reader *reader, const char *path, struct text_result *result,
                                  struct output *body) {
    (void)reader, (void)path, (void)result, (void)body;
    return complain_of_build();
}

char *text_canonical_recipe(const char *recipe) {
    char *same = strdup(recipe);
    if (same == NULL) complain("out of memory");
    return same;
}

const char *text_reader_recipe(const struct text_reader *reader) {
    (void)reader;
    return text_default_recipe;
}

double resembling_compare(struct text_reader *reader, const struct resembling *resembling, struct span id) {
    (void)reader, (void)resembling, (void)id;
    return RESEMBLANCE_UNKNOWN;
}

double resemblance_round(double resemblance) { return resemblance; }

bool text_list_shingles(const struct span *body, const struct shingling *shingling, struct output *list,
                        struct bad *bad) {
    (void)body, (void)shingling, (void)list, (void)bad;
    return false;
}

bool text_table_read(struct idx_text_table **table, const char *path) {
    (void)table, (void)path;
    return complain_of_build();
}

void text_table_free(struct idx_text_table *table) { (void)table; }

void text_reader_close(struct text_reader *reader) { (void)reader; }

void pipeline_visit_formats(const struct pipeline_rules *rules, const struct strings *paths, format_visitor visit,
                            void *context) {
    (void)rules, (void)paths, (void)visit, (void)context;
}

bool compare_files(const struct pipeline_rules *rules, char *const paths[2], bool *same) {
    (void)rules, (void)paths, (void)same;
    return complain_of_build();
}

enum pipeline_status pipeline_run(const struct pipeline_rules *rules, const struct strings *paths) {
    (void)rules, (void)paths;
    complain_of_build();
    return PIPELINE_FAILED;
}

struct folder_texts *folder_texts_open(struct text_reader *reader, const char *path, const struct globs *globs) {
    (void)reader, (void)path, (void)globs;
    complain_of_build();
    return NULL;
}

enum folder_texts_status folder_texts_next(struct folder_texts *texts, uint64_t *fingerprint, struct span *id,
                                           struct span *shingles) {
    (void)texts, (void)fingerprint, (void)id, (void)shingles;
    return FOLDER_TEXTS_FAILED;
}

void folder_texts_close(struct folder_texts *texts) { (void)texts; }

/* ---- Without texts, none of these functions is called ---- */

bool kept_copy_records(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped,
                       const struct divided *divided, const struct extract_rules *rules) {
    (void)journal, (void)trees, (void)dropped, (void)divided, (void)rules;
    return false;
}

bool excerpt_make(struct excerpt *excerpt, const struct shown two[2]) {
    (void)excerpt, (void)two;
    return false;
}

void excerpt_put(struct output *output, const struct excerpt *excerpt, size_t which) {
    (void)output, (void)excerpt, (void)which;
}

void excerpt_free(struct excerpt *excerpt) { (void)excerpt; }
