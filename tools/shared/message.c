/* message.c: writes messages to standard error. */
#include "tools/shared/wording.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *speaker; /* The subcommand, or NULL. */
static size_t overwritten;  /* Length of the line that the next one overwrites. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* It protects `overwritten` and standard error. */

void message_set_speaker(const char *subcommand) { speaker = subcommand; }

/* Shows a line in place of the last one, which is blanked first if it was longer. The mutex must be held. */
static void overwrite_line(const char *line) {
    size_t length = strlen(line);
    if (overwritten > length) fprintf(stderr, "\r%*s", (int)overwritten, "");
    if (overwritten > 0 || length > 0) fprintf(stderr, "\r%s", line);
    overwritten = length;
}

/* Writes printable text into `size` bytes, of which it cuts off what does not fit. Returns its length. */
static size_t make_printable(char *to, size_t size, const char *text) {
    char piece[PRINTABLE_PIECE];
    size_t length = 0;
    while (*text != '\0') {
        text += printable_piece(text, piece);
        size_t more = strlen(piece);
        if (more >= size - length) break;
        memcpy(to + length, piece, more);
        length += more;
    }
    to[length] = '\0';
    return length;
}

/* Returns what to add to a sentence that ends in such words, or "": the option that does what a library's sentence
 * advises, which names none, and after a system's error, what to do about a full disk. */
static const char *advice_for(const char *sentence) {
    const struct {
        const char *ending, *advice;
    } known[] = {
        {strerror(ENOSPC), "; free space there, or choose another disk"},
        {"ask for it to be replaced", " (--force)"},
        {"build it with such a map", " (--by-id)"},
        {"choose another residence", " (by omitting --unpacked)"},
        {"give that table", " (--table FILE)"},
        {"and give it", " (by idx fingerprint --train FILE --recipe RECIPE, and by --table FILE)"},
    };
    size_t length = strlen(sentence);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t end = strlen(known[i].ending);
        if (length >= end && strcmp(sentence + length - end, known[i].ending) == 0) return known[i].advice;
    }
    return "";
}

/* What follows the sentence of a message. */
enum ending { NOTHING, HELP };

/* Writes a message at once, so that messages of several processes don't mix. */
static void write_message(enum ending ending, const char *format, va_list arguments) {
    char line[8192], sentence[8192];
    size_t size = sizeof line - 64, length; /* The last 64 bytes are for what follows the sentence. */
    const char *gap = speaker == NULL ? "" : " ", *who = speaker == NULL ? "" : speaker;
    length = (size_t)snprintf(line, size, "idx%s%s: ", gap, who);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    length += make_printable(line + length, size - length, sentence);
    length += make_printable(line + length, size - length, advice_for(sentence));
    if (ending == HELP)
        snprintf(line + length, sizeof line - length, "; see idx%s%s --help\n", gap, who);
    else
        snprintf(line + length, sizeof line - length, "\n");
    pthread_mutex_lock(&mutex);
    overwrite_line("");
    fputs(line, stderr);
    pthread_mutex_unlock(&mutex);
}

bool complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_message(NOTHING, format, arguments);
    va_end(arguments);
    return false;
}

bool complain_of_usage(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_message(HELP, format, arguments);
    va_end(arguments);
    return false;
}

void message_overwrite(const char *line) {
    pthread_mutex_lock(&mutex);
    overwrite_line(line);
    pthread_mutex_unlock(&mutex);
}

bool problem_set(struct problem *problem, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->sentence, sizeof problem->sentence, format, arguments);
    va_end(arguments);
    return false;
}
