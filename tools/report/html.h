/* html.h: what others wrote, as text of a page: it can't become markup, nor change the order in which anything is read.
 */
#ifndef IDX_TOOLS_HTML_H
#define IDX_TOOLS_HTML_H

#include "tools/report/findings.h"
#include "tools/shared/output.h"

/* A text with a byte behind its end that can be read and continues no character. Bytes that can't be shown are written
 * as \xNN; but with `spaces`, white space is a space. Ends with an ellipsis once `most` bytes are written. */
void html_text(struct output *output, const char *bytes, size_t length, bool spaces, size_t most);

/* A document's ID; without one, the fingerprint. */
void html_id(struct output *output, const struct findings *findings, const struct shown *shown);

void html_fingerprint(struct output *output, const struct findings *findings, uint64_t fingerprint);

/* A number with commas: 1,234,567. */
void html_number(struct output *output, uint64_t number);

/* A number and what is counted, in the singular or with an s. */
void html_count(struct output *output, uint64_t number, const char *what);

#endif
