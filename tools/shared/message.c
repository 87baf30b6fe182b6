/* message.c: writes messages to standard error. */
#include "tools/shared/wording.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *speaker;        /* The subcommand, or NULL. */
static size_t overwritable_length; /* Length of the line that the next one overwrites; 0: there is none. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* It protects `overwritable_length` and standard error. */

void message_set_speaker(const char *subcommand) { speaker = subcommand; }

/* Shows a line on the terminal in place of the last overwritable one, which is blanked first if it was longer. An empty
 * line only removes the last one. The mutex must be held. */
static void overwrite_line(const char *line) {
    size_t length = strlen(line);
    if (overwritable_length > length) fprintf(stderr, "\r%*s", (int)overwritable_length, "");
    if (overwritable_length > 0 || length > 0) fprintf(stderr, "\r%s", line);
    overwritable_length = length;
}

/* Copies a text into a buffer of `size` bytes, with unprintable characters escaped and a terminating NUL. Cuts off what
 * does not fit. Returns the length without the NUL. */
static size_t write_printable_text(char *buffer, size_t size, const char *text) {
    char piece[PRINTABLE_PIECE_BYTES];
    size_t length = 0;
    while (*text != '\0') {
        text += printable_write_piece(text, piece);
        size_t piece_length = strlen(piece);
        if (piece_length >= size - length) break;
        memcpy(buffer + length, piece, piece_length);
        length += piece_length;
    }
    buffer[length] = '\0';
    return length;
}

/* Returns advice to append to a sentence, or "". The end of the sentence decides: a sentence of the library advises
 * what to do without naming an option, so the option is added; after a system's error, what to do about a full disk. */
static const char *find_advice(const char *sentence) {
    const struct {
        const char *ending, *advice;
    } advices[] = {
        {strerror(ENOSPC), "; free space there, or choose another disk"},
        {"ask for it to be replaced", " (--force)"},
        {"build it with such a map", " (--by-id)"},
        {"choose another residence", " (by omitting --unpacked)"},
        {"give that table", " (--table FILE)"},
        {"and give it", " (by idx fingerprint --train FILE --recipe RECIPE, and by --table FILE)"},
    };
    size_t length = strlen(sentence);
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++) {
        size_t ending_length = strlen(advices[i].ending);
        if (length >= ending_length && strcmp(sentence + length - ending_length, advices[i].ending) == 0)
            return advices[i].advice;
    }
    return "";
}

/* What follows the sentence of a message: nothing, or where the help of the subcommand is. */
enum ending { ENDS_THERE, NAMES_HELP };

/* Makes a sentence printable, and writes it with the name of the subcommand, advice and `ending` as one line. One call
 * of fputs writes the line, so that messages of several processes don't mix. Cuts off what is beyond 8 KiB. */
static void write_message(enum ending ending, const char *format, va_list arguments) {
    char line[8192], sentence[8192];
    size_t size = sizeof line - 64, length; /* The last 64 bytes are for what follows the sentence. */
    const char *space = speaker == NULL ? "" : " ", *name = speaker == NULL ? "" : speaker;
    length = (size_t)snprintf(line, size, "idx%s%s: ", space, name);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    length += write_printable_text(line + length, size - length, sentence);
    length += write_printable_text(line + length, size - length, find_advice(sentence));
    if (ending == NAMES_HELP)
        snprintf(line + length, sizeof line - length, "; see idx%s%s --help\n", space, name);
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
    write_message(ENDS_THERE, format, arguments);
    va_end(arguments);
    return false;
}

bool complain_of_usage(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_message(NAMES_HELP, format, arguments);
    va_end(arguments);
    return false;
}

void message_show_status_line(const char *line) {
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
