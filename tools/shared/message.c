/* message.c: what the command says on standard error. */
#include "tools/shared/message.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *speaker;
static size_t overwritten; /* characters of the line that the next one overwrites */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* for `overwritten` and standard error */

void message_speaker(const char *subcommand) { speaker = subcommand; }

static void overwrite(const char *line) {
    size_t length = strlen(line);
    if (overwritten > length) fprintf(stderr, "\r%*s", (int)overwritten, "");
    if (overwritten > 0 || length > 0) fprintf(stderr, "\r%s", line);
    overwritten = length;
}

/* One write a message, so that messages of several processes don't mix. */
static void say(bool help, const char *format, va_list arguments) {
    char line[8192];
    size_t size = sizeof line - 64, length; /* room for what follows the sentence */
    const char *gap = speaker == NULL ? "" : " ", *who = speaker == NULL ? "" : speaker;
    length = (size_t)snprintf(line, size, "idx%s%s: ", gap, who);
    length += (size_t)vsnprintf(line + length, size - length, format, arguments);
    if (length >= size) length = size - 1;
    if (help)
        snprintf(line + length, sizeof line - length, "; see idx%s%s --help\n", gap, who);
    else
        snprintf(line + length, sizeof line - length, "\n");
    pthread_mutex_lock(&mutex);
    overwrite("");
    fputs(line, stderr);
    pthread_mutex_unlock(&mutex);
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(false, format, arguments);
    va_end(arguments);
}

void complain_of_usage(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(true, format, arguments);
    va_end(arguments);
}

void message_overwrite(const char *line) {
    pthread_mutex_lock(&mutex);
    overwrite(line);
    pthread_mutex_unlock(&mutex);
}

bool problem_set(struct problem *problem, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->sentence, sizeof problem->sentence, format, arguments);
    va_end(arguments);
    return false;
}
