/* without_text.c: what a build without libidxtext has in place of text.c, below.c, pipeline.c and compare.c. */
#include "tools/text/text.h"

const char text_default_recipe[] = "none: this idx was built without text support";

static bool complain_of_build(void) {
    return complain(
        "this idx was built without text support (libidxtext, which needs ICU, and libarchive, libxml2 and zlib)");
}

bool text_open(struct text *text, const char *recipe, const struct idx_text_table *table, unsigned bits,
               const struct extract_rules *rules) {
    (void)text, (void)recipe, (void)table, (void)bits, (void)rules;
    return complain_of_build();
}

bool text_fingerprint_file(struct text *text, const char *path, struct text_result *result) {
    (void)text, (void)path, (void)result;
    return complain_of_build();
}

const char *text_recipe(const struct text *text) {
    (void)text;
    return text_default_recipe;
}

unsigned text_distance(double resemblance, uint64_t features, const char *recipe, unsigned bits, bool *measured) {
    (void)resemblance, (void)features, (void)recipe, (void)bits;
    *measured = false;
    return 0;
}

bool text_table_read(struct idx_text_table **table, const char *path) {
    (void)table, (void)path;
    return complain_of_build();
}

void text_table_free(struct idx_text_table *table) { (void)table; }

void text_close(struct text *text) { (void)text; }

bool compare_files(const struct pipeline_rules *rules, char *const paths[2], bool *same) {
    (void)rules, (void)paths, (void)same;
    return complain_of_build();
}

enum pipeline_status pipeline_run(const struct pipeline_rules *rules, const struct texts *paths) {
    (void)rules, (void)paths;
    complain_of_build();
    return PIPELINE_FAILED;
}

struct below *below_new(struct text *text, const char *path, const struct globs *globs) {
    (void)text, (void)path, (void)globs;
    complain_of_build();
    return NULL;
}

enum below_status below_next(struct below *below, uint64_t *fingerprint, struct span *id) {
    (void)below, (void)fingerprint, (void)id;
    return BELOW_FAILED;
}

void below_free(struct below *below) { (void)below; }
