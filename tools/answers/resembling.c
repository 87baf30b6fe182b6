/* resembling.c: reads texts and has them answered by an index with sets, many at a time, and prints which of its texts
 * resemble them. */
#include "tools/answers/resembling.h"

#include "tools/input/index_making.h"
#include "tools/text/resembling.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The index ---- */

bool resembling_read_recipe(const struct idx_properties *properties, const char *index, struct shingling *shingling,
                            char reason[RESEMBLING_REASON]) {
    struct idx_recipe_properties recipe = recipe_read(properties->recipe);
    *shingling = (struct shingling){recipe.shingle_width, recipe.by_characters, false};
    *reason = '\0';
    if (properties->sketch == 0)
        snprintf(reason, RESEMBLING_REASON,
                 "%s has fingerprints of the recipe '%s', and no sets of texts, which show what resembles a text; make "
                 "an index that has them by idx build --resemble",
                 index, properties->recipe);
    else if (recipe.method != IDX_RECIPE_MINHASH)
        snprintf(reason, RESEMBLING_REASON,
                 "%s does not say how the sets of its texts were made: its recipe is '%s', and not minhash:%u", index,
                 properties->recipe, properties->sketch);
    return *reason == '\0';
}

double resembling_miss_probability(unsigned values, int64_t threshold) {
    return pow(1 - (double)threshold / (double)IDX_DECIMAL_WEIGHT_ONE, values);
}

/* Warns, if a threshold needs more values than a sketch has, of what may be missed. */
static void warn_of_misses(const char *path, unsigned values, int64_t threshold) {
    if (idx_sketch_values(threshold) > values)
        complain("%s has sketches of %u values: of documents that resemble a text by just that much, up to one in %.0f "
                 "is missed; idx build --resemble makes an index for that",
                 path, values, floor(1 / resembling_miss_probability(values, threshold)));
}

/* ---- Texts that are answered together ---- */

/* Makes `items` and `sets` of the texts that were read. Complains of the first ID that is no number, if all have to be,
 * and keeps the texts before it. */
static bool make_items(struct resembling_texts *texts) {
    const uint64_t *hashes = (const uint64_t *)(const void *)texts->hashes.bytes;
    size_t id = 0, hash = 0;
    for (size_t i = 0; i < texts->count; i++) {
        const char *bytes = texts->ids.bytes == NULL ? "" : texts->ids.bytes + id;
        if (!making_set_id(&texts->items[i], texts->id_type, bytes, texts->id_ends[i] - id)) {
            texts->count = i;
            return false;
        }
        texts->sets[i] = (struct idx_set){hashes == NULL ? NULL : hashes + hash, texts->set_ends[i] - hash};
        id = texts->id_ends[i];
        hash = texts->set_ends[i];
    }
    return true;
}

/* Has the texts at hand answered, and forgets them. Returns whether nothing has failed so far. */
static bool answer_texts(void *context) {
    struct resembling_texts *texts = context;
    if (texts->count == 0 || texts->failed) return !texts->failed;
    bool good = make_items(texts);
    texts->failed = (texts->count > 0 && !texts->answer(texts)) || !good;
    if (!output_flush(&texts->output)) texts->failed = true;
    texts->count = texts->ids.length = texts->hashes.length = 0;
    return !texts->failed;
}

/* Takes a text, which is answered once there are enough. Bad records are left out. This is a made_visitor. */
static bool take_text(void *context, const struct raw_document *raw, const struct made *made) {
    struct resembling_texts *texts = context;
    if (texts->failed || interrupt_noted()) return false;
    if (raw->bad.kind != BAD_NONE) return true;
    output_bytes(&texts->ids, made->id.bytes, made->id.length);
    output_bytes(&texts->hashes, made->shingles, made->shingle_count * sizeof *made->shingles);
    texts->id_ends[texts->count] = texts->ids.length;
    texts->set_ends[texts->count++] = texts->hashes.length / sizeof *made->shingles;
    if (texts->ids.error != 0 || texts->hashes.error != 0) {
        texts->failed = true;
        return complain("out of memory for the texts");
    }
    if (texts->count == RESEMBLING_TEXTS || texts->hashes.length >= RESEMBLING_BYTES) answer_texts(texts);
    return !texts->failed;
}

bool resembling_run(struct resembling_texts *texts, const struct idx_properties *properties,
                    struct pipeline_rules *rules, const struct strings *paths) {
    char reason[RESEMBLING_REASON], recipe[IDX_MAX_RECIPE_BYTES + 1]; /* The view that has the recipe may change. */
    if (!resembling_read_recipe(properties, texts->path, &rules->shingling, reason)) return complain("%s", reason);
    if (texts->options.threshold == 0) texts->options.threshold = properties->threshold;
    warn_of_misses(texts->path, properties->sketch, texts->options.threshold);
    snprintf(recipe, sizeof recipe, "%s", properties->recipe);
    rules->recipe = rules->expected_recipe = recipe;
    rules->bits = IDX_MAX_BITS;
    rules->visit = take_text;
    rules->before_wait = answer_texts;
    rules->makes = MAKES_SHINGLES;
    rules->context = texts;
    texts->ids = texts->hashes = (struct output)OUTPUT_KEPT;
    texts->output = (struct output)OUTPUT_STANDARD;
    bool ok = pipeline_run(rules, paths) == PIPELINE_WELL;
    answer_texts(texts);
    if (texts->unread > 0)
        complain("%" PRIu64 " documents were not looked at, since more have a value of their text than "
                 "--max-candidates allows",
                 texts->unread);
    free(texts->ids.bytes);
    free(texts->hashes.bytes);
    return output_close(&texts->output) && ok && !texts->failed && !interrupt_noted();
}

/* ---- Answers ---- */

void put_resemblance_of(struct output *output, const struct idx_resembling_document *found) {
    output_format(output, "%.4f", resemblance_round((double)found->shared / (double)found->total));
}

void put_resembling_document(struct output *output, const struct idx_resembling_lists *lists,
                             const struct idx_resembling_document *found, enum idx_id_type id_type, bool json) {
    const struct idx_document document = {found->number, id_type == IDX_ID_TEXT ? lists->ids + found->id : NULL,
                                          found->id_length};
    output_text(output, json ? "\"resemblance\":" : "");
    put_resemblance_of(output, found);
    output_text(output, json ? ",\"document\":" : "\t");
    (json ? put_json_id : put_document_id)(output, &document);
}
