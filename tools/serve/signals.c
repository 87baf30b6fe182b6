/* signals.c: catches the signals that a service obeys. */
#include "tools/serve/service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static int ends[2] = {-1, -1};
static atomic_uint refreshes, ended; /* They are lock-free, so that the handler may count. */
static atomic_bool at_once;

static void note_signal(int number) {
    int error = errno;
    if (number == SIGHUP)
        refreshes++;
    else if (ended++ > 0 && at_once)
        _exit(ENDS_WELL);
    (void)!write(ends[1], "", 1);
    errno = error;
}

int signals_catch(void) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        complain("can't make a pipe: %s", strerror(errno));
        return -1;
    }
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* A client that goes away is no reason to end. */
    return ends[0];
}

bool signals_take_refresh(void) {
    char bytes[64];
    while (read(ends[0], bytes, sizeof bytes) > 0) {
    }
    return atomic_exchange(&refreshes, 0) > 0;
}

bool signals_end(void) { return ended > 0; }

void signals_end_at_once(void) {
    at_once = true;
    if (ended > 1) _exit(ENDS_WELL);
}
