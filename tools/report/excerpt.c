/* excerpt.c: compares two texts word by word, and writes them side by side. */
#include "tools/report/excerpt.h"
#include "tools/report/difference.h"
#include "tools/report/html.h"

#include <idx_text.h>

#include <stdlib.h>

enum {
    SHOWN_BYTES = 6000, /* The size of an excerpt as it is written, roughly. */
    AROUND = 8,         /* Equal words that are shown beside words that differ. */
    LONGEST_WORD = 120, /* The most bytes of a word as it is written. */
    LONGEST_SPACE = 80, /* The most bytes of what is between two words. */
};

/* ---- Words ---- */

/* Makes room for `capacity` words. Returns false, without a complaint, if memory ran out; what there is can be freed.
 */
static bool grow_words(struct side *side, size_t capacity) {
    struct piece *pieces = realloc(side->pieces, capacity * sizeof *pieces);
    if (pieces != NULL) side->pieces = pieces;
    uint64_t *hashes = realloc(side->hashes, capacity * sizeof *hashes);
    if (hashes != NULL) side->hashes = hashes;
    bool *differs = realloc(side->differs, capacity * sizeof *differs);
    if (differs != NULL) side->differs = differs;
    return pieces != NULL && hashes != NULL && differs != NULL;
}

/* Adds a word as a piece, or to the piece before it, if that ends behind the beginning of the word, since such words
 * come of one character: its hash is made of those of all of them. This is an idx_text_word_visitor. */
static bool take_word(void *context, const struct idx_text_word *word) {
    struct side *side = context;
    const char *text = side->shown->text;
    struct piece *last = side->count == 0 ? NULL : &side->pieces[side->count - 1];
    if (last != NULL && text + word->begin < last->bytes + last->length) {
        last->length = (size_t)(text + word->end - last->bytes);
        side->hashes[side->count - 1] = side->hashes[side->count - 1] * 31 + word->hash;
        return true;
    }
    bool full = (side->count & (side->count - 1)) == 0; /* The count is a power of two, or 0. */
    side->failed = full && !grow_words(side, side->count == 0 ? 1 : 2 * side->count);
    if (side->failed) return false;
    side->pieces[side->count] = (struct piece){text + word->begin, word->end - word->begin};
    side->hashes[side->count++] = word->hash;
    return true;
}

static bool cut_into_words(struct side *side) {
    enum idx_status status = idx_text_visit_words(side->shown->text, side->shown->text_length, take_word, side, NULL);
    return status == IDX_OK && !side->failed;
}

bool excerpt_make(struct excerpt *excerpt, const struct shown two[2]) {
    *excerpt = (struct excerpt){.sides = {{.shown = &two[0]}, {.shown = &two[1]}}};
    struct words words[2];
    bool ok = true;
    for (size_t i = 0; i < 2 && ok; i++) {
        struct side *side = &excerpt->sides[i];
        ok = cut_into_words(side);
        words[i] = (struct words){side->hashes, side->differs, side->count};
    }
    ok = ok && difference_find(&words[0], &words[1]);
    if (!ok) complain("out of memory");
    for (size_t i = 0; i < 2 && ok; i++)
        for (size_t j = 0; j < words[i].count; j++)
            if (words[i].differs[j]) excerpt->sides[i].differing++;
    return ok;
}

void excerpt_free(struct excerpt *excerpt) {
    for (size_t i = 0; i < 2; i++) {
        free(excerpt->sides[i].pieces);
        free(excerpt->sides[i].hashes);
        free(excerpt->sides[i].differs);
    }
}

/* ---- Writing ---- */

struct writing {
    struct output *output;
    const struct side *side;
    size_t at;      /* The place of the next word. */
    size_t longest; /* From this length of the output on, no more words are shown. */
};

static void put_word(const struct writing *writing, size_t place) {
    const struct piece *word = &writing->side->pieces[place];
    html_text(writing->output, word->bytes, word->length, HTML_PLAIN_SPACE, LONGEST_WORD);
}

/* Writes what is between a word and the next one, or the end of the text. */
static void put_space(const struct writing *writing, size_t place) {
    const struct side *side = writing->side;
    const struct piece *word = &side->pieces[place];
    const char *end = side->shown->text + side->shown->text_length, *behind = word->bytes + word->length;
    const char *next = place + 1 < side->count ? word[1].bytes : end;
    html_text(writing->output, behind, (size_t)(next - behind), HTML_PLAIN_SPACE, LONGEST_SPACE);
}

static bool is_full(const struct writing *writing) { return writing->output->length >= writing->longest; }

/* Writes the words up to place `to`, or until the excerpt is full. */
static void put_words(struct writing *writing, size_t to) {
    for (; writing->at < to && !is_full(writing); writing->at++) {
        put_word(writing, writing->at);
        put_space(writing, writing->at);
    }
}

/* Does the same within an element, and writes what follows the word before place `to` behind the element. */
static void put_marked(struct writing *writing, size_t to, const char *element) {
    output_format(writing->output, "<%s>", element);
    for (; writing->at < to && !is_full(writing); writing->at++) {
        put_word(writing, writing->at);
        if (writing->at + 1 < to) put_space(writing, writing->at);
    }
    output_format(writing->output, "</%s>", element);
    if (writing->at == to) put_space(writing, to - 1);
}

static void put_gap(struct output *output, uint64_t count, const char *what) {
    output_text(output, "<span class=\"gap\">[… ");
    html_count(output, count, what);
    output_text(output, " …]</span> ");
}

/* Writes the equal words up to place `to`, and leaves out those that are far from words that differ. A text without
 * words that differ is shown by more of its first words. */
static void put_equal(struct writing *writing, size_t to) {
    size_t before = writing->side->differing == 0 ? 10 * AROUND : AROUND;
    size_t after = to == writing->side->count ? 0 : AROUND, count = to - writing->at;
    if (count > before + after + AROUND) {
        put_words(writing, writing->at + before);
        put_gap(writing->output, to - after - writing->at, "equal word");
        writing->at = to - after;
    }
    put_words(writing, to);
}

/* Returns the place behind the run of words from `from` on that all differ, or are all equal. */
static size_t find_end_of_run(const struct side *side, size_t from) {
    size_t to = from + 1;
    while (to < side->count && side->differs[to] == side->differs[from]) to++;
    return to;
}

void excerpt_put(struct output *output, const struct excerpt *excerpt, size_t which) {
    const struct side *side = &excerpt->sides[which];
    const struct shown *shown = side->shown;
    struct writing writing = {output, side, 0, output->length + SHOWN_BYTES};
    char bytes[HTML_DIGITS], compared[HTML_DIGITS];
    size_t head = side->count > 0 ? (size_t)(side->pieces[0].bytes - shown->text) : shown->text_length;
    html_text(output, shown->text, head, HTML_PLAIN_SPACE, LONGEST_WORD);
    while (writing.at < side->count && !is_full(&writing)) {
        size_t to = find_end_of_run(side, writing.at);
        if (side->differs[writing.at])
            put_marked(&writing, to, which == 0 ? "del" : "ins");
        else
            put_equal(&writing, to);
    }
    if (writing.at < side->count) put_gap(output, side->count - writing.at, "more word");
    if (shown->text_length == shown->text_bytes) return;
    output_format(output, "<span class=\"gap\">[the text has %s bytes, and the first %s are compared]</span>",
                  html_digits(bytes, shown->text_bytes), html_digits(compared, shown->text_length));
}
