/* journal.c: notes files and documents in two temporary files, and reads documents once more by these notes. */
#include "tools/dedup/journal.h"

#include "tools/dedup/bits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The record of a file in the journal; the file's path, with its NUL, follows the record. */
struct file_record {
    struct stat status;
    size_t length; /* Bytes of the path, with its NUL. */
    bool in_folder;
};

static const char read_once[] =
    "it can be read only once, but --write, --dropped and --report read inputs twice: save it as a file";

static bool is_read_once(const char *path) {
    struct stat status;
    if (strcmp(path, "-") == 0) return true;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool journal_check_inputs(const struct strings *paths) {
    const char *refused = paths->count == 0 ? "-" : NULL; /* The first input that can be read only once. */
    for (size_t i = 0; i < paths->count && refused == NULL; i++)
        if (is_read_once(paths->values[i])) refused = paths->values[i];
    return refused == NULL || complain("%s: %s", strcmp(refused, "-") == 0 ? "standard input" : refused, read_once);
}

bool journal_open(struct journal *journal, const struct scratch *scratch, const char *folder) {
    return temporary_open(&journal->places, scratch, folder) && temporary_open(&journal->files, scratch, folder);
}

bool journal_add_file(struct journal *journal, const struct opened_file *file) {
    struct file_record noted = {.length = strlen(file->path) + 1, .in_folder = file->in_folder};
    if (fstat(file->descriptor, &noted.status) != 0) return complain("%s: %s", file->path, strerror(errno));
    if (!S_ISREG(noted.status.st_mode)) return complain("%s: %s", file->path, read_once);
    output_bytes(&journal->files.output, &noted, sizeof noted);
    output_bytes(&journal->files.output, file->path, noted.length);
    return true;
}

void journal_add_place(struct journal *journal, const struct place *place) {
    output_bytes(&journal->places.output, place, sizeof *place);
}

bool journal_rewind(struct journal *journal) {
    journal->next_file = journal->place_offset = journal->file_offset = 0;
    return temporary_map(&journal->places) && temporary_map(&journal->files);
}

bool journal_next_place(struct journal *journal, struct place *place) {
    const char *noted = temporary_take(&journal->places, &journal->place_offset, sizeof *place);
    if (noted != NULL) memcpy(place, noted, sizeof *place);
    return noted != NULL;
}

void journal_find_file(struct journal *journal, uint64_t number) {
    struct file_record noted;
    for (; journal->next_file <= number; journal->next_file++) {
        memcpy(&noted, temporary_take(&journal->files, &journal->file_offset, sizeof noted), sizeof noted);
        const char *path = temporary_take(&journal->files, &journal->file_offset, noted.length);
        journal->file = (struct journal_file){path, noted.in_folder, noted.status};
    }
}

bool journal_check_file(const struct journal_file *file, int descriptor) {
    struct stat now;
    const struct stat *then = &file->status;
    if (fstat(descriptor, &now) == 0 && now.st_dev == then->st_dev && now.st_ino == then->st_ino &&
        now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == then->st_mtim.tv_nsec)
        return true;
    return complain("%s: it was changed while it was compared; run the command again", file->path);
}

void journal_close(struct journal *journal) {
    temporary_close(&journal->places);
    temporary_close(&journal->files);
}

/* ---- Reading documents once more ---- */

/* All of the words of the bits (bits_make) are added up. */
static uint64_t count_wanted(const struct rereading *rereading) {
    uint64_t wanted = 0;
    for (uint64_t i = 0; i <= rereading->compared / 64; i++)
        wanted += (uint64_t)__builtin_popcountll(rereading->wanted[i]);
    return wanted;
}

/* Reads on in the journal to the next wanted document, and sets has_next to whether there is one. */
static void find_next_wanted(struct rereading *rereading) {
    rereading->has_next = false;
    while (!rereading->has_next && journal_next_place(rereading->journal, &rereading->place))
        rereading->has_next =
            rereading->place.fate == FATE_COMPARED && bit_is_set(rereading->wanted, rereading->next_number++);
}

/* Sets the file of the next wanted document. If it is the same as before, the document was not found there. */
static bool next_wanted_file(void *context, struct opened_file *file, uint64_t *number) {
    struct rereading *rereading = context;
    const struct journal_file *noted = &rereading->journal->file;
    if (!rereading->has_next || rereading->failed || interrupt_noted()) return false;
    if (rereading->journal->next_file == rereading->place.file + 1) {
        complain("%s: it was changed while it was compared; run the command again", noted->path);
        rereading->failed = true;
    }
    journal_find_file(rereading->journal, rereading->place.file);
    *file = (struct opened_file){noted->path, noted->in_folder, -1};
    *number = rereading->place.file;
    return !rereading->failed;
}

static bool check_unchanged(void *context, const struct opened_file *file) {
    struct rereading *rereading = context;
    rereading->failed = rereading->failed || !journal_check_file(&rereading->journal->file, file->descriptor);
    return !rereading->failed;
}

/* Returns whether a document is the next wanted one, and if so, finds the one after it. */
static bool is_next_wanted(void *context, const struct raw_document *raw) {
    struct rereading *rereading = context;
    const struct place *place = &rereading->place;
    if (!rereading->has_next || raw->bad.kind != BAD_NONE || raw->file != place->file || raw->begins != place->begins ||
        raw->ends != place->ends)
        return false;
    find_next_wanted(rereading);
    return true;
}

/* Passes the next wanted document to `take` with its number: documents come in the order of the journal, which is that
 * of their numbers. This is a made_visitor. */
static bool pass_on(void *context, const struct raw_document *raw, const struct made *made) {
    struct rereading *rereading = context;
    while (!bit_is_set(rereading->wanted, rereading->next_to_pass)) rereading->next_to_pass++;
    uint64_t number = rereading->next_to_pass++;
    if (interrupt_noted()) return false;
    return raw->bad.kind != BAD_NONE || rereading->take(rereading->context, number, made);
}

bool rereading_run(struct rereading *rereading, const struct pipeline_rules *rules) {
    const struct pipeline_again wanted = {next_wanted_file, is_next_wanted, count_wanted(rereading)};
    struct pipeline_rules reading = *rules;
    reading.strict = reading.visits_others = false;
    reading.visit = pass_on;
    reading.makes = MAKES_BODY;
    reading.visit_file = check_unchanged;
    reading.context = rereading;
    reading.again = &wanted;
    if (!journal_rewind(rereading->journal)) return false;
    rereading->next_number = rereading->next_to_pass = 0;
    find_next_wanted(rereading);
    return pipeline_run(&reading, NULL) == PIPELINE_WELL && !rereading->failed && !rereading->has_next;
}
