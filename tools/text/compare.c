/* compare.c: says whether two texts are the same by a recipe. Since equal fingerprints that are hashes may be chance,
 * what was hashed is compared as well; and the sums of the documents' weights tell apart texts that have little else in
 * common. */
#include "tools/text/text.h"

#include <idx_text.h>
#include <string.h>

/* A text, and what the recipe makes of it. The fingerprinter owns the signature. */
struct side {
    struct text text;
    struct text_result made;
};

static bool make_side(struct side *side, const struct pipeline_rules *rules, const struct idx_text_table *table,
                      const char *path) {
    if (!text_open(&side->text, rules->recipe, table, rules->bits, &rules->extract)) return false;
    side->text.extractor.reads_manuals = true; /* No recipe is recorded here, so none has to say so. */
    if (strncmp(text_recipe(&side->text), "segments:", 9) == 0)
        return complain("segments:N makes several fingerprints per document; compare them with idx lookup --agree");
    return text_fingerprint_file(&side->text, path, &side->made);
}

static bool signatures_are_equal(struct span a, struct span b) {
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

static bool print_comparison(const struct text_result *a, const struct text_result *b, bool *same) {
    struct output output = OUTPUT_STANDARD;
    int distance = __builtin_popcountll(a->fingerprints[0] ^ b->fingerprints[0]);
    *same = distance == 0 && signatures_are_equal(a->signature, b->signature);
    output_format(&output, "%s\t%d\t%.4f\t%.4f\t%.6f\n", *same ? "same" : "different", distance,
                  (double)a->weight / (double)IDX_WEIGHT_ONE, (double)b->weight / (double)IDX_WEIGHT_ONE,
                  idx_text_weight_distance(a->weight, b->weight));
    return output_close(&output);
}

bool compare_files(const struct pipeline_rules *rules, char *const paths[2], bool *same) {
    struct side sides[2] = {0};
    struct idx_text_table *table = NULL;
    bool whole = rules->table == NULL || text_table_read(&table, rules->table);
    for (int i = 0; i < 2 && whole; i++) whole = make_side(&sides[i], rules, table, paths[i]);
    whole = whole && print_comparison(&sides[0].made, &sides[1].made, same);
    for (int i = 0; i < 2; i++) text_close(&sides[i].text);
    text_table_free(table);
    return whole;
}
