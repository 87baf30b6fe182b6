/* edits.c: edits documents word by word, and keeps what is between the words. */
#include "bench/texts.h"

#include <string.h>

#define LEAST_MOVED 10

static void append(struct text *copy, const char *bytes, size_t length) {
    copy->bytes = realloc(copy->bytes, copy->length + length + 1);
    if (copy->bytes == NULL) die("out of memory");
    memcpy(copy->bytes + copy->length, bytes, length);
    copy->length += length;
}

/* Appends the bytes of words first to end - 1, each with what follows it. */
static void append_words(struct text *copy, const struct text *text, size_t first, size_t end) {
    if (first >= end) return;
    size_t start = text->words[first].start;
    size_t stop = end < text->word_count ? text->words[end].start : text->length;
    append(copy, text->bytes + start, stop - start);
}

static void append_word(struct text *copy, const struct text *text, size_t word) {
    append(copy, text->bytes + text->words[word].start, text->words[word].length);
}

static bool is_other(const struct corpus *corpus, size_t i, size_t original) {
    return i != original && strcmp(corpus->texts[i].language, corpus->texts[original].language) == 0;
}

static bool has_other(const struct corpus *corpus, size_t original) {
    size_t i = 0;
    while (i < corpus->count && !is_other(corpus, i, original)) i++;
    return i < corpus->count;
}

/* Chooses another text of the same language. There must be one. */
static const struct text *choose_other(const struct corpus *corpus, size_t original, uint64_t *random) {
    size_t i;
    do {
        i = next_random(random) % corpus->count;
    } while (!is_other(corpus, i, original));
    return &corpus->texts[i];
}

static void append_other_word(struct text *copy, const struct corpus *corpus, size_t original, uint64_t *random) {
    const struct text *other = choose_other(corpus, original, random);
    append_word(copy, other, next_random(random) % other->word_count);
}

/* Does REPLACE, DELETE and INSERT: each word is edited with such a chance that exactly `words` are. */
static void edit_words(const struct corpus *corpus, size_t original, enum edit edit, size_t words, uint64_t *random,
                       struct text *copy) {
    const struct text *text = &corpus->texts[original];
    append(copy, text->bytes, text->words[0].start);
    for (size_t i = 0; i < text->word_count; i++) {
        if (next_random(random) % (text->word_count - i) >= words) {
            append_words(copy, text, i, i + 1);
            continue;
        }
        words--;
        if (edit != DELETE) append_other_word(copy, corpus, original, random);
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
        if (memcmp(text->bytes + j, "\xE3\x80\x82", 3) == 0) return true; /* U+3002, a full stop */
    }
    return false;
}

/* Finds the first word at or after word i that begins a sentence. */
static size_t find_sentence(const struct text *text, size_t i) {
    while (i < text->word_count && !begins_sentence(text, i)) i++;
    return i;
}

static bool move_sentences(const struct text *text, size_t words, uint64_t *random, struct text *copy) {
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

static void add_banner(const struct corpus *corpus, size_t original, size_t words, uint64_t *random,
                       struct text *copy) {
    static char date[] = "Updated 14 May 2024 ";
    struct text stamp = {.bytes = date, .length = sizeof date - 1};
    find_words(&stamp);
    size_t of_date = words < stamp.word_count ? words : stamp.word_count;
    append_words(copy, &stamp, 0, of_date);
    free(stamp.words);
    for (words -= of_date; words > 0;) {
        const struct text *other = choose_other(corpus, original, random);
        size_t first = next_random(random) % other->word_count, rest = other->word_count - first;
        size_t taken = words < rest ? words : rest;
        append_words(copy, other, first, first + taken);
        append(copy, " ", 1);
        words -= taken;
    }
    append(copy, "\n", 1);
    append(copy, corpus->texts[original].bytes, corpus->texts[original].length);
}

bool make_copy(const struct corpus *corpus, size_t original, enum edit edit, size_t words, uint64_t *random,
               struct text *copy) {
    *copy = (struct text){.bytes = NULL, .length = 0};
    if (!has_other(corpus, original)) return false;
    if (edit == MOVE) return move_sentences(&corpus->texts[original], words, random, copy);
    if (edit == BANNER)
        add_banner(corpus, original, words, random, copy);
    else
        edit_words(corpus, original, edit, words, random, copy);
    return true;
}
