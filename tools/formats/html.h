/* html.h: the text of an HTML document. */
#ifndef IDX_TOOLS_FORMATS_HTML_H
#define IDX_TOOLS_FORMATS_HTML_H

#include "tools/formats/charset.h"

/* How deep elements may be nested, and how many attributes one of them may have. */
enum { HTML_MOST_DEPTH = 2000, HTML_MOST_ATTRIBUTES = 1000 };

/* What is found in a document, in UTF-8. */
struct html {
    struct output text, title, description;
    bool divides_blocks;          /* Set by the caller: blank lines are between elements such as p, but not at br. */
    struct output main, articles; /* Private. */
};

#define HTML_INIT                                                                                                      \
    {                                                                                                                  \
        .text = OUTPUT_BUFFER, .title = OUTPUT_BUFFER, .description = OUTPUT_BUFFER, .main = OUTPUT_BUFFER,            \
        .articles = OUTPUT_BUFFER                                                                                      \
    }

/* Reads a document in UTF-8, and replaces what `html` has. Tags, comments, scripts, styles and the like are dropped,
 * entities are resolved, and elements that aren't part of a line separate words. The title, and the description of a
 * meta element, are no part of the text. With `main_text`, the contents of nav, header, footer, aside and form elements
 * are dropped as well. So is each piece of text between two elements that break a line if more than half of its bytes,
 * blanks apart, are in links. What is left in main elements becomes the text; or if nothing is, what is left in article
 * elements; or else all that is left. Sets *bad and returns false if elements are nested deeper than HTML_MOST_DEPTH,
 * if one has more attributes than HTML_MOST_ATTRIBUTES, or if memory ran out. Any thread may call it, after
 * html_prepare_parser. */
bool html_parse(struct html *html, struct span document, bool main_text, struct bad *bad);

/* Sets `name` to the first known character set that follows charset= in the first 1024 bytes of a document, as in a
 * meta element, or to "" if there is none. Where the document says UTF-16 or UTF-32, `name` becomes utf-8. */
void html_find_charset(struct span document, char name[CHARSET_NAME_SIZE]);

/* Prepares libxml2. It must be called before several threads call html_parse. */
void html_prepare_parser(void);

/* Frees the texts that html_parse made. */
void html_free(struct html *html);

#endif
