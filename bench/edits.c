/* edits.c: edits documents word by word; what stands between the words stays. */
#include "bench/quality.h"

#include <string.h>

#define LEAST_MOVED 10

const char *const edit_names[EDITS] = {"replace", "delete", "insert", "move", "banner"};

static void append(struct text *copy, const char *bytes, size_t length) {
    copy->bytes = realloc(copy->bytes, copy->length + length + 1);
    if (copy->bytes == NULL) die("out of memory");
    memcpy(copy->bytes + copy->length, bytes, length);
    copy->length += length;
}

/* The bytes of words first to end - 1, each with what stands behind it. */
static void append_words(struct text *copy, const struct text *text, size_t first, size_t end) {
    if (first >= end) return;
    size_t start = text->words[first].start;
    size_t stop = end < text->word_count ? text->words[end].start : text->length;
    append(copy, text->bytes + start, stop - start);
}

static void append_word(struct text *copy, const struct text *text, size_t word) {
    append(copy, text->bytes + text->words[word].start, text->words[word].length);
}

static bool is_other(const struct text *texts, size_t i, size_t original) {
    return i != original && strcmp(texts[i].language, texts[original].language) == 0;
}

static bool has_other(const struct text *texts, size_t count, size_t original) {
    size_t i = 0;
    while (i < count && !is_other(texts, i, original)) i++;
    return i < count;
}

static const struct text *choose_text(const struct text *texts, size_t count, size_t original, uint64_t *random) {
    size_t i;
    do {
        i = next_random(random) % count;
    } while (!is_other(texts, i, original));
    return &texts[i];
}

static void append_other_word(struct text *copy, const struct text *texts, size_t count, size_t original,
                              uint64_t *random) {
    const struct text *other = choose_text(texts, count, original, random);
    append_word(copy, other, next_random(random) % other->word_count);
}

/* REPLACE, DELETE, INSERT: walks through the words; each is edited with such a chance that exactly `words` are. */
static void edit_words(const struct text *texts, size_t count, size_t original, enum edit edit, size_t words,
                       uint64_t *random, struct text *copy) {
    const struct text *text = &texts[original];
    append(copy, text->bytes, text->words[0].start);
    for (size_t i = 0; i < text->word_count; i++) {
        if (next_random(random) % (text->word_count - i) >= words) {
            append_words(copy, text, i, i + 1);
            continue;
        }
        words--;
        if (edit != DELETE) append_other_word(copy, texts, count, original, random);
        if (edit == INSERT) {
            append(copy, " ", 1);
            append_words(copy, text, i, i + 1);
        } else {
            size_t end = text->words[i].start + text->words[i].length;
            append(copy, text->bytes + end, (i + 1 < text->word_count ? text->words[i + 1].start : text->length) - end);
        }
    }
}

/* Whether a sentence or paragraph ends before word i. */
static bool begins_sentence(const struct text *text, size_t i) {
    if (i == 0) return true;
    size_t start = text->words[i - 1].start + text->words[i - 1].length;
    bool line_ended = false;
    for (size_t j = start; j < text->words[i].start; j++) {
        char c = text->bytes[j];
        if (c == '\n' && line_ended) return true;
        if (c != ' ') line_ended = c == '\n';
        if (strchr(".!?", c) != NULL && strchr(" \n", text->bytes[j + 1]) != NULL) return true;
        if (memcmp(text->bytes + j, "\xE3\x80\x82", 3) == 0) return true; /* U+3002 */
    }
    return false;
}

/* The first beginning of a sentence at or after word i. */
static size_t find_sentence(const struct text *text, size_t i) {
    while (i < text->word_count && !begins_sentence(text, i)) i++;
    return i;
}

static bool move(const struct text *text, size_t words, uint64_t *random, struct text *copy) {
    if (words < LEAST_MOVED || words >= text->word_count) return false;
    size_t first = find_sentence(text, next_random(random) % text->word_count);
    size_t end = find_sentence(text, first + words);
    size_t to = find_sentence(text, next_random(random) % text->word_count);
    if (first >= text->word_count || end - first > words + words / 2 + LEAST_MOVED) return false;
    if (to >= first && to <= end) return false;
    append(copy, text->bytes, text->words[0].start);
    append_words(copy, text, 0, to < first ? to : first);
    if (to < first) append_words(copy, text, first, end);
    append_words(copy, text, to < first ? to : end, to < first ? first : to);
    if (to > first) append_words(copy, text, first, end);
    append_words(copy, text, to < first ? end : to, text->word_count);
    return true;
}

static void add_banner(const struct text *texts, size_t count, size_t original, size_t words, uint64_t *random,
                       struct text *copy) {
    static char date[] = "Updated 14 May 2024 ";
    struct text stamp = {.bytes = date, .length = sizeof date - 1};
    find_words(&stamp);
    size_t of_date = words < stamp.word_count ? words : stamp.word_count;
    append_words(copy, &stamp, 0, of_date);
    free(stamp.words);
    for (words -= of_date; words > 0;) {
        const struct text *other = choose_text(texts, count, original, random);
        size_t first = next_random(random) % other->word_count, rest = other->word_count - first;
        size_t taken = words < rest ? words : rest;
        append_words(copy, other, first, first + taken);
        append(copy, " ", 1);
        words -= taken;
    }
    append(copy, "\n", 1);
    append(copy, texts[original].bytes, texts[original].length);
}

bool make_copy(const struct text *texts, size_t count, size_t original, enum edit edit, size_t words, uint64_t *random,
               struct text *copy) {
    *copy = (struct text){.bytes = NULL, .length = 0};
    if (!has_other(texts, count, original)) return false;
    if (edit == BANNER) {
        add_banner(texts, count, original, words, random, copy);
    } else if (edit != MOVE) {
        edit_words(texts, count, original, edit, words, random, copy);
    } else if (!move(&texts[original], words, random, copy)) {
        return false;
    }
    return true;
}
