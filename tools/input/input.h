/* input.h: what commands read: files by lines and rows, and the documents or fingerprints of all inputs. */
#ifndef IDX_TOOLS_INPUT_INPUT_H
#define IDX_TOOLS_INPUT_INPUT_H

#include "tools/shared/command.h"
#include "tools/shared/wording.h"

/* ---- Reads a file or standard input, by lines of any length or by bytes ---- */

/* The longest line that is read: an ID has at most 2^24 - 1 bytes, and a fingerprint and a tab precede it. */
enum { READER_MOST_LINE = (1 << 24) + 128 };

enum reader_status {
    READER_OK,
    READER_END,
    READER_PENDING,     /* There is nothing more without waiting. */
    READER_INTERRUPTED, /* A signal was noted (command.h). */
    READER_LONG,        /* The line has more than READER_MOST_LINE bytes. */
    READER_FAILED,      /* A complaint was made. */
};

struct reader {
    const char *name; /* The path, or "standard input", for messages. */
    int descriptor;   /* -1: the reader is closed. */
    bool ended;
    char *bytes; /* Those from `start` to `end` were read, but not returned yet. */
    size_t start, end, capacity;
    size_t searched; /* Bytes from `start` on that are known to have no \n. */
    uint64_t line;   /* Number of the line that was returned last, from 1. */
    bool passes;     /* That line was too long, and what is read next is the rest of it. */
};

#define READER_INIT                                                                                                    \
    { NULL, -1, false, NULL, 0, 0, 0, 0, 0, false }

/* Opens a file, or standard input for `-`; if that is a terminal, says that it is waiting. `path` must stay valid. A
 * closed reader may be opened again, and keeps its buffer. */
bool reader_open(struct reader *reader, const char *path);

/* Sets *line to the next line without its \n, of at most READER_MOST_LINE bytes, which is valid until the next call.
 * Without `wait`, returns READER_PENDING if the rest of the line has not come yet. */
enum reader_status reader_line(struct reader *reader, bool wait, const char **line, size_t *length);

/* Does the same, but says of a longer line nothing but READER_LONG, and sets *line to more than READER_MOST_LINE bytes
 * of its beginning. The next call passes over the rest of it, so it may wait even then. */
enum reader_status reader_any_line(struct reader *reader, bool wait, const char **line, size_t *length);

/* Says what is wrong with a line that is READER_LONG. */
void reader_explain_long(struct problem *problem);

/* Sets *line to the next line if all of it was read already, and returns false otherwise. It reads nothing, so earlier
 * lines stay valid as well. */
bool reader_held_line(struct reader *reader, const char **line, size_t *length);

/* Sets *bytes to the next `want` bytes, which are valid until the next call. At the end, *got is less; with READER_END,
 * it is 0. */
enum reader_status reader_bytes(struct reader *reader, size_t want, const char **bytes, size_t *got);

/* Takes back the last `count` of the bytes that reader_bytes returned last. */
void reader_give_back(struct reader *reader, size_t count);

/* Closes the file. */
void reader_close(struct reader *reader);

/* Closes the file and frees the buffer. */
void reader_free(struct reader *reader);

/* ---- Parsing the lines that `idx build`, `idx lookup` and other commands read ---- */

/* These functions do no I/O and allocate no memory, so that tests and fuzzers can call them with any bytes. */

/* What follows the fingerprint and a tab in a line. */
enum tsv_ids {
    TSV_ID_TEXT,     /* An ID, which is any bytes but tab, at least one; or a second tab and an ID that is escaped. */
    TSV_ID_U64,      /* An ID, which is a decimal number below 2^64. */
    TSV_ID_NONE,     /* Nothing: the line is the fingerprint alone, without the tab. */
    TSV_ID_OPTIONAL, /* An ID as with TSV_ID_TEXT, or nothing, without the tab. */
    TSV_ID_IGNORED,  /* Anything: the fingerprint alone is read. */
    /* The line is the ID alone, as with these, whatever it begins with; one that is escaped follows a tab. The
     * fingerprint is 0 then. */
    TSV_ID_TEXT_ALONE,
    TSV_ID_U64_ALONE,
};

struct tsv_rules {
    unsigned bits; /* From 1 to 64. */
    enum notation notation;
    enum tsv_ids ids;
};

enum tsv_kind {
    TSV_RECORD,  /* A fingerprint, and an ID by the rules. */
    TSV_COMMENT, /* A line that begins with #. */
    TSV_RECIPE,  /* #recipe, a tab, and the recipe, which may be empty. */
    TSV_TOTAL,   /* #total, a tab, and what struct totals describes. */
    TSV_BAD,     /* Anything else; *problem says what is wrong. */
};

struct tsv_record {
    uint64_t fingerprint;
    const char *id; /* The ID in the line, or what follows #recipe or #total; or NULL. */
    size_t id_length;
    bool escaped;    /* The ID is escaped; escape_undo makes the original one of it. */
    uint64_t number; /* The ID, with TSV_ID_U64 and TSV_ID_U64_ALONE. */
};

/* Reads a line of `length` bytes, without its \n. A \r at its end belongs to the ID. */
enum tsv_kind tsv_parse(const struct tsv_rules *rules, const char *line, size_t length, struct tsv_record *record,
                        struct problem *problem);

/* Replaces an escaped ID by the original one, in the reader's buffer, which has the line. */
void reader_unescape(struct reader *reader, struct tsv_record *record);

/* What a stream of fingerprints states and what it has, by which it is known whether it is whole. `idx fingerprint` and
 * `idx dump` state a recipe before the fingerprints, and end with a line of `#total`, the number of lines with
 * fingerprints, the number of documents that were left out, and the command's exit status, with tabs in between. This
 * line counts wherever it is in the stream, because sorting moves it. Concatenated streams have several such lines,
 * whose numbers are added. */
struct totals {
    uint64_t recipes; /* Lines that state a recipe; without any, the stream needs no total. */
    uint64_t lines;   /* Lines with fingerprints, bad ones included. */
    uint64_t totals;  /* Lines with a total. */
    uint64_t stated;  /* The sum of these totals. */
    bool failed;      /* One of them states a failure. */
    bool broken;      /* One of them can't be read. */
};

/* Counts a line, with what tsv_parse made of it. */
void totals_count(struct totals *totals, enum tsv_kind kind, const struct tsv_record *record);

/* Returns, at the end of a stream, whether it is whole or states no recipe. Returns false after a complaint, which
 * begins with the name of the stream and names --partial. */
bool totals_check(const struct totals *totals, const char *name);

/* ---- Parsing the header of NumPy's .npy files, versions 1 to 3 ---- */

/* These functions do no I/O and allocate no memory. The format is described at
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. */

/* How many bytes npy_read_prefix needs, and the longest header that is read. */
enum { NPY_PREFIX_BYTES = 12, NPY_MAX_HEADER_BYTES = 1 << 16 };

struct npy_prefix {
    size_t header_offset; /* 10 or 12 bytes from the beginning of the file. */
    size_t header_length;
};

struct npy_array {
    uint64_t rows;
    bool big_endian;
};

/* Reads the magic string, the version and the length of the header from a file's first NPY_PREFIX_BYTES bytes. Sets
 * *problem and returns false if they are wrong. */
bool npy_read_prefix(const void *bytes, size_t length, struct npy_prefix *prefix, struct problem *problem);

/* Reads the header. Sets *problem and returns false unless it is that of a one-dimensional array of uint64. */
bool npy_read_header(const char *text, size_t length, struct npy_array *array, struct problem *problem);

/* ---- What `idx build`, `idx add` and `idx remove` read: the documents of all inputs, one after the other ---- */

/* The formats in which files have fingerprints; format.c finds out which one a file has. */
enum input_format {
    INPUT_AUTO, /* Decided by the names of files and by first bytes. */
    INPUT_TSV,  /* Each line is a fingerprint, a tab and an ID. */
    INPUT_U64,  /* 64-bit numbers, little-endian, and nothing else. */
    INPUT_NPY,  /* A file of NumPy with an array of uint64. */
};

extern const char *const input_format_names[];

/* Returns the format of a file by its name (.tsv, .u64, .npy), or else INPUT_NPY if it is a regular file, or one as
 * standard input (`-`), that begins like one of NumPy, or else INPUT_AUTO. Consumes nothing. */
enum input_format input_format_of(const char *path);

/* Replaces INPUT_AUTO by the format of the files, which is TSV if nothing says another one. Returns false after a
 * complaint if files have different formats. */
bool input_settle_format(const struct texts *paths, enum input_format *format);

/* Does the same for commands that read all input before they do anything else: if standard input is the only input, and
 * a pipe, it waits for the first bytes, and recognizes an array of NumPy by them. It consumes nothing. */
bool input_await_format(const struct texts *paths, enum input_format *format);

/* Returns advice about a bad line of TSV that seems to be part of a binary file, as the end of a sentence, or "" if it
 * is text. */
const char *input_advice(const char *line, size_t length);

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
    struct texts paths;       /* Without any, standard input is read. */
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

/* ---- The fingerprints that stream past the queries of `idx batch --stream`: those of an index, or of files ---- */

struct passing {
    struct texts paths; /* Files, or one index; without any, standard input is read. */
    enum input_format format;
    struct tsv_rules rules;
    bool partial;               /* Files that state a recipe need not be whole (struct totals). */
    const char *recipe;         /* The recipe of the queries; NULL: not known. */
    uint32_t part, parts;       /* The part of the index, from 0, and their number; 0: all of it is read. */
    struct idx_index *index;    /* NULL: files are read. */
    bool warned_of_icu, failed; /* `failed`: the visitor returned false. */
};

/* A function that takes fingerprints. It returns false to stop, and keeps its errors itself. */
typedef bool (*passing_visitor)(void *context, const uint64_t *fingerprints, size_t count);

/* Opens the index if the only path is a folder. */
bool passing_open(struct passing *passing);

/* Passes all fingerprints to the visitor, many at a time. Returns false after a complaint, if the visitor returned
 * false, or if a signal was noted. */
bool passing_read(struct passing *passing, passing_visitor visit, void *context);

void passing_close(struct passing *passing);

#endif
