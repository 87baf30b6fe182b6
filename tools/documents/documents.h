/* documents.h: cuts files of any kind and format into documents, and returns one after the other. */
#ifndef IDX_TOOLS_DOCUMENTS_DOCUMENTS_H
#define IDX_TOOLS_DOCUMENTS_DOCUMENTS_H

#include "tools/documents/journal.h"
#include "tools/formats/raw_document.h"
#include "tools/formats/source.h"
#include "tools/shared/command.h"
#include "tools/shared/links.h"

/* Kinds of files that are no texts, although the name does not say so. */
enum nontext {
    NONTEXT_NONE, /* It is a text. */
    NONTEXT_PDF,
    NONTEXT_PARQUET,
    NONTEXT_NPY,
    NONTEXT_U64,
    NONTEXT_ARC,
    NONTEXT_WACZ,
    NONTEXT_DOCX,
    NONTEXT_ZIP,
    NONTEXT_OTHER, /* Any other with a NUL byte in its first bytes. */
    NONTEXT_KINDS,
};

/* What was cut from the open source so far. */
struct cut_state {
    enum document_format format; /* FORMAT_AUTO: nothing is left to cut. */
    uint64_t line_count;         /* How many lines were read. */
    struct raw_document line;    /* Of features: the line that was read last. */
    bool has_line;               /* `line` was read ahead, and begins the next document. */
    uint64_t line_begins;        /* The offset of that line. */
};

/* Counts of what was found in the inputs so far. */
struct input_counts {
    uint64_t opened_files; /* Files that were opened. */
    uint64_t read_files;   /* Opened files that were cut into documents. */
    uint64_t links;        /* Links in folders that were left out, except those in known_links. */
    uint64_t known_links;  /* Links in folders that were left out since they lead to files that are inputs as well. */
};

struct documents {
    /* These are set by the caller. */
    enum document_format format;
    uint64_t most;               /* The most bytes of a document, up to MOST_DOCUMENT_BYTES. */
    bool takes_other_records;    /* WARC records without a document are returned as well. */
    struct source source;        /* Its before_wait may be set. */
    const struct globs *globs;   /* Which files of folders are read; NULL: all. */
    const struct strings *paths; /* Files and folders; without any, and for -, standard input is read. */

    struct journal *journal;        /* Where files are noted, to be read once more; NULL: nowhere. */
    struct second_reading *again;   /* Unless NULL, what it wants is read once more in place of the paths. */
    const struct jsonl_rules *json; /* Where JSON Lines have the text. */

    /* Results. */
    uint64_t left_out[NONTEXT_KINDS]; /* Files in folders that were left out, since they are not text. */
    struct links links;               /* Links in folders, and how many were left out. */
    bool failed;                      /* A folder could not be read, or nothing in it. */
    bool stopped;                     /* A file can't be read twice, or has changed, as a complaint said. */
    struct input_counts found;
    bool has_json; /* Some of the files that were cut are JSON Lines. */

    /* These are private. */
    const char *path;                 /* That of the file that is being read. */
    size_t next_path;                 /* The index in `paths` of the next file or folder. */
    struct folder_walk walk;          /* Through the folder that was begun last; its root is NULL: there is none. */
    struct input_counts found_before; /* What was found before that folder. */
    bool is_open;                     /* A file is open. */
    struct cut_state cut_state;
    int64_t date;                 /* When the open file was changed last, or DATE_NONE. */
    uint64_t size;                /* The bytes of the open file, as they are stored. */
    uint64_t bytes_before;        /* Bytes of the files before the open one, as they are stored. */
    uint64_t source_bytes_before; /* What source.bytes_read was before the file was opened. */
};

/* Sets *raw to the next document of the files and folders, which the caller frees. A bad one says in raw->bad what is
 * wrong with it, or with its file or folder. Returns false at the end, or once `stopped` is set.
 * Of a folder, the regular files in it and below are read, and the links that links.h chooses. A file in it that would
 * be read as plain text, HTML or a manual page, but is not text, is left out. A folder that has files, none of which
 * can be read, sets `failed` after a complaint. */
bool documents_next(struct documents *documents, struct raw_document *raw);

/* Sets *raw to the file at `path` as one document, which the caller frees: plain text, HTML or a manual page. If the
 * file can't be read as one, raw->bad says why. Of what the caller sets in `documents`, only `most` and `source` count.
 * The caller calls documents_free. */
void documents_read_one(struct documents *documents, const char *path, struct raw_document *raw);

/* Returns whether any file of the inputs, or of folders among them, is a manual page by its name and its first bytes.
 * Ignores what can't be read. `globs`: which files of folders count; NULL: all. */
bool documents_have_manual_page(const struct strings *paths, const struct globs *globs);

/* A function that gets the path of a file and the format of its documents. It returns false to stop. */
typedef bool (*format_visitor)(void *context, const char *path, enum document_format format);

/* Visits all files that documents_next would cut, with the formats that their first bytes show, until `visit` returns
 * false. Ignores what can't be read. */
void documents_visit_formats(struct documents *documents, format_visitor visit, void *context);

/* Reports on standard error how many files and links of each kind were left out, unless there were none. */
void documents_report_left_out(const struct documents *documents);

/* Returns how many bytes the files at `paths`, and those in folders among them, have as they are stored, without the
 * files that `globs` excludes. Returns 0 if an input is no regular file, such as a pipe. Ignores what can't be read. */
uint64_t documents_count_bytes(const struct strings *paths, const struct globs *globs);

/* Frees what the functions above allocated, and closes a file that is open. What the caller set stays the caller's. */
void documents_free(struct documents *documents);

#endif
