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

/* Returns the format of a file by the ending of its name: .tsv, .u64 or .npy. For any other name, returns INPUT_NPY if
 * the file, or standard input for `-`, is a regular file that begins with NumPy's mark, and otherwise INPUT_AUTO, also
 * if the file can't be read. Consumes nothing. */
enum input_format input_recognize_format(const char *path);

/* Replaces INPUT_AUTO in *format by the format of the files, or by INPUT_TSV where nothing shows it; leaves any other
 * format as it is. Complains and returns false if two files have different formats. */
bool input_resolve_format(const struct strings *paths, enum input_format *format);

/* Like input_resolve_format, but if standard input is a pipe and the only input, waits for its first bytes, and also
 * recognizes an array of NumPy by them. A signal ends the waiting, and the pipe then counts as TSV. Commands that read
 * all input before they do anything else call this. Consumes nothing. */
bool input_wait_and_resolve_format(const struct strings *paths, enum input_format *format);

/* Returns advice for the message about a bad line of TSV: a clause that begins with a semicolon if the line seems to be
 * compressed or binary, and "" if it looks like text. The string is static. */
const char *input_advise_on_binary_line(const char *line, size_t length);

#endif
