/* journal.c: notes files and documents in two temporary files, and reads documents once more by these notes. */
#include "tools/documents/journal.h"

#include "tools/documents/bits.h"

#include <errno.h>
#include <string.h>

/* The record of a file in the journal; the file's path, with its NUL, follows the record. */
struct file_record {
    struct stat status;
    size_t length; /* Bytes of the path, with its NUL. */
    bool in_folder;
};

static const char read_once[] =
    "it can be read only once, but --write, --dropped and --report read inputs twice: save it as a file";

/* Returns whether an input can be read only once, such as standard input or a pipe. */
static bool is_read_once(const char *path) {
    struct stat status;
    if (strcmp(path, "-") == 0) return true;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool journal_check_readable_twice(const struct strings *paths) {
    const char *refused = paths->count == 0 ? "-" : NULL; /* The first input that can be read only once. */
    for (size_t i = 0; i < paths->count && refused == NULL; i++)
        if (is_read_once(paths->values[i])) refused = paths->values[i];
    return refused == NULL || complain("%s: %s", strcmp(refused, "-") == 0 ? "standard input" : refused, read_once);
}

bool journal_open(struct journal *journal, const struct scratch *scratch, const char *folder) {
    return temporary_open(&journal->places, scratch, folder) && temporary_open(&journal->files, scratch, folder);
}

bool journal_add_file(struct journal *journal, const char *path, bool in_folder, int descriptor) {
    struct file_record record = {.length = strlen(path) + 1, .in_folder = in_folder};
    if (fstat(descriptor, &record.status) != 0) return complain("%s: %s", path, strerror(errno));
    if (!S_ISREG(record.status.st_mode)) return complain("%s: %s", path, read_once);
    output_bytes(&journal->files.output, &record, sizeof record);
    output_bytes(&journal->files.output, path, record.length);
    return true;
}

void journal_add_place(struct journal *journal, const struct place *place) {
    output_bytes(&journal->places.output, place, sizeof *place);
}

bool journal_rewind(struct journal *journal) {
    journal->next_file_number = journal->place_offset = journal->file_offset = 0;
    return temporary_map(&journal->places) && temporary_map(&journal->files);
}

bool journal_read_next_place(struct journal *journal, struct place *place) {
    const char *record = temporary_read_bytes(&journal->places, &journal->place_offset, sizeof *place);
    if (record != NULL) memcpy(place, record, sizeof *place);
    return record != NULL;
}

void journal_find_file(struct journal *journal, uint64_t number) {
    struct file_record record;
    for (; journal->next_file_number <= number; journal->next_file_number++) {
        memcpy(&record, temporary_read_bytes(&journal->files, &journal->file_offset, sizeof record), sizeof record);
        const char *path = temporary_read_bytes(&journal->files, &journal->file_offset, record.length);
        journal->file = (struct journal_file){path, record.in_folder, record.status};
    }
}

/* Complains that a file has changed since it was noted. Returns false always. */
static bool complain_of_changed_file(const struct journal_file *file) {
    return complain("%s: it was changed while it was compared; run the command again", file->path);
}

bool journal_check_file(const struct journal_file *file, int descriptor) {
    struct stat status;
    const struct stat *noted = &file->status;
    if (fstat(descriptor, &status) == 0 && status.st_dev == noted->st_dev && status.st_ino == noted->st_ino &&
        status.st_size == noted->st_size && status.st_mtim.tv_sec == noted->st_mtim.tv_sec &&
        status.st_mtim.tv_nsec == noted->st_mtim.tv_nsec)
        return true;
    return complain_of_changed_file(file);
}

void journal_close(struct journal *journal) {
    temporary_close(&journal->places);
    temporary_close(&journal->files);
}

/* ---- Reading documents once more ---- */

uint64_t second_reading_count_wanted(const struct second_reading *second_reading) {
    return bits_count_set(second_reading->wanted, second_reading->compared);
}

/* Reads on in the journal to the next wanted document, and sets has_next to whether there is one. */
static void advance_to_next_wanted(struct second_reading *second_reading) {
    second_reading->has_next = false;
    while (!second_reading->has_next && journal_read_next_place(second_reading->journal, &second_reading->place))
        second_reading->has_next = second_reading->place.fate == FATE_COMPARED &&
                                   bit_is_set(second_reading->wanted, second_reading->next_number++);
}

bool second_reading_begin(struct second_reading *second_reading) {
    if (!journal_rewind(second_reading->journal)) return false;
    second_reading->next_number = 0;
    advance_to_next_wanted(second_reading);
    return true;
}

/* journal->next_file_number is 1 more than the number of the file that was returned last. If the next wanted document
 * is in that file, it was not found there, since otherwise another one would be the next; so the file has changed. */
const struct journal_file *second_reading_find_next_file(struct second_reading *second_reading) {
    struct journal *journal = second_reading->journal;
    if (!second_reading->has_next || second_reading->failed || interrupt_is_noted()) return NULL;
    if (journal->next_file_number == second_reading->place.file + 1) {
        second_reading->failed = !complain_of_changed_file(&journal->file);
        return NULL;
    }
    journal_find_file(journal, second_reading->place.file);
    return &journal->file;
}

bool second_reading_accept_if_wanted(struct second_reading *second_reading, struct raw_document *raw) {
    const struct place *place = &second_reading->place;
    if (!second_reading->has_next || raw->bad.kind != BAD_NONE || raw->file != place->file ||
        raw->begins != place->begins || raw->ends != place->ends)
        return false;
    raw->number = second_reading->next_number - 1;
    advance_to_next_wanted(second_reading);
    return true;
}
