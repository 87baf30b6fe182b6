/* faiss.cpp: the binary indexes of FAISS that are exact, on one thread. */
#include "bench/systems.h"

#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/impl/AuxIndexStructures.h>

#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>

/* Queries of a call: of 64, 1024 and 8192 this measured best, by up to a quarter. */
#define BATCH 8192
/* Fingerprints that are added by a call. */
#define ADDED 1000000

struct built {
    const struct data *data;
    faiss::IndexBinary *index;
};

static const uint8_t *as_codes(const uint64_t *fingerprints) { return reinterpret_cast<const uint8_t *>(fingerprints); }

static void answer(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                   struct answers *answers) {
    const struct built *built = static_cast<const struct built *>(system->state);
    size_t batch = mode == MODE_SINGLE ? 1 : BATCH;
    for (size_t begin = 0; begin < count; begin += batch) {
        size_t here = count - begin < batch ? count - begin : batch;
        faiss::RangeSearchResult result(here);
        /* It keeps distances below the radius. */
        built->index->range_search((faiss::IndexBinary::idx_t)here, as_codes(queries + begin), (int)built->data->k + 1,
                                   &result);
        for (size_t i = 0; i < here; i++) {
            for (size_t j = result.lims[i]; j < result.lims[i + 1]; j++)
                add_match(answers, begin + i, built->data->fingerprints[result.labels[j]]);
        }
    }
}

static void free_index(struct system *system) {
    struct built *built = static_cast<struct built *>(system->state);
    delete built->index;
    delete built;
    malloc_trim(0);
}

static void build(struct system *system, const struct data *data, faiss::IndexBinary *index, const char *name) {
    omp_set_num_threads(1);
    malloc_trim(0);
    uint64_t before = process_bytes();
    for (size_t begin = 0; begin < data->count; begin += ADDED) {
        size_t here = data->count - begin < ADDED ? data->count - begin : ADDED;
        index->add((faiss::IndexBinary::idx_t)here, as_codes(data->fingerprints + begin));
    }
    *system = {};
    system->name = name;
    system->table_bytes = (double)(process_bytes() - before);
    system->state = new built{data, index};
    system->answer = answer;
    system->free = free_index;
}

bool faiss_flat_build(struct system *system, const struct data *data) {
    if (!memory_suffices("faiss", "flat", (double)data->count * 16)) return false;
    build(system, data, new faiss::IndexBinaryFlat(64), "faiss flat");
    snprintf(system->scheme, sizeof system->scheme, "-");
    return true;
}

/* As measured: a bucket takes 90 bytes with its first number, each further number up to 16. */
static double estimate_bytes(double count, unsigned hashes, unsigned bits) {
    double buckets = exp2(bits) * -expm1(-count / exp2(bits));
    return count * 8 + hashes * (buckets * 90 + (count - buckets) * 16);
}

bool faiss_hash_build(struct system *system, const struct data *data, unsigned hashes, unsigned bits, unsigned flips) {
    char scheme[sizeof system->scheme];
    snprintf(scheme, sizeof scheme, "nhash=%u b=%u flip=%u", hashes, bits, flips);
    if (hashes * bits > 64 || bits == 0) die("FAISS can't take %s: nhash · b is to be 1 to 64", scheme);
    if (hashes * (flips + 1) <= data->k) die("FAISS is not exact by %s: nhash · (flip + 1) must exceed k", scheme);
    if (!memory_suffices("faiss", scheme, estimate_bytes((double)data->count, hashes, bits))) return false;
    faiss::IndexBinaryMultiHash *index = new faiss::IndexBinaryMultiHash(64, (int)hashes, (int)bits);
    index->nflip = (int)flips;
    build(system, data, index, "faiss");
    snprintf(system->scheme, sizeof system->scheme, "%s", scheme);
    return true;
}
