/* memory.c: memory in huge pages, and how much there is. */
#include "bench/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("lookup: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

static size_t round_up(size_t bytes) { return (bytes + HUGE_PAGE) & ~(HUGE_PAGE - 1); }

void *huge_new(size_t bytes) {
    size_t size = round_up(bytes);
    char *memory = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) die("out of memory: %zu bytes more were needed", bytes);
    size_t before = -(uintptr_t)memory & (HUGE_PAGE - 1);
    if (before > 0) munmap(memory, before);
    munmap(memory + before + size, HUGE_PAGE - before);
    madvise(memory + before, size, MADV_HUGEPAGE);
    return memory + before;
}

void huge_free(void *memory, size_t bytes) {
    if (memory != NULL) munmap(memory, round_up(bytes));
}

uint64_t read_proc(const char *path, const char *format) {
    char line[256];
    unsigned long long found = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, format, &found) == 1) break;
    }
    fclose(file);
    return found;
}

bool memory_suffices(const char *system, const char *scheme, double bytes) {
    double available = (double)read_proc("/proc/meminfo", "MemAvailable: %llu") * 1024;
    if (bytes * 1.05 + 256e6 < available) return true;
    fprintf(stderr, "lookup: %s %s is left out: it needs about %.1f GB, and %.1f GB are free\n", system, scheme,
            bytes * 1e-9, available * 1e-9);
    return false;
}

uint64_t process_bytes(void) { return read_proc("/proc/self/status", "VmRSS: %llu") * 1024; }
