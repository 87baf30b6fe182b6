/* escape.h: bytes from outside, written so that they do no harm.
 *
 * Escaped IDs: an ID that has a control character (bytes 0 to 31, and 127) is written behind one more tab, with \t, \n
 * and \\ in place of a tab, a newline and a backslash, and \xNN in place of any other control character. So it can
 * neither end a line nor pass for a column.
 *
 * Printable text: a name of a file, or other text, that is shown on a terminal neither moves its cursor nor ends its
 * line. Neither of the two does I/O or allocates memory. */
#ifndef IDX_TOOLS_ESCAPE_H
#define IDX_TOOLS_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether an ID has to be escaped. */
bool escape_is_needed(const char *id, size_t length);

/* One byte becomes at most so many. */
enum { ESCAPE_MOST = 4 };

/* Writes a byte as it is in an escaped ID. Returns the length of that. */
size_t escape_byte(char byte, char text[ESCAPE_MOST]);

/* Reads the escape sequence at `at`, which begins with a backslash and ends before `end`. Sets *byte, and returns the
 * length of the sequence, or 0 if it is none. */
size_t escape_read(const char *at, const char *end, char *byte);

/* Replaces an escaped ID by the original one, in place. Returns its length. */
size_t escape_undo(char *id, size_t length);

/* printable_piece writes at most so many bytes, the terminating NUL included. */
enum { PRINTABLE_PIECE = 17 };

/* Writes the first character of a text that is not empty: as it is, or each of its bytes as \xNN if it is a control
 * character, ends a line, changes the direction of writing, or is not UTF-8. Returns its length in the text. */
size_t printable_piece(const char *text, char piece[PRINTABLE_PIECE]);

bool printable_is_utf8(const void *bytes, size_t length);

#endif
