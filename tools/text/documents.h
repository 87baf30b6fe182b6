/* documents.h: from files of any kind and format to documents, one at a time, as they are in the inputs. */
#ifndef IDX_TOOLS_TEXT_DOCUMENTS_H
#define IDX_TOOLS_TEXT_DOCUMENTS_H

#include "tools/shared/command.h"
#include "tools/shared/files.h"
#include "tools/shared/output.h"
#include "tools/shared/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Records that can't be fingerprinted: the kinds of them, how many there were, and what is said of them ---- */

enum bad_kind {
    BAD_NONE,
    BAD_FILE,   /* This is no record, but a file that can't be read, which is always reported and is an error. */
    BAD_MEMORY, /* This is no record, but memory that ran out, which ends the command. */
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
    BAD_BINARY,
    BAD_COMPRESSION,
    BAD_LONG,
    BAD_KINDS,
};

/* It says what is wrong with a record. The problem is worded to follow "PLACE: ". */
struct bad {
    enum bad_kind kind;
    struct problem problem;
};

/* Sets it to BAD_MEMORY; always returns false. */
bool bad_set_memory(struct bad *bad);

/* Sets it; always returns false, so that a parser can return it. */
__attribute__((format(printf, 3, 4))) bool bad_set(struct bad *bad, enum bad_kind kind, const char *format, ...);

struct bad_counts {
    uint64_t of[BAD_KINDS];
};

/* Counts a bad record, and says it where it is the first of its kind, or none. */
void bad_count(struct bad_counts *counts, const struct bad *bad, const char *place);

/* Returns how many records were bad. */
uint64_t bad_total(const struct bad_counts *counts);

/* Says how many records were left out, by kind; nothing where there were none. */
void bad_say_total(const struct bad_counts *counts);

/* ---- Texts in other character sets than UTF-8, by the names that HTTP and HTML give them ---- */

enum { CHARSET_NAME_SIZE = 64 };

/* It is a text that is somewhere else. */
struct span {
    const char *bytes;
    size_t length;
};

/* Takes the text up to the first `separator` off *rest, and the separator with it; all of it where there is none. */
struct span span_cut(struct span *rest, char separator);

/* Sets the name of the character set that a byte order mark says (UTF-8, UTF-16, UTF-32), and takes the mark away.
 * Leaves both alone where there is none. */
void charset_by_mark(struct span *text, char name[CHARSET_NAME_SIZE]);

/* Makes it UTF-8, in `kept` where it isn't already; what is ill-formed becomes U+FFFD. The name "" and those of UTF-8
 * leave the text alone, ill-formed or not. Names mean what browsers take them for: iso-8859-1 is windows-1252. */
bool charset_decode(struct span *text, const char *name, struct output *kept, struct bad *bad);

/* ---- Source ---- */

/* The bytes of a file, of standard input or of memory, decompressed where they are gzip's (any number of members),
 * zstd's, xz's or bzip2's, and checked against the sums that are kept there: streamed, in bounded memory. A source
 * belongs to one thread at a time. A sink writes a new file that is compressed as a source was. */

#define ZLIB_CONST
#include <zlib.h>

/* The most that source_peek can be asked for. */
enum { SOURCE_MOST_PEEKED = 1 << 16 };

struct archive;

struct source {
    /* Set by the caller, or NULL: called before reading waits for more, as from a pipe. */
    void (*before_wait)(void *context);
    void *context;
    bool passes_over_rest; /* The caller sets it: what follows the compressed data of gzip or bzip2, and is none itself,
                              is passed over, as browsers do. Otherwise it is broken. */

    bool regular_only; /* The caller sets it: source_open refuses what is no regular file, which could make it wait. */

    /* Why it ended too soon: `problem` says so; `unreadable` where the system can't read it, else its compression is
     * broken. */
    bool broken, unreadable;
    struct problem problem;
    uint64_t offset; /* The next one of the decompressed bytes has this offset. */
    uint64_t read;   /* So many bytes were read so far, compressed as they are. */

    /* These are private. */
    struct archive *archive;
    int descriptor;  /* It is -1 for memory. */
    int error;       /* It is the errno of read(2), or 0. */
    const char *raw; /* It is input that is not yet decompressed: in `input`, or in memory. */
    size_t raw_length;
    int64_t given;                  /* So many bytes of it were given to libarchive. */
    bool begun, gzipped, in_member; /* It was read from; it is gzip's; it is within a member of that. */
    const char *fault;              /* It says what is wrong with gzip's data, or is NULL. */
    z_stream gzip;
    const void *block; /* It is decompressed and not yet copied to `buffer`. */
    size_t block_length;
    char *input, *inflated, *buffer;
    size_t start, end; /* What is between them in `buffer` is decompressed and not yet skipped. */
    bool ended;
};

/* The length of the ending by which a file's name says that it is compressed, such as .gz; 0 where it has none. */
size_t source_ending(const char *name);

/* Opens the file at `path`; `-` is standard input, and where that is a terminal, says that it is waiting. A source that
 * is all zero, or was closed, may be opened. Returns false where it can't be: `problem` says why, and source_close
 * needn't be called. */
bool source_open(struct source *source, const char *path);

/* Opens bytes, which have to stay until the source is closed. */
bool source_open_memory(struct source *source, const void *bytes, size_t length);

/* How the open source is compressed: a code of libarchive's, ARCHIVE_FILTER_NONE where it isn't. */
int source_filter(const struct source *source);

/* Gives the next bytes without consuming them: at least `want` bytes (up to SOURCE_MOST_PEEKED), fewer only at the end.
 * Valid until the next call. Returns how many; 0 at the end, and then `broken` or `unreadable` may be set. */
size_t source_peek(struct source *source, size_t want, const char **bytes);

/* Consumes `count` of the bytes that source_peek gave last. */
void source_skip(struct source *source, size_t count);

void source_close(struct source *source);

/* Closes it and frees its buffers. */
void source_free(struct source *source);

struct archive;

/* It is a new file, compressed as a source was. */
struct sink {
    struct output output;    /* Its descriptor is -1 if the sink is closed. */
    int filter;              /* It is what source_filter returns. */
    struct archive *archive; /* It is of the member that was begun; NULL: none was. */
};

#define SINK_CLOSED                                                                                                    \
    { .output = OUTPUT_KEPT }

/* Writes to the descriptor from now on, which is the sink's. */
void sink_open(struct sink *sink, int descriptor, int filter);

/* Errors are kept in sink->output, and nothing more is written after the first one. */
void sink_write(struct sink *sink, const void *bytes, size_t length);

/* Ends a member of compressed files, as each record of WARC is one; what is written after it begins another. */
void sink_end_member(struct sink *sink);

/* Returns false where not all was written: sink->output.error says why. The file is closed whatever comes. */
bool sink_close(struct sink *sink);

/* ---- The heads of WARC records (ISO 28500), and of the HTTP responses in them: bytes in, what they say out ---- */

/* No I/O, no allocation. */

/* The longest head that is read. */
enum { WARC_MOST_HEAD = 1 << 16 };

/* Where the head ends that begins here, as far as that is known: bytes that come later are searched alone. All zero to
 * begin with. */
struct warc_search {
    size_t head;           /* It is the length of the head, the empty line at its end included; 0: it has no end. */
    size_t line, searched; /* The last line begins, and what was searched ends, so many bytes behind the beginning. */
};

/* Searches the first `length` bytes of what begins with a head, no fewer than before. Returns false where its end has
 * still to come. A line that begins another record ends it, too: then it is no head, and that line is where to go on.
 */
bool warc_find_head(struct warc_search *search, const char *bytes, size_t length);

/* A document is made of one of these. */
enum media {
    MEDIA_OTHER, /* It is no text. */
    MEDIA_TEXT,
    MEDIA_HTML,
    MEDIA_HTTP, /* It is a message. */
};

struct media_type {
    enum media media;
    char charset[CHARSET_NAME_SIZE]; /* It is "" if it is not said. */
};

enum warc_type {
    WARC_OTHER,    /* It is no document, but a request, metadata, a revisit or the like. */
    WARC_RESPONSE, /* It is an HTTP response. */
    WARC_DOCUMENT, /* It is a conversion or resource, which is the document itself. */
};

struct warc_head {
    enum warc_type type;
    uint64_t length; /* The block that follows has so many bytes. */
    struct span id;  /* It is the target URI, or else the record's ID, or has length 0. */
    struct media_type type_of_block;
};

/* Reads the head of a record. */
bool warc_parse_head(const char *head, size_t length, struct warc_head *parsed, struct bad *bad);

struct http_head {
    bool good; /* The status is from 200 to 299. */
    struct media_type type;
    bool chunked;
    char encoding[16]; /* The content is encoded so; "": it is not. */
};

/* Reads the head of an HTTP response. */
bool http_parse_head(const char *head, size_t length, struct http_head *parsed, struct bad *bad);

/* Joins the chunks of a body, in place. A body that doesn't begin with a chunk is left alone: many archives keep bodies
 * joined, under heads that say chunked. */
bool http_join_chunks(char *body, size_t *length, struct bad *bad);

/* ---- Documents ---- */

/* From inputs of any format to documents, one at a time, as they are in the inputs: still JSON, HTML, or in another
 * character set. extract.h makes fields of them. */

/* ---- Points in time, in microseconds since 1970 in UTC, and the notations of them in records: date.c ---- */

/* The date is not known; it is before all others. */
#define DATE_NONE INT64_MIN

/* Reads a date as RFC 3339 and ISO 8601 (extended format) write it: 2026-11-22, or with a time behind T or a blank:
 * 12:34 or 12:34:56.789, and then Z, +01:00, +0100, +01, or nothing, which is UTC. Returns false where it is none. */
bool date_parse(const char *text, size_t length, int64_t *date);

/* Makes a date of seconds since 1970. Returns false where they are beyond what a date can be. */
bool date_of_seconds(double seconds, int64_t *date);

/* ---- Documents ---- */

enum document_format {
    FORMAT_AUTO, /* The name of the file says which one it is, or else how its content begins. */
    FORMAT_PLAIN,
    FORMAT_JSONL,
    FORMAT_TSV, /* A line is an ID, a tab and the text. */
    FORMAT_WARC,
    FORMAT_HTML,
    FORMAT_MAN,      /* It is a manual page. */
    FORMAT_FEATURES, /* A line is an ID, a tab, a feature, and perhaps a tab and a weight; the consecutive lines of an
                        ID are a document. */
};

/* The bytes that documents may have, in every form that they take: where nothing else is asked for, and at most. */
#define DOCUMENT_BYTES ((uint64_t)64 << 20)
#define MOST_DOCUMENT_BYTES (((uint64_t)1 << 30) - 1)

/* The first bytes of a file, which say what is in it. */
enum { DOCUMENT_SNIFFED = 8192 };

/* A document is a whole file, lines of it, or a record. */
enum unit { UNIT_FILE, UNIT_LINES, UNIT_RECORD };

/* It is a document as it was cut from an input; or a WARC record that holds none, of FORMAT_AUTO and without bytes. */
struct raw_document {
    enum document_format format; /* It is PLAIN, JSONL (a line), TSV (a line), HTML, MAN or FEATURES (lines). */
    struct output bytes;         /* The document owns them. */
    uint64_t most;               /* They are so many at most. */
    char *place; /* It is FILE, FILE:LINE or the like, and the ID if there is no other. The document owns it. */
    char *id;    /* It comes from a WARC record, or is NULL. The document owns it. */
    char charset[CHARSET_NAME_SIZE];
    bool chunked;      /* The bytes are in chunks, as HTTP cuts bodies. */
    char encoding[16]; /* It is HTTP's Content-Encoding; "": there is none. */
    struct bad bad;    /* If its kind is not BAD_NONE, there is no document, but this to be said. */
    uint64_t file;     /* It is the number of its file, from 0, among those that could be opened. */
    enum unit unit;
    uint64_t begins, ends; /* They are offsets within the file, decompressed. */
    int64_t date;          /* It is the date of the file's last change, or that in the record; or DATE_NONE. */
    uint64_t input_bytes;  /* So many bytes of all inputs, as they are stored, were read before it was given. */
    uint64_t text_bytes;   /* Its text has so many in UTF-8, once it is extracted. */
    uint64_t features;     /* Its text has so many distinct ones, once it is fingerprinted. */
};

void raw_document_free(struct raw_document *raw);

/* Called with each document, which it frees. Returns false to stop. */
typedef bool (*document_visitor)(void *context, struct raw_document *raw);

/* It is a file that was opened, and whether it was met in a folder, where files that aren't text are left out. */
struct opened_file {
    const char *path;
    bool in_folder;
    int descriptor;
};

/* Called with each file before its documents. Returns false to stop. */
typedef bool (*file_visitor)(void *context, const struct opened_file *file);

struct documents {
    enum document_format format;
    uint64_t most; /* A document may have so many bytes, up to MOST_DOCUMENT_BYTES. */
    document_visitor visit;
    void *context;
    file_visitor visit_file;   /* It may be NULL. */
    bool others;               /* The WARC records that hold no document are given, too. */
    struct source source;      /* Its before_wait may be set. */
    const struct globs *globs; /* They say what is read of folders; or it is NULL. */

    /* These count what was met. */
    uint64_t binary; /* So many files in folders were left out, since they are not text. */
    bool failed;     /* A folder could not be read. */

    uint64_t files; /* So many were opened. */

    /* These are private. */
    const char *path;
    int64_t date;
    uint64_t bytes_before; /* The files before the open one have so many, as they are stored. */
    uint64_t read_before;  /* It is what source.read was before the file was opened. */
};

/* Reads all documents of the files and folders (none, and -: standard input). A folder stands for the regular files in
 * it and below; those that hold a NUL byte in their first 8 KiB are left out where they would be plain text, HTML or
 * manual pages. Returns false where the visitor stopped it. */
bool documents_read(struct documents *documents, const struct texts *paths);

/* Reads a file that documents_read opened, and gave this number, once more. */
bool documents_read_again(struct documents *documents, const struct opened_file *file, uint64_t number);

/* Reads the file at `path` as one document, which is plain text, HTML or a manual page. */
bool documents_read_one(struct documents *documents, const char *path);

/* Returns whether any of the files, or of those in the folders, is a manual page by its name and how it begins. What
 * can't be read is none, and nothing is said of it. */
bool documents_have_manual(const struct texts *paths, const struct globs *globs);

/* Returns what a document is by its file's name and how it begins: FORMAT_PLAIN, FORMAT_HTML or FORMAT_MAN. */
enum document_format documents_format_of(const char *name, const char *bytes, size_t length);

/* The bytes of the files, and of those in the folders, as they are stored; 0 where an input is no file, as a pipe. */
uint64_t documents_count_bytes(const struct texts *paths, const struct globs *globs);

void documents_free(struct documents *documents);

/* ---- Passing documents that are cut to the visitor: for cut.c alone ---- */

/* The raw document that is being cut. */
struct raw_document cut_begin(const struct documents *documents, enum document_format format);

/* Adds bytes to a document. Of one that got too long they are dropped. */
void cut_append(struct raw_document *raw, const char *bytes, size_t length);

/* Passes a document, which is not the caller's any more, to the visitor. Its place is FILE:WHERENUMBER; `where` NULL:
 * there is one document in the file. Returns false where the visitor wants no more. */
bool cut_visit(struct documents *documents, struct raw_document *raw, const char *where, uint64_t number);

/* Says what ended the source too soon, if anything did. */
bool cut_end(struct documents *documents);

/* ---- Cutting an open source into documents: cut.c; false where the visitor wants no more ---- */

/* The file is a document. */
bool cut_whole(struct documents *documents, enum document_format format);

/* Each line is a document, but for blank ones. */
bool cut_lines(struct documents *documents, enum document_format format);

/* Lines of features are a document as long as their ID stays the same. */
bool cut_features(struct documents *documents);

/* Each record that holds a text is a document. */
bool cut_warc(struct documents *documents);

#endif
