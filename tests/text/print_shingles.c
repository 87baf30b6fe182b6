/* print_shingles.c: prints the words and shingles of texts, for a program in another language that compares them with
 * its own. Each text is read as its length, 4 bytes with the lowest first, and its bytes. For each it prints a line of
 * the hashes of its words in their order, and one of the shingles of each width, of words and of characters. */
#include <idx_text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const unsigned widths[] = {1, 2, 5};

static bool print_word(void *context, const struct idx_text_word *word) {
    (void)context;
    printf("%016" PRIx64 " ", word->hash);
    return true;
}

static void print_shingles(const unsigned char *text, size_t length, unsigned width, enum idx_text_shingle_unit unit) {
    struct idx_text_shingle_options options = {sizeof options, width, unit, false};
    size_t room = unit == IDX_TEXT_WORDS ? IDX_TEXT_MAX_WORDS(length) : IDX_TEXT_MAX_CHARACTERS(length), count;
    uint64_t *hashes = malloc(room * sizeof *hashes + 1);
    if (hashes == NULL || idx_text_shingles(text, length, &options, hashes, room, &count, NULL) != IDX_OK) exit(2);
    for (size_t i = 0; i < count; i++) printf("%016" PRIx64 " ", hashes[i]);
    putchar('\n');
    free(hashes);
}

int main(void) {
    unsigned char size[4];
    while (fread(size, 1, sizeof size, stdin) == sizeof size) {
        size_t length = (size_t)size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
        unsigned char *text = malloc(length + 1);
        if (text == NULL || fread(text, 1, length, stdin) != length) return 2;
        if (idx_text_visit_words(text, length, print_word, NULL, NULL) != IDX_OK) return 2;
        putchar('\n');
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
            print_shingles(text, length, widths[i], IDX_TEXT_WORDS);
            print_shingles(text, length, widths[i], IDX_TEXT_CHARACTERS);
        }
        free(text);
    }
    return 0;
}
