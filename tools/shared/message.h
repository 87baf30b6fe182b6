/* message.h: what the command says on standard error: one sentence a line, after the name of who speaks. Any
 * thread may speak. */
#ifndef IDX_TOOLS_MESSAGE_H
#define IDX_TOOLS_MESSAGE_H

#include <stddef.h>

/* Sets who speaks, such as "build" for `idx build: …`; NULL is the command itself. Kept, not copied. */
void message_speaker(const char *subcommand);

/* Says a sentence. Whatever the arguments hold, it is one line of printable text (printable.h). */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* Says a sentence about how the command was called, and where its help is. */
__attribute__((format(printf, 1, 2))) void complain_of_usage(const char *format, ...);

/* Shows a line that the next one of these, or the next message, overwrites: on a terminal, and shorter than that is
 * wide. An empty one takes it away. */
void message_overwrite(const char *line);

/* Why a line, a number or a file can't be taken, worded by a parser that prints nothing itself: a clause that follows
 * "FILE:LINE: ". */
struct problem {
    char sentence[320];
};

/* Sets the clause; always returns false, so that a parser can return it. */
__attribute__((format(printf, 2, 3))) _Bool problem_set(struct problem *problem, const char *format, ...);

#endif
