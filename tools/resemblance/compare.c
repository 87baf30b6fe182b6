/* compare.c: says whether two texts are the same by a recipe, and how much they resemble each other. Since equal
 * fingerprints that are hashes may be chance, what was hashed is compared as well; and the sums of the documents'
 * weights tell apart texts that have little else in common. Most recipes pass over symbols, and many over the order of
 * words, so a text that is the same by its fingerprint is said to have the same words only if it has. */
#include "tools/resemblance/compare.h"

#include "tools/resemblance/files.h"
#include "tools/shared/library.h"

#include <idx_text.h>
#include <stdlib.h>
#include <string.h>

/* One of the two texts, and what the recipe makes of it. The reader's fingerprinter owns the result's signature. */
struct side {
    struct text_reader reader;
    struct text_result result;
    struct output body; /* A copy of the text. */
};

/* Opens the side's reader, and fingerprints the text in the file at `path`. `table` is NULL or that of the rules.
 * Refuses recipes of several fingerprints. Returns false after a complaint; the caller closes the reader even then. */
static bool fingerprint_side(struct side *side, const struct reading_rules *rules, const struct idx_text_table *table,
                             const char *path) {
    if (!text_reader_open(&side->reader, rules->recipe, table, rules->bits, &rules->extract)) return false;
    side->reader.extractor.manual_refusal = NULL; /* No recipe is recorded here, so none has to say so. */
    enum idx_recipe_method method = recipe_read(text_reader_get_recipe(&side->reader)).method;
    if (method == IDX_RECIPE_SEGMENTS)
        return complain("segments:N makes several fingerprints per document; compare them with idx lookup --agree");
    if (method == IDX_RECIPE_MINHASH)
        return complain("minhash:M makes several fingerprints per document; compare texts with idx dedup --pairs");
    return text_reader_fingerprint_file(&side->reader, path, &side->result, &side->body);
}

/* Returns whether two texts have the same bytes. */
static bool have_equal_bytes(struct span a, struct span b) {
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* Replaces the hash at `context`, a uint64_t, by a hash of itself and a word. So the hash after the last word depends
 * on all words and their order. This is an idx_text_word_visitor. */
static bool add_word_to_hash(void *context, const struct idx_text_word *word) {
    uint64_t *hash = context;
    *hash = idx_hash(IDX_HASH_XXH3, (uint64_t[]){*hash, word->hash}, 2 * sizeof *hash);
    return true;
}

/* Sets *equal to whether the texts `a` and `b` have the same words in the same order, as one hash of all words of each
 * says. If the words can't be found, returns another status than IDX_OK, with *error set; then *equal is
 * unspecified. */
static enum idx_status compare_words(struct span a, struct span b, bool *equal, struct idx_error *error) {
    uint64_t hashes[2] = {0, 0};
    enum idx_status status = idx_text_visit_words(a.bytes, a.length, add_word_to_hash, &hashes[0], error);
    if (status == IDX_OK) status = idx_text_visit_words(b.bytes, b.length, add_word_to_hash, &hashes[1], error);
    *equal = hashes[0] == hashes[1];
    return status;
}

/* Returns the first field of the line, which says in words what two texts have in common. */
static const char *describe_sameness(bool same_fingerprints, bool equal_texts, bool equal_words) {
    if (!same_fingerprints) return "different";
    if (equal_texts) return "same";
    return equal_words ? "same words" : "same fingerprint";
}

/* Prints the line that compares the sides, and sets *same as compare_files does. Returns false after a complaint. */
static bool print_comparison(const struct side sides[2], bool *same) {
    struct output output = OUTPUT_STANDARD;
    const struct text_result *a = &sides[0].result, *b = &sides[1].result;
    struct span texts[2] = {{sides[0].body.bytes, sides[0].body.length}, {sides[1].body.bytes, sides[1].body.length}};
    int distance = __builtin_popcountll(a->fingerprints[0] ^ b->fingerprints[0]);
    double resemblance = 0;
    bool equal_words;
    struct idx_error error;
    enum idx_status status = compare_words(texts[0], texts[1], &equal_words, &error);
    if (status == IDX_OK)
        status = idx_text_resemblance(texts[0].bytes, texts[0].length, texts[1].bytes, texts[1].length, NULL,
                                      &resemblance, &error);
    if (!succeeded(status, &error)) return false;
    *same = distance == 0 && have_equal_bytes(a->signature, b->signature);
    output_format(&output, "%s\t%d\t%.4f\t%.4f\t%.6f\t%.4f\n",
                  describe_sameness(*same, have_equal_bytes(texts[0], texts[1]), equal_words), distance,
                  (double)a->weight / (double)IDX_WEIGHT_ONE, (double)b->weight / (double)IDX_WEIGHT_ONE,
                  idx_text_weight_distance(a->weight, b->weight), resemblance_round_down(resemblance));
    return output_close(&output);
}

bool compare_files(const struct reading_rules *rules, char *const paths[2], bool *same) {
    struct side sides[2] = {{.body = OUTPUT_BUFFER}, {.body = OUTPUT_BUFFER}};
    struct idx_text_table *table = NULL;
    bool ok = rules->table == NULL || text_table_read(&table, rules->table);
    for (int i = 0; i < 2 && ok; i++) ok = fingerprint_side(&sides[i], rules, table, paths[i]);
    ok = ok && print_comparison(sides, same);
    for (int i = 0; i < 2; i++) {
        text_reader_close(&sides[i].reader);
        free(sides[i].body.bytes);
    }
    text_table_free(table);
    return ok;
}
