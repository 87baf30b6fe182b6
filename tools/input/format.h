/* format.h: the formats in which files have fingerprints, and which one a file has. */
#ifndef IDX_TOOLS_INPUT_FORMAT_H
#define IDX_TOOLS_INPUT_FORMAT_H

#include "tools/shared/command.h"

enum input_format {
    INPUT_AUTO, /* Decided by the names of files and by first bytes. */
    INPUT_TSV,  /* Each line is a fingerprint, a tab and an ID. */
    INPUT_U64,  /* 64-bit numbers, little-endian, and nothing else. */
    INPUT_NPY,  /* A file of NumPy with an array of uint64. */
};

extern const char *const input_format_names[];

/* Returns the format of a file by its name (.tsv, .u64, .npy), or else INPUT_NPY if it is a regular file, or one as
 * standard input (`-`), that begins like one of NumPy, or else INPUT_AUTO. Consumes nothing. */
enum input_format input_find_format(const char *path);

/* Replaces INPUT_AUTO by the format of the files, or else TSV. Complains and returns false if files have different
 * formats. */
bool input_settle_format(const struct strings *paths, enum input_format *format);

/* Does the same for commands that read all input before they do anything else: if standard input is the only input, and
 * a pipe, it waits for the first bytes, and recognizes an array of NumPy by them. It consumes nothing. */
bool input_await_format(const struct strings *paths, enum input_format *format);

/* Returns advice on a bad line of TSV that seems to be binary, as the end of a sentence; "" if it is text. */
const char *input_find_binary_advice(const char *line, size_t length);

#endif
