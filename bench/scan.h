/* scan.h: the linear scan. */
#ifndef BENCH_SCAN_H
#define BENCH_SCAN_H

#include "bench/processor.h"
#include "bench/system.h"

/* `tiled`: many queries against one tile of fingerprints after the other; otherwise one query at a time. */
bool scan_build(struct system *system, const struct data *data, bool tiled, enum instructions instructions);

#endif
