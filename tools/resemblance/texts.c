/* texts.c: reads texts and has them answered by an index with sets, many at a time, and prints which of its texts
 * resemble them. */
#include "tools/resemblance/texts.h"

#include "tools/input/index_making.h"
#include "tools/resemblance/shingling.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- The index ---- */

bool resembling_read_recipe(const struct idx_properties *properties, const char *index_name,
                            struct idx_text_shingle_options *shingling, char reason[RESEMBLING_REASON]) {
    const bool is_known = shingling_read_recipe(properties->recipe, shingling);
    *reason = '\0';
    if (properties->sketch == 0)
        snprintf(reason, RESEMBLING_REASON,
                 "%s has fingerprints of the recipe '%s', and no sets of texts, which show what resembles a text; make "
                 "an index that has them by idx build --resemble",
                 index_name, properties->recipe);
    else if (!is_known)
        snprintf(reason, RESEMBLING_REASON,
                 "%s does not say how the sets of its texts were made: its recipe is '%s', and not minhash:%u",
                 index_name, properties->recipe, properties->sketch);
    return *reason == '\0';
}

double resembling_find_miss_probability(unsigned value_count, int64_t threshold) {
    return pow(1 - (double)threshold / (double)IDX_THRESHOLD_ONE, value_count);
}

/* Warns that documents may be missed, if a threshold, in units of 1/IDX_THRESHOLD_ONE, needs more values of a sketch
 * than the `value_count` that the index at `path` has. */
static void warn_of_misses(const char *path, unsigned value_count, int64_t threshold) {
    if (idx_sketch_values(threshold) > value_count)
        complain("%s has sketches of %u values: of documents that resemble a text by just that much, up to one in %.0f "
                 "is missed; idx build --resemble makes an index for that",
                 path, value_count, floor(1 / resembling_find_miss_probability(value_count, threshold)));
}

/* ---- Texts that are answered together ---- */

bool resembling_texts_open(struct resembling_texts *texts, const struct idx_properties *properties,
                           struct reading_rules *rules, const struct strings *paths) {
    char reason[RESEMBLING_REASON];
    if (!resembling_read_recipe(properties, texts->path, &rules->shingling, reason)) return complain("%s", reason);
    if (texts->options.threshold == 0) texts->options.threshold = properties->threshold;
    warn_of_misses(texts->path, properties->sketch, texts->options.threshold);
    snprintf(texts->recipe, sizeof texts->recipe, "%s", properties->recipe); /* The view that has it may change. */
    rules->recipe = rules->expected_recipe = texts->recipe;
    rules->bits = IDX_MAX_BITS;
    rules->makes = MAKES_SHINGLES;
    texts->reading = reading_open(rules, paths);
    return texts->reading != NULL;
}

/* Adds a text to those that are answered together, which must be fewer than RESEMBLING_TEXTS. What is added points into
 * `made`. Returns false, after a complaint, if the ID has to be a number but is none. */
static bool append_id_and_set(struct resembling_texts *texts, const struct made *made) {
    if (!set_item_id(&texts->items[texts->count], texts->id_type, made->id.bytes, made->id.length)) return false;
    texts->sets[texts->count++] = (struct idx_set){.hashes = made->shingles, .count = made->shingle_count};
    return true;
}

bool resembling_texts_read_next(struct resembling_texts *texts) {
    const struct made *made;
    size_t set_bytes = 0;
    texts->count = 0;
    texts->failed = texts->failed || !output_flush(&texts->output);
    while (texts->count == 0 && !texts->failed && (made = reading_next(texts->reading)) != NULL) {
        do {
            if (interrupt_is_noted()) return texts->count > 0;
            if (made->raw->bad.kind != BAD_NONE) continue; /* The condition below gets the next one. */
            texts->failed = !append_id_and_set(texts, made);
            set_bytes += made->shingle_count * sizeof *made->shingles;
        } while (!texts->failed && texts->count < RESEMBLING_TEXTS && set_bytes < RESEMBLING_BYTES &&
                 (made = reading_next_ready(texts->reading)) != NULL);
    }
    return texts->count > 0;
}

bool resembling_texts_close(struct resembling_texts *texts) {
    const bool ok = reading_close(texts->reading) == READING_WELL;
    if (texts->unread > 0)
        complain("%" PRIu64 " documents were not looked at, since more have a value of their text than "
                 "--max-candidates allows",
                 texts->unread);
    return output_close(&texts->output) && ok && !texts->failed && !interrupt_is_noted();
}

/* ---- Answers ---- */

void row_write_resembling(struct rows *rows, const struct idx_resembling_lists *lists,
                          const struct idx_resembling_document *found, enum idx_id_type id_type) {
    const struct idx_document document = {.number = found->number,
                                          .id = id_type == IDX_ID_TEXT ? lists->ids + found->id : NULL,
                                          .id_length = found->id_length};
    row_write_share(rows, "resemblance", found->shared, found->total);
    row_write_document_id(rows, "document", &document);
}
