/* manual.h: the text of manual pages, which are written in man(7) or mdoc(7), as the program mandoc prints it. */
#ifndef IDX_TOOLS_FORMATS_MANUAL_H
#define IDX_TOOLS_FORMATS_MANUAL_H

#include "tools/formats/charset.h"

/* The part that a recipe has if manual pages are among the texts. Its number is the version of this way to read them;
 * before version 2, headers and footers were text. Pages are read by this version alone. */
#define MANUAL_PART ";man=2"

/* Returns why manual pages can't be compared with the fingerprints of a recipe, as a clause that follows the name of
 * the recipe; or NULL if they can. */
const char *manual_get_refusal(const char *recipe);

/* Returns whether a file's name, of `length` bytes and without an ending such as .gz, ends like a manual page's: in .n,
 * in .man, or in a digit from .1 to .9 with perhaps a letter and further letters or digits, as in .3pm. */
bool manual_has_page_name(const char *name, size_t length);

/* Returns whether these first bytes of a file are a manual page's: the first line that is not blank is a comment or a
 * macro of roff, and one of the lines is a macro that each page has, or all of them are roff. */
bool manual_begins_as_page(const char *bytes, size_t length);

/* Replaces the content of `text` by the text of a page, both in UTF-8. Sets *bad and returns false if mandoc is missing
 * or can't read the page within its limits, if the page only includes another one, if the text has more than
 * `max_bytes` bytes, or if memory ran out; then `text` is unspecified. Any thread may call it. */
bool manual_read_text(struct span page, uint64_t max_bytes, struct output *text, struct bad *bad);

#endif
