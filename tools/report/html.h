/* html.h: writes text from outside so that it neither is markup nor changes the reading order, and charts as SVG. */
#ifndef IDX_TOOLS_REPORT_HTML_H
#define IDX_TOOLS_REPORT_HTML_H

#include "tools/report/findings.h"

/* How white space other than a space is written: as a space, or like other bytes that can't be shown. */
enum html_space { HTML_PLAIN_SPACE, HTML_ESCAPED_SPACE };

/* Writes a text. The byte behind its end must be readable and must not continue a character. Bytes that can't be shown
 * are written as \xNN. Once `most` bytes or more are written, an ellipsis takes the place of the rest. */
void html_text(struct output *output, const char *bytes, size_t length, enum html_space space, size_t most);

/* Writes a document's ID, or its fingerprint if it has none. */
void html_id(struct output *output, const struct findings *findings, const struct shown *shown);

void html_fingerprint(struct output *output, const struct findings *findings, uint64_t fingerprint);

/* Prints a number with commas, as 1,234,567, into `text`, and returns it. */
enum { HTML_DIGITS = 28 };
const char *html_digits(char text[HTML_DIGITS], uint64_t number);

/* Writes a number and what is counted, which gets an s unless the number is 1. */
void html_count(struct output *output, uint64_t number, const char *what);

/* Writes the numbers of the bits that are set, such as "bits 14, 3", or "no bit". */
void html_bits(struct output *output, uint64_t bits);

struct bar {
    char label[48]; /* It is written as it is, so it must not have markup. */
    uint64_t value;
    bool is_estimate; /* It is marked as one. */
};

/* Writes a figure of bars that are as long as the logarithms of their values. `name` must be unique in the page;
 * `title` and `description` are markup. */
void chart_put(struct output *output, const char *name, const char *title, const char *description,
               const struct bar *bars, size_t count);

/* Writes a figure of how often each bit is 1, the most significant bit first: ones[i] times of `all` for bit i. */
void chart_put_bits(struct output *output, const char *title, const uint64_t *ones, unsigned bits, uint64_t all);

#endif
