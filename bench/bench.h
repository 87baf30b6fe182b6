/* bench.h: what the benchmarks share: how they end, their options, clocks and medians, random numbers, memory, and the
 * indexes that they build and remove. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <idx.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prints a sentence and ends the program with status 2. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#ifndef __cplusplus
/* Ends the program with the error's sentence where a call failed. */
static inline void try(enum idx_status status, const struct idx_error *error) {
    if (status != IDX_OK) die("%s", error->sentence);
}
#endif

/* ---- Options ---- */

/* What --help prints. The build makes these of the files NAME.txt in bench. */
extern const char help_against[], help_batch[], help_growing[], help_lookup[], help_make[], help_pairs[], help_plan[],
    help_quality[], help_resembling[], help_rows[];

#define MAX_CHOICES 32

/* The values of an option that may be repeated. */
struct list {
    const char *values[MAX_CHOICES];
    size_t count;
};

void add_choice(struct list *list, const char *value);

enum option_kind {
    OPTION_FLAG,     /* has no value and sets a bool */
    OPTION_TEXT,     /* sets a const char * */
    OPTION_LIST,     /* adds to a struct list */
    OPTION_UNSIGNED, /* these set a number of the type that their name says */
    OPTION_UINT32,
    OPTION_UINT64,
    OPTION_SIZE, /* size_t */
    OPTION_DOUBLE,
};

struct bench_option {
    const char *name; /* without hyphens; NULL behind the last option */
    enum option_kind kind;
    void *value;
    double least, most; /* of a number; no limits where both are 0 */
};

/* Reads the options of a command line, and moves all other arguments to its front: they are argv[1] and following.
 * Returns how many they are. Prints the help and ends the program where it is asked for. */
int read_options(int argc, char **argv, const char *help, const struct bench_option *options);

/* Reads a number such as 1e7, from `least` to `most`. The program ends if the text is no such number. */
double read_number(const char *text, double least, double most);

/* ---- Clocks and medians ---- */

/* Returns what a clock shows, in seconds since a fixed moment. */
static inline double read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline double now(void) { return read_clock(CLOCK_MONOTONIC); }

/* These return the processor's time, user and system, of all threads and of this thread. */
static inline double cpu_now(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
static inline double thread_now(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

/* These sort numbers in ascending order. */
void sort_doubles(double *values, size_t count);
void sort_numbers(uint64_t *values, size_t count);

/* ---- Random numbers, the same in each run ---- */

/* This is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t mix(uint64_t value) {
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* This is SplitMix64. */
static inline uint64_t next_random(uint64_t *state) { return mix(*state += UINT64_C(0x9e3779b97f4a7c15)); }

/* This is xorshift64* (Vigna, 2016). The state must not be 0. */
static inline uint64_t next_xorshift(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* ---- Processors ---- */

enum instructions {
    INSTRUCTIONS_PLAIN,
    INSTRUCTIONS_AVX2,   /* with BMI2 and POPCNT */
    INSTRUCTIONS_AVX512, /* AVX-512 F, BW and VL */
    INSTRUCTIONS_VPOPCNTDQ,
};

/* Finds the widest instructions that the processor has, up to `most`. */
enum instructions find_instructions(enum instructions most);

/* ---- Memory ---- */

/* Returns zeroed memory. The program ends if there is none left. */
void *allocate(size_t count, size_t bytes);

/* Returns zeroed memory in huge pages. The program ends if there is none left. huge_free takes the same number of
 * bytes. */
void *huge_new(size_t bytes);
void huge_free(void *memory, size_t bytes);

/* Whether so many bytes are free, with some to spare. If not, prints on standard error which system is left out. */
bool memory_suffices(const char *system, const char *scheme, double bytes);

/* Reads the number in the first line of a file in /proc that matches `format`, a format of scanf for an unsigned long
 * long. Returns 0 if no line does. */
uint64_t read_proc(const char *path, const char *format);

/* Returns how many bytes of physical memory the process holds. */
uint64_t process_bytes(void);

/* ---- Indexes ---- */

/* Builds an index of fingerprints, whose integer IDs, if it has any, are their row numbers. The program ends if that
 * fails. `summary` may be NULL. */
void build_index(const char *path, const struct idx_build_options *options, const uint64_t *fingerprints, size_t count,
                 struct idx_build_summary *summary);

/* Builds an index without IDs for look-ups within k bits, by two threads, at a path that remove_index removes. */
void make_index(const char *path, const char *scheme, uint32_t block_size, unsigned k, const uint64_t *fingerprints,
                size_t count);

/* Removes the index that make_index built last, if it still exists. It can be passed to atexit. */
void remove_index(void);

/* Removes a file, or a folder with all that it contains. */
void remove_all(const char *path);

/* Writes all files of the index to the disk, and removes them from the page cache. */
void drop_cache(const char *path);

#ifdef __cplusplus
}
#endif

#endif
