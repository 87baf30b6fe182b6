/* parts.h: divides texts into paragraphs or lines, and cuts some of these out of a document as it is in an input. */
#ifndef IDX_TOOLS_FORMATS_PARTS_H
#define IDX_TOOLS_FORMATS_PARTS_H

#include "tools/formats/extract.h"

/* What is compared: whole documents, or parts of them. */
enum parts_by { PARTS_DOCUMENT, PARTS_PARAGRAPH, PARTS_LINE };

/* A text that is being divided. */
struct parts {
    struct span rest; /* What was not cut off yet. */
    enum parts_by by;
    bool escaped; /* The text is what a string of JSON has between its quotes, as it is written. */
};

/* Sets *part to the next part of the text, and removes it from `rest`. A whole document is one part; paragraphs and
 * lines are as idx_text_find_part divides them. Returns false at the end. */
bool parts_cut_next(struct parts *parts, struct span *part);

/* Replaces a part by what is compared of it: without the marks of quotation that its lines begin with, as
 * idx_text_unquote removes them. Then *part points into the memory of `buffer`; one without any `>` stays as it is. The
 * part must not be escaped. Returns false if memory ran out. */
bool parts_unquote(struct span *part, struct output *buffer);

/* Sets *text to those bytes of a document that are its text. `document` is plain text, or a line of JSON Lines or TSV,
 * as it is in its file. Sets *escaped to whether the text is the inside of a JSON string, as it is written. *text has
 * no byte order mark. Sets *bad and returns false if the text is not in UTF-8, or if the document is bad. */
bool parts_find_text(const struct extract_rules *rules, enum document_format format, struct span document,
                     struct span *text, bool *escaped, struct bad *bad);

#endif
