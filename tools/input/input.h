/* input.h: what `idx build`, `idx add` and `idx remove` read: the documents of all inputs, one after the other. */
#ifndef IDX_TOOLS_INPUT_H
#define IDX_TOOLS_INPUT_H

#include "tools/input/npy.h"
#include "tools/input/reader.h"
#include "tools/input/tsv.h"
#include "tools/shared/arguments.h"

#include <stdbool.h>
#include <stddef.h>

/* In which format files hold fingerprints: format.c finds out. */
enum input_format {
    INPUT_AUTO, /* by names and first bytes */
    INPUT_TSV,  /* fingerprint<TAB>ID */
    INPUT_U64,  /* little-endian u64, nothing else */
    INPUT_NPY,  /* NumPy's array file of uint64 */
};

extern const char *const input_format_names[];

/* The format of a file: by its name (.tsv, .u64, .npy), or else INPUT_NPY if it is a regular file that begins like one,
 * standard input (`-`) included. INPUT_AUTO if neither says. Consumes nothing. */
enum input_format input_format_of(const char *path);

/* Replaces INPUT_AUTO by the format of the files; those that don't say theirs, and no files, are TSV. False after a
 * complaint, if they have several. */
bool input_settle_format(const struct texts *paths, enum input_format *format);

/* The same, for commands that read all before they do anything else: if standard input is the only one, and a pipe, it
 * waits for the first bytes, and recognises an array of NumPy by them. They are still there to be read. */
bool input_await_format(const struct texts *paths, enum input_format *format);

/* What to do about a line of TSV that can't be read because it is part of a binary file: the end of a sentence. "" if
 * it is text. */
const char *input_advice(const char *line, size_t length);

enum input_status {
    INPUT_DOCUMENTS,
    INPUT_END,
    INPUT_PENDING, /* nothing more without waiting */
    INPUT_INTERRUPTED,
    INPUT_FAILED, /* after a complaint */
};

/* Documents are read some at a time: as many as stay in a core's cache. */
enum { INPUT_BATCH = 512 };

struct input {
    /* These are set by the caller. */
    struct texts paths;       /* none: standard input */
    enum input_format format; /* not INPUT_AUTO */
    struct tsv_rules rules;   /* of TSV; for the others only the bits */
    bool skip_bad_lines;
    bool partial; /* TSV that states a recipe need not be whole (struct totals) */
    bool at_hand; /* INPUT_PENDING rather than waiting for a line; may change between calls */
    const char
        *recipe; /* given by the user, so that the inputs' own are passed over; else NULL, and the inputs' then */
    const char *index_recipe; /* of an index that there is, which all recipes of the inputs must match; "" matches any;
                                 or NULL */

    /* What was met. */
    uint64_t skipped; /* bad lines */
    uint64_t documents;

    /* These are private. */
    size_t path; /* how many were opened */
    struct reader reader;
    struct npy_array array; /* of the file that is being read */
    uint64_t row;           /* within the file */
    struct totals totals;   /* of the file */
    struct tsv_record records[INPUT_BATCH];
    size_t count;
    bool ahead; /* the first of them were read, and not yet given */
    enum input_status first_status;
    char *own_recipe; /* from the inputs; freed by input_free */
    bool recipe_settled, warned_of_icu;
};

/* Reads ahead where the recipe may stand in the input, so that `recipe` is known; NULL then where there is none.
 * INPUT_DOCUMENTS or INPUT_END when all is well. */
enum input_status input_find_recipe(struct input *input);

/* Gives the next documents, one or more; they and their IDs are valid until the next call. For u64 and npy `number` is
 * the row's number over all inputs. */
enum input_status input_next(struct input *input, const struct tsv_record **records, size_t *count);

/* Reads those inputs that are regular files of TSV to their ends, to find out whether they are whole (struct totals)
 * before anything is done with their documents. Before the first of these is read. Returns false after a complaint. */
bool input_files_are_whole(const struct input *input);

/* How much all inputs hold, where that can be known without reading them: from the sizes of regular files, and how long
 * some lines of TSV are. */
struct input_size {
    uint64_t documents;
    uint64_t id_bytes; /* of text IDs */
};

/* False where it can't be known. Any time. */
bool input_guess_size(const struct input *input, struct input_size *size);

void input_free(struct input *input);

#endif
