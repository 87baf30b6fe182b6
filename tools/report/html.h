/* html.h: writes what others wrote as text of a page, where it can't become markup nor change the order of reading, and
 * histograms as SVG. */
#ifndef IDX_TOOLS_HTML_H
#define IDX_TOOLS_HTML_H

#include "tools/report/findings.h"
#include "tools/shared/output.h"

/* Writes a text. The byte behind its end must be readable and must not continue a character. Bytes that can't be shown
 * are written as \xNN, but with `spaces` white space is written as a space. An ellipsis is written once the text has
 * taken `most` bytes. */
void html_text(struct output *output, const char *bytes, size_t length, bool spaces, size_t most);

/* Writes a document's ID, or its fingerprint if it has none. */
void html_id(struct output *output, const struct findings *findings, const struct shown *shown);

void html_fingerprint(struct output *output, const struct findings *findings, uint64_t fingerprint);

/* Writes a number with commas, as 1,234,567. */
void html_number(struct output *output, uint64_t number);

/* Prints the same into `text`, and returns it. */
enum { HTML_DIGITS = 28 };
const char *html_digits(char text[HTML_DIGITS], uint64_t number);

/* Writes a number and what is counted, which gets an s unless the number is 1. */
void html_count(struct output *output, uint64_t number, const char *what);

struct bar {
    char label[24]; /* It is written as it is, so that it must not be markup. */
    uint64_t value;
    bool about; /* It is an estimate. */
};

/* Writes a figure with a bar for each, as long as the logarithm of its value. `name` is the figure's own in the page;
 * `title` and `description` are markup. */
void chart_put(struct output *output, const char *name, const char *title, const char *description,
               const struct bar *bars, size_t count);

/* Writes a figure of how often each bit is 1, of the most significant one first. */
void chart_put_bits(struct output *output, const char *title, const uint64_t *ones, unsigned bits, uint64_t all);

#endif
