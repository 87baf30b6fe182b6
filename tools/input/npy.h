/* npy.h: the header of NumPy's .npy files, versions 1 to 3: bytes in, what they say out. No I/O, no allocation. The
 * format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef IDX_TOOLS_NPY_H
#define IDX_TOOLS_NPY_H

#include "tools/shared/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that npy_read_prefix looks at, and the longest header that is read. */
enum { NPY_PREFIX_BYTES = 12, NPY_MAX_HEADER_BYTES = 1 << 16 };

struct npy_prefix {
    size_t header_offset; /* from the beginning of the file: 10 or 12 */
    size_t header_length;
};

struct npy_array {
    uint64_t rows;
    bool big_endian;
};

/* Reads the magic string, the version and the length of the header from a file's first NPY_PREFIX_BYTES bytes. */
bool npy_read_prefix(const void *bytes, size_t length, struct npy_prefix *prefix, struct problem *problem);

/* Reads the header, and accepts it when it is a one-dimensional array of uint64. */
bool npy_read_header(const char *text, size_t length, struct npy_array *array, struct problem *problem);

#endif
