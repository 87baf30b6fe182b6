/* marks.h: which hashes are in the prefix of any set. If a set contains another one, it has a hash of that one's
 * prefix. So to find sets that are contained in others, the index lists only such hashes. */
#ifndef IDX_LIBIDX_SET_MARKS_H
#define IDX_LIBIDX_SET_MARKS_H

#include "libidx/sets/counters.h"

/* A bit for each counter. Several hashes may share one, so that some are listed in vain. */
struct idxi_marks {
    uint64_t *bits;
    unsigned shift; /* as of the counters */
};

struct idxi_prober;

/* Marks the prefixes of all sets of prober->store, on `threads` threads, each with a copy of `prober`, whose settings
 * count; prober->order must be NULL. Call idxi_marks_free even if this fails. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED,
 * those of files. */
enum idx_status idxi_marks_make(struct idxi_marks *marks, const struct idxi_prober *prober, unsigned threads,
                                struct idxi_progress *progress, struct idx_error *error);

/* Returns whether a hash with this tag is marked, or another one that shares its counter. A tag is the high half of a
 * hash, whose first bits are the number of the counter. */
static inline bool idxi_is_tag_marked(const struct idxi_marks *marks, uint32_t tag) {
    uint64_t bit = (uint64_t)tag << 32 >> marks->shift;
    return (marks->bits[bit / 64] >> bit % 64 & 1) != 0;
}

/* Frees the bits, and leaves the marks zeroed. */
void idxi_marks_free(struct idxi_marks *marks);

#endif
