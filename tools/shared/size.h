/* size.h: prints sizes in binary units, and compares tables with the least that their fingerprints need. */
#ifndef IDX_TOOLS_SIZE_H
#define IDX_TOOLS_SIZE_H

#include <stdint.h>

/* size_print writes at most so many bytes, the terminating NUL included. */
enum { SIZE_LENGTH = 24 };

/* Writes bytes as `17 B`, `1.5 KiB`, `640 MiB`. */
void size_print(char text[SIZE_LENGTH], double bytes);

/* It is what a table takes, or 0 if there are no fingerprints. */
struct density {
    double bits;  /* So many bits are stored per fingerprint. */
    double limit; /* idx_information_limit returns it. */
    double ratio; /* It is the first divided by the second. */
};

/* Returns the density of a table of `bytes` that holds so many fingerprints of `bits` bits. */
struct density density_of(double bytes, uint64_t fingerprints, unsigned bits);

/* The mean of all tables: a format of its bits and its ratio. */
#define DENSITY_MEAN_FORMAT                                                                                            \
    "mean of the tables: %.3f bits per fingerprint, %.4f times the limit for uniform fingerprints; less is better"

#endif
