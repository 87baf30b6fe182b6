/* texts.c: reads the documents, cuts them into words, hashes their shingles. */
#include "bench/texts.h"

#include <stdio.h>
#include <string.h>

/* ---- Words ---- */

/* The code point at *position, which moves behind it. The texts are well-formed UTF-8: Python wrote them. */
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

/* FNV-1a over ASCII lower case. */
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

static struct text *add_text(struct text **texts, size_t *count) {
    if (*count % 1024 == 0) *texts = realloc(*texts, (*count + 1024) * sizeof **texts);
    if (*texts == NULL) die("out of memory");
    return &(*texts)[(*count)++];
}

/* The documents that a manifest names. */
static size_t read_folder(const char *folder, struct text **texts) {
    char path[4096], line[4096], name[16];
    snprintf(path, sizeof path, "%s/manifest.tsv", folder);
    FILE *manifest = fopen(path, "r");
    if (manifest == NULL) die("can't read %s", path);
    size_t count = 0;
    while (fgets(line, sizeof line, manifest) != NULL) {
        struct text *text = add_text(texts, &count);
        if (sscanf(line, "%15s %7s", name, text->language) != 2) die("%s: line %zu isn't a document's", path, count);
        text->number = strtoul(name, NULL, 10);
        text->group = strcmp(text->language, "en") == 0 ? ENGLISH : text->language[0] == 'z' ? CHINESE : OTHER;
        char file[4200];
        snprintf(file, sizeof file, "%s/%s.txt", folder, name);
        read_bytes(file, text);
    }
    fclose(manifest);
    return count;
}

/* Paragraphs: a number, a tab and the text on each line. */
static size_t read_lines(FILE *file, struct text **texts) {
    char *line = NULL;
    size_t capacity = 0, count = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, file)) > 0) {
        char *tab = memchr(line, '\t', (size_t)length);
        if (tab == NULL) die("line %zu has no tab", count + 1);
        struct text *text = add_text(texts, &count);
        *text = (struct text){
            .number = strtoul(line, NULL, 10), .length = (size_t)(line + length - tab) - 1, .group = OTHER};
        text->bytes = allocate(text->length, 1);
        memcpy(text->bytes, tab + 1, text->length);
    }
    free(line);
    return count;
}

size_t read_texts(const char *path, struct text **texts) {
    FILE *file = fopen(path, "r");
    int first = file == NULL ? EOF : getc(file); /* of a folder nothing can be read */
    if (first != EOF) ungetc(first, file);
    *texts = NULL;
    size_t count = first != EOF ? read_lines(file, texts) : read_folder(path, texts);
    if (file != NULL) fclose(file);
    for (size_t i = 0; i < count; i++) {
        find_words(&(*texts)[i]);
        find_shingles(&(*texts)[i]);
    }
    return count;
}
