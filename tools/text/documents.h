/* documents.h: from inputs of any format to documents, one at a time, as they are in the inputs: still JSON, HTML, or
 * in another character set. extract.h makes fields of them. */
#ifndef IDX_TOOLS_DOCUMENTS_H
#define IDX_TOOLS_DOCUMENTS_H

#include "tools/shared/arguments.h"
#include "tools/shared/globs.h"
#include "tools/shared/output.h"
#include "tools/text/bad.h"
#include "tools/text/source.h"
#include "tools/text/warc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Points in time, in microseconds since 1970 in UTC, and the notations of them in records: date.c ---- */

/* The date is not known; it is before all others. */
#define DATE_NONE INT64_MIN

/* Reads a date as RFC 3339 and ISO 8601 (extended format) write it: 2026-11-22, or with a time behind T or a blank:
 * 12:34 or 12:34:56.789, and then Z, +01:00, +0100, +01, or nothing, which is UTC. Returns false where it is none. */
bool date_parse(const char *text, size_t length, int64_t *date);

/* From seconds since 1970. Returns false where they are beyond what a date can be. */
bool date_of_seconds(double seconds, int64_t *date);

/* ---- Documents ---- */

enum document_format {
    FORMAT_AUTO, /* by the name of the file, else by how its content begins */
    FORMAT_PLAIN,
    FORMAT_JSONL,
    FORMAT_TSV, /* ID<TAB>text */
    FORMAT_WARC,
    FORMAT_HTML,
    FORMAT_MAN,      /* a manual page */
    FORMAT_FEATURES, /* ID<TAB>feature[<TAB>weight], a document the consecutive lines of an ID */
};

/* The bytes that documents may have, in every form that they take: where nothing else is asked for, and at most. */
#define DOCUMENT_BYTES ((uint64_t)64 << 20)
#define MOST_DOCUMENT_BYTES (((uint64_t)1 << 30) - 1)

/* The first bytes of a file, which say what is in it. */
enum { DOCUMENT_SNIFFED = 8192 };

/* What of a file a document is. */
enum unit { UNIT_FILE, UNIT_LINES, UNIT_RECORD };

/* A document as it was cut from an input; or a WARC record that holds none, of FORMAT_AUTO and without bytes. */
struct raw_document {
    enum document_format format; /* PLAIN, JSONL (a line), TSV (a line), HTML, MAN or FEATURES (lines) */
    struct output bytes;         /* owned */
    uint64_t most;               /* of them */
    char *place;                 /* owned: FILE, FILE:LINE or the like; the ID where there is no other */
    char *id;                    /* owned: from a WARC record; or NULL */
    char charset[CHARSET_NAME_SIZE];
    bool chunked;      /* as HTTP cuts bodies */
    char encoding[16]; /* HTTP's Content-Encoding; "": none */
    struct bad bad;    /* where its kind is not BAD_NONE, there is no document, but this to be said */
    uint64_t file;     /* the number of its file, from 0, among those that could be opened */
    enum unit unit;
    uint64_t begins, ends; /* within the file, decompressed */
    int64_t date;          /* of the file's last change, or that in the record; or DATE_NONE */
    uint64_t input_bytes;  /* of all inputs, as they are stored, that were read before it was given */
    uint64_t text_bytes;   /* of its text in UTF-8, once it is extracted */
    uint64_t features;     /* distinct ones of its text, once it is fingerprinted */
};

void raw_document_free(struct raw_document *raw);

/* Called with each document, which it frees. Returns false to stop. */
typedef bool (*document_visitor)(void *context, struct raw_document *raw);

/* A file that was opened, and whether it was met in a folder, where files that aren't text are left out. */
struct opened_file {
    const char *path;
    bool in_folder;
    int descriptor;
};

/* Called with each file before its documents. Returns false to stop. */
typedef bool (*file_visitor)(void *context, const struct opened_file *file);

struct documents {
    enum document_format format;
    uint64_t most; /* bytes that a document may have, up to MOST_DOCUMENT_BYTES */
    document_visitor visit;
    void *context;
    file_visitor visit_file;   /* or NULL */
    bool others;               /* also give the WARC records that hold no document */
    struct source source;      /* its before_wait may be set */
    const struct globs *globs; /* what is read of folders; or NULL */

    /* What was met. */
    uint64_t binary; /* files in folders that are not text, left out */
    bool failed;     /* a folder could not be read */

    uint64_t files; /* opened */

    /* These are private. */
    const char *path;
    int64_t date;
    uint64_t bytes_before; /* of the files before the open one, as they are stored */
    uint64_t read_before;  /* source.read before it was opened */
};

/* Reads all documents of the files and folders (none, and -: standard input). A folder stands for the regular files in
 * it and below; those that hold a NUL byte in their first 8 KiB are left out where they would be plain text, HTML or
 * manual pages. Returns false where the visitor stopped it. */
bool documents_read(struct documents *documents, const struct texts *paths);

/* Reads a file that documents_read opened, and gave this number, once more. */
bool documents_read_again(struct documents *documents, const struct opened_file *file, uint64_t number);

/* Reads the file at `path` as one document, which is plain text, HTML or a manual page. */
bool documents_read_one(struct documents *documents, const char *path);

/* Whether any of the files, or of those in the folders, is a manual page by its name and how it begins. What can't be
 * read is none, and nothing is said of it. */
bool documents_have_manual(const struct texts *paths, const struct globs *globs);

/* What a document is by its file's name and how it begins: of FORMAT_PLAIN, FORMAT_HTML and FORMAT_MAN. */
enum document_format documents_format_of(const char *name, const char *bytes, size_t length);

/* The bytes of the files, and of those in the folders, as they are stored; 0 where an input is no file, as a pipe. */
uint64_t documents_count_bytes(const struct texts *paths, const struct globs *globs);

void documents_free(struct documents *documents);

/* ---- Giving documents that are cut: for cut.c alone ---- */

/* The raw document that is being cut. */
struct raw_document cut_begin(const struct documents *documents, enum document_format format);

/* Adds bytes to a document. Of one that got too long they are dropped. */
void cut_append(struct raw_document *raw, const char *bytes, size_t length);

/* Gives a document, which is not the caller's any more. Its place is FILE:WHERENUMBER; `where` NULL: there is one
 * document in the file. Returns false where the visitor wants no more. */
bool cut_give(struct documents *documents, struct raw_document *raw, const char *where, uint64_t number);

/* Gives, in place of a document, what is wrong. */
bool cut_give_bad(struct documents *documents, enum bad_kind kind, const char *sentence, const char *where,
                  uint64_t number);

/* Says what ended the source too soon, if anything did. */
bool cut_give_end(struct documents *documents);

/* ---- Cutting an open source into documents: cut.c; false where the visitor wants no more ---- */

/* The file is a document. */
bool cut_whole(struct documents *documents, enum document_format format);

/* Each line is a document, but for blank ones. */
bool cut_lines(struct documents *documents, enum document_format format);

/* Lines of features, as long as their ID stays the same. */
bool cut_features(struct documents *documents);

/* Each record that holds a text is a document. */
bool cut_warc(struct documents *documents);

#endif
