/* report.h: the page of `--report` about the near-duplicates of an index and of its inputs, for somebody who decides
 * which ones to drop: what it says about the documents, how that is found, and how it is written. */
#ifndef IDX_TOOLS_REPORT_REPORT_H
#define IDX_TOOLS_REPORT_REPORT_H

#include "tools/answers/cluster_listing.h"
#include "tools/dedup/intake.h"
#include "tools/shared/files.h"
#include "tools/text/text.h"

/* ---- What a report says about the documents of an index ---- */

enum {
    FINDINGS_DISTANCES = IDX_MAX_K + 1, /* Distances begin at 0. */
    FINDINGS_THRESHOLDS = 11,           /* All tenths from 1 down to 0.1, and the one that was asked for. */
    FINDINGS_PAIRS = 32,                /* Pairs of each distance whose texts are compared. */
    FINDINGS_PAIRS_SHOWN = 4,           /* How many of these are shown, from the first on. */
    FINDINGS_CHAINS = 3,                /* Chains that are followed. */
    FINDINGS_STEPS = 24,                /* Steps of a chain that are shown. */
    FINDINGS_ID = 600,                  /* Bytes of an ID that are kept. */
    FINDINGS_DOCUMENTS = 2 * (FINDINGS_DISTANCES * FINDINGS_PAIRS + FINDINGS_CHAINS),
};

/* A document that is shown, or only compared with the other one of its pair. */
struct shown {
    uint64_t fingerprint;
    bool is_compared;   /* It is not shown, so its text is freed once it was compared. */
    double resemblance; /* Of the pair, in its first document; below 0: unknown. It is known if both have texts. */
    uint64_t number;    /* The document's number, by which its text is found again. */
    char id[FINDINGS_ID + 1]; /* A NUL byte follows it. */
    size_t id_length;
    bool id_is_cut;
    char *text; /* Belongs to the findings; a NUL byte follows it. NULL: there is none. */
    size_t text_length;
    uint64_t text_bytes; /* Length of the whole text; only text_length bytes of it are kept. */
};

/* Two fingerprints, or the numbers of two documents, that are to be compared. */
struct shown_pair {
    uint64_t key; /* A hash of the pair: those with the smallest keys are compared. */
    uint64_t a, b;
    double resemblance;            /* Below 0: unknown. */
    const struct shown *documents; /* Both documents; NULL as long as they are unknown. */
};

/* What was found at one distance, or from one threshold of resemblance up to the next higher one. */
struct level {
    /* Up to k, all pairs of fingerprints; at distance 0, documents whose fingerprint an earlier one has. Beyond k,
     * pairs with a sampled fingerprint, of which those of two sampled ones count twice. By resemblance, pairs of
     * different sets, and a pair for each document whose set an earlier one has. */
    uint64_t pairs;
    struct shown_pair shown[FINDINGS_PAIRS];
    size_t shown_count;
    struct idx_cluster_summary clusters; /* The clusters at this distance; empty beyond k. */
    uint64_t nearest;                    /* Sampled fingerprints whose nearest other one is at this distance. */

    /* By resemblance alone. */
    int64_t threshold; /* In units of 1/IDX_DECIMAL_WEIGHT_ONE. */
    uint64_t dropped;  /* With this threshold. */
    uint64_t largest;  /* Documents of the largest cluster. */
};

/* A fingerprint of a chain, and its first document. */
struct step {
    uint64_t fingerprint;
    unsigned distance; /* From the representative. */
    struct shown document;
};

/* A chain of near-duplicates leads from the representative of a cluster to the document that is farthest from it. */
struct chain {
    struct chain_ends {
        struct idx_cluster_size size; /* The size of the cluster. */
        uint64_t farthest;            /* The fingerprint farthest from the representative's; of several, the first. */
        unsigned distance;            /* The distance of these two. */
    } ends;
    size_t length;     /* Fingerprints of the chain, with both ends; 0: it was not followed to its end. */
    size_t step_count; /* Steps that are kept: of a long chain, the first and the last ones. */
    struct step steps[FINDINGS_STEPS];
    const struct shown *shown; /* The documents of both ends. */
};

/* How many documents had the same fate, and their bytes in the inputs. */
struct tally {
    uint64_t documents, bytes;
};

struct findings {
    struct idx_properties properties;
    unsigned k, farthest; /* All pairs are known up to k; those of the sample, up to `farthest`. */
    uint64_t fingerprints;
    uint64_t ones[IDX_MAX_BITS]; /* How many fingerprints have each bit set. */
    uint64_t sampled;            /* Fingerprints, or documents, in the sample. */
    struct level at[FINDINGS_DISTANCES];

    /* Documents that are compared by their resemblance have no fingerprints: `at` is then by threshold, the highest
     * first. */
    size_t thresholds; /* 0: by distance. */
    size_t exact;      /* How many levels have exact pairs; those of others are estimates from a sample. */
    size_t decided;    /* The same for what is dropped. */
    size_t asked;      /* The level of the threshold that was asked for. */

    /* The clusters that were asked for. */
    struct idx_cluster_summary clusters;
    /* Counts of documents by distance to their representatives, or by level, without these. */
    uint64_t distances[IDX_MAX_BITS + 1];
    struct chain chains[FINDINGS_CHAINS];
    size_t chain_count;
    struct chain_ends current; /* The ends in the cluster that is being visited. */

    /* What became of the inputs: `known` are those that the index of --against has, `few` were kept without being
     * compared. */
    struct tally kept, dropped, known, few;
    bool has_bytes, has_texts;

    struct shown *shown; /* All documents that are compared or shown with their texts. */
    size_t shown_count;
};

/* ---- Goes through an index for what a report says ---- */

/* Fills the findings except for tallies and texts; clusters are found by the options. The caller frees `shown`. Returns
 * false after a complaint, and if a signal was noted. */
bool gather(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options);

/* Offers a pair to be shown at its level. A pair that was offered before counts once. The resemblance may be unknown,
 * and then is below 0. */
void gather_offer(struct level *at, uint64_t a, uint64_t b, double resemblance);

/* Sets what is known of a document, but for its ID. */
void gather_describe(struct shown *shown, uint64_t number, const char *id, size_t id_length);

/* levels.c does the same by resemblance. */

/* Fills the findings like gather, for documents whose sets were compared. `memory` is how many bytes --memory allows;
 * 0: it was not given. */
bool levels_gather(struct findings *findings, struct resemble *resemble, uint64_t memory);

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

/* The words of a text. */
struct words {
    const uint64_t *hashes;
    bool *differs; /* One for each word. */
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
        struct piece *pieces; /* Its words. */
        uint64_t *hashes;
        bool *differs;
        size_t count, differing;
        bool failed; /* Memory ran out. */
    } sides[2];
};

/* Computes how much two texts resemble each other, as far as they are kept, by idx_text_resemblance. Returns false if
 * memory ran out. */
bool excerpt_compare(const struct shown two[2], double *resemblance);

/* Cuts the texts of two documents into words, and finds which words differ. The caller frees the excerpt in any case.
 */
bool excerpt_make(struct excerpt *excerpt, const struct shown two[2]);

/* Writes one of the two texts as the content of an element. */
void excerpt_put(struct output *output, const struct excerpt *excerpt, size_t which);

void excerpt_free(struct excerpt *excerpt);

/* ---- Text and charts in HTML ---- */

/* Writes text from outside so that it neither becomes markup nor changes the order of reading, and histograms as
 * SVG. */

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

/* Writes the numbers of the bits that are set, such as "bits 14, 3", or "no bit". */
void html_bits(struct output *output, uint64_t bits);

struct bar {
    char label[24]; /* It is written as it is, so it must not have markup. */
    uint64_t value;
    bool about; /* The value is an estimate. */
};

/* Writes a figure of bars whose lengths are the logarithms of their values. `name` must be unique in the page; `title`
 * and `description` are markup. */
void chart_put(struct output *output, const char *name, const char *title, const char *description,
               const struct bar *bars, size_t count);

/* Writes a figure of how often each bit is 1 in `all` fingerprints, the most significant bit first. */
void chart_put_bits(struct output *output, const char *title, const uint64_t *ones, unsigned bits, uint64_t all);

/* ---- Writes the report as one page of HTML that needs no other file ---- */

/* What the page says of how it was made. */
struct page_origin {
    const char *command; /* idx dedup or idx clusters. */
    const char *recipe;  /* "": not known; NULL: that of the index. */
    const char *method, *representative;
    const char *against;                 /* What --against names, or NULL. */
    const char *shingle, *ignore_common; /* The arguments of these options, or NULL. */
    bool of_index;                       /* Only an index was read: nothing is known of inputs. */
};

/* Every report begins with this text, by which report.c recognizes the files that it may replace. */
extern const char page_begin[];

/* The style sheet of the page, which the build makes of style.css. */
extern const char page_style[];

/* Appends the page to an output that is kept. */
bool page_put(struct output *output, const struct findings *findings, const struct page_origin *origin);

/* Writes a number as a cell of a table. */
void page_put_cell(struct output *output, uint64_t number);

/* Writes the bars of a chart as a table, for those who can't see the chart. */
void page_put_bars(struct output *output, const char *caption, const char *label, const char *value,
                   const struct bar *bars, size_t count);

/* page_levels.c has what differs where documents are compared by their resemblance: the section by which a reader
 * chooses the threshold, and the chart of what was dropped. */
void page_put_levels(struct output *output, const struct findings *findings);
void page_put_dropped(struct output *output, const struct findings *findings);

/* Returns the threshold of a level, up to 1. */
double page_threshold(const struct findings *findings, size_t level);

/* The bounds of a level, such as "0.8 to 0.9", or with another word in between. */
enum { PAGE_LEVEL = 24 };
const char *page_name_level(char name[PAGE_LEVEL], const struct findings *findings, size_t level, const char *to);

/* page_pairs.c has the sections that show pairs, and chains of pairs. Each call appends its section to the output, and
 * returns false after a complaint. */
bool page_put_pairs(struct output *output, const struct findings *findings);
bool page_put_chains(struct output *output, const struct findings *findings);

/* ---- The report, from its options to its file: report.c ---- */

struct report {
    const char *path;              /* Where the page will be; NULL: no report is asked for. */
    const struct listing *listing; /* The listing of the same clusters. */
    struct page_origin origin;

    /* The caller does not touch these. */
    struct findings findings;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* The recipe of the index. */
    uint64_t *wanted;                      /* A bit per compared document: its text is to be read. */
    struct scratch scratch;                /* The page is written here first. */
};

/* Checks whether the page can be written at its path, where only a report is replaced. */
bool report_check(const struct report *report);

/* Notes the next document of the clusters that are asked for. */
void report_note(struct report *report, const struct idx_cluster_member *member);

/* Goes through the index, once its clusters are listed. Returns false after a complaint, and where a signal was
 * noted. */
bool report_gather(struct report *report, const struct idx_index *index);

/* Asks about other thresholds than that of `resemble`, once its documents are listed. Returns false like
 * report_gather. */
bool report_gather_levels(struct report *report, struct resemble *resemble);

/* Adds how many documents and bytes of the inputs were kept and dropped; `dropped` has a bit for each document that was
 * compared. */
bool report_count(struct report *report, struct intake *intake, const uint64_t *dropped);

/* Reads again, by the journal, the texts that are compared or shown. Returns false after a complaint, and if a signal
 * was noted. */
bool report_read_texts(struct report *report, struct intake *intake, const struct pipeline_rules *rules);

/* Writes the page to the disk, beside its place. Returns false after a complaint, and where a signal was noted. */
bool report_write(struct report *report);

/* Moves the page to its place. */
bool report_publish(const struct report *report);

/* Removes a page that was not published. */
void report_close(struct report *report);

#endif
