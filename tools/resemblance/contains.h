/* contains.h: which texts of --against each document contains, for `idx dedup --contains`. These texts are in memory,
 * and documents come one after the other. */
#ifndef IDX_TOOLS_RESEMBLANCE_CONTAINS_H
#define IDX_TOOLS_RESEMBLANCE_CONTAINS_H

#include "tools/shared/library.h"
#include "tools/shared/temporary.h"

struct contains {
    /* These are set by the caller. */
    int64_t least;    /* The share of a text's shingles that a document has at least, in units of
                         1/IDX_THRESHOLD_ONE; 0: documents are not asked for what they contain. */
    bool notes_pairs; /* All texts that a document contains are noted, for contains_next_pair. */

    /* These are used by contains.c alone. */
    struct idx_needles *needles;
    struct idx_needle_finder *finder; /* NULL: contains_open was not called. */
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

/* Prepares to look for texts, whose `text_count` sets are copied. Those with fewer shingles than `least_size` are in no
 * document: a message says how many these are, and false is returned if all are. `place` is what messages call the
 * texts. Returns false after a complaint. */
bool contains_open(struct contains *contains, struct idx_sets *texts, uint64_t text_count, uint64_t least_size,
                   const char *place);

/* Sets *kept to the number of the text of which a document has the largest share, of equals the first, and to this
 * share; or to the document itself if it contains none. Returns false after a complaint. */
bool contains_find_best(struct contains *contains, uint64_t document, const uint64_t *shingles, size_t shingle_count,
                        struct idx_kept_set *kept);

/* Sets *pair to the next pair that was noted, at *offset, which is 0 at first and is moved on. Returns NULL at the end.
 * The file of pairs must be mapped. */
const char *contains_next_pair(struct contains *contains, uint64_t *offset, struct contained_pair *pair);

/* Frees everything. Accepts what was not opened. */
void contains_close(struct contains *contains);

#endif
