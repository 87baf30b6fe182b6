/* report.h: the page of `--report` about the near-duplicates of an index and of its inputs, for somebody who decides
 * which ones to drop: what it says about the documents, how that is found, and how it is written. */
#ifndef IDX_TOOLS_REPORT_REPORT_H
#define IDX_TOOLS_REPORT_REPORT_H

#include "tools/answers/cluster_listing.h"
#include "tools/dedup/dedup.h"
#include "tools/shared/files.h"
#include "tools/shared/output.h"
#include "tools/text/text.h"

#include <idx.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- What a report says about the documents of an index ---- */

enum {
    FINDINGS_DISTANCES = IDX_MAX_K + 1, /* Distances begin at 0. */
    FINDINGS_PAIRS = 32,                /* So many pairs of each distance are compared by their texts. */
    FINDINGS_PAIRS_SHOWN = 4,           /* The first of these pairs are shown. */
    FINDINGS_CHAINS = 3,                /* So many chains are followed. */
    FINDINGS_STEPS = 24,                /* So many steps of a chain are shown. */
    FINDINGS_ID = 600,                  /* So many bytes of an ID are kept. */
    FINDINGS_DOCUMENTS = 2 * (FINDINGS_DISTANCES * FINDINGS_PAIRS + FINDINGS_CHAINS),
};

/* A document is shown, or compared with the one beside it. */
struct shown {
    uint64_t fingerprint;
    bool is_compared;         /* It is only compared, so that its text is freed afterwards. */
    double resemblance;       /* The first document of two has their resemblance; below 0 means unknown. */
    uint64_t number;          /* The text is found again by this number of the document. */
    char id[FINDINGS_ID + 1]; /* A NUL byte is behind its end. */
    size_t id_length;
    bool id_is_cut;
    char *text; /* The findings own it; a NUL byte is behind its end. NULL: there is none. */
    size_t text_length;
    uint64_t text_bytes; /* The whole text has so many bytes, of which the first are kept. */
};

/* The documents of two fingerprints are to be compared. */
struct shown_pair {
    uint64_t key; /* The pairs with the smallest keys are compared, and the first of these are shown. */
    uint64_t a, b;
    const struct shown *documents; /* They are two, or NULL as long as they are unknown. */
};

/* This was found at one distance. */
struct at_distance {
    /* They are pairs of fingerprints. At distance 0 they are documents whose fingerprint an earlier one has. Beyond
     * k they are pairs with a sampled fingerprint, and pairs of two sampled ones count twice. */
    uint64_t pairs;
    struct shown_pair shown[FINDINGS_PAIRS];
    size_t shown_count;
    struct idx_cluster_summary clusters; /* These are the clusters at this distance, up to k. */
    uint64_t nearest; /* So many sampled fingerprints have their nearest other one at this distance. */
};

/* A chain has these fingerprints. */
struct step {
    uint64_t fingerprint;
    unsigned distance; /* It is the distance to the representative. */
    struct shown document;
};

/* A chain of near-duplicates leads from the representative of a cluster to the document that is farthest from it. */
struct chain {
    struct chain_ends {
        struct idx_cluster_size size; /* It is the size of the cluster. */
        uint64_t farthest;            /* It is the farthest from the representative; of several, the first. */
        unsigned distance;            /* It is the distance of these two. */
    } ends;
    size_t length;     /* The chain has so many documents, both ends included; 0 if it was not followed to its end. */
    size_t step_count; /* So many steps are kept: the first half, and the last. */
    struct step steps[FINDINGS_STEPS];
    const struct shown *shown; /* They are the documents of both ends. */
};

/* So many documents, and bytes, had the same fate. */
struct tally {
    uint64_t documents, bytes;
};

struct findings {
    struct idx_properties properties;
    unsigned k, farthest; /* Distances up to k are exact. Beyond k, up to `farthest`, they are known of the sample. */
    uint64_t fingerprints;
    uint64_t ones[IDX_MAX_BITS]; /* So many fingerprints have this bit. */
    uint64_t sampled;            /* So many fingerprints are in the sample. */
    struct at_distance at[FINDINGS_DISTANCES];

    /* These are the clusters as they were asked for. */
    struct idx_cluster_summary clusters;
    /* They count the documents by distance to their representatives, which are left out. */
    uint64_t distances[IDX_MAX_BITS + 1];
    struct chain chains[FINDINGS_CHAINS];
    size_t chain_count;
    struct chain_ends current; /* It belongs to the cluster that is visited. */

    /* These count what became of the inputs. */
    /* `known` are those that --against found, and `few` have too few features. */
    struct tally kept, dropped, known, few;
    bool has_bytes, has_texts;

    struct shown *shown; /* The findings own all documents that are shown with their texts. */
    size_t shown_count;
};

/* ---- Goes through an index for what a report says ---- */

/* gather.c calls sample.c and chains.c. */

/* Fills the findings except for tallies and texts. Clusters are found by the options. Returns false after a complaint,
 * and where a signal was noted. */
bool gather(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options);

/* Offers a pair to be shown at its distance. A pair that was offered before counts once. */
void gather_offer(struct at_distance *at, uint64_t a, uint64_t b);

/* sample.c looks beyond the distance of an index: it compares some of its fingerprints with all. */

/* Mixes the bits of a value, so that equal values stay equal and different ones seem random. */
uint64_t sample_mix(uint64_t value);

/* Counts fingerprints and their bits, and the matches of the sample beyond k. Returns false after an error, and with
 * status IDX_OK where a signal was noted or after a complaint. */
bool sample_far(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
                struct idx_error *error);

/* chains.c finds the largest clusters that have documents far from the representative, and the near-duplicates that
 * lead from the representative to the farthest document. */

/* Takes the next document of the clusters, in their order, and NULL after the last one. */
void chains_note(struct findings *findings, const struct idx_cluster_member *member);

/* Finds the chains of the clusters that were noted. Returns false after an error or a complaint. */
bool chains_follow(struct findings *findings, const struct idx_index *index, struct idx_error *error);

/* ---- Finds which words of two texts differ ---- */

/* As many words as possible are matched in order; the others differ. */

/* These are the words of a text. */
struct words {
    const uint64_t *hashes;
    bool *differs; /* It is set for each word. */
    size_t count;
};

/* Sets which words differ. Memory and time are proportional to the words. Where texts differ in more than some thousand
 * words, more words may be marked than necessary. Returns false if memory ran out. */
bool difference_find(struct words *a, struct words *b);

/* ---- Shows two texts side by side, marks the words that differ, and leaves out long runs of equal words ---- */

struct piece {
    const char *bytes;
    size_t length;
};

struct excerpt {
    struct side {
        const struct shown *shown;
        struct piece *pieces; /* These are its words. */
        uint64_t *hashes;
        bool *differs;
        size_t count, differing;
    } sides[2];
    double resemblance; /* excerpt_compare computes it. */
};

/* Computes how much two texts resemble each other, as far as they are kept, by idx_text_resemblance. Returns false if
 * memory ran out. */
bool excerpt_compare(const struct shown two[2], double *resemblance);

/* Cuts the texts of two documents into words, and finds which words differ and how much the texts resemble each other.
 * Returns false after a complaint. The caller frees the excerpt in any case. */
bool excerpt_make(struct excerpt *excerpt, const struct shown two[2]);

/* Writes one of the two texts as the content of an element. */
void excerpt_put(struct output *output, const struct excerpt *excerpt, size_t which);

void excerpt_free(struct excerpt *excerpt);

/* ---- Html ---- */

/* Writes what others wrote as text of a page, where it can't become markup nor change the order of reading, and
 * histograms as SVG. */

/* Writes a text. The byte behind its end must be readable and must not continue a character. Bytes that can't be shown
 * are written as \xNN, but with `spaces` white space is written as a space. An ellipsis is written once the text has
 * taken `most` bytes. */
void html_text(struct output *output, const char *bytes, size_t length, bool spaces, size_t most);

/* Writes a document's ID, or its fingerprint if it has none. */
void html_id(struct output *output, const struct findings *findings, const struct shown *shown);

void html_fingerprint(struct output *output, const struct findings *findings, uint64_t fingerprint);

/* Prints a number with commas, as 1,234,567, into `text`, and returns it. */
enum { HTML_DIGITS = 28 };
const char *html_digits(char text[HTML_DIGITS], uint64_t number);

/* Writes a number and what is counted, which gets an s unless the number is 1. */
void html_count(struct output *output, uint64_t number, const char *what);

struct bar {
    char label[24]; /* It is written as it is, so that it must not be markup. */
    uint64_t value;
    bool about; /* It is an estimate. */
};

/* Writes a figure with a bar for each, as long as the logarithm of its value. `name` is the figure's own in the page;
 * `title` and `description` are markup. */
void chart_put(struct output *output, const char *name, const char *title, const char *description,
               const struct bar *bars, size_t count);

/* Writes a figure of how often each bit is 1, of the most significant one first. */
void chart_put_bits(struct output *output, const char *title, const uint64_t *ones, unsigned bits, uint64_t all);

/* ---- Writes the report as one page of HTML that needs no other file ---- */

/* The page says that it was made in this way. */
struct page_origin {
    const char *command; /* It is idx dedup or idx clusters. */
    const char *recipe;  /* "": it is not known; NULL: the index has it. */
    const char *method, *representative;
    const char *threshold; /* --confirm has it; NULL: --confirm was not given. */
    const char *against;   /* It is the path of an index, or NULL. */
    bool of_index;         /* Only an index was read: nothing is known of inputs. */
};

/* Every report begins with this text. */
extern const char page_begin[];

/* Appends the page to an output that is kept. Returns false after a complaint. */
bool page_put(struct output *output, const struct findings *findings, const struct page_origin *origin);

/* page_pairs.c has the sections that show pairs, and chains of pairs. Each call appends its section to the output, and
 * returns false after a complaint. */
bool page_put_pairs(struct output *output, const struct findings *findings);
bool page_put_chains(struct output *output, const struct findings *findings);

/* ---- The report, from its options to its file: report.c ---- */

struct report {
    const char *path;              /* The page will be here; NULL: no report is asked for. */
    const struct listing *listing; /* It lists the clusters. */
    struct page_origin origin;

    /* The caller does not touch these. */
    struct findings findings;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* It is the recipe of the index. */
    uint64_t *wanted;       /* It has a bit for each document that was compared, which is set if its text is shown. */
    struct scratch scratch; /* The page is written here first. */
};

/* Checks whether the page can be written at its path, where only a report is replaced. Returns false after a
 * complaint. */
bool report_check(const struct report *report);

/* Notes the next document of the clusters that are asked for. */
void report_note(struct report *report, const struct idx_cluster_member *member);

/* Goes through the index, once its clusters are listed. Returns false after a complaint, and where a signal was
 * noted. */
bool report_gather(struct report *report, const struct idx_index *index);

/* Adds what is known of the inputs. `dropped` has a bit for each document that was compared. So has `known`, which may
 * be NULL, for those that the other index has. Returns false after a complaint. */
bool report_count(struct report *report, struct intake *intake, const uint64_t *dropped, const uint64_t *known);

/* Reads the texts that are shown again, by the journal. Returns false after a complaint, and where a signal was
 * noted. */
bool report_read_texts(struct report *report, struct intake *intake, const struct pipeline_rules *rules);

/* Writes the page to the disk, beside its place. Returns false after a complaint, and where a signal was noted. */
bool report_write(struct report *report);

/* Moves the page to its place. Returns false after a complaint. */
bool report_publish(const struct report *report);

/* Removes a page that was not published. */
void report_close(struct report *report);

#endif
