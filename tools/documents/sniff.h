/* sniff.h: what a file is, by its name and first bytes. */
#ifndef IDX_TOOLS_DOCUMENTS_SNIFF_H
#define IDX_TOOLS_DOCUMENTS_SNIFF_H

#include "tools/documents/documents.h"

struct sniffed {
    enum document_format format; /* Not FORMAT_AUTO. */
    enum binary binary;          /* What it is in place of a text. */
    const char *refusal;         /* What is wrong with a file whose documents can't be read; NULL: nothing. */
};

/* Finds out what the open file of `documents` is, which begins with these bytes. A format that is not FORMAT_AUTO
 * stays; then named files are not looked at. */
struct sniffed sniff_file(const struct documents *documents, struct span first_bytes, bool in_folder);

/* Finds out what a file is that is one document: FORMAT_PLAIN, FORMAT_HTML or FORMAT_MAN, or no text. */
struct sniffed sniff_one_document(const char *path, struct span first_bytes);

/* Returns the name of this kind of files that are no texts, as lists of what was left out have it. */
const char *sniff_get_name(enum binary binary);

/* Returns a sentence that says what is wrong with a file of this kind, and what to do. */
const char *sniff_get_problem(enum binary binary);

#endif
