/* memory.h: memory in huge pages, and how much there is. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the program with status 2 and a sentence. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Zeroed; the program ends where there is none. huge_free takes the same number of bytes. */
void *huge_new(size_t bytes);
void huge_free(void *memory, size_t bytes);

/* Whether so many bytes are free, with some to spare; says on standard error what is left out when they aren't. */
bool memory_suffices(const char *system, const char *scheme, double bytes);

/* The number in the first line of a file in /proc that has the form of `format`, for an unsigned long long; 0 without
 * such a line. */
uint64_t read_proc(const char *path, const char *format);

/* Physical memory that the process holds. */
uint64_t process_bytes(void);

#ifdef __cplusplus
}
#endif

#endif
