/* journal.h: what a command that reads its inputs twice keeps of the first time: which files there were, and where in
 * them each document is. */
#ifndef IDX_TOOLS_JOURNAL_H
#define IDX_TOOLS_JOURNAL_H

#include "tools/shared/temporary.h"
#include "tools/text/documents.h"
#include "tools/text/pipeline.h"

#include <sys/stat.h>

/* What became of a document. */
enum fate {
    FATE_COMPARED, /* it is in the index that is clustered; such documents are numbered from 0 */
    FATE_KEPT,     /* it has too few features, or is no document */
    FATE_KNOWN,    /* another index has it */
};

struct place {
    uint64_t file, begins, ends; /* the same as in struct raw_document */
    enum unit unit;
    enum fate fate;
};

struct journal_file {
    char *path;
    bool in_folder;
    struct stat status; /* its status when it was opened for the first time */
};

struct journal {
    struct temporary places, files;
    uint64_t next_file;       /* the number of the file that is read next */
    struct journal_file file; /* the file whose record was read last */
};

#define JOURNAL_CLOSED                                                                                                 \
    { .places = TEMPORARY_CLOSED, .files = TEMPORARY_CLOSED }

/* Checks that all inputs can be read twice. Returns false after a complaint. */
bool journal_check_inputs(const struct texts *paths);

/* Makes the journal's files in `scratch`, which is in `folder`. Returns false after a complaint. */
bool journal_open(struct journal *journal, const struct scratch *scratch, const char *folder);

/* Notes a file. Another thread may call journal_add at the same time. Returns false after a complaint if the file can't
 * be read again. */
bool journal_add_file(struct journal *journal, const struct opened_file *file);

void journal_add(struct journal *journal, const struct place *place);

/* Ends noting, and begins to read the journal, or begins to read it once more. Returns false after a complaint. */
bool journal_rewind(struct journal *journal);

/* Reads the next place. Returns false at the end, and after a complaint; journal_is_read is true in the former case. */
bool journal_next(struct journal *journal, struct place *place);

/* Reads on to the file of this number; numbers ascend from call to call. Returns false after a complaint. */
bool journal_find_file(struct journal *journal, uint64_t number);

/* Checks that the open file is still the same as when it was noted. Returns false after a complaint. */
bool journal_check_file(const struct journal_file *file, int descriptor);

bool journal_is_read(const struct journal *journal);

void journal_close(struct journal *journal);

/* ---- Reading some of the documents that were compared once more ---- */

struct again {
    /* These are set by the caller. */
    struct journal *journal;
    const uint64_t *wanted; /* a bit for each document that was compared */
    uint64_t compared;      /* how many documents were compared */
    /* Called for each wanted document that can be read, in order, with its number and what is listed of it. Returns
     * false to stop, after a complaint. */
    bool (*take)(void *context, uint64_t number, const char *listed, size_t length);
    void *context;

    /* These are private. */
    struct place place; /* the place of the next document to be read */
    uint64_t next_number, taken;
    bool is_wanting, failed;
};

/* Reads the wanted documents by the rules, but lists `listed` of them by the recipe. Returns false after a complaint,
 * or where a signal was noted. */
bool again_read(struct again *again, const struct pipeline_rules *rules, const char *recipe, enum listed listed);

/* Returns rules by which documents are listed by a recipe, and not fingerprinted, but read as `rules` say. */
struct pipeline_rules again_rules(const struct pipeline_rules *rules, const char *recipe);

#endif
