/* format.h: in which format files hold fingerprints. */
#ifndef IDX_TOOLS_FORMAT_H
#define IDX_TOOLS_FORMAT_H

#include "tools/shared/arguments.h"

#include <stdbool.h>
#include <stddef.h>

enum input_format {
    INPUT_AUTO, /* by names and first bytes */
    INPUT_TSV,  /* fingerprint<TAB>ID */
    INPUT_U64,  /* little-endian u64, nothing else */
    INPUT_NPY,  /* NumPy's array file of uint64 */
};

extern const char *const input_format_names[];

/* The format of a file: by its name (.tsv, .u64, .npy), or else INPUT_NPY if it is a regular file that begins like one,
 * standard input (`-`) included. INPUT_AUTO if neither says. Consumes nothing. */
enum input_format input_format_of(const char *path);

/* Replaces INPUT_AUTO by the format of the files; those that don't say theirs, and no files, are TSV. False after a
 * complaint, if they have several. */
bool input_settle_format(const struct texts *paths, enum input_format *format);

/* The same, for commands that read all before they do anything else: if standard input is the only one, and a pipe, it
 * waits for the first bytes, and recognises an array of NumPy by them. They are still there to be read. */
bool input_await_format(const struct texts *paths, enum input_format *format);

/* What to do about a line of TSV that can't be read because it is part of a binary file: the end of a sentence. "" if
 * it is text. */
const char *input_advice(const char *line, size_t length);

#endif
