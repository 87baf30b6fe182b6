/* input.h: what commands read: files by lines and rows, and the documents or fingerprints of all inputs. */
#ifndef IDX_TOOLS_INPUT_INPUT_H
#define IDX_TOOLS_INPUT_INPUT_H

#include "tools/shared/command.h"
#include "tools/shared/wording.h"

#include <idx.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Reads a file or standard input, by lines of any length or by bytes ---- */

/* The longest line that is read: an ID has at most 2^24 - 1 bytes, and a fingerprint and a tab precede it. */
enum { READER_MOST_LINE = (1 << 24) + 128 };

enum reader_status {
    READER_OK,
    READER_END,
    READER_PENDING,     /* There is nothing more without waiting. */
    READER_INTERRUPTED, /* A signal was noted (command.h). */
    READER_FAILED,      /* A complaint was made. */
};

struct reader {
    const char *name; /* Messages have this name: the path, or "standard input". */
    int descriptor;   /* It is -1 if the reader is closed. */
    bool ended;
    char *bytes; /* Those from `start` to `end` were read, and not yet given. */
    size_t start, end, capacity;
    size_t searched; /* So many bytes from `start` on are known to have no \n. */
    uint64_t line;   /* It is the number of the line given last, from 1. */
};

#define READER_INIT                                                                                                    \
    { NULL, -1, false, NULL, 0, 0, 0, 0, 0 }

/* Opens a file; `-` is standard input, and where that is a terminal, says that it is waiting. `path` must stay valid.
 * Returns false after a complaint. A reader that is closed may be opened again, and keeps its buffer. */
bool reader_open(struct reader *reader, const char *path);

/* Gives the next line, without its \n and of up to READER_MOST_LINE bytes, valid until the next call of it. Without
 * `wait`, READER_PENDING where the rest of the line has still to come. */
enum reader_status reader_line(struct reader *reader, bool wait, const char **line, size_t *length);

/* Gives the next line where all of it was read already, and false else: it reads nothing, so that the lines given
 * before it stay valid, too. */
bool reader_held_line(struct reader *reader, const char **line, size_t *length);

/* Gives the next `want` bytes, valid until the next call, or what is left of them at the end: *got may be less then,
 * and is 0 with READER_END. */
enum reader_status reader_bytes(struct reader *reader, size_t want, const char **bytes, size_t *got);

/* Takes back the last `count` of the bytes that reader_bytes gave last. */
void reader_give_back(struct reader *reader, size_t count);

/* Closes the file. */
void reader_close(struct reader *reader);

/* Closes the file and frees the buffer. */
void reader_free(struct reader *reader);

/* ---- The lines that `idx build`, `idx lookup` and their kin read: one line's bytes in, what they say out ---- */

/* No I/O, no allocation, so that tests and fuzzers can call it with any bytes. */

/* This follows the fingerprint and a tab. */
enum tsv_ids {
    TSV_ID_TEXT,     /* An ID, which is any bytes but tab, at least one; or a second tab and an ID that is escaped. */
    TSV_ID_U64,      /* An ID, which is a decimal number below 2^64. */
    TSV_ID_NONE,     /* Nothing: the line is the fingerprint alone, without the tab. */
    TSV_ID_OPTIONAL, /* An ID as with TSV_ID_TEXT, or nothing, without the tab. */
    TSV_ID_IGNORED,  /* Anything: the fingerprint alone is read. */
    /* The line is the ID alone, as with these, whatever it begins with; the fingerprint is 0 then. */
    TSV_ID_TEXT_ALONE,
    TSV_ID_U64_ALONE,
};

struct tsv_rules {
    unsigned bits; /* They are 1 to 64. */
    enum notation notation;
    enum tsv_ids ids;
};

enum tsv_kind {
    TSV_RECORD,  /* It has a fingerprint, and its ID by the rules. */
    TSV_COMMENT, /* It begins with #. */
    TSV_RECIPE,  /* It is #recipe, a tab, and the recipe, which may be empty. */
    TSV_TOTAL,   /* It is #total, a tab, and what struct totals says. */
    TSV_BAD,     /* The problem says why. */
};

struct tsv_record {
    uint64_t fingerprint;
    const char *id; /* They are the ID's bytes within the line, or those behind #recipe or #total; or NULL. */
    size_t id_length;
    bool escaped;    /* The ID is escaped, so that escape_undo has to be called for it. */
    uint64_t number; /* It is the ID, by TSV_ID_U64. */
};

/* Reads a line of `length` bytes, given without its \n. A \r before it belongs to the ID. */
enum tsv_kind tsv_parse(const struct tsv_rules *rules, const char *line, size_t length, struct tsv_record *record,
                        struct problem *problem);

/* It is what a stream of fingerprints says of itself, and what it has, to know whether it is whole. `idx fingerprint`
 * and `idx dump` state a recipe before the fingerprints and end with a line `#total`, a tab, how many lines of
 * fingerprints there are, a tab, how many documents were left out, a tab and the command's exit status. It counts
 * wherever it is in the stream, because sorting moves it. Streams that were concatenated have several such lines, whose
 * numbers add up. */
struct totals {
    uint64_t recipes; /* So many lines state one; without any the stream needs no total. */
    uint64_t lines;   /* So many lines have fingerprints, bad ones included. */
    uint64_t totals;  /* So many lines have a total. */
    uint64_t stated;  /* It is the sum of what these lines say. */
    bool failed;      /* One of them states a failure. */
    bool broken;      /* One of them can't be read. */
};

/* Counts a line, with what tsv_parse made of it. */
void totals_count(struct totals *totals, enum tsv_kind kind, const struct tsv_record *record);

/* At the end of a stream: whether it is whole, or states no recipe. Returns false after a complaint, which begins with
 * the name of the stream and names --partial. */
bool totals_check(const struct totals *totals, const char *name);

/* ---- The header of NumPy's .npy files, versions 1 to 3: bytes in, what they say out ---- */

/* There is no I/O and no allocation. This describes the format:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. */

/* Bytes that npy_read_prefix looks at, and the longest header that is read. */
enum { NPY_PREFIX_BYTES = 12, NPY_MAX_HEADER_BYTES = 1 << 16 };

struct npy_prefix {
    size_t header_offset; /* It is 10 or 12 bytes from the beginning of the file. */
    size_t header_length;
};

struct npy_array {
    uint64_t rows;
    bool big_endian;
};

/* Reads the magic string, the version and the length of the header from a file's first NPY_PREFIX_BYTES bytes. */
bool npy_read_prefix(const void *bytes, size_t length, struct npy_prefix *prefix, struct problem *problem);

/* Reads the header, and accepts it when it is a one-dimensional array of uint64. */
bool npy_read_header(const char *text, size_t length, struct npy_array *array, struct problem *problem);

/* ---- What `idx build`, `idx add` and `idx remove` read: the documents of all inputs, one after the other ---- */

/* Files hold fingerprints in one of these formats, which format.c finds out. */
enum input_format {
    INPUT_AUTO, /* Names and first bytes say which one it is. */
    INPUT_TSV,  /* A line is a fingerprint, a tab and an ID. */
    INPUT_U64,  /* The file has 64-bit numbers, little-endian, and nothing else. */
    INPUT_NPY,  /* The file is NumPy's, of an array of uint64. */
};

extern const char *const input_format_names[];

/* The format of a file: by its name (.tsv, .u64, .npy), or else INPUT_NPY if it is a regular file that begins like one,
 * standard input (`-`) included. INPUT_AUTO if neither says. Consumes nothing. */
enum input_format input_format_of(const char *path);

/* Replaces INPUT_AUTO by the format of the files; those that don't say theirs, and no files, are TSV. Returns false
 * after a complaint, if they have several. */
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
    INPUT_PENDING, /* There is nothing more without waiting. */
    INPUT_INTERRUPTED,
    INPUT_FAILED, /* A complaint was made. */
};

/* Documents are read some at a time: as many as stay in a core's cache. */
enum { INPUT_BATCH = 512 };

struct input {
    /* These are set by the caller. */
    struct texts paths;       /* Without any, standard input is read. */
    enum input_format format; /* It is not INPUT_AUTO. */
    struct tsv_rules rules;   /* They are for TSV; of the other formats the bits alone count. */
    bool skip_bad_lines;
    bool partial;       /* TSV that states a recipe need not be whole (struct totals). */
    bool at_hand;       /* INPUT_PENDING is returned rather than waiting for a line. It may change between calls. */
    const char *recipe; /* The user gave it, so that the inputs' own are passed over; or else it is NULL, and then the
                           inputs'. */
    const char *index_recipe; /* All recipes of the inputs must match that of an index; "" matches any; NULL: there is
                                 no index. */
    const char *other_recipe; /* It is said of another recipe than that of the index. NULL: recipes_differ is said. */

    /* These count what was met. */
    uint64_t skipped; /* So many bad lines were skipped. */
    uint64_t documents;

    /* These are private. */
    size_t path; /* So many were opened. */
    struct reader reader;
    struct npy_array array; /* It is of the file that is being read. */
    uint64_t row;           /* It is the number of the next row within the file. */
    struct totals totals;   /* They are of the file. */
    struct tsv_record records[INPUT_BATCH];
    size_t count;
    bool ahead; /* The first of them were read, and not yet given. */
    enum input_status first_status;
    char *own_recipe; /* It comes from the inputs. */
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
    uint64_t id_bytes; /* So many bytes are in text IDs. */
};

/* Returns false where it can't be known. Any time. */
bool input_guess_size(const struct input *input, struct input_size *size);

void input_free(struct input *input);

/* ---- The fingerprints that `idx batch --stream` lets pass: of an index, or lines and rows of files ---- */

struct passing {
    struct texts paths; /* They are files, or one index; without any, standard input is read. */
    enum input_format format;
    struct tsv_rules rules;
    bool partial;               /* Files that state a recipe need not be whole (struct totals). */
    const char *recipe;         /* It is the queries' recipe; NULL: that is not known. */
    uint32_t part, parts;       /* They are of the index; parts 0: all of it is read. */
    struct idx_index *index;    /* It is NULL for files. */
    struct idx_error *error;    /* It is of what takes the fingerprints. */
    bool warned_of_icu, failed; /* A complaint was made, or what takes the fingerprints failed. */
};

/* Takes some fingerprints; false, with an error of its own, where it can't. */
typedef bool (*passing_visitor)(void *context, const uint64_t *fingerprints, size_t count);

/* Opens the index, where the one path is a folder. Returns false after a complaint. */
bool passing_open(struct passing *passing);

/* Gives all fingerprints, many at a time. Returns false after a complaint, or when the visitor returned false, or a
 * signal was noted. */
bool passing_read(struct passing *passing, passing_visitor visit, void *context);

void passing_close(struct passing *passing);

#endif
