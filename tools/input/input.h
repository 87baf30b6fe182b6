/* input.h: the documents or fingerprints of all inputs of `idx build`, `idx add`, `idx remove` and other commands, one
 * after the other. */
#ifndef IDX_TOOLS_INPUT_INPUT_H
#define IDX_TOOLS_INPUT_INPUT_H

#include "tools/input/format.h"
#include "tools/input/npy.h"
#include "tools/input/tsv.h"

enum input_status {
    INPUT_DOCUMENTS,
    INPUT_END,
    INPUT_PENDING, /* There is nothing more without waiting. */
    INPUT_INTERRUPTED,
    INPUT_FAILED, /* A complaint was made. */
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
    bool at_hand;       /* INPUT_PENDING is returned instead of waiting for a line. It may change between calls. */
    const char *recipe; /* That of the user, with which those of the inputs are ignored; or NULL, and later that of the
                           inputs. */
    const char *index_recipe; /* That of the index, which all recipes of the inputs must match; "": not known; NULL:
                                 there is no index. */
    enum recipe_owner recipe_owner; /* Whose `index_recipe` really is, for messages. */
    bool gives_recipe; /* The index has no recipe and no documents: a recipe that an input states before any
                          fingerprint becomes its own. Then `recipe` is set as well. */

    /* Results. */
    uint64_t skipped; /* Bad lines that were skipped. */
    uint64_t documents;

    /* These are private. */
    size_t path; /* How many paths were opened. */
    struct reader reader;
    struct npy_array array; /* That of the file that is being read. */
    uint64_t row;           /* The number of the next row in the file. */
    struct totals totals;   /* Those of the file. */
    struct tsv_record records[INPUT_BATCH];
    size_t count;
    bool ahead; /* The first records were read, but not returned yet. */
    enum input_status first_status;
    char *own_recipe; /* That of the inputs. */
    bool recipe_settled, warned_of_icu;
};

/* Finds the recipe of the inputs, and reads ahead for that if necessary. Afterwards `recipe` is NULL if there is none.
 * Returns INPUT_DOCUMENTS or INPUT_END if there was no error. */
enum input_status input_find_recipe(struct input *input);

/* Sets *records to the next documents, one or more, which are valid until the next call, and so are their IDs. For u64
 * and npy, `number` is the row's number, counted over all inputs. */
enum input_status input_next(struct input *input, const struct tsv_record **records, size_t *count);

/* Returns whether the inputs that are regular files of TSV are whole (struct totals), for which it reads them to their
 * ends. It must be called before input_next, so that nothing is done with documents of an incomplete file. */
bool input_files_are_whole(const struct input *input);

/* How much all inputs have, as estimated by the sizes of regular files and the lengths of some lines of TSV. */
struct input_size {
    uint64_t documents;
    uint64_t id_bytes; /* Bytes of text IDs. */
};

/* Estimates the size, before or after inputs are read. Returns false if an input is no regular file. */
bool input_guess_size(const struct input *input, struct input_size *size);

/* Says how many bad lines were skipped, if any. */
void input_say_skipped(const struct input *input);

void input_free(struct input *input);

#endif
