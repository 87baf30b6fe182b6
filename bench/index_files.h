/* index_files.h: the index that a benchmark builds, one at a time, and removes. */
#ifndef BENCH_INDEX_FILES_H
#define BENCH_INDEX_FILES_H

#include "bench/data.h"

struct index_choice {
    const char *scheme;
    uint32_t block_size;
};

/* Builds an index at the path; ends the program where that fails. */
void make_index(const struct data *data, const struct index_choice *choice, const char *path);

/* Removes the index that was built last, if it is still there; also for atexit. */
void remove_index(void);

/* Removes any index. */
void remove_index_at(const char *path);

/* Writes the index out, and takes it out of the page cache. */
void drop_cache(const char *path);

#endif
