/* message.h: writes messages to standard error, each of which is a sentence on a line of its own, after the name of the
 * subcommand. Any thread may call these functions. */
#ifndef IDX_TOOLS_MESSAGE_H
#define IDX_TOOLS_MESSAGE_H

#include <stddef.h>

/* Sets the name that messages begin with, such as "build" for `idx build: …`; NULL is the command itself. The text is
 * not copied. */
void message_speaker(const char *subcommand);

/* Writes a sentence. It becomes one line of printable text (escape.h), whatever the arguments hold. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* Writes a sentence about how the command was called, and says where its help is. */
__attribute__((format(printf, 1, 2))) void complain_of_usage(const char *format, ...);

/* Shows a line on a terminal that the next such line or message overwrites. The line is shorter than the terminal is
 * wide. An empty line removes the last one. */
void message_overwrite(const char *line);

/* A parser that prints nothing sets this clause, which follows "FILE:LINE: " and says what is wrong with a line, a
 * number or a file. */
struct problem {
    char sentence[320];
};

/* Sets the clause. Returns false always, so that a parser can return it. */
__attribute__((format(printf, 2, 3))) _Bool problem_set(struct problem *problem, const char *format, ...);

#endif
