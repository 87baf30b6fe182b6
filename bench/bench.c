/* bench.c: implements what the benchmarks share. */
#include "bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)

void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

/* ---- Options ---- */

void add_choice(struct list *list, const char *value) {
    if (list->count == MAX_CHOICES) die("an option is repeated more than %d times", MAX_CHOICES);
    list->values[list->count++] = value;
}

double read_number(const char *text, double least, double most) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != 0 || !(number >= least && number <= most))
        die("'%s' is no number from %.0f to %.0f; see --help", text, least, most);
    return number;
}

static void set_option(const struct bench_option *option, const char *text) {
    double most = option->least == 0 && option->most == 0 ? 1e12 : option->most;
    if (option->kind == OPTION_TEXT) {
        *(const char **)option->value = text;
    } else if (option->kind == OPTION_LIST) {
        add_choice(option->value, text);
    } else {
        double number = read_number(text, option->least, most);
        switch (option->kind) {
            case OPTION_UNSIGNED: *(unsigned *)option->value = (unsigned)number; break;
            case OPTION_UINT32: *(uint32_t *)option->value = (uint32_t)number; break;
            case OPTION_UINT64: *(uint64_t *)option->value = (uint64_t)number; break;
            case OPTION_SIZE: *(size_t *)option->value = (size_t)number; break;
            default: *(double *)option->value = number;
        }
    }
}

int read_options(int argc, char **argv, const char *help, const struct bench_option *options) {
    int others = 0;
    for (int at = 1; at < argc; at++) {
        const struct bench_option *option = options;
        const char *name = argv[at] + 1 + (argv[at][1] == '-');
        if (argv[at][0] != '-' || argv[at][1] == 0) {
            argv[++others] = argv[at];
            continue;
        }
        if (strcmp(name, "help") == 0) exit(fputs(help, stdout) < 0);
        while (option->name != NULL && strcmp(option->name, name) != 0) option++;
        if (option->name == NULL) die("%s is no option; see --help", argv[at]);
        if (option->kind == OPTION_FLAG)
            *(bool *)option->value = true;
        else if (++at == argc)
            die("--%s needs a value; see --help", name);
        else
            set_option(option, argv[at]);
    }
    return others;
}

/* ---- Sorting ---- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_doubles(double *values, size_t count) { qsort(values, count, sizeof *values, compare_doubles); }

static int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void sort_numbers(uint64_t *values, size_t count) { qsort(values, count, sizeof *values, compare_numbers); }

/* ---- Processors ---- */

enum instructions find_instructions(enum instructions most) {
    enum instructions found = INSTRUCTIONS_PLAIN;
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
        found = INSTRUCTIONS_AVX2;
    if (found == INSTRUCTIONS_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        found = INSTRUCTIONS_AVX512;
    if (found == INSTRUCTIONS_AVX512 && __builtin_cpu_supports("avx512vpopcntdq")) found = INSTRUCTIONS_VPOPCNTDQ;
#endif
    return found < most ? found : most;
}

/* ---- Memory ---- */

void *allocate(size_t count, size_t bytes) {
    void *memory = calloc(count + 1, bytes);
    if (memory == NULL) die("out of memory");
    return memory;
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
    fprintf(stderr, "%s %s is left out: it needs about %.1f GB, and %.1f GB are free\n", system, scheme, bytes * 1e-9,
            available * 1e-9);
    return false;
}

uint64_t process_bytes(void) { return read_proc("/proc/self/status", "VmRSS: %llu") * 1024; }

/* ---- Indexes ---- */

/* The path of the index that make_index made, while it exists; otherwise "". */
static char made[4096];

static int remove_file(const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void)status, (void)type, (void)walk;
    return remove(path);
}

void remove_all(const char *path) { nftw(path, remove_file, 16, FTW_DEPTH | FTW_PHYS); }

void remove_index(void) {
    if (made[0] != 0) remove_all(made);
    made[0] = 0;
}

void build_index(const char *path, const struct idx_build_options *options, const uint64_t *fingerprints, size_t count,
                 struct idx_build_summary *summary) {
    struct idx_builder *builder;
    struct idx_error error;
    try(idx_builder_open(&builder, path, options, &error), &error);
    for (size_t i = 0; i < count; i++)
        try(idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprints[i], .number = i}, &error), &error);
    try(idx_builder_finish(builder, summary, &error), &error);
    idx_builder_close(builder);
}

void make_index(const char *path, const char *scheme, uint32_t block_size, unsigned k, const uint64_t *fingerprints,
                size_t count) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    options.k = k;
    options.scheme = scheme;
    options.block_size = block_size;
    options.id_type = IDX_ID_NONE;
    options.threads = 2;
    build_index(path, &options, fingerprints, count, NULL);
    snprintf(made, sizeof made, "%s", path);
}

static int drop_file(const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void)status, (void)walk;
    if (type != FTW_F) return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    int result = fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0 ? 0 : -1;
    close(file);
    return result;
}

void drop_cache(const char *path) {
    if (nftw(path, drop_file, 8, FTW_PHYS) != 0) die("%s can't be taken out of the page cache", path);
}
