/* limit.c: see limit.h. */
#include "bench/limit.h"

#include "bench/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first[] = "/sys/fs/cgroup/memory", second[] = "/sys/fs/cgroup";

static bool write_text(const char *folder, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool written = write(file, text, strlen(text)) == (ssize_t)strlen(text);
    close(file);
    return written;
}

uint64_t read_size(const char *text) {
    char *end;
    double size = strtod(text, &end);
    if (*end == 'M' || *end == 'G') size *= *end++ == 'M' ? 0x1p20 : 0x1p30;
    if (end == text || *end != 0 || !(size >= 1) || size > 1e15) die("'%s' is not a size such as 4G", text);
    return (uint64_t)size;
}

/* Version 1 where it has memory, else version 2. */
static bool is_first(const struct limit *limit) { return strcmp(limit->root, first) == 0; }

void set_limit(struct limit *limit, uint64_t bytes) {
    bool has_first = access("/sys/fs/cgroup/memory/memory.limit_in_bytes", F_OK) == 0;
    char number[32];
    snprintf(limit->root, sizeof limit->root, "%s", has_first ? first : second);
    snprintf(limit->group, sizeof limit->group, "%s/idx-bench-%ld", limit->root, (long)getpid());
    snprintf(number, sizeof number, "%llu", (unsigned long long)bytes);
    if (mkdir(limit->group, 0755) != 0) die("can't make the control group %s: are you root?", limit->group);
    if (!write_text(limit->group, has_first ? "memory.limit_in_bytes" : "memory.max", number) ||
        !write_text(limit->group, "cgroup.procs", "0"))
        die("can't set the limit of the control group %s", limit->group);
}

static uint64_t read_number(const struct limit *limit, const char *name, const char *format) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", limit->group, name);
    return read_proc(path, format);
}

uint64_t limit_peak(const struct limit *limit) {
    return read_number(limit, is_first(limit) ? "memory.max_usage_in_bytes" : "memory.peak", "%llu");
}

uint64_t limit_kills(const struct limit *limit) {
    return read_number(limit, is_first(limit) ? "memory.oom_control" : "memory.events", "oom_kill %llu");
}

void lift_limit(const struct limit *limit) {
    write_text(limit->root, "cgroup.procs", "0");
    if (rmdir(limit->group) != 0) fprintf(stderr, "%s stays\n", limit->group);
}

uint64_t get_read_bytes(void) { return read_proc("/proc/self/io", "read_bytes: %llu"); }
