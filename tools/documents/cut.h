/* cut.h: cuts an open source into documents. */
#ifndef IDX_TOOLS_DOCUMENTS_CUT_H
#define IDX_TOOLS_DOCUMENTS_CUT_H

#include "tools/documents/documents.h"

/* Sets *raw, in place of a document, to what is wrong with the open file: `kind` and a copy of `sentence`. What *raw
 * was is not freed; the caller frees the new one. Returns true always: *raw was set. */
bool cut_set_bad_file(const struct documents *documents, struct raw_document *raw, enum bad_kind kind,
                      const char *sentence);

/* Like cut_set_bad_file, but with the reason why the open source failed. */
bool cut_set_unreadable_file(const struct documents *documents, struct raw_document *raw);

/* Begins to cut the open source of `documents` into documents of `format`; with FORMAT_AUTO, cut_next_document finds
 * none. */
void cut_begin_source(struct documents *documents, enum document_format format);

/* Sets *raw to the next document, which the caller frees: the whole source, the next line that is not blank, the next
 * lines of features that have the same ID, or the next record of WARC that has a text. With takes_other_records, any
 * record of WARC counts. A bad document says why in raw->bad. Returns false, with nothing to free, at the end, or if
 * the source ends too soon, which source_failed says. */
bool cut_next_document(struct documents *documents, struct raw_document *raw);

/* Frees the line that was read ahead. The source stays open. */
void cut_free_line_ahead(struct documents *documents);

#endif
