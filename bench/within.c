/* within.c: runs a command within a limit of memory, and prints what it took. */
#include "bench/bench.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "Usage: within SIZE COMMAND [ARGUMENT]...\n"
    "Runs the command in a control group of so much memory, such as 4G, page cache included, which takes root. Where\n"
    "the group is full, the system drops its page cache; if that isn't enough, it kills the command.\n"
    "\n"
    "Columns, separated by tabs: limit_bytes; peak_bytes, page cache included; kills; seconds; user_seconds;\n"
    "system_seconds. Exit status: that of the command, or 1 where it was killed.\n";

static double to_seconds(const struct timeval *time) { return (double)time->tv_sec + (double)time->tv_usec * 1e-6; }

static int run(uint64_t bytes, char **command) {
    struct limit limit;
    struct rusage usage;
    int status;
    double begin = now();
    set_limit(&limit, bytes);
    pid_t child = fork();
    if (child == 0) {
        execvp(command[0], command);
        die("can't run %s", command[0]);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) die("can't run %s", command[0]);
    printf(
        "limit_bytes\tpeak_bytes\tkills\tseconds\tuser_seconds\tsystem_seconds\n%llu\t%llu\t%llu\t%.1f\t%.1f\t%.1f\n",
        (unsigned long long)bytes, (unsigned long long)limit_peak(&limit), (unsigned long long)limit_kills(&limit),
        now() - begin, to_seconds(&usage.ru_utime), to_seconds(&usage.ru_stime));
    lift_limit(&limit);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--help") == 0) return fputs(help, stdout) < 0;
    if (argc < 3) die("see within --help");
    return run(read_size(argv[1]), argv + 2);
}
