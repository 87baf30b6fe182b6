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
    const char *recipe; /* The recipe that the user gave, for which those of inputs are ignored; NULL: the user gave
                           none, and it becomes the one that inputs state, if they do. */
    const char *required_recipe;    /* The recipe of an index or of queries, which all that inputs state must match; "":
                                       it has none, so any recipe will do; NULL: there is nothing to match. */
    enum recipe_owner recipe_owner; /* Who has `required_recipe`, for messages. */
    bool index_adopts_recipe; /* The index has no recipe and no documents. The recipe that an input states before any
                                 fingerprint becomes required_recipe and `recipe`, and the caller sets it in the index.
                               */

    /* Results. */
    uint64_t skipped_lines;  /* How many bad lines were skipped. */
    uint64_t document_count; /* How many records were read. */

    /* These are private. */
    size_t opened_count; /* How many of the paths were opened. */
    struct reader reader;
    struct npy_array array; /* That of the file that is being read. */
    uint64_t next_row;      /* The number of the next row in the file, from 0. */
    struct totals totals;   /* Those of the file. */
    struct tsv_record records[INPUT_BATCH];
    size_t record_count;      /* How many records were read last. */
    bool holds_first_records; /* The first records were read, but not returned yet. */
    enum input_status first_records_status;
    char *stated_recipe;  /* The copy of the recipe that the inputs state, which `recipe` points to; or NULL. */
    bool recipe_is_final; /* A recipe was given or stated, or a fingerprint was read: no line can change it now. */
    bool warned_of_icu;
};

/* Finds the recipe of the inputs. If the user gave none, reads the first documents of TSV, which input_read_records
 * returns later, and sets `recipe` if they state one. To be called before input_read_records, if at all, and without
 * never_waits. Returns INPUT_DOCUMENTS, or INPUT_END if TSV has no documents; INPUT_INTERRUPTED after a signal, and
 * INPUT_FAILED after a complaint. */
enum input_status input_find_recipe(struct input *input);

/* Reads the next documents of all inputs. Sets *records to them, and *count to their number, which is 1 or more with
 * INPUT_DOCUMENTS. With any other status, *count documents, perhaps none, precede what the status reports. The records
 * and their IDs are valid until the next call. For u64 and npy, `number` is the row's number over all inputs, from 0.
 */
enum input_status input_read_records(struct input *input, const struct tsv_record **records, size_t *count);

/* Returns whether the inputs that are regular files of TSV are whole (struct totals), for which it reads them to their
 * ends. Other inputs, and with `partial` all inputs, count as whole. Complains of the first that is not whole or can't
 * be read, and returns false; returns false without a complaint after a signal. A caller that acts on documents as they
 * come calls this before input_read_records, so that it does nothing with documents of an incomplete file. */
bool input_files_are_whole(const struct input *input);

/* How many documents and bytes of IDs all inputs have together. */
struct input_size {
    uint64_t document_count;
    uint64_t id_bytes; /* Bytes of text IDs. */
};

/* Sets *size to an estimate, by the sizes of regular files and the lengths of some lines of TSV. Does not change what
 * input_read_records reads. Returns false, without a complaint, if an input is no regular file or can't be read; then
 * *size is unspecified. Not for several threads at once, which would share the buffer of the sample. */
bool input_estimate_size(const struct input *input, struct input_size *size);

/* Writes a message with the number of bad lines that were skipped, if any were. */
void input_report_skipped_lines(const struct input *input);

/* Closes the file that is being read, and frees what the input holds; records and their IDs are not valid any more. */
void input_free(struct input *input);

#endif
