/* dedup.c: precision and recall of the clusters that idx dedup makes of real documents, against the truth (texts.h). */
#include "bench/texts.h"

#include <idx_text.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_K 16

static const char help[] =
    "Usage: dedup CORPUS RESEMBLANCE [CLUSTERS...]\n"
    "Precision and recall of near-duplicates among the documents of a folder, or the paragraphs of a file, which\n"
    "bench/corpus makes; of a file, any lines may be left out. Two are\n"
    "near-duplicates if they resemble each other by RESEMBLANCE or more: Jaccard coefficient of their word\n"
    "5-shingles, exact.\n"
    "First, of pairs of fingerprints by the default recipe within k bits. Columns, separated by tabs: k, pairs found,\n"
    "those that are near-duplicates, all near-duplicates, precision, recall.\n"
    "Then of what idx dedup printed into each file CLUSTERS:\n"
    "  idx dedup --clusters --format plain FOLDER >CLUSTERS\n"
    "  idx dedup --clusters --format tsv FILE >CLUSTERS\n"
    "Columns:\n"
    "  dropped     documents in clusters, other than representatives\n"
    "  right       those that are near-duplicates of their representatives\n"
    "  precision   right / dropped\n"
    "  pairs       pairs of near-duplicates, all there are\n"
    "  together    those in one cluster\n"
    "  resolved    those of which one document is dropped, or both\n"
    "  recall      together / pairs, and resolved / pairs\n";

static int compare_number(const void *number, const void *text) {
    unsigned long x = *(const unsigned long *)number, y = ((const struct text *)text)->number;
    return (x > y) - (x < y);
}

/* Where the text of an ID is, NUMBER or FOLDER/NUMBER.txt; NULL: it is none of the corpus. */
static const struct text *find_text(const struct corpus *corpus, const char *id) {
    const char *slash = strrchr(id, '/');
    char *end;
    unsigned long number = strtoul(slash == NULL ? id : slash + 1, &end, 10);
    if (end == id || (*end != 0 && strcmp(end, ".txt") != 0)) return NULL;
    return bsearch(&number, corpus->texts, corpus->count, sizeof *corpus->texts, compare_number);
}

/* Of each text, its representative's number: its own where it is in no cluster. */
static void read_clusters(const struct corpus *corpus, const char *path, uint32_t *representatives) {
    char line[1024];
    FILE *file = fopen(path, "r");
    if (file == NULL) die("can't read %s", path);
    for (uint32_t i = 0; i < corpus->count; i++) representatives[i] = i;
    while (fgets(line, sizeof line, file) != NULL) {
        char *id = strtok(line, "\t"), *cluster = strtok(NULL, "\t"), *other = strtok(NULL, "\t");
        if (id == NULL || cluster == NULL || other == NULL) die("%s is not what idx dedup --clusters prints", path);
        const struct text *member = find_text(corpus, id), *representative = find_text(corpus, other);
        if (member == NULL || representative == NULL) continue; /* manifest.tsv */
        representatives[member - corpus->texts] = (uint32_t)(representative - corpus->texts);
    }
    fclose(file);
}

static void measure(const struct corpus *corpus, double near, const char *path, uint32_t *representatives) {
    uint64_t dropped = 0, right = 0, pairs = 0, together = 0, resolved = 0;
    read_clusters(corpus, path, representatives);
    for (uint32_t i = 0; i < corpus->count; i++) {
        if (representatives[i] == i) continue;
        dropped++;
        right += get_resemblance(corpus->pairs, corpus->pair_count, i, representatives[i]) >= near;
    }
    for (size_t i = 0; i < corpus->pair_count; i++) {
        const struct pair *pair = &corpus->pairs[i];
        if (pair->resemblance < near) continue;
        pairs++;
        together += representatives[pair->a] == representatives[pair->b];
        resolved += representatives[pair->a] != pair->a || representatives[pair->b] != pair->b;
    }
    printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%.4f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.4f\t%.4f\n", path, dropped,
           right, share(right, dropped), pairs, together, resolved, share(together, pairs), share(resolved, pairs));
}

/* ---- Pairs of fingerprints ---- */

/* Sets empty[i] where text number i has no words: it is in no pair. */
static uint64_t *make_fingerprints(const struct corpus *corpus, bool *empty) {
    uint64_t *fingerprints = allocate(corpus->count, sizeof *fingerprints), words;
    struct idx_text *fingerprinter;
    struct idx_error error;
    try(idx_text_open(&fingerprinter, NULL, &error), &error);
    for (size_t i = 0; i < corpus->count; i++) {
        const struct text *text = &corpus->texts[i];
        try(idx_text_fingerprint(fingerprinter, text->bytes, text->length, 64, &fingerprints[i], &words, &error),
            &error);
        empty[i] = words == 0;
    }
    idx_text_close(fingerprinter);
    return fingerprints;
}

static void measure_pairs(const struct corpus *corpus, double near) {
    uint64_t found[MOST_K + 1] = {0}, right[MOST_K + 1] = {0}, expected = 0, all = 0, good = 0;
    bool *empty = allocate(corpus->count, sizeof *empty);
    uint64_t *fingerprints = make_fingerprints(corpus, empty);
    for (uint32_t b = 0; b < corpus->count; b++) {
        for (uint32_t a = 0; a < b; a++) {
            unsigned distance = idx_distance(fingerprints[a], fingerprints[b]);
            if (distance > MOST_K || empty[a] || empty[b]) continue;
            found[distance]++;
            right[distance] += get_resemblance(corpus->pairs, corpus->pair_count, a, b) >= near;
        }
    }
    for (size_t i = 0; i < corpus->pair_count; i++) expected += corpus->pairs[i].resemblance >= near;
    puts("pairs\tk\tfound\tright\texpected\tprecision\trecall");
    for (unsigned k = 0; k <= MOST_K; k++) {
        all += found[k];
        good += right[k];
        printf("pairs\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.4f\t%.4f\n", k, all, good, expected,
               share(good, all), share(good, expected));
    }
    free(fingerprints);
    free(empty);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs(help, argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
        return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    struct corpus corpus = read_corpus(argv[1]);
    uint32_t *representatives = allocate(corpus.count, sizeof *representatives);
    measure_pairs(&corpus, strtod(argv[2], NULL));
    puts("clusters\tdropped\tright\tprecision\tpairs\ttogether\tresolved\trecall: together\trecall: resolved");
    for (int i = 3; i < argc; i++) measure(&corpus, strtod(argv[2], NULL), argv[i], representatives);
    free(representatives);
    return 0; /* the texts are freed by the end of the process */
}
