/* texts.c: reads the documents, cuts them into words, hashes their shingles, and counts those that each two share. */
#include "bench/texts.h"

#include <stdio.h>
#include <string.h>

#define SHINGLE_WORDS 5

/* ---- Words ---- */

/* Returns the code point at *position, and moves *position behind it. The texts are well-formed UTF-8, since Python
 * wrote them. */
static uint32_t next_code_point(const struct text *text, size_t *position) {
    unsigned char lead = (unsigned char)text->bytes[(*position)++];
    unsigned more = lead < 0xC0 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    uint32_t code_point = more == 0 ? lead : lead & (0x3Fu >> more);
    while (more-- > 0 && *position < text->length) {
        code_point = code_point << 6 | ((unsigned char)text->bytes[(*position)++] & 0x3Fu);
    }
    return code_point;
}

static bool is_between(uint32_t c, uint32_t first, uint32_t last) { return first <= c && c <= last; }

static bool is_ideograph(uint32_t c) {
    return is_between(c, 0x3040, 0x30FF) || is_between(c, 0x3400, 0x9FFF) || is_between(c, 0xF900, 0xFAFF) ||
           is_between(c, 0x20000, 0x3FFFF);
}

static bool is_letter(uint32_t c) {
    if (c < 0x80) return is_between(c | 0x20, 'a', 'z') || is_between(c, '0', '9');
    if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
    return c != 0xD7 && c != 0xF7 && !is_between(c, 0x2000, 0x2BFF) && !is_between(c, 0x3000, 0x303F) &&
           !is_between(c, 0xE000, 0xF8FF) && !is_between(c, 0xFE10, 0xFE6F) && !is_between(c, 0xFF00, 0xFF0F) &&
           !is_between(c, 0xFF1A, 0xFF20) && !is_between(c, 0xFF3B, 0xFF40) && !is_between(c, 0xFF5B, 0xFF65);
}

void find_words(struct text *text) {
    text->words = allocate(text->length, sizeof *text->words);
    text->word_count = 0;
    bool inside = false;
    for (size_t position = 0; position < text->length;) {
        size_t start = position;
        uint32_t c = next_code_point(text, &position);
        bool ideograph = is_ideograph(c), letter = ideograph || is_letter(c);
        if (letter && (ideograph || !inside)) text->words[text->word_count++] = (struct word){(uint32_t)start, 0};
        if (letter) {
            struct word *word = &text->words[text->word_count - 1];
            word->length = (uint32_t)position - word->start;
        }
        inside = letter && !ideograph;
    }
}

/* ---- Shingles ---- */

/* Computes FNV-1a of the word in ASCII lower case. */
static uint64_t hash_word(const struct text *text, size_t i) {
    uint64_t hash = 0xcbf29ce484222325;
    for (uint32_t j = 0; j < text->words[i].length; j++) {
        unsigned char c = (unsigned char)text->bytes[text->words[i].start + j];
        hash = (hash ^ (c >= 'A' && c <= 'Z' ? c | 0x20u : c)) * 0x100000001b3;
    }
    return mix(hash);
}

static void find_shingles(struct text *text) {
    size_t count = text->word_count < SHINGLE_WORDS ? 0 : text->word_count - SHINGLE_WORDS + 1;
    text->shingles = allocate(count, sizeof *text->shingles);
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = 0;
        for (size_t j = 0; j < SHINGLE_WORDS; j++) hash = mix(hash * 31 + hash_word(text, i + j));
        text->shingles[i] = hash;
    }
    sort_numbers(text->shingles, count);
    text->shingle_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || text->shingles[i] != text->shingles[i - 1]) {
            text->shingles[text->shingle_count++] = text->shingles[i];
        }
    }
}

/* ---- Files ---- */

static void read_bytes(const char *path, struct text *text) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) die("can't read %s", path);
    text->length = (size_t)ftell(file);
    rewind(file);
    text->bytes = malloc(text->length + 1);
    if (text->bytes == NULL || fread(text->bytes, 1, text->length, file) != text->length) die("can't read %s", path);
    fclose(file);
}

const char *const group_names[GROUPS] = {"en", "zh", "ja", "ko", "vi", "km", "mixed", "other"};

static enum group find_group(const char *language) {
    int group = 0;
    while (group < OTHER && strncmp(language, group_names[group], strlen(group_names[group])) != 0) group++;
    return (enum group)group;
}

/* Reads the documents that a manifest names. */
static struct corpus read_texts(const char *folder) {
    char path[4096], line[4096], name[16];
    struct corpus corpus = {NULL, 0, NULL};
    snprintf(path, sizeof path, "%s/manifest.tsv", folder);
    FILE *manifest = fopen(path, "r");
    if (manifest == NULL) die("can't read %s", path);
    while (fgets(line, sizeof line, manifest) != NULL) {
        corpus.texts = realloc(corpus.texts, (corpus.count + 1) * sizeof *corpus.texts);
        if (corpus.texts == NULL) die("out of memory");
        struct text *text = &corpus.texts[corpus.count++];
        if (sscanf(line, "%15s %7s", name, text->language) != 2)
            die("%s: line %zu is not a document's", path, corpus.count);
        text->group = find_group(text->language);
        char file[4200];
        snprintf(file, sizeof file, "%s/%s.txt", folder, name);
        read_bytes(file, text);
        find_words(text);
        find_shingles(text);
    }
    fclose(manifest);
    return corpus;
}

/* ---- Resemblance ---- */

/* This is a shingle and the number of a text that has it. */
struct posting {
    uint64_t shingle;
    uint32_t text;
};

static int compare_postings(const void *a, const void *b) {
    const struct posting *x = a, *y = b;
    if (x->shingle != y->shingle) return x->shingle < y->shingle ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

static size_t get_place(size_t a, size_t b) { return b * (b - 1) / 2 + a; }

/* Goes through all shingles in ascending order, since each is shared by all pairs of the texts that have it. */
static void count_shared(struct corpus *corpus) {
    size_t count = 0, end = 0;
    for (size_t i = 0; i < corpus->count; i++) count += corpus->texts[i].shingle_count;
    struct posting *postings = allocate(count, sizeof *postings);
    for (uint32_t i = 0; i < corpus->count; i++) {
        for (size_t j = 0; j < corpus->texts[i].shingle_count; j++)
            postings[end++] = (struct posting){corpus->texts[i].shingles[j], i};
    }
    qsort(postings, count, sizeof *postings, compare_postings);
    corpus->shared = allocate(corpus->count * corpus->count / 2, sizeof *corpus->shared);
    for (size_t first = 0, b = 0; b < count; b++) {
        if (postings[first].shingle != postings[b].shingle) first = b;
        for (size_t a = first; a < b; a++) corpus->shared[get_place(postings[a].text, postings[b].text)]++;
    }
    free(postings);
}

double get_resemblance(const struct corpus *corpus, size_t a, size_t b) {
    if (a == b) return 1;
    if (a > b) return get_resemblance(corpus, b, a);
    double shared = corpus->shared[get_place(a, b)];
    double all = (double)(corpus->texts[a].shingle_count + corpus->texts[b].shingle_count) - shared;
    return all > 0 ? shared / all : 0;
}

struct corpus read_corpus(const char *folder) {
    struct corpus corpus = read_texts(folder);
    count_shared(&corpus);
    return corpus;
}

/* ---- MinHash (Broder 1997): a mixer with a constant of its own for each permutation ---- */

void make_minhash(const struct text *text, uint64_t signature[MINHASH_PERMUTATIONS]) {
    uint64_t state = 1;
    for (unsigned i = 0; i < MINHASH_PERMUTATIONS; i++) {
        uint64_t constant = next_random(&state);
        signature[i] = UINT64_MAX;
        for (size_t j = 0; j < text->shingle_count; j++) {
            uint64_t hash = mix(text->shingles[j] ^ constant);
            if (hash < signature[i]) signature[i] = hash;
        }
    }
}
