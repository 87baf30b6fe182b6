/* blocks.c: see blocks.h. */
#include "tests/libidx/blocks.h"

#include <stdlib.h>

#include "libidx/lookup/search.h"
#include "tests/libidx/support.h"

static bool go_on(void *context, size_t query, const struct idx_match *match) {
    (void)context, (void)query, (void)match;
    return true;
}

uint64_t search_blocks(const struct idx_index *index, uint64_t fingerprint, unsigned distance) {
    struct idxi_search search;
    assert_ok(idxi_check_queries(index, &fingerprint, 1, &failure));
    idxi_search_init(&search, index, distance, &fingerprint, go_on, NULL, &failure);
    assert_ok(idxi_search_queries(&search, 0, 1));
    return search.blocks_searched;
}

uint64_t *read_keys(const struct idxi_table *table) {
    static uint64_t fingerprints[IDXF_MAX_DECODED_WORDS];
    uint64_t *keys = malloc((size_t)table->header.blocks * sizeof *keys + 1);
    const struct idxf_start start = {0, 0};
    struct idxi_blocks blocks;
    size_t count;
    assert_non_null(keys);
    idxi_blocks_begin(&blocks, table, &start);
    for (uint64_t block = 0; block < table->header.blocks; block++) {
        assert_ok(idxi_blocks_read(&blocks, block + 1, fingerprints, &count, &failure));
        keys[block] = fingerprints[count - 1];
    }
    return keys;
}
