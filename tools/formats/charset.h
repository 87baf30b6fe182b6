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

/* Returns the text up to the first `separator`, or all of it, and removes it and the separator from *rest. */
struct span span_cut(struct span *rest, char separator);

/* Removes the characters at the text's beginning that are among `characters`. A NUL is never among them. */
void span_skip(struct span *text, const char *characters);

/* If the text begins with a byte order mark, sets *name to the character set that it marks, such as utf-8 or utf-16le,
 * and removes the mark. Otherwise the name stays as it is. */
void charset_remove_mark(struct span *text, char name[CHARSET_NAME_SIZE]);

/* Removes a byte order mark of UTF-8 that the text begins with. */
void charset_skip_utf8_mark(struct span *text);

/* Converts a text to UTF-8, into the memory of `buffer`, which the text then points to; what is ill-formed becomes
 * U+FFFD. With the name "" or one of UTF-8, the text stays as it is, even if it is ill-formed. Names mean what browsers
 * take them for: iso-8859-1 is windows-1252. Sets *bad and returns false if the name is unknown, the text too long, or
 * memory ran out. */
bool charset_decode(struct span *text, const char *name, struct output *buffer, struct bad *bad);

/* Returns whether a name means UTF-8, as "" does. */
bool charset_is_utf8(const char *name);

/* Returns whether ICU has a character set of this name, so that charset_decode can convert from it. "" is known. */
bool charset_is_known(const char *name);

#endif
