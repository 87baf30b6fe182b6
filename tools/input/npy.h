/* npy.h: parses the header of NumPy's .npy files, versions 1 to 3. These functions do no I/O and allocate no memory.
 * The format is described at https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. */
#ifndef IDX_TOOLS_INPUT_NPY_H
#define IDX_TOOLS_INPUT_NPY_H

#include "tools/shared/wording.h"

/* How many bytes npy_read_prefix needs, and the most bytes of a header that are read. */
enum { NPY_PREFIX_BYTES = 12, NPY_MAX_HEADER_BYTES = 1 << 16 };

struct npy_prefix {
    size_t header_offset; /* 10 or 12 bytes from the beginning of the file. */
    size_t header_length;
};

/* A one-dimensional array of uint64. */
struct npy_array {
    uint64_t rows;
    bool big_endian;
};

/* Reads the magic string, the version and the length of the header from the first `length` bytes of a file. Sets
 * *problem and returns false, with *prefix unspecified, if
 * - there are fewer than NPY_PREFIX_BYTES, or they don't begin with NumPy's magic string;
 * - the version is not 1, 2 or 3;
 * - the header has more than NPY_MAX_HEADER_BYTES. */
bool npy_read_prefix(const void *bytes, size_t length, struct npy_prefix *prefix, struct problem *problem);

/* Reads the `length` bytes of the header, prefix.header_length, which begin at prefix.header_offset of the file. Sets
 * *problem and returns false, with *array unspecified, if they are not the dictionary that NumPy writes, or if the
 * array is not a one-dimensional one of uint64. */
bool npy_read_header(const char *header, size_t length, struct npy_array *array, struct problem *problem);

#endif
