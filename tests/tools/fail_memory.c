/* fail_memory.c: a library to preload into the command: it counts the allocations of memory, and lets one of them fail;
 * but none of those that libarchive and libxml2 make by themselves, which SECURITY.md names: they follow NULL then, or
 * end the process. What libxml2 allocates by the command's functions (tools/formats/memory.c) may fail. Its
 * environment:
 *
 *   IDX_FAIL_LOG   a file, to which their number is written at the end
 *   IDX_FAIL_AT    the one that fails, counted from 1; without it none does
 *   IDX_FAIL_ALL   when set, all that come behind it fail too
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool counts, all;
static long at;
static atomic_long count;

/* The code of libraries whose allocations don't fail. */
static const char *const fenced[] = {"/libarchive.so", "/libxml2.so"};
enum { FENCED = sizeof fenced / sizeof *fenced };
static struct { uintptr_t begin, size; } fences[FENCED];

static int find_fences(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    for (size_t i = 0; i < FENCED; i++) {
        if (strstr(info->dlpi_name, fenced[i]) == NULL) continue;
        for (size_t j = 0; j < info->dlpi_phnum; j++) {
            const ElfW(Phdr) *header = &info->dlpi_phdr[j];
            if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0) continue;
            fences[i].begin = info->dlpi_addr + header->p_vaddr;
            fences[i].size = header->p_memsz;
        }
    }
    return 0;
}

static bool is_fenced(const void *caller) {
    for (size_t i = 0; i < FENCED; i++) {
        if ((uintptr_t)caller - fences[i].begin < fences[i].size) return true;
    }
    return false;
}

__attribute__((constructor)) static void set_up(void) {
    const char *text = getenv("IDX_FAIL_AT");
    at = text == NULL ? 0 : atol(text);
    all = getenv("IDX_FAIL_ALL") != NULL;
    dl_iterate_phdr(find_fences, NULL);
    counts = true;
}

__attribute__((destructor)) static void write_count(void) {
    const char *path = getenv("IDX_FAIL_LOG");
    char line[32];
    counts = false;
    int file = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return;
    int length = snprintf(line, sizeof line, "%ld\n", (long)count);
    (void)!write(file, line, (size_t)length);
    close(file);
}

static bool fails(const void *caller) {
    if (!counts || is_fenced(caller)) return false;
    long number = ++count;
    if (at == 0 || (number != at && !(all && number > at))) return false;
    errno = ENOMEM;
    return true;
}

#define FAILS fails(__builtin_return_address(0))

PUBLIC void *malloc(size_t size) { return FAILS ? NULL : __libc_malloc(size); }
PUBLIC void *calloc(size_t number, size_t size) { return FAILS ? NULL : __libc_calloc(number, size); }
PUBLIC void *realloc(void *block, size_t size) { return FAILS ? NULL : __libc_realloc(block, size); }
PUBLIC void *reallocarray(void *block, size_t number, size_t size) {
    size_t bytes;
    return __builtin_mul_overflow(number, size, &bytes) || FAILS ? NULL : __libc_realloc(block, bytes);
}
PUBLIC void *memalign(size_t alignment, size_t size) { return FAILS ? NULL : __libc_memalign(alignment, size); }
PUBLIC void *aligned_alloc(size_t alignment, size_t size) { return FAILS ? NULL : __libc_memalign(alignment, size); }
PUBLIC int posix_memalign(void **block, size_t alignment, size_t size) {
    if (FAILS) return ENOMEM;
    *block = __libc_memalign(alignment, size);
    return *block == NULL ? ENOMEM : 0;
}
