/* files.h: how much a text resembles those of documents that are files. */
#ifndef IDX_TOOLS_RESEMBLANCE_FILES_H
#define IDX_TOOLS_RESEMBLANCE_FILES_H

#include "tools/documents/text_reader.h"

/* A text, and where the files of documents are that it is compared with. */
struct resembling {
    const char *folder;     /* IDs of documents are names of files below it, or paths that begin with it. */
    const uint64_t *hashes; /* Those of the text's shingles, ascending and each once. */
    size_t count;           /* How many hashes there are. */
};

/* What is returned in place of a resemblance. */
enum { RESEMBLANCE_UNKNOWN = -1, RESEMBLANCE_NO_MEMORY = -2 };

/* Returns how much the text that `resembling` describes resembles the document with this ID, from 0 to 1. The reader
 * reads the document's file. Returns RESEMBLANCE_UNKNOWN if there is no such file, or, after a complaint, if it can't
 * be read as a text; or RESEMBLANCE_NO_MEMORY, without a complaint. */
double resembling_compare(struct text_reader *reader, const struct resembling *resembling, struct span id);

/* Returns a resemblance, from 0 to 1, rounded down to four decimal places, so that texts resemble each other at least
 * as much as is printed. */
double resemblance_round_down(double resemblance);

#endif
