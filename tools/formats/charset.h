/* charset.h: texts in other character sets than UTF-8, by the names that HTTP and HTML give them. */
#ifndef IDX_TOOLS_FORMATS_CHARSET_H
#define IDX_TOOLS_FORMATS_CHARSET_H

#include "tools/formats/bad_records.h"
#include "tools/shared/output.h"

enum { CHARSET_NAME_SIZE = 64 };

/* A text in memory that belongs to something else. */
struct span {
    const char *bytes;
    size_t length;
};

/* Returns the text up to the first `separator`, without it, or all of the text if there is none. Removes what it
 * returns, and the separator, from *rest. An empty *rest gives an empty text. */
struct span span_cut(struct span *rest, char separator);

/* Removes the characters at the text's beginning that are among `characters`. A NUL is never among them. */
void span_skip(struct span *text, const char *characters);

/* If the text begins with a byte order mark, sets *name to the character set that it marks, such as utf-8 or utf-16le,
 * and removes the mark. Otherwise the name stays as it is. */
void charset_remove_mark(struct span *text, char name[CHARSET_NAME_SIZE]);

/* Removes a byte order mark of UTF-8 that the text begins with. */
void charset_remove_utf8_mark(struct span *text);

/* Converts *text to UTF-8. *text then points into `buffer`, whose content is replaced; what is ill-formed becomes
 * U+FFFD. If `name` is "" or means UTF-8, *text stays as it is, even if it is ill-formed. Names mean what browsers take
 * them for: iso-8859-1 is windows-1252. Sets *bad and returns false if the name is unknown, if the text or its
 * conversion has more than INT32_MAX bytes, if ICU fails, or if memory ran out. */
bool charset_decode(struct span *text, const char *name, struct output *buffer, struct bad *bad);

/* Returns whether a name means UTF-8, as "" does. */
bool charset_is_utf8(const char *name);

/* Returns whether ICU has a character set of this name, so that charset_decode can convert from it. "" is known. */
bool charset_is_known(const char *name);

#endif
