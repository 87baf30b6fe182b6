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

/* Replaces *part by what is compared of it: the part without the marks of quotation at the beginning of its lines, as
 * idx_text_unquote removes them. Then *part points into `buffer`, whose content is replaced; a part without any `>`
 * stays as it is. The part must not be escaped. Returns false if memory ran out. */
bool parts_unquote(struct span *part, struct output *buffer);

/* Sets *text to the part of `document` that is its text, without a byte order mark. `document` is plain text, or a line
 * of JSON Lines or TSV, as it is in its file; `rules` say which field of JSON is the text. Sets *escaped to whether the
 * text is the inside of a JSON string, as it is written. Sets *bad and returns false if plain text has the mark of
 * UTF-16 or UTF-32, or if the line lacks the text. */
bool parts_find_text(const struct extract_rules *rules, enum document_format format, struct span document,
                     struct span *text, bool *escaped, struct bad *bad);

#endif
