/* quality.h: what `quality` measures: the recipes and what they make of texts, and edited copies of documents. */
#ifndef BENCH_QUALITY_H
#define BENCH_QUALITY_H

#include "bench/texts.h"

#include <idx_text.h>

/* ---- Recipes ---- */

#define MOST_K 10
#define MOST_SEGMENTS 10

struct recipe {
    const char *name;
    struct idx_text *text;
    struct idx_text_table *table;
    unsigned segments;           /* how many a text is cut into; 0: it has one fingerprint */
    unsigned near;               /* within how many bits those of segments are the same */
    struct segmenter *segmenter; /* that cuts the texts before; or NULL */
};

/* What a recipe makes of a text. */
struct fingerprints {
    uint64_t bits[MOST_SEGMENTS];
    size_t count; /* 0: the text has no features */
};

/* From RECIPE, segments:N near=K or RECIPE by=COMMAND. One with idf takes a table of the texts. */
struct recipe open_recipe(const char *name, const struct text *texts, size_t count);
void close_recipe(struct recipe *recipe);

struct fingerprints get_fingerprints(const struct recipe *recipe, const struct text *text);

/* Of segments, how many of all aren't shared. Texts without features, or a shared segment, have nothing in common. */
unsigned get_distance(const struct recipe *recipe, const struct fingerprints *a, const struct fingerprints *b);

/* How many distances there are figures for, from 0 on, and what stands for one under `k`. */
unsigned count_rows(const struct recipe *recipe);
unsigned get_k(const struct recipe *recipe, unsigned distance);

/* ---- Edited copies of a document, by a seed ---- */

enum edit {
    REPLACE, /* words, at random places, by words of documents of the same language */
    DELETE,  /* words, at random places */
    INSERT,  /* words of documents of the same language, at random places */
    MOVE,    /* a passage of whole sentences, to the end of another sentence */
    BANNER,  /* a line in front, of a date and words in a row of another document of the same language */
    EDITS
};

extern const char *const edit_names[EDITS];

/* Makes copy->bytes and copy->length from texts[original], with `words` words edited. False when the document has no
 * such edit: MOVE of less than 10 words, or without sentences to move; or when no other one is in its language. The
 * caller frees copy->bytes. */
bool make_copy(const struct text *texts, size_t count, size_t original, enum edit edit, size_t words, uint64_t *random,
               struct text *copy);

#endif
