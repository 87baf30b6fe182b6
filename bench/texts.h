/* texts.h: the documents that bench/corpus made, their words and shingles, how much they resemble each other, exactly
 * and by MinHash, and edited copies of them.
 *
 * Words here are independent of the recipes': runs of letters and digits, and each Han character or kana by itself.
 * ASCII letters count as lower case. */
#ifndef BENCH_TEXTS_H
#define BENCH_TEXTS_H

#include "bench/bench.h"

/* Translations of a manual share no words, so languages are told apart. */
enum group { ENGLISH, CHINESE, JAPANESE, KOREAN, VIETNAMESE, KHMER, MIXED, OTHER, GROUPS };

/* The names of the groups, with which the languages of their documents begin. */
extern const char *const group_names[GROUPS];

struct word {
    uint32_t start, length; /* bytes */
};

struct text {
    char *bytes;
    size_t length;
    enum group group;
    char language[8];
    struct word *words;
    size_t word_count;
    uint64_t *shingles; /* hashes of five words in a row, ascending, each once */
    size_t shingle_count;
};

struct corpus {
    struct text *texts;
    size_t count;
    uint32_t *shared; /* how many shingles texts a and b share is at b (b - 1) / 2 + a, where a < b */
};

/* Reads a folder's manifest.tsv and the texts that it names; the program ends where it can't. The end of the process
 * frees them. */
struct corpus read_corpus(const char *folder);

/* Finds the words in text->bytes; the caller frees text->words. */
void find_words(struct text *text);

/* Returns the Jaccard coefficient of the sets of shingles of two texts, which is 1 for a text and itself. */
double get_resemblance(const struct corpus *corpus, size_t a, size_t b);

/* ---- MinHash of the same shingles ---- */

#define MINHASH_PERMUTATIONS 128

/* Computes the least hash of the text's shingles under each permutation. */
void make_minhash(const struct text *text, uint64_t signature[MINHASH_PERMUTATIONS]);

/* ---- Edited copies ---- */

enum edit {
    REPLACE, /* words, at random places, by words of documents of the same language */
    DELETE,  /* words, at random places */
    INSERT,  /* words of documents of the same language, at random places */
    MOVE,    /* a passage of whole sentences, to the end of another sentence */
    BANNER,  /* a line in front, of a date and words in a row of another document of the same language */
    EDITS
};

/* Makes copy->bytes and copy->length from a text with `words` words edited. Returns false where the text has no such
 * edit: MOVE of less than 10 words, or without sentences to move; or where no other text is in its language. The caller
 * frees copy->bytes. */
bool make_copy(const struct corpus *corpus, size_t original, enum edit edit, size_t words, uint64_t *random,
               struct text *copy);

#endif
