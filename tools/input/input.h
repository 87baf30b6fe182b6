/* input.h: the documents or fingerprints of all inputs of `idx build`, `idx add` and others, one after the other. */
#ifndef IDX_TOOLS_INPUT_INPUT_H
#define IDX_TOOLS_INPUT_INPUT_H

#include "tools/input/format.h"
#include "tools/input/npy.h"
#include "tools/input/tsv.h"

enum input_status {
    INPUT_DOCUMENTS,
    INPUT_END,
    INPUT_PENDING,     /* There is nothing more without waiting. */
    INPUT_INTERRUPTED, /* A signal was noted (command.h). */
    INPUT_FAILED,      /* A complaint was made. */
};

/* The most documents that are read at a time: as many as stay in a core's cache. */
enum { INPUT_BATCH = 512 };

struct input {
    /* These are set by the caller. */
    struct strings paths;     /* Without any, standard input is read. */
    enum input_format format; /* Not INPUT_AUTO. */
    struct tsv_rules rules;   /* For TSV; other formats use only the bits. */
    bool skip_bad_lines;
    bool partial;       /* TSV that states a recipe need not be whole (struct totals). */
    bool never_waits;   /* INPUT_PENDING is returned instead of waiting for a line. It may change between calls. */
    const char *recipe; /* What the user gave: recipes of inputs are ignored then. NULL: becomes what inputs state. */
    const char *required_recipe; /* That of an index or of queries, which each recipe that inputs state must match; "":
                                    they have none, so any will do; NULL: there is nothing to match. */
    enum recipe_owner recipe_owner; /* Who has `required_recipe`, for messages. */
    bool index_takes_recipe; /* The index has no recipe and no documents: the recipe that an input states before any
                                fingerprint becomes required_recipe and `recipe`; the caller gives it to the index. */

    /* Results. */
    uint64_t skipped_lines; /* Bad ones. */
    uint64_t documents;

    /* These are private. */
    size_t opened_paths; /* How many paths were opened. */
    struct reader reader;
    struct npy_array array; /* That of the file that is being read. */
    uint64_t next_row;      /* The number of the next row in the file, from 0. */
    struct totals totals;   /* Those of the file. */
    struct tsv_record records[INPUT_BATCH];
    size_t count;     /* How many records were read last. */
    bool holds_first; /* The first records were read, but not returned yet. */
    enum input_status first_status;
    char *stated_recipe; /* The copy of the recipe that the inputs state, which `recipe` points to; or NULL. */
    bool recipe_settled; /* A recipe was given or stated, or a fingerprint was read: no line can state one now. */
    bool warned_of_icu;
};

/* Finds the recipe of the inputs; if the user gave none, reads the first documents, which input_next returns later.
 * `recipe` stays NULL if there is none. Any result but INPUT_DOCUMENTS and INPUT_END is an error. */
enum input_status input_find_recipe(struct input *input);

/* Sets *records to the next documents, one or more, which are valid until the next call, and so are their IDs. With
 * another result than INPUT_DOCUMENTS, *count documents precede what it reports, perhaps none. For u64 and npy,
 * `number` is the row's number, counted over all inputs. */
enum input_status input_next(struct input *input, const struct tsv_record **records, size_t *count);

/* Returns whether the inputs that are regular files of TSV are whole (struct totals), for which it reads them to their
 * ends. Complains of the first that is not; returns false also after a signal. It must be called before input_next, so
 * that nothing is done with documents of an incomplete file. */
bool input_files_are_whole(const struct input *input);

/* How much all inputs have together. */
struct input_size {
    uint64_t documents;
    uint64_t id_bytes; /* Bytes of text IDs. */
};

/* Estimates how much all inputs have, by the sizes of regular files and the lengths of some lines of TSV, before or
 * after they are read. Returns false, without a complaint, if an input is no regular file or can't be read. */
bool input_guess_size(const struct input *input, struct input_size *size);

/* Says how many bad lines were skipped, if any. */
void input_say_skipped(const struct input *input);

/* Closes the file that is being read, and frees what the input holds; records and their IDs are not valid any more. */
void input_free(struct input *input);

#endif
