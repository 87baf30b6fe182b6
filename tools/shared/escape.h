/* escape.h: IDs in lines of output. One that holds a control character (bytes 0 to 31, and 127) is written behind one
 * tab more, with \t, \n and \\ in place of a tab, a newline and a backslash, and \xNN in place of any other control
 * character. So it can neither end a line nor pass for a column. No I/O, no allocation. */
#ifndef IDX_TOOLS_ESCAPE_H
#define IDX_TOOLS_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether an ID has to be escaped. */
bool escape_is_needed(const char *id, size_t length);

/* The most bytes that one byte becomes. */
enum { ESCAPE_MOST = 4 };

/* Writes what stands for a byte of an escaped ID. Returns its length. */
size_t escape_byte(char byte, char text[ESCAPE_MOST]);

/* What the backslash at `at` and the bytes behind it, before `end`, stand for: sets *byte, and returns how many they
 * are. 0 if they stand for nothing. */
size_t escape_read(const char *at, const char *end, char *byte);

/* Makes of an escaped ID, in place, what it stands for, which is no longer. Returns its length. */
size_t escape_undo(char *id, size_t length);

#endif
