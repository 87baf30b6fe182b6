/* forecast.c: what a build is expected to take, and whether there is room for it. */
#include "tools/input/forecast.h"

#include "tools/shared/message.h"
#include "tools/shared/size.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* The folder that holds `path`, to be freed; NULL without memory. */
static char *folder_of(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    while (length > 0 && path[length - 1] != '/') length--;
    while (length > 1 && path[length - 1] == '/') length--;
    return length == 0 ? strdup(".") : strndup(path, length);
}

static void check_room(const char *folder, const char *what, uint64_t bytes) {
    char needed[SIZE_LENGTH], left[SIZE_LENGTH];
    struct statvfs status;
    if (statvfs(folder, &status) != 0) return;
    double room = (double)status.f_bavail * (double)status.f_frsize;
    if (room >= (double)bytes) return;
    size_print(needed, (double)bytes);
    size_print(left, room);
    complain("the file system of %s has %s free, but %s may need %s there", folder, left, what, needed);
}

static bool same_file_system(const char *a, const char *b) {
    struct stat status_a, status_b;
    return stat(a, &status_a) == 0 && stat(b, &status_b) == 0 && status_a.st_dev == status_b.st_dev;
}

static void say(const struct idx_build_estimate *estimate, const struct input_size *size) {
    char memory[SIZE_LENGTH], index[SIZE_LENGTH], peak[SIZE_LENGTH];
    size_print(memory, (double)estimate->memory_bytes);
    size_print(index, (double)(estimate->index_bytes + size->id_bytes));
    size_print(peak, (double)(estimate->peak_bytes + size->id_bytes));
    complain("about %" PRIu64 " documents: up to %s of memory, up to %s of disk, and %s for the index", size->documents,
             memory, peak, index);
}

void forecast(const struct idx_build_options *options, const char *output, const struct input_size *size, bool shown) {
    struct idx_build_estimate estimate;
    char *folder = folder_of(output);
    if (folder == NULL || idx_estimate_build(options, size->documents, &estimate, NULL) != IDX_OK) {
        free(folder);
        return;
    }
    if (shown) say(&estimate, size);
    const char *temporary = options->temporary_folder;
    if (temporary == NULL || same_file_system(folder, temporary)) {
        check_room(folder, "the build", estimate.peak_bytes + size->id_bytes);
    } else {
        check_room(folder, "the index", estimate.index_bytes + size->id_bytes);
        check_room(temporary, "temporary files", estimate.temporary_bytes);
    }
    free(folder);
}
