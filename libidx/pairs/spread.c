/* spread.c: see spread.h. Each thread fills chunks of its own for each bucket; the chunks of a bucket form linked
 * lists. */
#include "libidx/pairs/spread.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "libidx/base/base.h"

#define CHUNK IDXI_SPREAD_CHUNK
#define NO_CHUNK UINT32_MAX

bool idxi_spread_reserve(struct idxi_spread *spread, size_t capacity, uint64_t buckets, unsigned threads) {
    size_t chunks = capacity / CHUNK + 1;
    *spread = (struct idxi_spread){.threads = threads, .chunks = chunks < NO_CHUNK ? chunks : NO_CHUNK - 1};
    spread->fingerprints = idxi_array_reserve(spread->chunks * CHUNK);
    spread->next = malloc(spread->chunks * sizeof *spread->next);
    spread->chunk = calloc((size_t)buckets * threads, sizeof *spread->chunk);
    spread->fill = calloc((size_t)buckets * threads, sizeof *spread->fill);
    return spread->fingerprints != NULL && spread->next != NULL && spread->chunk != NULL && spread->fill != NULL;
}

void idxi_spread_release(struct idxi_spread *spread) {
    idxi_array_release(spread->fingerprints, spread->chunks * CHUNK);
    free(spread->next);
    free(spread->chunk);
    free(spread->fill);
}

void idxi_spread_begin(struct idxi_spread *spread, unsigned shift, unsigned width, uint64_t first, uint64_t buckets) {
    spread->shift = shift;
    spread->width = width;
    spread->first = first;
    spread->buckets = buckets;
    spread->taken = 0;
    for (size_t i = 0; i < (size_t)buckets * spread->threads; i++) {
        spread->chunk[i] = NO_CHUNK;
        spread->fill[i] = CHUNK;
    }
}

static bool take_chunk(struct idxi_spread *spread, uint32_t *chunk, uint32_t *fill) {
    size_t taken = atomic_fetch_add(&spread->taken, 1);
    if (taken >= spread->chunks) return false;
    spread->next[taken] = *chunk;
    *chunk = (uint32_t)taken;
    *fill = 0;
    return true;
}

bool idxi_spread_add(struct idxi_spread *spread, unsigned thread, const uint64_t *fingerprints, size_t count) {
    uint32_t *chunk = spread->chunk + thread * spread->buckets, *fill = spread->fill + thread * spread->buckets;
    uint64_t mask = idxf_low_bits(spread->width);
    for (size_t i = 0; i < count; i++) {
        uint64_t bucket = (fingerprints[i] >> spread->shift & mask) - spread->first;
        if (bucket >= spread->buckets) continue;
        if (fill[bucket] == CHUNK && !take_chunk(spread, &chunk[bucket], &fill[bucket])) return false;
        spread->fingerprints[(size_t)chunk[bucket] * CHUNK + fill[bucket]++] = fingerprints[i];
    }
    return true;
}

size_t idxi_spread_count(const struct idxi_spread *spread, uint64_t bucket) {
    size_t count = 0;
    for (unsigned thread = 0; thread < spread->threads; thread++) {
        size_t at = thread * spread->buckets + bucket, last = spread->fill[at];
        for (uint32_t chunk = spread->chunk[at]; chunk != NO_CHUNK; chunk = spread->next[chunk], last = CHUNK)
            count += last;
    }
    return count;
}

void idxi_spread_copy(const struct idxi_spread *spread, uint64_t bucket, uint64_t *fingerprints) {
    for (unsigned thread = 0; thread < spread->threads; thread++) {
        size_t at = thread * spread->buckets + bucket, last = spread->fill[at];
        for (uint32_t chunk = spread->chunk[at]; chunk != NO_CHUNK; chunk = spread->next[chunk], last = CHUNK) {
            memcpy(fingerprints, spread->fingerprints + (size_t)chunk * CHUNK, last * sizeof *fingerprints);
            fingerprints += last;
        }
    }
}
