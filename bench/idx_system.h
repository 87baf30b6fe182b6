/* idx_system.h: idx, which all other systems are measured beside. */
#ifndef BENCH_IDX_SYSTEM_H
#define BENCH_IDX_SYSTEM_H

#include <idx.h>

#include "bench/index_files.h"
#include "bench/system.h"

/* Opens the index at the path, which was built so; blocks in memory or mapped. */
void idx_system(struct system *system, const struct data *data, const struct index_choice *choice, const char *path,
                enum idx_residence residence, unsigned threads);

/* Answers all queries once, so that the pages that they need are mapped and checked. */
void warm_idx_system(const struct system *system, const struct data *data);

#endif
