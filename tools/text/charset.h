/* charset.h: texts in other character sets than UTF-8, by the names that HTTP and HTML give them. */
#ifndef IDX_TOOLS_CHARSET_H
#define IDX_TOOLS_CHARSET_H

#include "tools/shared/output.h"
#include "tools/text/bad.h"

#include <stddef.h>

enum { CHARSET_NAME_SIZE = 64 };

/* A text, which is somewhere else. */
struct span {
    const char *bytes;
    size_t length;
};

/* Takes the text up to the first `separator` off *rest, and the separator with it; all of it where there is none. */
struct span span_cut(struct span *rest, char separator);

/* Sets the name of the character set that a byte order mark says (UTF-8, UTF-16, UTF-32), and takes the mark away.
 * Leaves both alone where there is none. */
void charset_by_mark(struct span *text, char name[CHARSET_NAME_SIZE]);

/* Makes it UTF-8, in `kept` where it isn't already; what is ill-formed becomes U+FFFD. The name "" and those of UTF-8
 * leave the text alone, ill-formed or not. Names mean what browsers take them for: iso-8859-1 is windows-1252. */
bool charset_decode(struct span *text, const char *name, struct output *kept, struct bad *bad);

/* Whether the bytes are well-formed UTF-8. */
bool charset_is_utf8(const char *bytes, size_t length);

#endif
