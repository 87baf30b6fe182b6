/* interrupt.c: SIGHUP, SIGINT and SIGTERM during a build or a merge. The handler writes to a pipe, which the reader
 * polls beside its input: a flag alone would be missed where the signal comes just before a read that waits. */
#include "tools/shared/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static int ends[2] = {-1, -1};
static atomic_int noted; /* It is lock-free, so that the handler may set it, and any thread may read it. */

static void note_signal(int signal_number) {
    int error = errno;
    noted = signal_number;
    (void)!write(ends[1], "", 1);
    errno = error;
}

void interrupt_catch(void) {
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, before;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        /* A shell may have it ignored, for nohup or in the background, and then it stays ignored. */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

bool interrupt_noted(void) { return noted != 0; }

int interrupt_descriptor(void) { return ends[0]; }

void interrupt_obey(void) {
    if (!interrupt_noted()) return;
    signal(noted, SIG_DFL);
    raise(noted);
}
