/* recipes.c: makes fingerprints of texts by recipes, also of texts that another program segmented. */
#include "bench/quality.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Texts as another program segments them: it answers each line with one, whose words have spaces between ---- */

struct segmenter {
    pid_t process;
    FILE *to, *from;
    char *line;
    size_t capacity;
};

static void run(const char *command, const int to[2], const int from[2]) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    for (int i = 0; i < 2; i++) {
        close(to[i]);
        close(from[i]);
    }
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* Starts a shell's command; the program ends where it can't. */
static struct segmenter *open_segmenter(const char *command) {
    struct segmenter *segmenter = allocate(1, sizeof *segmenter);
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) die("can't make pipes for %s", command);
    segmenter->process = fork();
    if (segmenter->process == 0) run(command, to, from);
    close(to[0]);
    close(from[1]);
    segmenter->to = fdopen(to[1], "w");
    segmenter->from = fdopen(from[0], "r");
    if (segmenter->process < 0 || segmenter->to == NULL || segmenter->from == NULL) die("can't start %s", command);
    return segmenter;
}

/* The text with spaces between its words, until the next call. Line ends count as spaces. The process answers when it
 * has a whole line, so that neither waits for the other to read. */
static const char *segment(struct segmenter *segmenter, const char *bytes, size_t length, size_t *segmented) {
    for (size_t i = 0; i < length; i++) putc(bytes[i] == '\n' || bytes[i] == '\r' ? ' ' : bytes[i], segmenter->to);
    putc('\n', segmenter->to);
    ssize_t got = fflush(segmenter->to) == 0 ? getline(&segmenter->line, &segmenter->capacity, segmenter->from) : -1;
    if (got < 0) die("the segmenter ended");
    *segmented = (size_t)got;
    return segmenter->line;
}

static void close_segmenter(struct segmenter *segmenter) {
    if (segmenter == NULL) return;
    fclose(segmenter->to);
    fclose(segmenter->from);
    waitpid(segmenter->process, NULL, 0);
    free(segmenter->line);
    free(segmenter);
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
