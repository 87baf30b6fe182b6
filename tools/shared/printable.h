/* printable.h: text from outside, such as names of files, on a terminal: what is printed neither moves its cursor nor
 * ends its line. */
#ifndef IDX_TOOLS_PRINTABLE_H
#define IDX_TOOLS_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Room for what printable_piece writes, the terminating NUL included. */
enum { PRINTABLE_PIECE = 17 };

/* Writes the first character of a text that is not empty: as it is, or each of its bytes as \xNN if it is a control
 * character, ends a line, changes the direction of writing, or is not UTF-8. Returns its length in the text. */
size_t printable_piece(const char *text, char piece[PRINTABLE_PIECE]);

bool printable_is_utf8(const void *bytes, size_t length);

#endif
