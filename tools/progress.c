/* progress.c: how far a build is, on standard error. */
#include "tools/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The clock is read once in so many documents. */
enum { DOCUMENTS_A_LOOK = 1 << 14 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void progress_start(struct progress *progress, bool forced) {
    bool terminal = isatty(STDERR_FILENO) == 1;
    *progress = (struct progress){.shown = forced || terminal, .terminal = terminal};
    progress->started = now();
    progress->said = terminal ? 0 : progress->started;
}

void progress_document(struct progress *progress) {
    progress->documents++;
    if (!progress->shown || progress->documents % DOCUMENTS_A_LOOK != 0) return;
    double time = now();
    if (time - progress->said < (progress->terminal ? 0.2 : 5)) return;
    progress->said = time;
    fprintf(stderr, "%sidx build: %llu documents read, %.0f a second%s", progress->terminal ? "\r" : "",
            (unsigned long long)progress->documents, (double)progress->documents / (time - progress->started + 1e-9),
            progress->terminal ? "  " : "\n");
}

void progress_end_line(struct progress *progress) {
    if (progress->shown && progress->terminal && progress->said > 0) fputc('\n', stderr);
    progress->said = 0;
}

void progress_say(struct progress *progress, const char *format, ...) {
    va_list arguments;
    if (!progress->shown) return;
    progress_end_line(progress);
    fputs("idx build: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}
