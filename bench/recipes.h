/* recipes.h: the recipes that quality measures, and what they make of texts. */
#ifndef BENCH_RECIPES_H
#define BENCH_RECIPES_H

#include "bench/texts.h"

#include <idx_text.h>

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

#endif
