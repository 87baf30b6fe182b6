/* quality.c: precision and recall of recipes over k, on real documents and edited copies of them, against the truth
 * (texts.h). */
#include "bench/quality.h"

#include <stdio.h>
#include <string.h>

#define NEAR 0.8 /* resemblance to the original from which on a document found for a copy is right as well */

static const char help[] =
    "Usage: quality FOLDER [RECIPE...]\n"
    "Precision and recall of the recipes (the default one where none is given) over k = 0 to 10, on the documents in\n"
    "FOLDER, which bench/corpus makes. Columns, separated by tabs:\n"
    "  test       pairs: two documents of the corpus that resemble each other by at least `class` (Jaccard "
    "coefficient\n"
    "             of their word 5-shingles, exact) should be within k bits, all others not;\n"
    "             boilerplate: pairs that resemble each other by 0.1 to 0.5, by below 0.02 without the shingles of 20\n"
    "             documents or more: none should be found, `recall` is the share that is;\n"
    "             edits: an edited copy of a document is looked up among all documents. `expected`: the copies; "
    "`hit`:\n"
    "             those that find their original; `right`: of all documents found, originals and those that resemble\n"
    "             the original by 0.8 or more; `related`: by 0.05 to 0.8; the rest has nothing in common\n"
    "  recipe     or MinHash: 128 permutations of the 5-shingles, k then is how many must agree\n"
    "  language   en, zh, other, all\n"
    "  class      words of the document: 50-199, 200-999, 1000-4999, 200+; for pairs, resemblance\n"
    "  edit rate  what was done, to what percentage of the words; <=1: 0.1 to 1 together\n"
    "  k found hit right related expected precision recall\n"
    "MinHash is measured on the pairs alone. Recipes with idf take a table of the documents in FOLDER. Of segments:N, "
    "N\n"
    "up to 10, k is how many of a document's fingerprints the other one must have. They are equal, or within K bits\n"
    "where the recipe is followed by a blank and near=K. by=COMMAND behind a blank has a shell's command segment the\n"
    "texts: it answers each line with one, whose words have spaces between them, as bench/segment does.\n";

static const char *const group_names[GROUPS + 1] = {"en", "zh", "other", "all"};
static const double levels[] = {0.3, 0.5, 0.6, 0.7, 0.8, 0.9};
static const double rates[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20};
static const char *const length_names[] = {"50-199", "200-999", "1000-4999", "200+"};

enum {
    LEVELS = sizeof levels / sizeof *levels,
    RATES = sizeof rates / sizeof *rates,
    LENGTHS = 3,
    ALL_GROUPS = GROUPS,
    LONG = LENGTHS,        /* 200 words or more */
    FEW_EDITED = RATES,    /* at most 1 % of the words */
    TEXTS_OF_A_KIND = 200, /* originals of each length and group */
    BIN_COUNT = MINHASH_PERMUTATIONS + 1
};

/* ---- Pairs of the corpus ---- */

/* Pairs by their distance, or by how far their signatures are from agreeing. */
struct bins {
    uint64_t all[BIN_COUNT], right[LEVELS][BIN_COUNT], boilerplate[BIN_COUNT];
};

static void add_pair(const struct pair *pair, unsigned bin, struct bins *bins) {
    for (unsigned level = 0; level < LEVELS; level++) {
        bins->right[level][bin] += pair->resemblance >= levels[level];
    }
    bins->boilerplate[bin] += pair->resemblance >= 0.1 && pair->resemblance < 0.5 && pair->resemblance_of_own < 0.02;
}

/* The group that both texts belong to, or ALL_GROUPS. */
static unsigned get_group(const struct corpus *corpus, size_t a, size_t b) {
    unsigned group = corpus->texts[a].group;
    return group == corpus->texts[b].group ? group : ALL_GROUPS;
}

/* Bins for pairs of two groups go to ALL_GROUPS at once, the others when all are counted. */
static void add_up(struct bins *bins) {
    uint64_t *all = (uint64_t *)&bins[ALL_GROUPS];
    for (unsigned group = 0; group < GROUPS; group++) {
        const uint64_t *part = (const uint64_t *)&bins[group];
        for (size_t i = 0; i < sizeof *bins / sizeof *part; i++) all[i] += part[i];
    }
}

static uint64_t sum(const uint64_t *bins, unsigned first, unsigned last) {
    uint64_t total = 0;
    for (unsigned i = first; i <= last; i++) total += bins[i];
    return total;
}

static void print_pairs(const char *recipe, const char *group, const struct bins *bins, unsigned k, unsigned last) {
    uint64_t found = sum(bins->all, 0, last);
    for (unsigned level = 0; level < LEVELS; level++) {
        uint64_t right = sum(bins->right[level], 0, last), expected = sum(bins->right[level], 0, BIN_COUNT - 1);
        printf("pairs\t%s\t%s\t%.1f\t-\t-\t%u\t%llu\t%llu\t%llu\t-\t%llu\t%.4f\t%.4f\n", recipe, group, levels[level],
               k, (unsigned long long)found, (unsigned long long)right, (unsigned long long)right,
               (unsigned long long)expected, share(right, found), share(right, expected));
    }
    uint64_t wrong = sum(bins->boilerplate, 0, last), expected = sum(bins->boilerplate, 0, BIN_COUNT - 1);
    printf("boilerplate\t%s\t%s\t-\t-\t-\t%u\t%llu\t0\t0\t%llu\t%llu\t0\t%.4f\n", recipe, group, k,
           (unsigned long long)wrong, (unsigned long long)wrong, (unsigned long long)expected, share(wrong, expected));
}

static void measure_pairs(const struct corpus *corpus, const struct recipe *recipe,
                          const struct fingerprints *fingerprints) {
    static struct bins bins[GROUPS + 1];
    memset(bins, 0, sizeof bins);
    for (size_t b = 0; b < corpus->count; b++) {
        for (size_t a = 0; a < b; a++) {
            unsigned distance = get_distance(recipe, &fingerprints[a], &fingerprints[b]);
            bins[get_group(corpus, a, b)].all[distance]++;
        }
    }
    for (size_t i = 0; i < corpus->pair_count; i++) {
        const struct pair *pair = &corpus->pairs[i];
        unsigned distance = get_distance(recipe, &fingerprints[pair->a], &fingerprints[pair->b]);
        add_pair(pair, distance, &bins[get_group(corpus, pair->a, pair->b)]);
    }
    add_up(bins);
    for (unsigned group = 0; group <= ALL_GROUPS; group++) {
        for (unsigned distance = 0; distance < count_rows(recipe); distance++) {
            print_pairs(recipe->name, group_names[group], &bins[group], get_k(recipe, distance), distance);
        }
    }
}

/* Pairs that resemble each other by less than LEAST_RESEMBLANCE are left out: 128 permutations don't take them for more
 * than 0.3. */
static void measure_minhash(const struct corpus *corpus) {
    static struct bins bins[GROUPS + 1];
    uint64_t(*signatures)[MINHASH_PERMUTATIONS] = allocate(corpus->count, sizeof *signatures);
    for (size_t i = 0; i < corpus->count; i++) make_minhash(&corpus->texts[i], signatures[i]);
    for (size_t i = 0; i < corpus->pair_count; i++) {
        const struct pair *pair = &corpus->pairs[i];
        unsigned bin = MINHASH_PERMUTATIONS - count_agreeing(signatures[pair->a], signatures[pair->b]);
        struct bins *to = &bins[get_group(corpus, pair->a, pair->b)];
        to->all[bin]++;
        add_pair(pair, bin, to);
    }
    add_up(bins);
    free(signatures);
    for (unsigned group = 0; group <= ALL_GROUPS; group++) {
        for (unsigned k = MINHASH_PERMUTATIONS * 3 / 10; k <= MINHASH_PERMUTATIONS; k++) {
            print_pairs("MinHash", group_names[group], &bins[group], k, MINHASH_PERMUTATIONS - k);
        }
    }
}

/* ---- Edited copies ---- */

struct score {
    uint64_t copies;
    uint64_t hit[MOST_K + 1], found[MOST_K + 1], right[MOST_K + 1], related[MOST_K + 1]; /* at that distance */
};

typedef struct score scores[GROUPS + 1][LENGTHS + 1][EDITS + 1][RATES + 1];

static unsigned get_length_class(const struct text *text) {
    return text->word_count < 200 ? 0 : text->word_count < 1000 ? 1 : 2;
}

static void score_copy(const struct corpus *corpus, const struct recipe *recipe,
                       const struct fingerprints *fingerprints, size_t original, const struct text *copy,
                       struct score *score) {
    struct fingerprints made = get_fingerprints(recipe, copy);
    score->copies++;
    for (size_t i = 0; i < corpus->count; i++) {
        unsigned distance = get_distance(recipe, &made, &fingerprints[i]);
        if (distance > MOST_K) continue;
        double resemblance = get_resemblance(corpus->pairs, corpus->pair_count, (uint32_t)i, (uint32_t)original);
        score->found[distance]++;
        score->hit[distance] += i == original;
        score->right[distance] += resemblance >= NEAR;
        score->related[distance] += resemblance > 0 && resemblance < NEAR;
    }
}

static void add_score(struct score *to, const struct score *score) {
    to->copies += score->copies;
    for (unsigned i = 0; i <= MOST_K; i++) {
        to->hit[i] += score->hit[i];
        to->found[i] += score->found[i];
        to->right[i] += score->right[i];
        to->related[i] += score->related[i];
    }
}

/* To the sums that a copy of that group, length and edit belongs to. */
static void add_scores(scores *to, unsigned group, unsigned length, unsigned edit, unsigned rate,
                       const struct score *score) {
    const unsigned groups[] = {group, ALL_GROUPS}, lengths[] = {length, LONG};
    const unsigned edits[] = {edit, EDITS}, shares[] = {rate, FEW_EDITED};
    for (unsigned i = 0; i < 16; i++) {
        bool is_long = (i & 2) != 0, is_few = (i & 8) != 0;
        if ((is_long && length == 0) || (is_few && rates[rate] > 1)) continue;
        add_score(&(*to)[groups[i & 1]][lengths[is_long]][edits[i >> 2 & 1]][shares[is_few]], score);
    }
}

static void edit_text(const struct corpus *corpus, const struct recipe *recipe, const struct fingerprints *fingerprints,
                      size_t original, scores *to) {
    const struct text *text = &corpus->texts[original];
    for (unsigned edit = 0; edit < EDITS; edit++) {
        for (unsigned rate = 0; rate < RATES; rate++) {
            uint64_t random = mix(original * EDITS * RATES + edit * RATES + rate + 1);
            size_t words = (size_t)((double)text->word_count * rates[rate] / 100 + 0.5);
            struct text copy;
            struct score score = {0};
            /* Half a word or less can't be edited. */
            if (words == 0 || !make_copy(corpus->texts, corpus->count, original, edit, words, &random, &copy)) continue;
            score_copy(corpus, recipe, fingerprints, original, &copy, &score);
            free(copy.bytes);
            add_scores(to, text->group, get_length_class(text), edit, rate, &score);
        }
    }
}

static void print_score(const struct recipe *recipe, const char *names, const struct score *score) {
    uint64_t found = 0, hit = 0, right = 0, related = 0;
    if (score->copies == 0) return;
    for (unsigned distance = 0; distance < count_rows(recipe); distance++) {
        found += score->found[distance];
        hit += score->hit[distance];
        right += score->right[distance];
        related += score->related[distance];
        printf("edits\t%s\t%s\t%u\t%llu\t%llu\t%llu\t%llu\t%llu\t%.4f\t%.4f\n", recipe->name, names,
               get_k(recipe, distance), (unsigned long long)found, (unsigned long long)hit, (unsigned long long)right,
               (unsigned long long)related, (unsigned long long)score->copies, share(right, found),
               share(hit, score->copies));
    }
}

static void print_scores(const struct recipe *recipe, scores *all) {
    for (unsigned group = 0; group <= GROUPS; group++) {
        for (unsigned length = 0; length <= LENGTHS; length++) {
            for (unsigned edit = 0; edit <= EDITS; edit++) {
                for (unsigned rate = 0; rate <= RATES; rate++) {
                    char names[80], percentage[8] = "<=1";
                    if (rate < RATES) snprintf(percentage, sizeof percentage, "%.1f", rates[rate]);
                    snprintf(names, sizeof names, "%s\t%s\t%s\t%s", group_names[group], length_names[length],
                             edit == EDITS ? "any" : edit_names[edit], percentage);
                    print_score(recipe, names, &(*all)[group][length][edit][rate]);
                }
            }
        }
    }
}

/* Every text of a kind is edited where there are few, evenly chosen ones where there are more than TEXTS_OF_A_KIND. */
static void measure_edits(const struct corpus *corpus, const struct recipe *recipe,
                          const struct fingerprints *fingerprints) {
    size_t counts[GROUPS][LENGTHS] = {{0}}, seen[GROUPS][LENGTHS] = {{0}};
    for (size_t i = 0; i < corpus->count; i++) {
        counts[corpus->texts[i].group][get_length_class(&corpus->texts[i])]++;
    }
    scores *all = allocate(1, sizeof *all);
    for (size_t i = 0; i < corpus->count; i++) {
        enum group group = corpus->texts[i].group;
        unsigned length = get_length_class(&corpus->texts[i]);
        size_t n = seen[group][length]++, count = counts[group][length];
        size_t most = count < TEXTS_OF_A_KIND ? count : TEXTS_OF_A_KIND;
        if (n * most / count != (n + 1) * most / count) edit_text(corpus, recipe, fingerprints, i, all);
    }
    print_scores(recipe, all);
    free(all);
}

/* ---- Recipes ---- */

static void measure_recipe(const struct corpus *corpus, const char *name) {
    struct recipe recipe = open_recipe(name, corpus->texts, corpus->count);
    struct fingerprints *fingerprints = allocate(corpus->count, sizeof *fingerprints);
    for (size_t i = 0; i < corpus->count; i++) fingerprints[i] = get_fingerprints(&recipe, &corpus->texts[i]);
    measure_pairs(corpus, &recipe, fingerprints);
    measure_edits(corpus, &recipe, fingerprints);
    fflush(stdout);
    free(fingerprints);
    close_recipe(&recipe);
}

int main(int argc, char **argv) {
    if (argc < 2 || argv[1][0] == '-') {
        fputs(help, argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    struct corpus corpus = read_corpus(argv[1]);
    fprintf(stderr, "%zu documents, %zu pairs that resemble each other by 0.05 or more\n", corpus.count,
            corpus.pair_count);
    puts("test\trecipe\tlanguage\tclass\tedit\trate\tk\tfound\thit\tright\trelated\texpected\tprecision\trecall");
    if (argc == 2) measure_recipe(&corpus, IDX_TEXT_DEFAULT_RECIPE);
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "MinHash") == 0) {
            measure_minhash(&corpus);
        } else {
            measure_recipe(&corpus, argv[i]);
        }
    }
    return 0; /* the texts are freed by the end of the process */
}
