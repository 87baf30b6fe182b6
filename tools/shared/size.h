/* size.h: how sizes are told: bytes in binary units, and tables beside the least that their fingerprints need. */
#ifndef IDX_TOOLS_SIZE_H
#define IDX_TOOLS_SIZE_H

#include <stdint.h>

/* Room for what size_print writes, the terminating NUL too. */
enum { SIZE_LENGTH = 24 };

/* Writes bytes as `17 B`, `1.5 KiB`, `640 MiB`. */
void size_print(char text[SIZE_LENGTH], double bytes);

/* What a table takes; 0 each where there are no fingerprints. */
struct density {
    double bits;  /* a fingerprint */
    double limit; /* idx_information_limit */
    double ratio; /* the former divided by the latter */
};

/* Of a table of `bytes` that holds so many fingerprints of `bits` bits. */
struct density density_of(double bytes, uint64_t fingerprints, unsigned bits);

/* The mean of all tables: a format of its bits and its ratio. */
#define DENSITY_MEAN_FORMAT                                                                                            \
    "mean of the tables: %.3f bits per fingerprint, %.4f times the limit for uniform fingerprints; less is better"

#endif
