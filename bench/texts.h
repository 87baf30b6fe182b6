/* texts.h: the documents or paragraphs that bench/corpus made, their words and their shingles, and how much they
 * resemble each other: exactly, and by MinHash.
 *
 * Words here are the truth's own, independent of the recipes': runs of letters and digits, and each Han character or
 * kana by itself. ASCII letters count as lower case. */
#ifndef BENCH_TEXTS_H
#define BENCH_TEXTS_H

#include "bench/bench.h"

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

/* ---- The truth: the Jaccard coefficient of two sets of word 5-shingles ---- */

/* Pairs below this resemblance are called unrelated, and not kept. */
#define LEAST_RESEMBLANCE 0.05

/* A shingle that so many documents have is boilerplate: a licence's, a menu's. Editions and formats of one document are
 * fewer. */
#define BOILERPLATE_TEXTS 20

struct pair {
    uint32_t a, b; /* numbers of texts, a < b */
    double resemblance;
    double resemblance_of_own; /* of the sets without boilerplate */
};

/* All pairs at or above LEAST_RESEMBLANCE, by b and then a, from an index of all shingles. The caller frees *pairs. */
size_t find_pairs(const struct text *texts, size_t count, struct pair **pairs);

/* 0 for pairs that were not kept; 1 for a text and itself. */
double get_resemblance(const struct pair *pairs, size_t count, uint32_t a, uint32_t b);

/* The texts of a folder or a file, and all their pairs. */
struct corpus {
    struct text *texts;
    size_t count;
    struct pair *pairs;
    size_t pair_count;
};

struct corpus read_corpus(const char *path);

/* The share of a part in a whole; 0 of nothing. */
static inline double share(uint64_t part, uint64_t whole) { return whole == 0 ? 0 : (double)part / (double)whole; }

/* ---- MinHash of the same shingles, the other signature, for comparison ---- */

#define MINHASH_PERMUTATIONS 128

/* The least hash of the text's shingles under each permutation. */
void make_minhash(const struct text *text, uint64_t signature[MINHASH_PERMUTATIONS]);

/* How many permutations agree, 0 to 128: of so many shares, the estimate of the resemblance. */
unsigned count_agreeing(const uint64_t a[MINHASH_PERMUTATIONS], const uint64_t b[MINHASH_PERMUTATIONS]);

#endif
