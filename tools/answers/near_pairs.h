/* near_pairs.h: near pairs printed, for `idx pairs` and `idx join`. */
#ifndef IDX_TOOLS_NEAR_PAIRS_H
#define IDX_TOOLS_NEAR_PAIRS_H

#include "tools/shared/command.h"
#include "tools/shared/library.h"
#include "tools/shared/output.h"
#include "tools/shared/progress.h"

#include <idx.h>

/* It is an index that is read. */
struct near_side {
    struct idx_index *index;
    struct idx_properties properties;
    struct idx_documents *documents; /* It is open with --documents. */
};

struct near {
    struct idx_join_options options;
    struct progress progress;
    struct texts operands;     /* They are INDEX and OTHER. */
    struct near_side sides[2]; /* It is the same one twice, for one index. */
    int notation;
    uint64_t max_documents;
    bool with_documents, progress_forced;
    struct output output;
    struct idx_error error;
    bool found, failed; /* The library failed, and `error` says why. */
};

/* Sets what both commands begin with. */
void near_init(struct near *near);

/* Fills the list with the rules of the options that both have, whose values they set. */
enum { NEAR_OPTIONS = 6 };
void near_list(struct near *near, struct option_rule list[NEAR_OPTIONS]);

/* Opens the index at `path` as sides[number]. Returns false after an error: `error`. */
bool near_open(struct near *near, size_t number, const char *path);

/* Prints a line, but for its documents and its end. */
void near_print(struct near *near, uint64_t a, uint64_t b, unsigned distance);

/* Prints up to `most` of the documents of the fingerprint that the cursor was sent to. Returns false after an error. */
bool near_print_documents(struct near *near, struct idx_documents *documents, uint64_t most);

/* Prints pairs. This is an idx_pairs_visitor, whose context is a struct near. */
bool near_visit(void *context, const struct idx_pair *pairs, size_t count);

/* Has `find` open the indexes and print all, false after an error, and returns the status of the process. */
int near_run(struct near *near, bool (*find)(struct near *near));

#endif
