/* interrupt.c: SIGHUP, SIGINT and SIGTERM during a build. The handler writes to a pipe, which the reader polls beside
 * its input: a flag alone would be missed where the signal comes just before a read that waits. */
#include "tools/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { SIGNALS = 3 };

static const int signals[SIGNALS] = {SIGHUP, SIGINT, SIGTERM};
static bool caught[SIGNALS];
static int ends[2] = {-1, -1};
static volatile sig_atomic_t noted;
static const char *volatile postponed_notice;

static void note(int signal_number) {
    int error = errno;
    noted = signal_number;
    if (postponed_notice != NULL) {
        (void)!write(STDERR_FILENO, postponed_notice, strlen(postponed_notice));
        for (int i = 0; i < SIGNALS; i++) {
            if (caught[i]) signal(signals[i], SIG_DFL);
        }
    }
    (void)!write(ends[1], "", 1);
    errno = error;
}

void interrupt_catch(void) {
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, before;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++) {
        /* Under nohup, or in the background of a shell, some are ignored: that stays so. */
        caught[i] = sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN;
        if (caught[i]) sigaction(signals[i], &action, NULL);
    }
}

void interrupt_postpone(const char *notice) { postponed_notice = notice; }

int interrupt_descriptor(void) { return ends[0]; }

void interrupt_obey(void) {
    if (noted == 0) return;
    signal((int)noted, SIG_DFL);
    raise((int)noted);
}
