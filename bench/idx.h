/* idx.h: the index that all others are measured beside. */
#ifndef BENCH_IDX_H
#define BENCH_IDX_H

#include "bench/system.h"

#include <idx.h>

struct idx_choice {
    const char *scheme;
    uint32_t block_size;
};

/* Builds an index at the path; ends the program where that fails. */
void idx_make(const struct data *data, const struct idx_choice *choice, const char *path);

/* Removes the index that was built last, if it is still there; also for atexit. */
void idx_remove(void);

/* Writes the index out, and takes it out of the page cache. */
void idx_drop_cache(const char *path);

/* Opens it, blocks in memory or mapped. */
bool idx_build(struct system *system, const struct data *data, const struct idx_choice *choice, const char *path,
               bool in_memory, unsigned threads);

/* Answers all queries once, so that the pages that they need are mapped and checked. */
void idx_warm(const struct system *system, const struct data *data);

#endif
