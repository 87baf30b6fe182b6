/* recipes.c: see recipes.h. */
#include "bench/recipes.h"

#include "bench/memory.h"
#include "bench/segmented.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void try(enum idx_status status, const struct idx_error *error) {
    if (status != IDX_OK) die("%s", error->sentence);
}

/* ---- Opening ---- */

static struct idx_text *open_text(const char *recipe, const struct idx_text_table *table) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    options.recipe = recipe;
    options.table = table;
    struct idx_text *text;
    struct idx_error error;
    try(idx_text_open(&text, &options, &error), &error);
    return text;
}

static struct idx_text_field get_body(const struct recipe *recipe, const struct text *text) {
    struct idx_text_field body = {"body", text->bytes, text->length};
    if (recipe->segmenter != NULL) body.utf8 = segment(recipe->segmenter, text->bytes, text->length, &body.length);
    return body;
}

/* Document frequencies in the corpus itself, without the edited copies, of the features that the recipe has. */
static struct idx_text_table *train(const struct recipe *recipe, const struct text *texts, size_t count) {
    char features[64] = "words:1";
    const char *name = recipe->name;
    if (strncmp(name, "idf:", 4) != 0) snprintf(features, sizeof features, "%.*s", (int)strcspn(name, ";"), name);
    if (strstr(name, ";cut=spaces") != NULL) strcat(features, ";cut=spaces");
    struct idx_text *text = open_text(features, NULL);
    struct idx_text_table *table;
    struct idx_error error;
    try(idx_text_table_make(&table, text, &error), &error);
    for (size_t i = 0; i < count; i++) {
        struct idx_text_field body = get_body(recipe, &texts[i]);
        try(idx_text_table_add(table, text, &body, 1, &error), &error);
    }
    idx_text_close(text);
    return table;
}

struct recipe open_recipe(const char *name, const struct text *texts, size_t count) {
    struct recipe recipe = {.name = name};
    char plain[200];
    if (sscanf(name, "segments:%u", &recipe.segments) == 1 && recipe.segments > MOST_SEGMENTS)
        die("%s: at most %d segments are measured", name, MOST_SEGMENTS);
    if (recipe.segments > 0) sscanf(name, "%*s near=%u", &recipe.near);
    const char *command = strstr(name, " by=");
    if (command != NULL) recipe.segmenter = open_segmenter(command + strlen(" by="));
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, " "), name);
    if (strstr(plain, "idf") != NULL) recipe.table = train(&recipe, texts, count);
    recipe.text = open_text(plain, recipe.table);
    return recipe;
}

void close_recipe(struct recipe *recipe) {
    close_segmenter(recipe->segmenter);
    idx_text_close(recipe->text);
    idx_text_table_free(recipe->table);
}

/* ---- Fingerprints ---- */

struct fingerprints get_fingerprints(const struct recipe *recipe, const struct text *text) {
    struct idx_text_field body = get_body(recipe, text);
    struct idx_text_counts counts;
    struct fingerprints made;
    struct idx_error error;
    try(idx_text_fingerprints(recipe->text, &body, 1, 64, made.bits, MOST_SEGMENTS, &made.count, &counts, &error),
        &error);
    if (counts.features == 0) made.count = 0;
    return made;
}

/* How many of a's fingerprints b has, as looking a up counts them. */
static unsigned count_shared(const struct fingerprints *a, const struct fingerprints *b, unsigned near) {
    unsigned shared = 0;
    for (size_t i = 0; i < a->count; i++) {
        bool found = false;
        for (size_t j = 0; j < b->count; j++) found |= idx_distance(a->bits[i], b->bits[j]) <= near;
        shared += found;
    }
    return shared;
}

unsigned get_distance(const struct recipe *recipe, const struct fingerprints *a, const struct fingerprints *b) {
    if (a->count == 0 || b->count == 0) return IDX_MAX_BITS;
    if (recipe->segments == 0) return idx_distance(a->bits[0], b->bits[0]);
    unsigned shared = count_shared(a, b, recipe->near);
    return shared == 0 ? IDX_MAX_BITS : recipe->segments - shared;
}

unsigned count_rows(const struct recipe *recipe) { return recipe->segments == 0 ? MOST_K + 1 : recipe->segments; }

unsigned get_k(const struct recipe *recipe, unsigned distance) {
    return recipe->segments == 0 ? distance : recipe->segments - distance;
}
