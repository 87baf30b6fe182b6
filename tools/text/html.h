/* html.h: the text of an HTML document. */
#ifndef IDX_TOOLS_HTML_H
#define IDX_TOOLS_HTML_H

#include "tools/shared/output.h"
#include "tools/text/bad.h"
#include "tools/text/charset.h"

#include <stdbool.h>
#include <stddef.h>

/* How deep elements may be nested, and how many attributes one of them may have. */
enum { HTML_MOST_DEPTH = 2000, HTML_MOST_ATTRIBUTES = 1000 };

/* All UTF-8. */
struct html {
    struct output text, title, description;
};

#define HTML_INIT                                                                                                      \
    { OUTPUT_KEPT, OUTPUT_KEPT, OUTPUT_KEPT }

/* Reads a document in UTF-8, replacing what `html` held. Tags, comments, scripts, styles and the like are dropped;
 * entities are resolved; elements that aren't part of a line separate words. With `main_text`, what is in nav,
 * header, footer, aside and form elements is dropped too, and each run of text between two such elements or line breaks
 * of which more than half the bytes, blanks apart, are in links. The title and the description of a meta element are no
 * part of the text. Any thread. */
bool html_parse(struct html *html, struct span document, bool main_text, struct bad *bad);

/* The character set that a meta element among the first bytes names; "" where there is none. */
void html_find_charset(struct span document, char name[CHARSET_NAME_SIZE]);

/* Once, before several threads call html_parse. */
void html_start(void);

void html_free(struct html *html);

#endif
