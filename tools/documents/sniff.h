/* sniff.h: what a file is, by its name and first bytes. */
#ifndef IDX_TOOLS_DOCUMENTS_SNIFF_H
#define IDX_TOOLS_DOCUMENTS_SNIFF_H

#include "tools/documents/documents.h"

struct sniffed {
    enum document_format format; /* Not FORMAT_AUTO. */
    enum nontext nontext;        /* What it is in place of a text; NONTEXT_NONE: it is a text. */
    const char *refusal;         /* What is wrong with a file whose documents can't be read; NULL: nothing. */
};

/* Returns what the open file of `documents` is, by its name and first bytes. `in_folder` says that it was found in a
 * folder, and not named by the user. If documents->format is not FORMAT_AUTO, the file has that format; a named file is
 * then not checked for being a text. */
struct sniffed sniff_file(const struct documents *documents, struct span first_bytes, bool in_folder);

/* Returns what the file at `path` is, by its name and first bytes, if it is read as one document: FORMAT_PLAIN,
 * FORMAT_HTML or FORMAT_MAN, with `nontext` set if it is no text. */
struct sniffed sniff_one_document(const char *path, struct span first_bytes);

/* Returns a short name of a kind of files that are no texts, as in the message "left out files that are not text: 2 ×
 * PDF". */
const char *sniff_get_nontext_name(enum nontext nontext);

/* Returns a sentence that says why a file of this kind is not read, and what to do. It follows a path and a colon. */
const char *sniff_get_nontext_problem(enum nontext nontext);

#endif
