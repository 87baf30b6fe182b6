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
    READER_PENDING,     /* nothing more without waiting */
    READER_INTERRUPTED, /* a signal was noted (command.h) */
    READER_FAILED,      /* after a complaint */
};

struct reader {
    const char *name; /* for messages: the path, or "standard input" */
    int descriptor;   /* -1: closed */
    bool ended;
    char *bytes; /* read and not yet given: [start, end) */
    size_t start, end, capacity;
    size_t searched; /* how many bytes from start are known to hold no \n */
    uint64_t line;   /* number of the line given last, from 1 */
};

#define READER_INIT                                                                                                    \
    { NULL, -1, false, NULL, 0, 0, 0, 0, 0 }

/* Opens a file; `-` is standard input, and where that is a terminal, says that it is waiting. `path` must stay valid.
 * False after a complaint. A reader that is closed may be opened again, and keeps its buffer. */
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

/* What follows the fingerprint and a tab. */
enum tsv_ids {
    TSV_ID_TEXT,     /* an ID: any bytes but tab, at least one; or a second tab and an ID that is escaped */
    TSV_ID_U64,      /* an ID: a decimal number below 2^64 */
    TSV_ID_NONE,     /* nothing: the line is the fingerprint alone, without the tab */
    TSV_ID_OPTIONAL, /* an ID as with TSV_ID_TEXT, or nothing, without the tab */
    /* The line is the ID alone, as with these, whatever it begins with; the fingerprint is 0 then. */
    TSV_ID_TEXT_ALONE,
    TSV_ID_U64_ALONE,
};

struct tsv_rules {
    unsigned bits; /* 1 to 64 */
    enum notation notation;
    enum tsv_ids ids;
};

enum tsv_kind {
    TSV_RECORD,  /* a fingerprint, and its ID by the rules */
    TSV_COMMENT, /* begins with # */
    TSV_RECIPE,  /* #recipe, a tab, and the recipe, which may be empty */
    TSV_TOTAL,   /* #total, a tab, and what struct totals says */
    TSV_BAD,     /* `problem` says why */
};

struct tsv_record {
    uint64_t fingerprint;
    const char *id; /* within the line: the ID's bytes, or those behind #recipe or #total; NULL when there is none */
    size_t id_length;
    bool escaped;    /* whether the ID is escaped, so that escape_undo has to be called for it */
    uint64_t number; /* TSV_ID_U64: the ID */
};

/* Reads a line of `length` bytes, given without its \n. A \r before it belongs to the ID. */
enum tsv_kind tsv_parse(const struct tsv_rules *rules, const char *line, size_t length, struct tsv_record *record,
                        struct problem *problem);

/* What a stream of fingerprints says of itself, and what it has, to know whether it is whole. `idx fingerprint` and
 * `idx dump` state a recipe before the fingerprints and end with a line `#total`, a tab, how many lines of fingerprints
 * there are, a tab, how many documents were left out, a tab and the command's exit status. It counts wherever it
 * is in the stream, because sorting moves it. Streams that were concatenated have several such lines, whose numbers add
 * up. */
struct totals {
    uint64_t recipes; /* lines that state one: without any the stream needs no total */
    uint64_t lines;   /* of fingerprints, bad ones included */
    uint64_t totals;  /* lines with a total */
    uint64_t stated;  /* the sum of their lines of fingerprints */
    bool failed;      /* one of them states a failure */
    bool broken;      /* one of them can't be read */
};

/* Counts a line, with what tsv_parse made of it. */
void totals_count(struct totals *totals, enum tsv_kind kind, const struct tsv_record *record);

/* At the end of a stream: whether it is whole, or states no recipe. Returns false after a complaint, which begins with
 * the name of the stream and names --partial. */
bool totals_check(const struct totals *totals, const char *name);

/* ---- The header of NumPy's .npy files, versions 1 to 3: bytes in, what they say out ---- */

/* No I/O, no allocation. The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */

/* Bytes that npy_read_prefix looks at, and the longest header that is read. */
enum { NPY_PREFIX_BYTES = 12, NPY_MAX_HEADER_BYTES = 1 << 16 };

struct npy_prefix {
    size_t header_offset; /* from the beginning of the file: 10 or 12 */
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

/* ---- The fingerprints that `idx batch --stream` lets pass: of an index, or lines and rows of files ---- */

struct passing {
    struct texts paths; /* files, or one index; none: standard input */
    enum input_format format;
    struct tsv_rules rules;
    bool partial;               /* files that state a recipe need not be whole (struct totals) */
    const char *recipe;         /* of the queries; NULL: not known */
    uint32_t part, parts;       /* of the index; parts 0: all of it */
    struct idx_index *index;    /* NULL: files; closed by passing_close */
    struct idx_error *error;    /* of what takes them */
    bool warned_of_icu, failed; /* after a complaint, or what takes them failed */
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
