/* documents.h: cuts files of any kind and format into documents, one at a time, as they are in the inputs. */
#ifndef IDX_TOOLS_TEXT_DOCUMENTS_H
#define IDX_TOOLS_TEXT_DOCUMENTS_H

#include "tools/shared/command.h"
#include "tools/shared/links.h"
#include "tools/text/raw_document.h"
#include "tools/text/source.h"

struct opened_file {
    const char *path;
    bool in_folder; /* It was found in a folder, and not named: if it is not text, it is left out. */
    int descriptor; /* Open while the file is visited; -1: it is not open. */
};

/* Kinds of files that are no texts, although the name does not say so. */
enum binary {
    BINARY_NONE, /* It is a text. */
    BINARY_PDF,
    BINARY_PARQUET,
    BINARY_NPY,
    BINARY_U64,
    BINARY_ARC,
    BINARY_WACZ,
    BINARY_DOCX,
    BINARY_ZIP,
    BINARY_OTHER, /* Any other with a NUL byte in its first bytes. */
    BINARY_KINDS,
};

/* A function that gets each file before its documents. It returns false to stop. */
typedef bool (*file_visitor)(void *context, const struct opened_file *file);

struct documents {
    enum document_format format;
    uint64_t most; /* The most bytes of a document, up to MOST_DOCUMENT_BYTES. */
    document_visitor visit;
    void *context;
    file_visitor visit_file;   /* May be NULL. */
    bool visits_others;        /* WARC records without a document are visited as well. */
    struct source source;      /* Its before_wait may be set. */
    const struct globs *globs; /* Which files of folders are read; NULL: all. */

    const struct jsonl_rules *json; /* Where JSON Lines have the text. */

    /* Results. */
    uint64_t left_out[BINARY_KINDS]; /* Files in folders that were left out, since they are not text. */
    struct links links;              /* Links in folders, and how many were left out; documents_read sets its paths. */
    bool failed;                     /* A folder could not be read, or nothing in it. */

    uint64_t opened_files; /* Files that were opened. */
    uint64_t read_files;   /* Those of them that were cut into documents. */
    bool has_json;         /* Some of these are JSON Lines. */

    /* These are private. */
    const char *path;      /* That of the file that is being read. */
    int64_t date;          /* When it was changed last, or DATE_NONE. */
    uint64_t bytes_before; /* Bytes of the files before the open one, as they are stored. */
    uint64_t read_before;  /* What source.bytes_read was before the file was opened. */
};

/* Reads all documents of the files and folders, or of standard input without any paths, and for -. A folder stands for
 * the regular files in it and below, and the links that links.h chooses; those that would be plain text, HTML or manual
 * pages, but are not text, are left out. A folder that has files, none of which can be read, sets `failed` after a
 * complaint. Returns false if a visitor stopped it. */
bool documents_read(struct documents *documents, const struct strings *paths);

/* Reads a file that documents_read gave this number once more. Returns false if a visitor stopped it. */
bool documents_read_again(struct documents *documents, const struct opened_file *file, uint64_t number);

/* Reads a file as one document: plain text, HTML or a manual page. Returns false if the visitor stopped it. */
bool documents_read_one(struct documents *documents, const char *path);

/* Returns whether any input is a manual page, by name and beginning. Ignores what can't be read. */
bool documents_have_manual(const struct strings *paths, const struct globs *globs);

/* A function that gets the path of a file and the format of its documents. It returns false to stop. */
typedef bool (*format_visitor)(void *context, const char *path, enum document_format format);

/* Visits the formats of all files that documents_read would cut, by their first bytes. Ignores what can't be read. */
void documents_visit_formats(struct documents *documents, const struct strings *paths, format_visitor visit);

/* Sets `failed` after a complaint if the folder has files or links, none of which was read, here or as another input.
 * `before` is a copy of what *documents was before the folder. */
void documents_check_folder(struct documents *documents, const char *path, const struct documents *before);

/* Says how many files and links of each kind were left out. Says nothing if there were none. */
void documents_say_left_out(const struct documents *documents);

/* Returns the stored bytes of the files, and of those in folders; 0 if an input is no file, such as a pipe. */
uint64_t documents_count_bytes(const struct strings *paths, const struct globs *globs);

void documents_free(struct documents *documents);

#endif
