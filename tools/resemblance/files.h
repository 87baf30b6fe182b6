/* files.h: how much a text resembles those of documents that are files. */
#ifndef IDX_TOOLS_RESEMBLANCE_FILES_H
#define IDX_TOOLS_RESEMBLANCE_FILES_H

#include "tools/documents/text_reader.h"

struct resembling {
    const char *folder;     /* IDs of documents are names of files below it, or paths that begin with it. */
    const uint64_t *hashes; /* Those of the text's shingles. */
    size_t count;
};

/* What is returned in place of a resemblance. */
enum { RESEMBLANCE_UNKNOWN = -1, RESEMBLANCE_NO_MEMORY = -2 };

/* Returns how much the text resembles that of the document with this ID, from 0 to 1; RESEMBLANCE_UNKNOWN if the
 * document is no file, or, after a complaint, if it can't be read as a text; or RESEMBLANCE_NO_MEMORY. */
double resembling_compare(struct text_reader *reader, const struct resembling *resembling, struct span id);

/* Returns a resemblance, from 0 to 1, rounded down to four decimal places, so that texts resemble each other at least
 * as much as is printed. */
double resemblance_round_down(double resemblance);

#endif
