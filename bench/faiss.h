/* faiss.h: the binary indexes of FAISS that are exact. */
#ifndef BENCH_FAISS_H
#define BENCH_FAISS_H

#include "bench/system.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef BENCH_HAS_FAISS
/* IndexBinaryFlat. */
bool faiss_flat_build(struct system *system, const struct data *data);

/* IndexBinaryMultiHash; ends the program when it would not be exact. */
bool faiss_hash_build(struct system *system, const struct data *data, unsigned hashes, unsigned bits, unsigned flips);
#endif

#ifdef __cplusplus
}
#endif

#endif
