/* journal.c: see journal.h. */
#include "tools/dedup/journal.h"

#include "tools/shared/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As a file is kept; the path follows. */
struct noted {
    struct stat status;
    size_t length;
    bool in_folder;
};

static const char read_twice[] =
    "it can be read only once, but --confirm, --report, --write and --dropped read inputs twice: save it as a file";

static bool is_read_once(const char *path) {
    struct stat status;
    if (strcmp(path, "-") == 0) return true;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool journal_check_inputs(const struct texts *paths) {
    const char *once = paths->count == 0 ? "-" : NULL;
    for (size_t i = 0; i < paths->count && once == NULL; i++)
        if (is_read_once(paths->values[i])) once = paths->values[i];
    if (once != NULL) complain("%s: %s", strcmp(once, "-") == 0 ? "standard input" : once, read_twice);
    return once == NULL;
}

bool journal_open(struct journal *journal, const struct scratch *scratch, const char *folder) {
    return temporary_open(&journal->places, scratch, folder) && temporary_open(&journal->files, scratch, folder);
}

bool journal_add_file(struct journal *journal, const struct opened_file *file) {
    struct noted noted = {.length = strlen(file->path), .in_folder = file->in_folder};
    if (fstat(file->descriptor, &noted.status) != 0) {
        complain("%s: %s", file->path, strerror(errno));
        return false;
    }
    if (!S_ISREG(noted.status.st_mode)) {
        complain("%s: %s", file->path, read_twice);
        return false;
    }
    output_bytes(&journal->files.output, &noted, sizeof noted);
    output_bytes(&journal->files.output, file->path, noted.length);
    return true;
}

void journal_add(struct journal *journal, const struct place *place) {
    output_bytes(&journal->places.output, place, sizeof *place);
}

bool journal_rewind(struct journal *journal) {
    temporary_rewind(&journal->places);
    temporary_rewind(&journal->files);
    journal->next_file = 0;
    return temporary_flush(&journal->places) && temporary_flush(&journal->files);
}

bool journal_next(struct journal *journal, struct place *place) {
    return temporary_read(&journal->places, place, sizeof *place);
}

static bool next_file(struct journal *journal) {
    struct noted noted;
    free(journal->file.path);
    journal->file.path = NULL;
    if (!temporary_read(&journal->files, &noted, sizeof noted)) return false;
    journal->file = (struct journal_file){malloc(noted.length + 1), noted.in_folder, noted.status};
    journal->next_file++;
    if (journal->file.path == NULL || !temporary_read(&journal->files, journal->file.path, noted.length)) return false;
    journal->file.path[noted.length] = '\0';
    return true;
}

bool journal_find_file(struct journal *journal, uint64_t number) {
    while (journal->next_file <= number) {
        if (next_file(journal)) continue;
        if (!journal->files.failed) complain("out of memory");
        return false;
    }
    return true;
}

bool journal_check_file(const struct journal_file *file, int descriptor) {
    struct stat now;
    const struct stat *then = &file->status;
    if (fstat(descriptor, &now) == 0 && now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
        now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == then->st_mtim.tv_nsec)
        return true;
    complain("%s: it was changed while it was compared; run the command again", file->path);
    return false;
}

bool journal_is_read(const struct journal *journal) { return !journal->places.failed; }

void journal_close(struct journal *journal) {
    temporary_close(&journal->places);
    temporary_close(&journal->files);
    free(journal->file.path);
    journal->file.path = NULL;
}
