/* extremes.h: the two extremes that the paper starts from: many probes of one table, and one probe of a table of all
 * neighbours. */
#ifndef BENCH_EXTREMES_H
#define BENCH_EXTREMES_H

#include "bench/system.h"

/* Both for k up to 3. */
#define PATTERNS_MAX_COUNT 1000000
#define PRECOMPUTED_MAX_COUNT 10000

bool patterns_build(struct system *system, const struct data *data);
bool precomputed_build(struct system *system, const struct data *data);

#endif
