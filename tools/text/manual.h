/* manual.h: the text of manual pages, which are written in man(7) or mdoc(7): as the program mandoc prints it. */
#ifndef IDX_TOOLS_MANUAL_H
#define IDX_TOOLS_MANUAL_H

#include "tools/shared/output.h"
#include "tools/text/bad.h"
#include "tools/text/charset.h"

/* What recipes say of texts among which there are manual pages: the version of this way to read them. */
#define MANUAL_PART ";man=1"

/* Whether a file's name, of `length` bytes, ends like a manual page's: in .1 to .9, perhaps with letters and digits
 * behind that, .n or .man. */
bool manual_is_named(const char *name, size_t length);

/* Whether a file that is named so also begins like one: with a comment or a macro of roff. */
bool manual_begins(const char *bytes, size_t length);

/* Makes the text of a page in UTF-8, in place of what `text` kept, of up to `most` bytes. Returns false where it can't
 * be had. Any thread. */
bool manual_read(struct span page, uint64_t most, struct output *text, struct bad *bad);

#endif
