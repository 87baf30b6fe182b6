/* model.c: every recipe against a second, naive way to its fingerprints: random ASCII texts, whose words are known
 * without segmentation, lists instead of hash tables, all of a document's features in memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"
#include "tests/text/testing.h"

static uint64_t random_state = 1;

static size_t below(size_t limit) { return (size_t)(next_random(&random_state) % limit); }

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

static const char *const vocabulary[] = {"the",   "of",    "and",  "fingerprint", "index", "b",     "near", "duplicate",
                                         "block", "key",   "mask", "radius",      "probe", "sort",  "is",   "hash",
                                         "x1",    "don't", "über", "la",          "de",    "codec", "bit",  "a"};
enum { VOCABULARY = sizeof vocabulary / sizeof *vocabulary, ENGLISH = 1, FRENCH = 2 };

/* Which stop lists hold a word of the vocabulary. */
static unsigned stop_languages(const char *word) {
    static const struct {
        const char *word;
        unsigned languages;
    } known[] = {{"the", ENGLISH},   {"of", ENGLISH}, {"and", ENGLISH}, {"is", ENGLISH},
                 {"don't", ENGLISH}, {"a", ENGLISH},  {"la", FRENCH},   {"de", FRENCH}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].word, word) == 0) return known[i].languages;
    }
    return 0;
}

struct list {
    char **items;
    size_t count;
};

static void append(struct list *list, const char *bytes, size_t length) {
    list->items = realloc(list->items, (list->count + 1) * sizeof *list->items);
    assert_non_null(list->items);
    char *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    list->items[list->count++] = copy;
}

static void empty(struct list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i]);
    free(list->items);
    *list = (struct list){0};
}

/* A text as it is given, and what the recipes see of it. */
struct source {
    char *given;
    size_t length;
    struct list words;
    char *folded;
};

static struct source random_source(size_t words) {
    static const char *const separators[] = {" ", "\n", ", ", "  \t", "\r\n", ". ", " - "};
    struct source source = {calloc(words + 1, 16), 0, {0}, calloc(words + 1, 16)};
    assert_non_null(source.given);
    assert_non_null(source.folded);
    for (size_t i = 0; i < words; i++) {
        const char *word = vocabulary[below(below(VOCABULARY) + 1)];
        const char *separator = separators[below(sizeof separators / sizeof *separators)];
        append(&source.words, word, strlen(word));
        char *at = source.given + source.length;
        source.length += (size_t)sprintf(at, "%s%s", word, separator);
        if (below(4) == 0 && *at >= 'a' && *at <= 'z') *at = (char)(*at - 32);
        strcat(source.folded, word);
        for (const char *c = separator; *c != '\0'; c++) {
            size_t length = strlen(source.folded);
            bool space = strchr(" \t\r\n", *c) != NULL;
            if (!space || source.folded[length - 1] != ' ') source.folded[length] = space ? ' ' : *c;
        }
    }
    size_t length = strlen(source.folded);
    if (length > 0 && source.folded[length - 1] == ' ') source.folded[length - 1] = '\0';
    return source;
}

static void free_source(struct source *source) {
    free(source->given);
    free(source->folded);
    empty(&source->words);
}

/* ---- The model --------------------------------------------------------------------------------------------------- */

struct model {
    char method; /* of words, chars, segments, terms, idf: the first letter */
    size_t number;
    unsigned needed, dropped; /* stop languages */
    const char *weighing;
    size_t top, title;
    bool sorted;
};

/* All features of a text, in order, as often as they occur. */
static struct list features_of(const struct model *model, const struct source *source) {
    struct list features = {0}, kept = {0};
    for (size_t i = 0; i < source->words.count; i++) {
        const char *word = source->words.items[i];
        if ((stop_languages(word) & model->dropped) == 0) append(&kept, word, strlen(word));
    }
    size_t number = model->method == 'w' || model->method == 'c' ? model->number : 1;
    if (model->method == 'c') {
        empty(&kept);
        for (const char *at = source->folded, *end; *at != '\0'; at = end) {
            for (end = at + 1; ((unsigned char)*end & 0xC0) == 0x80;) end++;
            append(&kept, at, (size_t)(end - at));
        }
    }
    if (kept.count < number) number = kept.count;
    for (size_t i = 0; number > 0 && i + number <= kept.count; i++) {
        char joined[1024] = "";
        bool needed = model->needed == 0;
        for (size_t j = 0; j < number; j++) {
            if (j > 0 && model->method != 'c') strcat(joined, " ");
            strcat(joined, kept.items[i + j]);
            if ((stop_languages(kept.items[i + j]) & model->needed) != 0) needed = true;
        }
        if (needed) append(&features, joined, strlen(joined));
    }
    empty(&kept);
    return features;
}

static size_t count_of(const struct list *list, const char *item, size_t start, size_t end) {
    size_t count = 0;
    for (size_t i = start; i < end; i++) count += strcmp(list->items[i], item) == 0;
    return count;
}

/* A corpus of document frequencies, by lists. */
enum { CORPUS = 12 };
static struct list corpus[CORPUS];

static int64_t logarithm(uint64_t value) { return (int64_t)floorl(log2l((long double)value) * 65536); }

static int64_t weight_of(const struct model *model, const char *feature, size_t count) {
    if (count == 0) return 0;
    uint64_t documents = 0;
    for (size_t i = 0; i < CORPUS; i++) documents += count_of(&corpus[i], feature, 0, corpus[i].count) > 0;
    int64_t idf = logarithm(CORPUS + 1) - logarithm(documents + 1);
    if (strcmp(model->weighing, "1") == 0) return 65536;
    if (strcmp(model->weighing, "tf") == 0) return (int64_t)count * 65536;
    if (strcmp(model->weighing, "tfidf") == 0) return (int64_t)count * idf;
    if (strcmp(model->weighing, "idf") == 0) return idf;
    return 65536 + logarithm(count);
}

static uint64_t hash_of(const char *bytes) {
    struct idx_simhash simhash;
    idx_simhash_init(&simhash);
    idx_simhash_add(&simhash, bytes, strlen(bytes), 1);
    return idx_simhash_finish(&simhash, 64);
}

struct weighed {
    const char *feature;
    int64_t weight;
};

static bool is_heavier(struct weighed a, struct weighed b) {
    return a.weight != b.weight ? a.weight > b.weight : hash_of(a.feature) < hash_of(b.feature);
}

/* The distinct features, the heaviest first, by insertion. */
static size_t weigh(const struct model *model, const struct list *body, size_t start, size_t end,
                    const struct list *title, struct weighed *weighed) {
    size_t count = 0;
    for (size_t i = start; i < end + title->count; i++) {
        const char *feature = i < end ? body->items[i] : title->items[i - end];
        bool known = false;
        for (size_t j = 0; j < count; j++) known = known || strcmp(weighed[j].feature, feature) == 0;
        if (known) continue;
        struct weighed entry = {feature, weight_of(model, feature, count_of(body, feature, start, end)) +
                                             (int64_t)model->title *
                                                 weight_of(model, feature, count_of(title, feature, 0, title->count))};
        size_t place = count++;
        for (; place > 0 && is_heavier(entry, weighed[place - 1]); place--) weighed[place] = weighed[place - 1];
        weighed[place] = entry;
    }
    return count;
}

static uint64_t simhash_of(const struct weighed *weighed, size_t count) {
    uint64_t fingerprint = 0;
    for (unsigned bit = 0; bit < 64; bit++) {
        int64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum += (hash_of(weighed[i].feature) >> bit & 1) != 0 ? weighed[i].weight : -weighed[i].weight;
        }
        if (sum > 0) fingerprint |= UINT64_C(1) << bit;
    }
    return fingerprint;
}

static int compare_features(const void *a, const void *b) {
    return strcmp(((const struct weighed *)a)->feature, ((const struct weighed *)b)->feature);
}

struct expected {
    uint64_t fingerprints[IDX_TEXT_MAX_FINGERPRINTS];
    size_t count;
    struct idx_text_counts counts;
    char *signature;
};

static void expect_signature(const struct model *model, struct weighed *weighed, size_t count,
                             struct expected *expected) {
    size_t kept = model->method == 'i' ? (count * model->number + 99) / 100 : model->number;
    if (kept > count) kept = count;
    for (size_t i = 0; i < kept; i++) expected->counts.weight += weighed[i].weight;
    if (model->sorted) qsort(weighed, kept, sizeof *weighed, compare_features);
    expected->signature = calloc(kept + 1, 16);
    for (size_t i = 0; i < kept; i++) {
        if (i > 0) strcat(expected->signature, "\n");
        strcat(expected->signature, weighed[i].feature);
    }
    expected->fingerprints[expected->count++] = kept == 0 ? 0 : hash_of(expected->signature);
}

static void expect(const struct model *model, const struct source *body, const struct source *title,
                   struct expected *expected) {
    struct list features = features_of(model, body), titles = {0};
    if (model->title > 0) titles = features_of(model, title);
    struct weighed *weighed = calloc(features.count + titles.count + 1, sizeof *weighed);
    assert_non_null(weighed);
    *expected = (struct expected){0};
    size_t count = weigh(model, &features, 0, features.count, &titles, weighed);
    expected->counts.features = count;
    if (model->method == 's') {
        /* Word by word to its part, then part by part. */
        for (size_t part = 0, start = 0, end; part < model->number; part++, start = end) {
            for (end = start; end < features.count && end * model->number / features.count == part;) end++;
            if (end == start) continue;
            count = weigh(model, &features, start, end, &titles, weighed);
            for (size_t i = 0; i < count; i++) expected->counts.weight += weighed[i].weight;
            expected->fingerprints[expected->count++] = simhash_of(weighed, count);
        }
    } else if (model->method == 'w' || model->method == 'c') {
        if (model->top > 0 && model->top < count) count = model->top;
        for (size_t i = 0; i < count; i++) expected->counts.weight += weighed[i].weight;
        expected->fingerprints[expected->count++] = simhash_of(weighed, count);
    } else {
        expect_signature(model, weighed, count, expected);
    }
    free(weighed);
    empty(&features);
    empty(&titles);
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

/* The corpus of a recipe's features: the model's lists, and a table. */
static struct idx_text_table *train(const struct model *model, const struct idx_text_options *options) {
    struct idx_text *text;
    struct idx_text_table *table;
    assert_int_equal(idx_text_open(&text, options, NULL), IDX_OK);
    assert_int_equal(idx_text_table_open(&table, text, NULL), IDX_OK);
    for (size_t i = 0; i < CORPUS; i++) {
        struct source source = random_source(i * 3);
        struct idx_text_field body = {NULL, source.given, source.length};
        empty(&corpus[i]);
        corpus[i] = features_of(model, &source);
        assert_int_equal(idx_text_table_add(table, text, &body, 1, NULL), IDX_OK);
        free_source(&source);
    }
    idx_text_close(text);
    return table;
}

static void compare(const char *recipe, const struct model *model, struct idx_text *text, size_t words) {
    struct source body = random_source(words), title = random_source(below(9));
    struct expected expected;
    expect(model, &body, &title, &expected);
    struct idx_text_field fields[] = {{"title", title.given, title.length}, {"body", body.given, body.length}};
    uint64_t fingerprints[IDX_TEXT_MAX_FINGERPRINTS];
    size_t count, length;
    struct idx_text_counts counts;
    struct idx_error error;
    if (idx_text_fingerprints(text, fields, 2, 64, fingerprints, IDX_TEXT_MAX_FINGERPRINTS, &count, &counts, &error) !=
        IDX_OK)
        fail_msg("%s", error.sentence);
    if (count != expected.count || memcmp(fingerprints, expected.fingerprints, count * sizeof *fingerprints) != 0 ||
        counts.features != expected.counts.features || counts.weight != expected.counts.weight)
        fail_msg("%s: %zu words differ: %s", recipe, words, body.given);
    const char *signature = idx_text_signature(text, &length);
    if (expected.signature == NULL) {
        assert_null(signature);
    } else {
        assert_int_equal(length, strlen(expected.signature));
        assert_memory_equal(signature, expected.signature, length);
    }
    free(expected.signature);
    free_source(&body);
    free_source(&title);
}

static const struct {
    const char *recipe;
    struct model model;
    const char *trained; /* a recipe of the same features, for the table */
} cases[] = {
    {"words:1", {'w', 1, 0, 0, "logtf", 0, 0, false}, NULL},
    {"words:1;w=1;stop=en", {'w', 1, 0, ENGLISH, "1", 0, 0, false}, NULL},
    {"words:1,stop=fr", {'w', 1, FRENCH, 0, "logtf", 0, 0, false}, NULL},
    {"words:2;w=tf", {'w', 2, 0, 0, "tf", 0, 0, false}, NULL},
    {"words:3,stop=en+fr", {'w', 3, ENGLISH | FRENCH, 0, "logtf", 0, 0, false}, NULL},
    {"words:3,stop=en;stop=fr;w=1", {'w', 3, ENGLISH, FRENCH, "1", 0, 0, false}, NULL},
    {"words:8;top=20", {'w', 8, 0, 0, "logtf", 20, 0, false}, NULL},
    {"words:1;top=5;w=tf", {'w', 1, 0, 0, "tf", 5, 0, false}, NULL},
    {"words:1;title=7", {'w', 1, 0, 0, "logtf", 0, 7, false}, NULL},
    {"words:2;title=100;top=9;w=tf", {'w', 2, 0, 0, "tf", 9, 100, false}, NULL},
    {"words:1;w=tfidf", {'w', 1, 0, 0, "tfidf", 0, 0, false}, "words:1"},
    {"words:2;w=tfidf;title=2;stop=en;top=30", {'w', 2, 0, ENGLISH, "tfidf", 30, 2, false}, "words:2;stop=en"},
    {"words:1;w=idf", {'w', 1, 0, 0, "idf", 0, 0, false}, "words:1;w=1"},
    {"chars:1", {'c', 1, 0, 0, "logtf", 0, 0, false}, NULL},
    {"chars:4", {'c', 4, 0, 0, "logtf", 0, 0, false}, NULL},
    {"chars:32;w=tf;title=3", {'c', 32, 0, 0, "tf", 0, 3, false}, NULL},
    {"chars:3;w=tfidf;top=10", {'c', 3, 0, 0, "tfidf", 10, 0, false}, "chars:3"},
    {"segments:1", {'s', 1, 0, 0, "logtf", 0, 0, false}, NULL},
    {"segments:7;stop=en", {'s', 7, 0, ENGLISH, "logtf", 0, 0, false}, NULL},
    {"segments:64;w=tfidf", {'s', 64, 0, 0, "tfidf", 0, 0, false}, "segments:5"},
    {"terms:5", {'t', 5, 0, 0, "logtf", 0, 0, false}, NULL},
    {"terms:5;order=sorted;stop=fr", {'t', 5, 0, FRENCH, "logtf", 0, 0, true}, NULL},
    {"terms:1000;w=tfidf;title=5", {'t', 1000, 0, 0, "tfidf", 0, 5, false}, "words:1"},
    {"idf:70", {'i', 70, 0, 0, "idf", 0, 0, false}, "words:1"},
    {"idf:1;stop=en", {'i', 1, 0, ENGLISH, "idf", 0, 0, false}, "terms:3;stop=en"},
};

static void test_every_recipe(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
        struct idx_text *text;
        struct idx_text_table *table = NULL;
        struct idx_error error;
        if (strstr(cases[i].recipe, "idf") != NULL) {
            options.recipe = cases[i].trained;
            table = train(&cases[i].model, &options);
        }
        options.recipe = cases[i].recipe;
        options.table = table;
        if (idx_text_open(&text, &options, &error) != IDX_OK) fail_msg("%s", error.sentence);
        for (size_t words = 0; words < 40; words++) compare(cases[i].recipe, &cases[i].model, text, words);
        for (int round = 0; round < 20; round++) compare(cases[i].recipe, &cases[i].model, text, below(300));
        idx_text_close(text);
        idx_text_table_close(table);
    }
    for (size_t i = 0; i < CORPUS; i++) empty(&corpus[i]);
}

/* Shingles and n-grams reach over the ends of pieces, which are 32 KiB and a line. */
static void test_long_texts(void **state) {
    (void)state;
    static const size_t which[] = {4, 14, 18, 21};
    for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
        struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
        struct idx_text *text;
        options.recipe = cases[which[i]].recipe;
        assert_int_equal(idx_text_open(&text, &options, NULL), IDX_OK);
        compare(options.recipe, &cases[which[i]].model, text, 6000);
        idx_text_close(text);
    }
}

/* Random projection (Charikar): the sign of the document's vector of weights times a matrix of random ±1, whose entry
 * for a term and a bit is that bit of the term's hash. */
static void test_random_projection(void **state) {
    (void)state;
    const struct model model = {'w', 1, 0, 0, "tf", 0, 0, false};
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text *text;
    options.recipe = "words:1;w=tf";
    assert_int_equal(idx_text_open(&text, &options, NULL), IDX_OK);
    for (int round = 0; round < 100; round++) {
        struct source source = random_source(200);
        struct list words = features_of(&model, &source);
        uint64_t fingerprint, projected = 0;
        for (unsigned bit = 0; bit < 64; bit++) {
            double product = 0;
            for (size_t i = 0; i < VOCABULARY; i++) {
                double weight = (double)count_of(&words, vocabulary[i], 0, words.count);
                product += weight * ((hash_of(vocabulary[i]) >> bit & 1) != 0 ? 1.0 : -1.0);
            }
            if (product > 0) projected |= UINT64_C(1) << bit;
        }
        assert_int_equal(idx_text_fingerprint(text, source.given, source.length, 64, &fingerprint, NULL, NULL), IDX_OK);
        assert_true(fingerprint == projected);
        empty(&words);
        free_source(&source);
    }
    idx_text_close(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_recipe),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_random_projection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
