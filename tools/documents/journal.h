/* journal.h: where documents are in the inputs, for commands that read these twice. */
#ifndef IDX_TOOLS_DOCUMENTS_JOURNAL_H
#define IDX_TOOLS_DOCUMENTS_JOURNAL_H

#include "tools/formats/raw_document.h"
#include "tools/shared/command.h"
#include "tools/shared/scratch.h"
#include "tools/shared/temporary.h"

#include <sys/stat.h>

/* What became of a document. */
enum fate {
    FATE_COMPARED, /* It was compared. Such documents are numbered from 0, in the order of the inputs. */
    FATE_KEPT,     /* It has no words, is a bad record, or is no document. */
};

struct place {
    uint64_t file, begins, ends; /* As in struct raw_document: the file's number, and offsets when decompressed. */
    enum unit unit;
    enum fate fate;
    enum document_format format;
};

struct journal_file {
    const char *path;
    bool in_folder;
    struct stat status; /* What fstat said when the file was first opened. */
};

struct journal {
    struct temporary places, files;
    uint64_t place_offset, file_offset; /* Where the next place, and the record of the next file, are read. */
    uint64_t next_file_number;          /* The number of the file whose record is read next. */
    struct journal_file file;           /* The file whose record was read last. */
};

#define JOURNAL_CLOSED                                                                                                 \
    { .places = TEMPORARY_CLOSED, .files = TEMPORARY_CLOSED }

/* Checks that all inputs can be read twice, as pipes and standard input can't. Without paths, the input is standard
 * input. Returns false after a complaint. */
bool journal_check_readable_twice(const struct strings *paths);

/* Makes the journal's files in `scratch`, a scratch folder in `folder`, as temporary_open does. Returns false after a
 * complaint; the caller calls journal_close even then. */
bool journal_open(struct journal *journal, const struct scratch *scratch, const char *folder);

/* Notes the open file `descriptor`: its path, its status, and whether it was found in a folder. Files get the numbers
 * 0, 1 and so on. Returns false, after a complaint, if it is no regular file, and so can't be read again. Errors of
 * writing are found by journal_rewind. Another thread may call journal_add_place at the same time. */
bool journal_add_file(struct journal *journal, const char *path, bool in_folder, int descriptor);

/* Notes where a document is in the inputs, and what became of it. Errors of writing are found by journal_rewind. */
void journal_add_place(struct journal *journal, const struct place *place);

/* Begins to read the journal from its start; nothing may be added afterwards. Returns false, after a complaint, if it
 * could not be written or can't be mapped. */
bool journal_rewind(struct journal *journal);

/* Reads the next place. Returns false at the end, without a complaint. */
bool journal_read_next_place(struct journal *journal, struct place *place);

/* Sets journal->file to the file of this number, which must have been noted. Records are read in order, so a number
 * must not be smaller than that of the call before. The file's path is valid until journal_close. */
void journal_find_file(struct journal *journal, uint64_t number);

/* Checks that the open file `descriptor` is the file that was noted, with the same size and time of change. Returns
 * false after a complaint. */
bool journal_check_file(const struct journal_file *file, int descriptor);

/* Closes and removes the journal's files. */
void journal_close(struct journal *journal);

/* ---- Reading some of the documents that were compared once more ---- */

struct second_reading {
    /* These are set by the caller. */
    struct journal *journal;
    const uint64_t *wanted; /* A bit for each document that was compared; none are set behind these. */
    uint64_t compared;      /* How many documents were compared. */

    bool has_next;      /* A wanted document is still to be found in the files. */
    struct place place; /* The place of that document. */
    bool failed;        /* A file has changed since it was noted. */

    /* This is private. */
    uint64_t next_number; /* The number of the next compared document in the journal. */
};

/* Begins to read the journal from its start, and finds the place of the first wanted document: sets `has_next` and
 * `place`. Returns false, after a complaint, as journal_rewind does. */
bool second_reading_begin(struct second_reading *second_reading);

/* Returns the journal's record of the file that has the next wanted document. Returns NULL at the end, if a signal was
 * noted, or after a complaint, which sets `failed`: the document was not found in its file, which has changed. */
const struct journal_file *second_reading_find_next_file(struct second_reading *second_reading);

/* Returns whether `raw` is the next wanted document: one that is not bad, at the place that the journal has. If so,
 * sets raw->number, and finds the place of the next wanted document behind it. */
bool second_reading_accept_if_wanted(struct second_reading *second_reading, struct raw_document *raw);

/* Returns how many documents are wanted. */
uint64_t second_reading_count_wanted(const struct second_reading *second_reading);

#endif
