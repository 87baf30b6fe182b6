/* make.c: makes texts that are hard to compare, or as many as are wanted. */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"

static uint64_t random_state = 2026;

static size_t below(size_t end) { return (size_t)(next_random(&random_state) % end); }

/* ---- Recombined paragraphs ---- */

#define MOST_PIECES ((size_t)3000000)
#define PIECES_OF_VOCABULARY ((size_t)200000)
#define MOST_EARLIER ((size_t)100000)
#define MOST_WORDS 512

/* Words with blanks between them, in memory that lives as long as the program. */
struct span {
    const char *bytes;
    size_t length;
};

static struct {
    struct span *pieces, *vocabulary;
    size_t piece_count, word_count;
} source;

/* Returns the next word of a line, and moves *at behind it; it is empty at the end of the line. */
static struct span next_word(const char **at, const char *end) {
    while (*at < end && **at == ' ') (*at)++;
    const char *begin = *at;
    while (*at < end && **at != ' ') (*at)++;
    return (struct span){begin, (size_t)(*at - begin)};
}

/* Cuts a line into pieces. What is left with fewer than 5 words is left out. */
static void cut_line(const char *at, const char *end) {
    struct span words[24];
    while (true) {
        size_t wanted = 8 + below(17), count = 0;
        while (count < wanted && (words[count] = next_word(&at, end)).length > 0) count++;
        if (count < 5 || source.piece_count == MOST_PIECES) return;
        const char *last = words[count - 1].bytes + words[count - 1].length;
        for (size_t i = 0; i < count && source.piece_count < PIECES_OF_VOCABULARY; i++)
            source.vocabulary[source.word_count++] = words[i];
        source.pieces[source.piece_count++] = (struct span){words[0].bytes, (size_t)(last - words[0].bytes)};
    }
}

static void read_pieces(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) die("can't read %s", path);
    size_t length = (size_t)ftell(file);
    char *bytes = allocate(length + 1, 1);
    rewind(file);
    if (fread(bytes, 1, length, file) != length) die("can't read %s", path);
    fclose(file);
    source.pieces = allocate(MOST_PIECES, sizeof *source.pieces);
    source.vocabulary = allocate(PIECES_OF_VOCABULARY * 24, sizeof *source.vocabulary);
    for (const char *line = bytes, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const char *tab = memchr(line, '\t', (size_t)(end - line));
        if (tab != NULL) cut_line(tab + 1, end);
    }
    if (source.piece_count == 0) die("%s has no paragraphs", path);
}

/* Appends words to a line of *length bytes. */
static void append(char *line, size_t *length, struct span words) {
    if (*length > 0) line[(*length)++] = ' ';
    memcpy(line + *length, words.bytes, words.length);
    *length += words.length;
}

/* Makes a copy of a line in which some words are others. */
static size_t edit_line(const char *earlier, char *line) {
    struct span words[MOST_WORDS];
    size_t count = 0, length = 0, edits;
    const char *at = earlier, *end = earlier + strlen(earlier);
    while (count < MOST_WORDS && (words[count] = next_word(&at, end)).length > 0) count++;
    edits = below(2) == 0 ? count / 200 : count * 3 / 100;
    for (size_t i = 0; i < (edits == 0 ? 1 : edits); i++)
        words[below(count)] = source.vocabulary[below(source.word_count)];
    for (size_t i = 0; i < count; i++) append(line, &length, words[i]);
    return length;
}

static void print_recombined(size_t count) {
    char **earlier = allocate(MOST_EARLIER, sizeof *earlier);
    char *line = allocate(1, (size_t)1 << 24);
    size_t earlier_count = 0;
    for (size_t number = 0; number < count; number++) {
        size_t length = 0;
        bool is_copy = earlier_count > 0 && below(10) == 0;
        if (is_copy) {
            length = edit_line(earlier[below(earlier_count)], line);
        } else {
            for (size_t i = 1 + below(5); i > 0; i--) append(line, &length, source.pieces[below(source.piece_count)]);
            size_t at = earlier_count < MOST_EARLIER ? earlier_count++ : below(MOST_EARLIER);
            free(earlier[at]);
            earlier[at] = allocate(length + 1, 1);
            memcpy(earlier[at], line, length);
        }
        printf("%zu\t%.*s\n", number, (int)length, line);
    }
}

/* ---- Other kinds ---- */

/* Prints `count` words, of those that have numbers from `first` on. */
static void print_words(uint64_t first, size_t count) {
    for (size_t i = 0; i < count; i++) printf("%x ", (unsigned)mix(first + i));
}

/* Prints words that no other text has. */
static void print_own(size_t count) {
    static uint64_t used = UINT64_C(1) << 40;
    print_words(used, count);
    used += count;
}

static void print_licence(size_t number) {
    (void)number;
    print_words(0, 300);
    print_own(50 + below(101));
}

static void print_form(size_t number) {
    (void)number;
    for (size_t left = 20, wanted = 10; left > 0; left--) {
        if (below(left) >= wanted) continue;
        print_words(left * 1000, 40);
        wanted--;
    }
    print_own(5);
}

static void print_template(size_t number) {
    (void)number;
    for (size_t i = 0; i < 10; i++) {
        print_words(i * 20, 19);
        print_own(1);
    }
}

static void print_long(size_t number) {
    uint64_t original = (uint64_t)(number / 2) << 24;
    for (size_t i = 0; i < 1000000; i++) {
        if (number % 2 == 1 && below(100) == 0)
            print_own(1);
        else
            print_words(original + i, 1);
    }
}

static void print_equal(size_t number) {
    (void)number;
    print_words(0, 100);
}

static void print_word(size_t number) {
    (void)number;
    print_words(below(1000000), 1);
}

static void print_short(size_t number) {
    (void)number;
    print_own(8);
}

static const struct {
    const char *name;
    void (*print)(size_t number);
} kinds[] = {
    {"licences", print_licence}, {"forms", print_form}, {"templates", print_template}, {"long", print_long},
    {"equal", print_equal},      {"words", print_word}, {"short", print_short},
};

int main(int argc, char **argv) {
    static const struct bench_option options[] = {{.name = NULL}};
    int arguments = read_options(argc, argv, help_make, options);
    if (arguments < 2) die("make needs a kind and a number: see make --help");
    size_t count = (size_t)read_number(argv[2], 1, 1e9), kind = 0;
    if (strcmp(argv[1], "recombined") == 0) {
        if (arguments < 3) die("recombined texts are made of the paragraphs of a file: give it");
        read_pieces(argv[3]);
        print_recombined(count);
    } else {
        while (kind < sizeof kinds / sizeof *kinds && strcmp(argv[1], kinds[kind].name) != 0) kind++;
        if (kind == sizeof kinds / sizeof *kinds) die("there is no kind '%s': see make --help", argv[1]);
        for (size_t i = 0; i < count; i++) {
            printf("%zu\t", i);
            kinds[kind].print(i);
            putchar('\n');
        }
    }
    if (fflush(stdout) != 0) die("can't write the texts");
    return 0;
}
