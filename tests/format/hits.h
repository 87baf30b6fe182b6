/* hits.h: all hits of a search, however few of them it keeps at a time. */
#ifndef IDX_TESTS_FORMAT_HITS_H
#define IDX_TESTS_FORMAT_HITS_H

#include <string.h>

#include "format/block.h"

struct hits {
    size_t count;
    uint64_t fingerprints[IDXF_MAX_DECODED_WORDS];
    uint8_t lanes[IDXF_MAX_DECODED_WORDS];
};

static inline bool take_hits(struct idxf_hits *some) {
    struct hits *hits = some->context;
    memcpy(hits->fingerprints + hits->count, some->fingerprints, some->count * sizeof *some->fingerprints);
    memcpy(hits->lanes + hits->count, some->lanes, some->count);
    hits->count += some->count;
    some->count = 0;
    return true;
}

/* As idxf_search. */
static inline void search_all(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                              unsigned distance, struct hits *hits) {
    struct idxf_hits some = {.take = take_hits, .context = hits};
    hits->count = 0;
    idxf_search(decoder, lanes, count, distance, &some);
    take_hits(&some);
}

#endif
