/* parts.h: divides texts into paragraphs or lines, and cuts some of these out of a document as it is in an input. */
#ifndef IDX_TOOLS_FORMATS_PARTS_H
#define IDX_TOOLS_FORMATS_PARTS_H

#include "tools/formats/extract.h"

/* What is compared: whole documents, or parts of them. */
enum parts_by { PARTS_DOCUMENT, PARTS_PARAGRAPH, PARTS_LINE };

/* A text that is being divided. */
struct parts {
    struct span rest; /* What was not taken yet. */
    enum parts_by by;
    bool escaped; /* The text is what a string of JSON has between its quotes, as it is written. */
};

/* Takes the next part off. A document is one part; others are as idx_text_find_part has them. Returns false at the
 * end. */
bool parts_take_next(struct parts *parts, struct span *part);

/* Replaces a part, which is not escaped, by what is compared of it, as idx_text_unquote has it. It is as it was, or in
 * the memory of `buffer`. Returns false if memory ran out. */
bool parts_unquote(struct span *part, struct output *buffer);

/* Sets *text to the bytes of a document that its text is made of, and *escaped to whether they are what a string of
 * JSON has between its quotes. The document is plain text, JSON Lines or TSV as it is in its file, and the text is in
 * UTF-8, without a byte order mark. Sets *bad and returns false if it is not, or if the document is bad. */
bool parts_find_text(const struct extract_rules *rules, enum document_format format, struct span document,
                     struct span *text, bool *escaped, struct bad *bad);

#endif
