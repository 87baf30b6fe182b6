/* limit.h: limits the memory of this process and its children, page cache included, by a control group. Takes root. */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include <stdint.h>

struct limit {
    char root[64], group[128];
};

/* A number of bytes such as 512M or 4G; ends the program where it is none. */
uint64_t read_size(const char *text);

/* Moves this process into a control group of its own, or ends it where that fails. */
void set_limit(struct limit *limit, uint64_t bytes);

/* The most memory that the group held, page cache included, and how many of its processes were killed for want of it.
 */
uint64_t limit_peak(const struct limit *limit);
uint64_t limit_kills(const struct limit *limit);

void lift_limit(const struct limit *limit);

/* Bytes that this process made the disk read. */
uint64_t get_read_bytes(void);

#endif
