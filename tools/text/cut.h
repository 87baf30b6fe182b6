/* cut.h: how inputs are cut into documents, format by format. */
#ifndef IDX_TOOLS_CUT_H
#define IDX_TOOLS_CUT_H

#include "tools/text/documents.h"

/* ---- Giving documents: documents.c ---- */

/* The raw document that is being cut. */
struct raw_document cut_begin(const struct documents *documents, enum document_format format);

/* Adds bytes to a document. Of one that got too long they are dropped. */
void cut_append(struct raw_document *raw, const char *bytes, size_t length);

/* Gives a document, which is not the caller's any more. Its place is FILE:WHERENUMBER; `where` NULL: there is one
 * document in the file. Returns false where the visitor wants no more. */
bool cut_give(struct documents *documents, struct raw_document *raw, const char *where, uint64_t number);

/* Gives, in place of a document, what is wrong. */
bool cut_give_bad(struct documents *documents, enum bad_kind kind, const char *sentence, const char *where,
                  uint64_t number);

/* Says what ended the source too soon, if anything did. */
bool cut_give_end(struct documents *documents);

/* ---- All documents of an open source; false where the visitor wants no more ---- */

/* The file is a document. */
bool cut_whole(struct documents *documents, enum document_format format);

/* Each line is a document, but for blank ones. */
bool cut_lines(struct documents *documents, enum document_format format);

/* Lines of features, as long as their ID stays the same. */
bool cut_features(struct documents *documents);

/* Each record that holds a text is a document. */
bool cut_warc(struct documents *documents);

#endif
