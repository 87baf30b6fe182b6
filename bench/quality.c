/* quality.c: precision and recall of recipes over k, on real documents and edited copies of them, against their exact
 * resemblance. */
#include "bench/texts.h"

#include <idx_text.h>

#include <stdio.h>
#include <string.h>

#define MOST_K 10
#define NEAR 0.8               /* a document that resembles the original so much is right for a copy as well */
#define LEAST_COMPARED 0.05    /* MinHash compares what resembles each other so much: it never takes the rest for 0.3 */
#define MINHASH_LEAST_AGREE 38 /* of 128 */
#define TEXTS_OF_A_KIND 200    /* originals of each length and group */

static const double levels[] = {0.3, 0.5, 0.6, 0.7, 0.8, 0.9};
static const double rates[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20};

enum {
    LEVELS = sizeof levels / sizeof *levels,
    RATES = sizeof rates / sizeof *rates,
    FEW_EDITED = RATES, /* at most 1 % of the words */
    LENGTHS = 3,        /* below 200, below 1000, and more words */
    BIN_COUNT = MINHASH_PERMUTATIONS + 1
};

static double get_share(uint64_t part, uint64_t whole) { return whole == 0 ? 0 : (double)part / (double)whole; }

static void print_row(const char *test, const char *recipe, const char *language, const char *class, const char *rate,
                      unsigned k, uint64_t found, uint64_t hit, uint64_t right, uint64_t expected) {
    printf("%s\t%s\t%s\t%s\t%s\t%u\t%llu\t%llu\t%llu\t%llu\t%.4f\t%.4f\n", test, recipe, language, class, rate, k,
           (unsigned long long)found, (unsigned long long)hit, (unsigned long long)right, (unsigned long long)expected,
           get_share(right, found), get_share(hit, expected));
}

/* ---- Recipes ---- */

struct recipe {
    const char *name;
    struct idx_text *text;
    struct idx_text_table *table; /* NULL for most */
};

/* This is what a recipe makes of a text. */
struct made {
    uint64_t fingerprint;
    bool is_empty; /* The text has no features, and is near to no other. */
};

static struct idx_text *open_text(const char *recipe, const struct idx_text_table *table) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text *text;
    struct idx_error error;
    options.recipe = recipe;
    options.table = table;
    try(idx_text_open(&text, &options, &error), &error);
    return text;
}

static struct idx_text_field get_body(const struct text *text) {
    return (struct idx_text_field){"body", text->bytes, text->length};
}

/* Makes a table of how many documents of the corpus, without edited copies, have each feature of the recipe. */
static struct idx_text_table *make_table(const char *recipe, const struct corpus *corpus) {
    char features[64] = "words:1";
    struct idx_text_table *table;
    struct idx_error error;
    if (strncmp(recipe, "idf:", 4) != 0) snprintf(features, sizeof features, "%.*s", (int)strcspn(recipe, ";"), recipe);
    struct idx_text *text = open_text(features, NULL);
    try(idx_text_table_open(&table, text, &error), &error);
    for (size_t i = 0; i < corpus->count; i++) {
        struct idx_text_field body = get_body(&corpus->texts[i]);
        try(idx_text_table_add(table, text, &body, 1, &error), &error);
    }
    idx_text_close(text);
    return table;
}

static struct made make_fingerprint(const struct recipe *recipe, const struct text *text) {
    struct idx_text_field body = get_body(text);
    struct idx_text_counts counts;
    struct idx_error error;
    struct made made;
    size_t count;
    try(idx_text_fingerprints(recipe->text, &body, 1, 64, &made.fingerprint, 1, &count, &counts, &error), &error);
    if (count > 1) die("%s makes several fingerprints, which are not measured", recipe->name);
    made.is_empty = counts.features == 0;
    return made;
}

static unsigned get_distance(const struct made *a, const struct made *b) {
    return a->is_empty || b->is_empty ? IDX_MAX_BITS : idx_distance(a->fingerprint, b->fingerprint);
}

/* ---- Pairs of the corpus ---- */

/* These count pairs by their distance, or by how many permutations don't agree. */
struct bins {
    uint64_t all[BIN_COUNT], right[LEVELS][BIN_COUNT];
};

static void add_pair(struct bins *bins, unsigned bin, double resemblance) {
    bins->all[bin]++;
    for (unsigned level = 0; level < LEVELS; level++) bins->right[level][bin] += resemblance >= levels[level];
}

static uint64_t add_up(const uint64_t *bins, unsigned last) {
    uint64_t total = 0;
    for (unsigned i = 0; i <= last; i++) total += bins[i];
    return total;
}

static void print_pairs(const char *recipe, const struct bins *bins, unsigned k, unsigned last) {
    for (unsigned level = 0; level < LEVELS; level++) {
        char class[8];
        uint64_t right = add_up(bins->right[level], last);
        snprintf(class, sizeof class, "%.1f", levels[level]);
        print_row("pairs", recipe, "all", class, "-", k, add_up(bins->all, last), right, right,
                  add_up(bins->right[level], BIN_COUNT - 1));
    }
}

static void measure_pairs(const struct corpus *corpus, const char *recipe, const struct made *made) {
    struct bins bins = {{0}, {{0}}};
    for (size_t b = 0; b < corpus->count; b++) {
        for (size_t a = 0; a < b; a++) add_pair(&bins, get_distance(&made[a], &made[b]), get_resemblance(corpus, a, b));
    }
    for (unsigned k = 0; k <= MOST_K; k++) print_pairs(recipe, &bins, k, k);
}

static void measure_minhash(const struct corpus *corpus) {
    struct bins bins = {{0}, {{0}}};
    uint64_t(*signatures)[MINHASH_PERMUTATIONS] = allocate(corpus->count, sizeof *signatures);
    for (size_t b = 0; b < corpus->count; b++) {
        make_minhash(&corpus->texts[b], signatures[b]);
        for (size_t a = 0; a < b; a++) {
            double resemblance = get_resemblance(corpus, a, b);
            unsigned differ = 0;
            if (resemblance < LEAST_COMPARED) continue;
            for (unsigned i = 0; i < MINHASH_PERMUTATIONS; i++) differ += signatures[a][i] != signatures[b][i];
            add_pair(&bins, differ, resemblance);
        }
    }
    free(signatures);
    for (unsigned k = MINHASH_LEAST_AGREE; k <= MINHASH_PERMUTATIONS; k++)
        print_pairs("MinHash", &bins, k, MINHASH_PERMUTATIONS - k);
}

/* ---- Edited copies ---- */

/* These count what copies found, by distance. */
struct score {
    uint64_t copies, hit[MOST_K + 1], found[MOST_K + 1], right[MOST_K + 1];
};

/* The indices are the group, whether the document has 200 words or more, and the rate. */
typedef struct score scores[GROUPS][2][RATES + 1];

static unsigned get_length_class(const struct text *text) {
    return text->word_count < 200 ? 0 : text->word_count < 1000 ? 1 : 2;
}

static void score_copy(const struct corpus *corpus, const struct made *made, size_t original, const struct made *copy,
                       struct score *score) {
    score->copies++;
    for (size_t i = 0; i < corpus->count; i++) {
        unsigned distance = get_distance(copy, &made[i]);
        if (distance > MOST_K) continue;
        score->found[distance]++;
        score->hit[distance] += i == original;
        score->right[distance] += get_resemblance(corpus, i, original) >= NEAR;
    }
}

static void edit_text(const struct corpus *corpus, const struct recipe *recipe, const struct made *made,
                      size_t original, scores *to) {
    const struct text *text = &corpus->texts[original];
    struct score *of_text = (*to)[text->group][text->word_count >= 200];
    for (unsigned edit = 0; edit < EDITS; edit++) {
        for (unsigned rate = 0; rate < RATES; rate++) {
            uint64_t random = mix(original * EDITS * RATES + edit * RATES + rate + 1);
            size_t words = (size_t)((double)text->word_count * rates[rate] / 100 + 0.5);
            struct text copy;
            /* Half a word or less can't be edited. */
            if (words == 0 || !make_copy(corpus, original, edit, words, &random, &copy)) continue;
            struct made of_copy = make_fingerprint(recipe, &copy);
            free(copy.bytes);
            score_copy(corpus, made, original, &of_copy, &of_text[rate]);
            if (rates[rate] <= 1) score_copy(corpus, made, original, &of_copy, &of_text[FEW_EDITED]);
        }
    }
}

static void print_score(const char *recipe, unsigned group, bool is_long, unsigned rate, const struct score *score) {
    uint64_t found = 0, hit = 0, right = 0;
    char percentage[8] = "<=1";
    if (score->copies == 0) return;
    if (rate < RATES) snprintf(percentage, sizeof percentage, "%.1f", rates[rate]);
    for (unsigned k = 0; k <= MOST_K; k++) {
        found += score->found[k];
        hit += score->hit[k];
        right += score->right[k];
        print_row("edits", recipe, group_names[group], is_long ? "200+" : "50-199", percentage, k, found, hit, right,
                  score->copies);
    }
}

/* Edits every text of a kind where there are few, and evenly chosen ones where there are more than TEXTS_OF_A_KIND. */
static void measure_edits(const struct corpus *corpus, const struct recipe *recipe, const struct made *made) {
    size_t counts[GROUPS][LENGTHS] = {{0}}, seen[GROUPS][LENGTHS] = {{0}};
    scores *all = allocate(1, sizeof *all);
    for (size_t i = 0; i < corpus->count; i++) counts[corpus->texts[i].group][get_length_class(&corpus->texts[i])]++;
    for (size_t i = 0; i < corpus->count; i++) {
        unsigned group = corpus->texts[i].group, length = get_length_class(&corpus->texts[i]);
        size_t n = seen[group][length]++, count = counts[group][length];
        size_t most = count < TEXTS_OF_A_KIND ? count : TEXTS_OF_A_KIND;
        if (n * most / count != (n + 1) * most / count) edit_text(corpus, recipe, made, i, all);
    }
    for (unsigned group = 0; group < GROUPS; group++) {
        for (unsigned i = 0; i < 2 * (RATES + 1); i++) {
            bool is_long = i > RATES;
            unsigned rate = i % (RATES + 1);
            print_score(recipe->name, group, is_long, rate, &(*all)[group][is_long][rate]);
        }
    }
    free(all);
}

static void measure_recipe(const struct corpus *corpus, const char *name) {
    struct recipe recipe = {.name = name};
    struct made *made = allocate(corpus->count, sizeof *made);
    if (strstr(name, "idf") != NULL) recipe.table = make_table(name, corpus);
    recipe.text = open_text(name, recipe.table);
    for (size_t i = 0; i < corpus->count; i++) made[i] = make_fingerprint(&recipe, &corpus->texts[i]);
    measure_pairs(corpus, name, made);
    measure_edits(corpus, &recipe, made);
    fflush(stdout);
    free(made);
    idx_text_close(recipe.text);
    idx_text_table_close(recipe.table);
}

int main(int argc, char **argv) {
    const struct bench_option none = {NULL, OPTION_FLAG, NULL, 0, 0};
    if (read_options(argc, argv, help_quality, &none) < 2) die("a folder and recipes are needed; see --help");
    struct corpus corpus = read_corpus(argv[1]);
    puts("test\trecipe\tlanguage\tclass\trate\tk\tfound\thit\tright\texpected\tprecision\trecall");
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "MinHash") == 0)
            measure_minhash(&corpus);
        else
            measure_recipe(&corpus, argv[i]);
    }
    return 0;
}
