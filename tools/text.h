/* text.h: fingerprints of text files, over libidxtext where this build has it. */
#ifndef IDX_TOOLS_TEXT_H
#define IDX_TOOLS_TEXT_H

#include "tools/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct idx_text;

struct text {
    struct idx_text *fingerprinter;
    unsigned bits;
    struct reader reader;
};

/* The recipe that is used where none is asked for. */
extern const char text_default_recipe[];

/* Opens a fingerprinter by a recipe; NULL is the default one. False after a complaint, also where this build has no
 * libidxtext. */
bool text_open(struct text *text, const char *recipe, unsigned bits);

/* What is to become of a file. */
enum text_status {
    TEXT_DONE,
    TEXT_BINARY, /* only where binary files are to be left out: it holds a NUL byte in its first 8 KiB, or is gzip's */
    TEXT_FAILED, /* after a complaint */
};

/* Reads the file at `path` (`-`: standard input) and sets its fingerprint. */
enum text_status text_fingerprint_file(struct text *text, const char *path, bool leave_out_binary,
                                       uint64_t *fingerprint);

void text_close(struct text *text);

#endif
