/* raw_document.h: a document as it was cut from an input: still JSON, HTML, or in another character set. */
#ifndef IDX_TOOLS_FORMATS_RAW_DOCUMENT_H
#define IDX_TOOLS_FORMATS_RAW_DOCUMENT_H

#include "tools/formats/charset.h"
#include "tools/formats/date.h"

#include <string.h>

enum document_format {
    FORMAT_AUTO, /* Decided by the name of the file, or else by how its content begins. */
    FORMAT_PLAIN,
    FORMAT_JSONL,
    FORMAT_TSV, /* Each line is an ID, a tab and the text. */
    FORMAT_WARC,
    FORMAT_HTML,
    FORMAT_MAN,      /* A manual page. */
    FORMAT_FEATURES, /* Lines of ID, tab, feature, perhaps tab and weight; those of one ID in a row are a document. */
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
    uint64_t most;               /* The most bytes that it may have; with more, it is bad. */
    char *place;      /* FILE, FILE:LINE or the like; also the ID, if there is no other. Belongs to the document. */
    char *id;         /* The ID of a WARC record, or of features that are too long, or NULL. Belongs to the document. */
    size_t id_length; /* The ID may have NUL bytes. */
    char charset[CHARSET_NAME_SIZE];
    bool chunked;      /* The bytes are in chunks, as HTTP cuts bodies. */
    char encoding[16]; /* HTTP's Content-Encoding; "": there is none. */
    bool cut;          /* Set once the text is extracted: the bytes ended within their chunks or their compression. */
    struct bad bad;    /* Unless its kind is BAD_NONE, there is no document, and this says why. */
    uint64_t file;     /* The number of its file, from 0, among those that could be opened. */
    enum unit unit;
    uint64_t begins, ends; /* Offsets in the decompressed file. */
    uint64_t number;       /* Its number among those that were compared, if it is read once more (journal.h). */
    int64_t date;          /* That of the file's last change, or that in the record, or a score; or DATE_NONE. */
    uint64_t input_bytes;  /* Bytes of all inputs, as they are stored, that were read up to it. */
    uint64_t text_bytes;   /* Bytes of its text in UTF-8, once it is extracted. */
    bool is_large;         /* It may have needed more than its share of memory while it was fingerprinted. */
};

/* Frees what belongs to the document, and makes it one without bytes, which may be freed again. */
void raw_document_free(struct raw_document *raw);

/* Returns raw->id, or else raw->place. One of these must not be NULL. */
static inline struct span raw_document_get_id(const struct raw_document *raw) {
    if (raw->id != NULL) return (struct span){raw->id, raw->id_length};
    return (struct span){raw->place, strlen(raw->place)};
}

struct fields {
    struct span id; /* Without tabs and newlines, and not empty. */
    struct span body, title, description;
};

/* Appends bytes to a document, unless it is bad. The document becomes bad, as raw->bad says, if memory ran out, or if
 * it would have more than raw->most bytes: then it loses its bytes, and of FORMAT_FEATURES, what precedes the first tab
 * is kept as its ID. */
void raw_document_append(struct raw_document *raw, const char *bytes, size_t length);

/* Sets raw->id to a copy of an ID, which must not be empty; the document must have no ID yet. If memory ran out, the
 * document becomes bad. */
void raw_document_keep_id(struct raw_document *raw, struct span id);

#endif
