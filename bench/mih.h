/* mih.h: multi-index hashing. */
#ifndef BENCH_MIH_H
#define BENCH_MIH_H

#include "bench/processor.h"
#include "bench/system.h"

/* Fingerprints are cut into `parts` substrings. `wide`: buckets hold fingerprints, not numbers of fingerprints. */
bool mih_build(struct system *system, const struct data *data, unsigned parts, bool wide,
               enum instructions instructions);

#endif
