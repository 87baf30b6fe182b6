/* cut.h: cuts an open source into documents for the visitor. The functions return false if the visitor stopped. If the
 * source ends too soon, the visitor gets a bad record in place of the document that it ends in. */
#ifndef IDX_TOOLS_TEXT_CUT_H
#define IDX_TOOLS_TEXT_CUT_H

#include "tools/text/documents.h"

/* The whole source is a document. */
bool cut_whole(struct documents *documents, enum document_format format);

/* Each line is a document, but for blank ones. */
bool cut_lines(struct documents *documents, enum document_format format);

/* Lines of features are a document as long as their ID stays the same. */
bool cut_features(struct documents *documents);

/* Each record that holds a text is a document. */
bool cut_warc(struct documents *documents);

#endif
