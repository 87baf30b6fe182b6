/* texts.h: the texts of inputs, which an index with sets is asked about or gets, and the texts of it that resemble
 * them. */
#ifndef IDX_TOOLS_RESEMBLANCE_TEXTS_H
#define IDX_TOOLS_RESEMBLANCE_TEXTS_H

#include "tools/documents/reading.h"
#include "tools/shared/library.h"
#include "tools/shared/rows.h"

/* Texts are answered together until there are so many of them, or so many bytes of their sets. */
enum { RESEMBLING_TEXTS = 1024, RESEMBLING_BYTES = 1 << 24 };

/* Texts that are read, and answered together as they arrive. Too large for the stack. */
struct resembling_texts {
    /* The caller sets these. */
    const char *path;                      /* Of the index, for messages. */
    struct idx_resembling_options options; /* A threshold of 0 becomes that of the index. */
    enum idx_id_type id_type;              /* With IDX_ID_U64, the IDs of the texts must be numbers. */

    /* The texts that resembling_texts_read_next read last, with their IDs and sets. */
    size_t count;
    struct idx_item items[RESEMBLING_TEXTS];
    struct idx_set sets[RESEMBLING_TEXTS];

    struct output output; /* For the answers. */
    uint64_t unread;      /* Documents that were not looked at because of max_candidates, which the caller adds up. */

    /* These are private. */
    struct reading *reading;
    char recipe[IDX_MAX_RECIPE_BYTES + 1];
    bool failed;
};

/* Prepares to read the texts of the inputs at `paths` by the recipe of an index with sets, whose properties are given.
 * `rules` say how inputs are read; sets their recipe, expected_recipe, bits, makes and shingling. Warns if the index
 * may miss documents. Returns false after a complaint; the caller calls resembling_texts_close even then. */
bool resembling_texts_open(struct resembling_texts *texts, const struct idx_properties *properties,
                           struct reading_rules *rules, const struct strings *paths);

/* Flushes the output, and sets `items` and `sets` to the texts that come next: waits for one, and adds those that are
 * ready. They are valid until the next call. Returns false at the end, after a complaint, or if a signal was noted. */
bool resembling_texts_read_next(struct resembling_texts *texts);

/* Ends reading, complains of `unread` documents, and closes the output. Returns false if an input could not be read
 * well, if anything failed before or output fails, or if a signal was noted. */
bool resembling_texts_close(struct resembling_texts *texts);

/* The most bytes of a reason why an index can't answer, with its NUL. */
enum { RESEMBLING_REASON = IDX_MAX_RECIPE_BYTES + 512 };

/* Sets *shingling to the shingles of an index with sets, by its recipe. Returns false, without a complaint, if the
 * index has no sets, or if its recipe does not say what shingles are; then `reason` is a sentence that begins with
 * `index_name`, and otherwise "". */
bool resembling_read_recipe(const struct idx_properties *properties, const char *index_name,
                            struct idx_text_shingle_options *shingling, char reason[RESEMBLING_REASON]);

/* Returns the probability that sketches of `value_count` values miss a document that resembles a text by just the
 * threshold, in units of 1/IDX_THRESHOLD_ONE. */
double resembling_find_miss_probability(unsigned value_count, int64_t threshold);

/* Writes the resemblance of a document, and its ID, into a row that the caller began. `found` is a document of `lists`,
 * which have its ID if `id_type` is IDX_ID_TEXT. */
void row_write_resembling(struct rows *rows, const struct idx_resembling_lists *lists,
                          const struct idx_resembling_document *found, enum idx_id_type id_type);

#endif
