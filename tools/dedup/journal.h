/* journal.h: where documents are in the inputs, for commands that read these twice. */
#ifndef IDX_TOOLS_DEDUP_JOURNAL_H
#define IDX_TOOLS_DEDUP_JOURNAL_H

#include "tools/shared/scratch.h"
#include "tools/shared/temporary.h"
#include "tools/text/documents.h"
#include "tools/text/pipeline.h"

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
    uint64_t next_file;                 /* The number of the file whose record is read next. */
    struct journal_file file;           /* The file whose record was read last. */
};

#define JOURNAL_CLOSED                                                                                                 \
    { .places = TEMPORARY_CLOSED, .files = TEMPORARY_CLOSED }

/* Checks that all inputs can be read twice. */
bool journal_check_inputs(const struct strings *paths);

/* Makes the journal's files in `scratch`, which is in `folder`, as temporary_open does. */
bool journal_open(struct journal *journal, const struct scratch *scratch, const char *folder);

/* Notes a file that can be read again, or returns false. Another thread may call journal_add_place meanwhile. */
bool journal_add_file(struct journal *journal, const struct opened_file *file);

void journal_add_place(struct journal *journal, const struct place *place);

/* Ends noting, and begins to read the journal, or begins to read it once more. */
bool journal_rewind(struct journal *journal);

/* Reads the next place. Returns false at the end, without a complaint. */
bool journal_next_place(struct journal *journal, struct place *place);

/* Reads on until `file` is the one of this number, which must have been noted. Numbers ascend from call to call. */
void journal_find_file(struct journal *journal, uint64_t number);

/* Checks that the open file is still the same as when it was noted. */
bool journal_check_file(const struct journal_file *file, int descriptor);

void journal_close(struct journal *journal);

/* ---- Reading some of the documents that were compared once more ---- */

struct rereading {
    /* These are set by the caller. */
    struct journal *journal;
    const uint64_t *wanted; /* A bit for each document that was compared; none are set behind these. */
    uint64_t compared;      /* How many documents were compared. */
    /* Called for each wanted document that can be read, in order, with its number and its text. Returns false to stop,
     * after a complaint. */
    bool (*take)(void *context, uint64_t number, const struct made *made);
    void *context;

    /* These are private. */
    bool has_next;         /* A wanted document is still to be found in the files: */
    struct place place;    /* this is its place. */
    uint64_t next_number;  /* The number of the next compared document in the journal. */
    uint64_t next_to_pass; /* All wanted documents of smaller numbers were passed to `take`. */
    bool failed;           /* A file has changed since it was noted. */
};

/* Reads the wanted documents as the rules say. Returns false also if a signal was noted. */
bool rereading_run(struct rereading *rereading, const struct pipeline_rules *rules);

#endif
