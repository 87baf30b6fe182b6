/* near_pairs.h: prints near pairs, for `idx pairs` and `idx join`. */
#ifndef IDX_TOOLS_NEAR_PAIRS_H
#define IDX_TOOLS_NEAR_PAIRS_H

#include "tools/shared/command.h"
#include "tools/shared/library.h"
#include "tools/shared/output.h"
#include "tools/shared/progress.h"
#include "tools/shared/rows.h"

/* An index that is read. */
struct near_side {
    struct idx_index *index;
    struct idx_properties properties;
    struct idx_documents *documents; /* Open with --documents, if the index keeps them; otherwise NULL. */
};

struct indexed;

struct near {
    struct idx_join_options options;
    struct indexed *texts; /* What compares the texts of indexes with sets: dedup/indexed.h. The command sets it. */
    struct progress progress;
    struct strings operands;   /* INDEX, and OTHER of `idx join`. */
    struct near_side sides[2]; /* `idx pairs` has the same index twice. */
    int notation;
    uint64_t max_documents;
    bool with_documents, progress_forced;
    struct output output;
    struct rows rows;       /* The row that is being written. */
    struct idx_error error; /* Of the library; IDX_OK: it did not fail, or a complaint was made. */
    bool found, failed;     /* A row was begun; the library failed while the index was visited, and `error` says why. */
};

/* Initializes the struct for both commands: sets the defaults of their options, and standard output. Opens nothing. */
void near_init(struct near *near);

/* Opens the index at `path` as sides[side_number], and with --documents its cursor. Sets `error` and returns false if
 * that fails; near_run_command closes both in any case. */
bool near_open_index(struct near *near, size_t side_number, const char *path);

/* Begins a row, near->rows, and writes both fingerprints and their distance, in bits. Sets `found`. The caller ends the
 * row by row_end. sides[0] must be open, for the number of bits. */
void near_begin_row(struct near *near, uint64_t fingerprint_a, uint64_t fingerprint_b, unsigned distance);

/* Writes the IDs of the next documents of the cursor `documents`, at most `limit`, to the row that was begun. Sets
 * `error` and returns false if the library fails. */
bool near_add_documents_to_row(struct near *near, struct idx_documents *documents, uint64_t limit);

/* Prints a line for each pair, with --documents also the first document of each fingerprint. Returns false to stop: the
 * library failed (`failed`), the output failed, or a signal was noted. This is an idx_pairs_visitor, whose context is a
 * struct near. */
bool near_print_pairs(void *context, const struct idx_pair *pairs, size_t count);

/* Runs a whole subcommand: calls `find`, flushes and closes the output, and closes the indexes. `find` opens the
 * indexes and prints all lines; it returns false if it set near->error, complained, or stopped at a signal. If a signal
 * was noted, ends the process by it; otherwise returns the status of the process. */
int near_run_command(struct near *near, bool (*find)(struct near *near));

#endif
