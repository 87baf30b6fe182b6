/* texts.h: the documents or paragraphs that bench/corpus made, their words and their shingles.
 *
 * Words here are the truth's own, independent of the recipes': runs of letters and digits, and each Han character or
 * kana by itself. ASCII letters count as lower case. */
#ifndef BENCH_TEXTS_H
#define BENCH_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#define SHINGLE_WORDS 5

/* Where languages are told apart: a manual's translations are texts that share no words. */
enum group { ENGLISH, CHINESE, OTHER, GROUPS };

struct word {
    uint32_t start, length; /* bytes */
};

struct text {
    unsigned long number; /* that bench/corpus gave it; they ascend */
    char *bytes;
    size_t length;
    enum group group;
    char language[8];
    struct word *words;
    size_t word_count;
    uint64_t *shingles; /* hashes of SHINGLE_WORDS words in a row, ascending, each once */
    size_t shingle_count;
};

/* Reads a folder's manifest.tsv and the texts that it names, or a file of paragraphs, whose languages are not known;
 * the program ends where it can't. Returns how many. */
size_t read_texts(const char *path, struct text **texts);

/* Finds the words in text->bytes; the caller frees text->words. */
void find_words(struct text *text);

#endif
