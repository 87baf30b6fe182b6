/* uncompressed.h: idx's schemes over sorted tables that are not compressed: the floor that memory allows. */
#ifndef BENCH_UNCOMPRESSED_H
#define BENCH_UNCOMPRESSED_H

#include "bench/processor.h"
#include "bench/system.h"

/* `directory_bits`: 0 for what measures best. */
bool uncompressed_build(struct system *system, const struct data *data, const char *scheme, unsigned directory_bits,
                        enum instructions instructions);

#endif
