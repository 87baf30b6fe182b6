/* truth.c: counts the shingles that each two documents share, and makes their MinHash signatures. */
#include "bench/texts.h"

#include <string.h>

/* One shingle of one text. */
struct posting {
    uint64_t shingle;
    uint32_t text;
};

struct index {
    struct posting *postings; /* by shingle, then text */
    size_t count;
};

static int compare_postings(const void *a, const void *b) {
    const struct posting *x = a, *y = b;
    if (x->shingle != y->shingle) return x->shingle < y->shingle ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

static struct index index_shingles(const struct text *texts, size_t count) {
    struct index index = {NULL, 0};
    for (size_t i = 0; i < count; i++) index.count += texts[i].shingle_count;
    index.postings = allocate(index.count, sizeof *index.postings);
    size_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (size_t j = 0; j < texts[i].shingle_count; j++) {
            index.postings[n++] = (struct posting){texts[i].shingles[j], i};
        }
    }
    qsort(index.postings, index.count, sizeof *index.postings, compare_postings);
    return index;
}

/* The first posting of a shingle that is in the index. */
static size_t find_first(const struct index *index, uint64_t shingle) {
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->postings[middle].shingle < shingle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static double jaccard(double shared, double a, double b) {
    double all = a + b - shared;
    return all > 0 ? shared / all : 0;
}

/* Counts, for each text, the shingles that it shares with text a: all, and those that aren't boilerplate. Returns how
 * many of a's own are not. */
static uint32_t count_shared(const struct index *index, const struct text *text, uint32_t *shared,
                             uint32_t *shared_of_own) {
    uint32_t own = 0;
    for (size_t i = 0; i < text->shingle_count; i++) {
        size_t first = find_first(index, text->shingles[i]), end = first;
        while (end < index->count && index->postings[end].shingle == text->shingles[i]) end++;
        bool is_own = end - first < BOILERPLATE_TEXTS;
        own += is_own;
        for (size_t j = first; j < end; j++) {
            shared[index->postings[j].text]++;
            shared_of_own[index->postings[j].text] += is_own;
        }
    }
    return own;
}

size_t find_pairs(const struct text *texts, size_t count, struct pair **pairs) {
    struct index index = index_shingles(texts, count);
    uint32_t *shared = allocate(count, sizeof *shared), *shared_of_own = allocate(count, sizeof *shared_of_own);
    uint32_t *own = allocate(count, sizeof *own);
    size_t found = 0, capacity = 0;
    *pairs = NULL;
    for (uint32_t b = 0; b < count; b++) {
        memset(shared, 0, count * sizeof *shared);
        memset(shared_of_own, 0, count * sizeof *shared_of_own);
        own[b] = count_shared(&index, &texts[b], shared, shared_of_own);
        for (uint32_t a = 0; a < b; a++) {
            double resemblance = jaccard(shared[a], (double)texts[a].shingle_count, (double)texts[b].shingle_count);
            if (resemblance < LEAST_RESEMBLANCE) continue;
            if (found == capacity) {
                capacity = 2 * capacity + 1024;
                *pairs = realloc(*pairs, capacity * sizeof **pairs);
                if (*pairs == NULL) die("out of memory");
            }
            (*pairs)[found++] = (struct pair){a, b, resemblance, jaccard(shared_of_own[a], own[a], own[b])};
        }
    }
    free(index.postings);
    free(shared);
    free(shared_of_own);
    free(own);
    return found;
}

double get_resemblance(const struct pair *pairs, size_t count, uint32_t a, uint32_t b) {
    if (a == b) return 1;
    if (a > b) return get_resemblance(pairs, count, b, a);
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pair *pair = &pairs[middle];
        if (pair->b < b || (pair->b == b && pair->a < a)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && pairs[low].a == a && pairs[low].b == b ? pairs[low].resemblance : 0;
}

struct corpus read_corpus(const char *path) {
    struct corpus corpus;
    corpus.count = read_texts(path, &corpus.texts);
    corpus.pair_count = find_pairs(corpus.texts, corpus.count, &corpus.pairs);
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

unsigned count_agreeing(const uint64_t a[MINHASH_PERMUTATIONS], const uint64_t b[MINHASH_PERMUTATIONS]) {
    unsigned agreeing = 0;
    for (unsigned i = 0; i < MINHASH_PERMUTATIONS; i++) agreeing += a[i] == b[i];
    return agreeing;
}
