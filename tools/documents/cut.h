/* cut.h: cuts an open source into documents. */
#ifndef IDX_TOOLS_DOCUMENTS_CUT_H
#define IDX_TOOLS_DOCUMENTS_CUT_H

#include "tools/documents/documents.h"

/* Sets *raw to what is wrong with the open file, in place of a document: this kind and sentence, which is copied. The
 * caller frees *raw. Returns true always. */
bool cut_bad_file(const struct documents *documents, struct raw_document *raw, enum bad_kind kind,
                  const char *sentence);

/* Does the same with the reason why the source can't be read. */
bool cut_unreadable_file(const struct documents *documents, struct raw_document *raw);

/* Begins to cut the open source of `documents` into documents of a format. */
void cut_open(struct documents *documents, enum document_format format);

/* Sets *raw to the next document, which the caller frees: the whole source, each line but for blank ones, lines of
 * features as long as their ID stays the same, or each record of WARC that holds a text. Returns false at the end, and
 * if the source ends too soon, within a document or between two; then source_failed says so. */
bool cut_next(struct documents *documents, struct raw_document *raw);

/* Frees the line that was read ahead. The source stays open. */
void cut_close(struct documents *documents);

#endif
