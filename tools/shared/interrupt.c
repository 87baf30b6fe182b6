/* interrupt.c: SIGHUP, SIGINT and SIGTERM while a command runs. The handler writes to a pipe, which readers poll beside
 * their input: a flag alone would be missed where the signal comes just before a read that waits. */
#include "tools/shared/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static int pipe_ends[2] = {-1, -1}; /* The pipe: its end to read, and that to write. */

/* These are lock-free, so that the handler may set them, and any thread may read them. */
static atomic_int noted_signal;                /* The last one that ends the command; 0: there was none. */
static atomic_uint signal_count, hangup_count; /* Signals that end the command; SIGHUPs not yet consumed. */
static atomic_bool in_service, ends_at_second_signal;

/* Handles a signal: notes it, and makes the pipe readable. After interrupt_end_at_second_signal, the second signal ends
 * the process. */
static void note_signal(int signal_number) {
    int error = errno;
    if (signal_number == SIGHUP && in_service) {
        hangup_count++;
    } else {
        if (signal_count++ > 0 && ends_at_second_signal) _exit(ENDS_WELL);
        noted_signal = signal_number;
    }
    (void)!write(pipe_ends[1], "", 1); /* If the pipe is full, it is readable already. */
    errno = error;
}

void interrupt_catch(void) {
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, previous_action;
    if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        /* What is ignored, as under nohup or in the background, stays ignored, except in a service. */
        if (sigaction(signals[i], NULL, &previous_action) == 0 && (in_service || previous_action.sa_handler != SIG_IGN))
            sigaction(signals[i], &action, NULL);
    }
}

bool interrupt_is_noted(void) { return noted_signal != 0; }

int interrupt_get_descriptor(void) { return pipe_ends[0]; }

void interrupt_end_process(void) {
    if (!interrupt_is_noted()) return;
    signal(noted_signal, SIG_DFL);
    raise(noted_signal);
}

/* ---- In a service ---- */

bool interrupt_catch_in_service(void) {
    in_service = true;
    interrupt_catch();
    signal(SIGPIPE, SIG_IGN); /* A client that goes away is no reason to end. */
    return pipe_ends[0] >= 0;
}

bool interrupt_consume_hangup(void) {
    char bytes[64];
    while (read(pipe_ends[0], bytes, sizeof bytes) > 0) {
    }
    return atomic_exchange(&hangup_count, 0) > 0;
}

void interrupt_end_at_second_signal(void) {
    ends_at_second_signal = true;
    if (signal_count > 1) _exit(ENDS_WELL);
}
