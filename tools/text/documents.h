/* documents.h: cuts files of any kind and format into documents, one at a time, as they are in the inputs. */
#ifndef IDX_TOOLS_TEXT_DOCUMENTS_H
#define IDX_TOOLS_TEXT_DOCUMENTS_H

#include "tools/shared/command.h"
#include "tools/shared/files.h"
#include "tools/shared/output.h"
#include "tools/shared/wording.h"

/* ---- Records that can't be fingerprinted: their kinds, counts and messages ---- */

enum bad_kind {
    BAD_NONE,
    BAD_FILE,   /* Not a record, but a file that can't be read; always reported, and an error. */
    BAD_MEMORY, /* Not a record, but memory that ran out, which ends the command. */
    BAD_JSON,
    BAD_FIELD,
    BAD_ID,
    BAD_LINE,
    BAD_FEATURE,
    BAD_WARC,
    BAD_HTTP,
    BAD_HTML,
    BAD_MANUAL,
    BAD_CHARSET,
    BAD_WIDE,
    BAD_BINARY,
    BAD_COMPRESSION,
    BAD_LONG,
    BAD_ICU, /* ICU fails, or lacks a dictionary */
    BAD_KINDS,
};

/* What is wrong with a record. The problem is worded to follow "PLACE: ". */
struct bad {
    enum bad_kind kind;
    struct problem problem;
};

/* Sets the kind BAD_MEMORY. Returns false always. */
bool bad_set_memory(struct bad *bad);

/* Sets kind and problem. Returns false always, so that a parser can return it. */
__attribute__((format(printf, 3, 4))) bool bad_set(struct bad *bad, enum bad_kind kind, const char *format, ...);

struct bad_counts {
    uint64_t of[BAD_KINDS];
    uint64_t cut; /* Documents that are not bad, but end too soon. */
};

/* Counts a bad record, and reports it if it is the first of its kind. BAD_FILE and BAD_MEMORY are always reported. */
void bad_count(struct bad_counts *counts, const struct bad *bad, const char *place);

/* Counts a document that ends too soon, of which what could be read is taken, and reports it if it is the first. */
void bad_count_cut(struct bad_counts *counts, const char *place);

/* Returns how many records were bad. */
uint64_t bad_total(const struct bad_counts *counts);

/* Says how many records of each kind were bad, behind `what` and a colon, and how many documents end too soon. Returns
 * false after a complaint if all records were bad: then `good`, the number of the others, is 0. */
bool bad_say_total(const struct bad_counts *counts, const char *what, uint64_t good);

/* ---- Texts in other character sets than UTF-8, by the names that HTTP and HTML give them ---- */

enum { CHARSET_NAME_SIZE = 64 };

/* A text in memory that belongs to something else. */
struct span {
    const char *bytes;
    size_t length;
};

/* Returns the text up to the first `separator`, or all of it, and removes it and the separator from *rest. */
struct span span_cut(struct span *rest, char separator);

/* If the text begins with a byte order mark, sets the name of the character set (UTF-8, UTF-16, UTF-32), and removes
 * the mark. */
void charset_by_mark(struct span *text, char name[CHARSET_NAME_SIZE]);

/* Converts a text to UTF-8, in the memory of `kept`; what is ill-formed becomes U+FFFD. With the name "" or one of
 * UTF-8, the text stays as it is, even if it is ill-formed. Names mean what browsers take them for: iso-8859-1 is
 * windows-1252. Sets *bad and returns false if that fails. */
bool charset_decode(struct span *text, const char *name, struct output *kept, struct bad *bad);

/* Returns whether a character set has this name. "" is known. */
bool charset_is_known(const char *name);

/* ---- Source ---- */

/* A source gives the bytes of a file, of standard input or of memory. They are decompressed if they are gzip (any
 * number of members), zstd, xz or bzip2, and checked against the checksums there. It needs bounded memory, and belongs
 * to one thread at a time. A sink writes a new file that is compressed as a source was. */

#define ZLIB_CONST
#include <zlib.h>

/* The most bytes that source_peek can be asked for. */
enum { SOURCE_MOST_PEEKED = 1 << 16 };

struct archive;

struct source {
    /* Set by the caller, or NULL: called before reading waits for further input, as from a pipe. */
    void (*before_wait)(void *context);
    void *context;
    bool passes_over_rest; /* Set by the caller: other data behind that of gzip or bzip2 is ignored, as browsers do.
                              Otherwise the source is broken. */

    bool regular_only; /* Set by the caller: source_open refuses all but regular files, since others could make it wait.
                        */

    /* Why the source ended too soon, as `problem` says: the system can't read it, or its compression is broken. */
    bool broken, unreadable;
    bool cut; /* It is broken because it ends within gzip data. */
    struct problem problem;
    uint64_t offset; /* Offset of the next decompressed byte. */
    uint64_t
        read; /* Bytes that were read so far, before decompression; of all files, if it was opened several times. */

    /* These are private. */
    struct archive *archive;
    int descriptor;  /* -1: memory. */
    int error;       /* The errno of read(2), or 0. */
    const char *raw; /* Input that is not decompressed yet, in `input` or in memory. */
    size_t raw_length;
    int64_t given;                  /* Bytes of it that were given to libarchive. */
    bool begun, gzipped, in_member; /* Reading began; the input is gzip; it is within a member. */
    const char *fault;              /* What is wrong with the compressed data, or NULL. */
    z_stream gzip;
    const void *block; /* Decompressed bytes that are not in `buffer` yet. */
    size_t block_length;
    char *input, *inflated, *buffer;
    size_t start, end; /* Bounds of the bytes in `buffer` that were not skipped yet. */
    bool ended;
};

/* Returns the length of the ending by which a file's name says that it is compressed, such as .gz, or 0 without one. */
size_t source_ending(const char *name);

/* Opens the file at `path`, or standard input for `-`; if that is a terminal, says that it is waiting. The source must
 * be all zero, or closed. If it can't be opened, sets `problem` and returns false; then it need not be closed. */
bool source_open(struct source *source, const char *path);

/* Opens bytes in memory, which must stay until the source is closed. Returns false like source_open. */
bool source_open_memory(struct source *source, const void *bytes, size_t length);

/* Returns how the open source is compressed, as a code of libarchive: ARCHIVE_FILTER_NONE if it is not. */
int source_filter(const struct source *source);

/* Sets *bytes to the next bytes, without consuming them, and returns how many there are: at least `want`, up to
 * SOURCE_MOST_PEEKED, and fewer only at the end. They are valid until the next call. If 0 is returned, `broken` or
 * `unreadable` may be set. */
size_t source_peek(struct source *source, size_t want, const char **bytes);

/* Consumes `count` of the bytes that source_peek returned last. */
void source_skip(struct source *source, size_t count);

void source_close(struct source *source);

/* Closes the source and frees its buffers. */
void source_free(struct source *source);

/* A new file that is compressed as a source was. */
struct sink {
    struct output output;    /* Its descriptor is -1: the sink is closed. */
    int filter;              /* What source_filter returned. */
    struct archive *archive; /* That of the member that was begun; NULL: none was. */
};

#define SINK_CLOSED                                                                                                    \
    { .output = OUTPUT_KEPT }

/* Opens a sink that writes to the descriptor and closes it. */
void sink_open(struct sink *sink, int descriptor, int filter);

/* Writes bytes. The first error is kept in sink->output, and nothing is written after it. */
void sink_write(struct sink *sink, const void *bytes, size_t length);

/* Ends a member of a compressed file; what is written afterwards begins another. Each record of a WARC file is one. */
void sink_end_member(struct sink *sink);

/* Closes the file in any case. Returns false if not all was written; sink->output.error says why. */
bool sink_close(struct sink *sink);

/* ---- The heads of WARC records (ISO 28500), and of the HTTP responses in them ---- */

/* These functions do no I/O and allocate no memory. */

/* The longest head that is read, in bytes. */
enum { WARC_MOST_HEAD = 1 << 16 };

/* The search for the end of a head, which goes on when further bytes have come. It begins with zeros. */
struct warc_search {
    size_t head;           /* Length of the head, with the empty line at its end; 0: no end was found. */
    size_t line, searched; /* Where the last line begins, and what was searched ends. */
};

/* Searches the first `length` bytes of what begins with a head, no fewer than before. Returns false if the end has not
 * come yet. A line that begins another record also ends the search: then `head` is 0, and reading goes on at `line`. */
bool warc_find_head(struct warc_search *search, const char *bytes, size_t length);

/* What content is, by its type. */
enum media {
    MEDIA_OTHER, /* Not a text. */
    MEDIA_TEXT,
    MEDIA_HTML,
    MEDIA_HTTP, /* A message of HTTP. */
};

struct media_type {
    enum media media;
    char charset[CHARSET_NAME_SIZE]; /* "": not stated. */
};

enum warc_type {
    WARC_OTHER,    /* Not a document, but a request, metadata, a revisit or the like. */
    WARC_RESPONSE, /* An HTTP response. */
    WARC_DOCUMENT, /* A conversion or resource, which is the document itself. */
};

struct warc_head {
    enum warc_type type;
    uint64_t length; /* Bytes of the block that follows. */
    struct span id;  /* The target URI, or else the record's ID, or empty. */
    struct media_type type_of_block;
};

/* Reads the head of a record. Sets *bad and returns false if it is none. */
bool warc_parse_head(const char *head, size_t length, struct warc_head *parsed, struct bad *bad);

struct http_head {
    bool succeeded; /* The status is from 200 to 299. */
    struct media_type type;
    bool chunked;
    char encoding[16]; /* The Content-Encoding; "": there is none. */
};

/* Reads the head of an HTTP response. Sets *bad and returns false if it is none. */
bool http_parse_head(const char *head, size_t length, struct http_head *parsed, struct bad *bad);

/* Joins the chunks of a body, in place. A body that doesn't begin with a chunk stays as it is, since many archives keep
 * joined bodies with heads that say chunked. Sets *cut if the body ends before its last chunk does. Sets *bad and
 * returns false if a chunk is broken. */
bool http_join_chunks(char *body, size_t *length, bool *cut, struct bad *bad);

/* ---- Documents ---- */

/* Documents are as they are in the inputs: still JSON, HTML, or in another character set. extract.h makes fields of
 * them. */

/* ---- Dates and times, in microseconds since 1970 in UTC, as records write them: date.c ---- */

/* An unknown date, which is before all others. */
#define DATE_NONE INT64_MIN

/* Reads a date as RFC 3339 and ISO 8601 (extended format) write it: 2026-11-22, perhaps with a time behind T or a
 * blank, 12:34 or 12:34:56.789, and then Z, +01:00, +0100, +01, or nothing, which is UTC. Returns false if it is
 * none. */
bool date_parse(const char *text, size_t length, int64_t *date);

/* Makes a date of seconds since 1970. Returns false if they are beyond what a date can be. */
bool date_of_seconds(double seconds, int64_t *date);

/* Returns a number that is in the order of scores among those of other scores. It is never DATE_NONE. */
int64_t date_of_score(double score);

/* ---- Documents ---- */

enum document_format {
    FORMAT_AUTO, /* Decided by the name of the file, or else by how its content begins. */
    FORMAT_PLAIN,
    FORMAT_JSONL,
    FORMAT_TSV, /* Each line is an ID, a tab and the text. */
    FORMAT_WARC,
    FORMAT_HTML,
    FORMAT_MAN,      /* A manual page. */
    FORMAT_FEATURES, /* A line is an ID, a tab, a feature, and perhaps a tab and a weight; the consecutive lines of an
                        ID are a document. */
};

/* The most bytes of a document in any of its forms: by default, and the most that can be asked for. */
#define DOCUMENT_BYTES ((uint64_t)64 << 20)
#define MOST_DOCUMENT_BYTES (((uint64_t)1 << 30) - 1)

/* How many of its first bytes decide what a file has in it. */
enum { DOCUMENT_SNIFFED = 8192 };

/* What a document is in its file: all of it, lines, a record of WARC, or bytes of WARC that are no whole record. */
enum unit { UNIT_FILE, UNIT_LINES, UNIT_RECORD, UNIT_BROKEN_RECORD };

/* A document as it was cut from an input. A WARC record without one has FORMAT_AUTO, and no bytes. */
struct raw_document {
    enum document_format format; /* PLAIN, JSONL (a line), TSV (a line), HTML, MAN or FEATURES (lines). */
    struct output bytes;         /* They belong to the document. */
    uint64_t most;               /* The most bytes that it may have. */
    char *place; /* FILE, FILE:LINE or the like; also the ID, if there is no other. Belongs to the document. */
    char *id;    /* The ID of a WARC record, or of features that are too long, or NULL. Belongs to the document. */
    char charset[CHARSET_NAME_SIZE];
    bool chunked;      /* The bytes are in chunks, as HTTP cuts bodies. */
    char encoding[16]; /* HTTP's Content-Encoding; "": there is none. */
    bool cut;          /* Set once the text is extracted: the bytes ended within their chunks or their compression. */
    struct bad bad;    /* Unless its kind is BAD_NONE, there is no document, and this says why. */
    uint64_t file;     /* The number of its file, from 0, among those that could be opened. */
    enum unit unit;
    uint64_t begins, ends; /* Offsets in the decompressed file. */
    int64_t date;          /* That of the file's last change, or that in the record, or a score; or DATE_NONE. */
    uint64_t input_bytes;  /* Bytes of all inputs, as they are stored, that were read up to it. */
    uint64_t text_bytes;   /* Bytes of its text in UTF-8, once it is extracted. */
    bool is_large;         /* It may have needed more than its share of memory while it was fingerprinted. */
};

void raw_document_free(struct raw_document *raw);

/* A function that gets each document and frees it. It returns false to stop. */
typedef bool (*document_visitor)(void *context, struct raw_document *raw);

/* A file that was opened. In a folder, files that aren't text are left out. */
struct opened_file {
    const char *path;
    bool in_folder;
    int descriptor;
};

/* Kinds of files that are no texts, although the name does not say so. */
enum binary {
    BINARY_NONE, /* It is a text. */
    BINARY_PDF,
    BINARY_PARQUET,
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
    bool others;               /* WARC records without a document are visited as well. */
    struct source source;      /* Its before_wait may be set. */
    const struct globs *globs; /* Which files of folders are read; NULL: all. */

    const struct jsonl_rules *json; /* Where JSON Lines have the text. */

    /* Results. */
    uint64_t left_out[BINARY_KINDS]; /* Files in folders that were left out, since they are not text. */
    bool failed;                     /* A folder could not be read, or nothing in it. */

    uint64_t files; /* Files that were opened. */
    uint64_t read;  /* Those of them that were cut into documents. */
    bool has_json;  /* Some of these are JSON Lines. */

    /* These are private. */
    const char *path;
    int64_t date;
    uint64_t bytes_before; /* Bytes of the files before the open one, as they are stored. */
    uint64_t read_before;  /* What source.read was before the file was opened. */
};

/* Reads all documents of the files and folders, or of standard input without any paths, and for -. A folder stands for
 * the regular files in it and below; those that would be plain text, HTML or manual pages, but are not text, are left
 * out. A folder that has files, none of which can be read, sets `failed` after a complaint. Returns false if a visitor
 * stopped it. */
bool documents_read(struct documents *documents, const struct texts *paths);

/* Reads once more a file that documents_read opened and to which it gave this number. Returns false if a visitor
 * stopped it. */
bool documents_read_again(struct documents *documents, const struct opened_file *file, uint64_t number);

/* Reads the file at `path` as one document, which is plain text, HTML or a manual page. */
bool documents_read_one(struct documents *documents, const char *path);

/* Returns whether any of the files, or of those in the folders, is a manual page by its name and how it begins. Ignores
 * what can't be read. */
bool documents_have_manual(const struct texts *paths, const struct globs *globs);

/* A function that gets the path of a file and the format of its documents. It returns false to stop. */
typedef bool (*format_visitor)(void *context, const char *path, enum document_format format);

/* Visits all files that documents_read would cut into documents, without reading more of them than their first bytes.
 * Ignores what can't be read. */
void documents_visit_formats(struct documents *documents, const struct texts *paths, format_visitor visit);

/* Sets `failed` after a complaint if files of the folder were opened, but none was read: if there are more than
 * `files`, and no more than `read`. */
void documents_check_folder(struct documents *documents, const char *path, uint64_t files, uint64_t read);

/* Says how many files of each kind were left out. Says nothing if there were none. */
void documents_say_left_out(const struct documents *documents);

/* Returns the bytes of the files, and of those in the folders, as they are stored, or 0 if an input is no file, such as
 * a pipe. */
uint64_t documents_count_bytes(const struct texts *paths, const struct globs *globs);

void documents_free(struct documents *documents);

/* ---- What a file is, by its name and first bytes: sniff.c ---- */

struct sniffed {
    enum document_format format; /* Not FORMAT_AUTO. */
    enum binary binary;          /* What it is in place of a text. */
    const char *refusal;         /* What is wrong with a file whose documents can't be read; NULL: nothing. */
};

/* Finds out what the open file of `documents` is, which begins with these bytes. A format that is not FORMAT_AUTO
 * stays; then named files are not looked at. */
struct sniffed sniff_file(const struct documents *documents, struct span begin, bool in_folder);

/* Finds out what a file is that is one document: FORMAT_PLAIN, FORMAT_HTML or FORMAT_MAN, or no text. */
struct sniffed sniff_one(const char *path, struct span begin);

/* Returns the name of files that are no texts, and what is wrong with one of them. */
const char *sniff_name(enum binary binary);
const char *sniff_problem(enum binary binary);

/* ---- Passing documents that are cut to the visitor: for cut.c alone ---- */

/* Returns a document without bytes, which begins at the source's offset. */
struct raw_document cut_begin(const struct documents *documents, enum document_format format);

/* Adds bytes to a document. One that becomes too long is bad, and loses its bytes. */
void cut_append(struct raw_document *raw, const char *bytes, size_t length);

/* Passes a document to the visitor, which frees it. Its place becomes FILE, or unless `where` is NULL,
 * FILE:WHERENUMBER. Returns false if the visitor stopped. */
bool cut_visit(struct documents *documents, struct raw_document *raw, const char *where, uint64_t number);

/* If the source ended too soon, visits what is wrong in place of a document. Returns false if the visitor stopped. */
bool cut_end(struct documents *documents);

/* ---- Cutting an open source into documents: cut.c. Each function returns false if the visitor stopped ---- */

/* The file is a document. */
bool cut_whole(struct documents *documents, enum document_format format);

/* Each line is a document, but for blank ones. */
bool cut_lines(struct documents *documents, enum document_format format);

/* Lines of features are a document as long as their ID stays the same. */
bool cut_features(struct documents *documents);

/* Each record that holds a text is a document. */
bool cut_warc(struct documents *documents);

#endif
