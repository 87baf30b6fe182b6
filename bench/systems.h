/* systems.h: what `lookup` asks of a system that it measures: to be built from the data in one configuration, to answer
 * queries, to say its bytes, to be freed. A function NAME_build returns false when the system can't be had here, and
 * says why on standard error. */
#ifndef BENCH_SYSTEMS_H
#define BENCH_SYSTEMS_H

#include "bench/data.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mode {
    MODE_SINGLE,  /* a query is answered before the next is looked at */
    MODE_STAGED,  /* many queries are under way at once, on one thread */
    MODE_THREADS, /* as staged, on several threads */
};

struct system {
    const char *name;
    char scheme[64]; /* a scheme, or what the system has in its place; "-" where there is nothing to choose */
    uint32_t block_size;
    double table_bytes;    /* table files, or the peer's whole structure */
    double resident_bytes; /* what opening table files allocates */
    void *state;
    void (*answer)(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                   struct answers *answers);
    void (*free)(struct system *system);
};

/* ---- idx, which all other systems are measured beside ---- */

struct index_choice {
    const char *scheme;
    uint32_t block_size;
    unsigned unpacked_bytes; /* IDX_RESIDENCE_UNPACKED: at most so many per fingerprint; 0: as many as are worth it */
};

/* Opens the index at the path, which was built with that choice, with its blocks in memory or mapped. */
void idx_system(struct system *system, const struct data *data, const struct index_choice *choice, const char *path,
                enum idx_residence residence, unsigned threads);

/* Answers all queries once, so that the pages that they need are mapped and checked. */
void warm_idx_system(const struct system *system, const struct data *data);

/* ---- Others ---- */

/* Builds a linear scan. If `tiled`, it compares many queries with one tile of fingerprints after the other; otherwise
 * it takes one query at a time. */
bool scan_build(struct system *system, const struct data *data, bool tiled, enum instructions instructions);

/* Builds tables of one of idx's schemes, sorted and not compressed, which shows how fast memory allows that scheme to
 * be. If `directory_bits` is 0, it is the number that measures best. */
bool uncompressed_build(struct system *system, const struct data *data, const char *scheme, unsigned directory_bits,
                        enum instructions instructions);

/* Builds multi-index hashing, which cuts fingerprints into `parts` substrings. If `wide`, buckets hold fingerprints,
 * and otherwise numbers of fingerprints. */
bool mih_build(struct system *system, const struct data *data, unsigned parts, bool wide,
               enum instructions instructions);

#ifdef BENCH_HAS_FAISS
/* Builds FAISS's IndexBinaryFlat. */
bool faiss_flat_build(struct system *system, const struct data *data);

/* Builds FAISS's IndexBinaryMultiHash. Ends the program if it would not be exact. */
bool faiss_hash_build(struct system *system, const struct data *data, unsigned hashes, unsigned bits, unsigned flips);
#endif

#ifdef __cplusplus
}
#endif

#endif
