/* contains.h: which texts of --against each document contains, for `idx dedup --contains`. These texts are in memory,
 * and documents come one after the other. */
#ifndef IDX_TOOLS_RESEMBLANCE_CONTAINS_H
#define IDX_TOOLS_RESEMBLANCE_CONTAINS_H

#include "tools/shared/library.h"
#include "tools/shared/temporary.h"

struct contains {
    /* These are set by the caller. */
    int64_t least;    /* A document contains a text if it has at least this share of the text's shingles, in units of
                         1/IDX_THRESHOLD_ONE; 0: nobody asks what documents contain. */
    bool notes_pairs; /* All texts that a document contains are noted, for contains_read_next_pair. */

    /* These are used by contains.c alone. */
    struct idx_needles *needles;
    struct idx_needle_finder *finder; /* NULL: contains_open_texts was not called. */
    struct temporary pairs;
};

#define CONTAINS_NOTHING                                                                                               \
    { .pairs = TEMPORARY_CLOSED }

/* A document, and a text that it contains, by their numbers. The document has `shared` of the text's `size` shingles.
 */
struct contained_pair {
    uint64_t text, document;
    uint32_t shared, size;
};

/* Prepares to look for `text_count` texts, whose sets `texts` has; the sets are copied. Texts with fewer shingles than
 * `min_size` are not looked for: a message, in which `texts_path` is the path of the texts, says how many these are.
 * Returns false, after a complaint, if all texts are too short or memory ran out; the caller calls contains_close even
 * then. */
bool contains_open_texts(struct contains *contains, struct idx_sets *texts, uint64_t text_count, uint64_t min_size,
                         const char *texts_path);

/* Finds the texts that a document contains, by the hashes of its shingles; `document` is its number. Sets *kept to the
 * text of which the document has the largest share (of equal shares, the first) and to this share; or, if it contains
 * none, to the document itself. With notes_pairs, also notes all pairs with these texts. Returns false after a
 * complaint. */
bool contains_find_best_text(struct contains *contains, uint64_t document, const uint64_t *shingles,
                             size_t shingle_count, struct idx_kept_set *kept);

/* Sets *pair to the noted pair at *offset, and moves *offset behind it; the first pair is at 0. Returns NULL at the
 * end, and otherwise a pointer whose only meaning is not to be NULL. The file `pairs` must be mapped. */
const char *contains_read_next_pair(struct contains *contains, uint64_t *offset, struct contained_pair *pair);

/* Frees everything. Accepts what was not opened. */
void contains_close(struct contains *contains);

#endif
