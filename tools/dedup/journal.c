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

static const char read_twice[] =
    "it can be read only once, but --write, --dropped and --report read inputs twice: save it as a file";

static bool is_read_once(const char *path) {
    struct stat status;
    if (strcmp(path, "-") == 0) return true;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool journal_check_inputs(const struct strings *paths) {
    const char *once = paths->count == 0 ? "-" : NULL;
    for (size_t i = 0; i < paths->count && once == NULL; i++)
        if (is_read_once(paths->values[i])) once = paths->values[i];
    return once == NULL || complain("%s: %s", strcmp(once, "-") == 0 ? "standard input" : once, read_twice);
}

bool journal_open(struct journal *journal, const struct scratch *scratch, const char *folder) {
    return temporary_open(&journal->places, scratch, folder) && temporary_open(&journal->files, scratch, folder);
}

bool journal_add_file(struct journal *journal, const struct opened_file *file) {
    struct file_record noted = {.length = strlen(file->path) + 1, .in_folder = file->in_folder};
    if (fstat(file->descriptor, &noted.status) != 0) return complain("%s: %s", file->path, strerror(errno));
    if (!S_ISREG(noted.status.st_mode)) return complain("%s: %s", file->path, read_twice);
    output_bytes(&journal->files.output, &noted, sizeof noted);
    output_bytes(&journal->files.output, file->path, noted.length);
    return true;
}

void journal_add(struct journal *journal, const struct place *place) {
    output_bytes(&journal->places.output, place, sizeof *place);
}

bool journal_rewind(struct journal *journal) {
    journal->next_file = journal->place_offset = journal->file_offset = 0;
    return temporary_map(&journal->places) && temporary_map(&journal->files);
}

bool journal_next(struct journal *journal, struct place *place) {
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

static uint64_t count_wanted(const struct again *again) {
    uint64_t wanted = 0;
    for (uint64_t i = 0; i <= again->compared / 64; i++) wanted += (uint64_t)__builtin_popcountll(again->wanted[i]);
    return wanted;
}

static void find_next_wanted(struct again *again) {
    again->is_wanting = false;
    while (!again->is_wanting && journal_next(again->journal, &again->place))
        again->is_wanting = again->place.fate == FATE_COMPARED && bit_is_set(again->wanted, again->next_number++);
}

/* Returns the next file with a wanted document. If it is the file before, that document was not found there, so it has
 * changed. */
static bool next_wanted_file(void *context, struct opened_file *file, uint64_t *number) {
    struct again *again = context;
    const struct journal_file *noted = &again->journal->file;
    if (!again->is_wanting || again->failed || interrupt_noted()) return false;
    if (again->journal->next_file == again->place.file + 1) {
        complain("%s: it was changed while it was compared; run the command again", noted->path);
        again->failed = true;
    }
    journal_find_file(again->journal, again->place.file);
    *file = (struct opened_file){noted->path, noted->in_folder, -1};
    *number = again->place.file;
    return !again->failed;
}

static bool check_file(void *context, const struct opened_file *file) {
    struct again *again = context;
    again->failed = again->failed || !journal_check_file(&again->journal->file, file->descriptor);
    return !again->failed;
}

static bool is_wanted_document(void *context, const struct raw_document *raw) {
    struct again *again = context;
    const struct place *place = &again->place;
    if (!again->is_wanting || raw->bad.kind != BAD_NONE || raw->file != place->file || raw->begins != place->begins ||
        raw->ends != place->ends)
        return false;
    find_next_wanted(again);
    return true;
}

/* Passes on the next wanted document. Results come in the order of the journal. This is a made_visitor. */
static bool pass_on(void *context, const struct raw_document *raw, const struct made *made) {
    struct again *again = context;
    while (!bit_is_set(again->wanted, again->taken)) again->taken++;
    uint64_t number = again->taken++;
    if (interrupt_noted()) return false;
    return raw->bad.kind != BAD_NONE || again->take(again->context, number, made);
}

bool again_read(struct again *again, const struct pipeline_rules *rules) {
    const struct pipeline_again reading = {next_wanted_file, is_wanted_document, count_wanted(again)};
    struct pipeline_rules listing = *rules;
    listing.recipe = text_default_recipe;
    listing.table = listing.expected_recipe = NULL;
    listing.strict = listing.others = false;
    listing.visit = pass_on;
    listing.makes = MAKES_BODY;
    listing.visit_file = check_file;
    listing.context = again;
    listing.again = &reading;
    if (!journal_rewind(again->journal)) return false;
    again->next_number = again->taken = 0;
    find_next_wanted(again);
    return pipeline_run(&listing, NULL) == PIPELINE_WELL && !again->failed && !again->is_wanting;
}
