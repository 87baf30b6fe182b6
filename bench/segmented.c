/* segmented.c: see segmented.h. */
#include "bench/segmented.h"

#include "bench/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct segmenter {
    pid_t process;
    FILE *to, *from;
    char *line;
    size_t capacity;
};

static void run(const char *command, const int to[2], const int from[2]) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    for (int i = 0; i < 2; i++) {
        close(to[i]);
        close(from[i]);
    }
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

struct segmenter *open_segmenter(const char *command) {
    struct segmenter *segmenter = calloc(1, sizeof *segmenter);
    int to[2], from[2];
    if (segmenter == NULL || pipe(to) != 0 || pipe(from) != 0) die("can't make pipes for %s", command);
    segmenter->process = fork();
    if (segmenter->process == 0) run(command, to, from);
    close(to[0]);
    close(from[1]);
    segmenter->to = fdopen(to[1], "w");
    segmenter->from = fdopen(from[0], "r");
    if (segmenter->process < 0 || segmenter->to == NULL || segmenter->from == NULL) die("can't start %s", command);
    return segmenter;
}

/* The process answers when it has a whole line, so that neither waits for the other to read. */
const char *segment(struct segmenter *segmenter, const char *bytes, size_t length, size_t *segmented) {
    for (size_t i = 0; i < length; i++) putc(bytes[i] == '\n' || bytes[i] == '\r' ? ' ' : bytes[i], segmenter->to);
    putc('\n', segmenter->to);
    ssize_t got = fflush(segmenter->to) == 0 ? getline(&segmenter->line, &segmenter->capacity, segmenter->from) : -1;
    if (got < 0) die("the segmenter ended");
    *segmented = (size_t)got;
    return segmenter->line;
}

void close_segmenter(struct segmenter *segmenter) {
    if (segmenter == NULL) return;
    fclose(segmenter->to);
    fclose(segmenter->from);
    waitpid(segmenter->process, NULL, 0);
    free(segmenter->line);
    free(segmenter);
}
