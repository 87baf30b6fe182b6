/* warc.h: the heads of WARC records (ISO 28500) and of HTTP responses, without I/O and allocation. */
#ifndef IDX_TOOLS_FORMATS_WARC_H
#define IDX_TOOLS_FORMATS_WARC_H

#include "tools/formats/charset.h"

/* The longest head that is read, in bytes. */
enum { WARC_MOST_HEAD = 1 << 16 };

/* The search for the end of a head, which goes on when further bytes have come. It begins with zeros. */
struct warc_search {
    size_t head_length; /* With the empty line at its end; 0: no end was found. */
    size_t line_begin;  /* The offset of the line that is being searched. */
    size_t searched_bytes;
};

/* Searches the first `length` bytes of a head for its end, which is an empty line. Returns false if they are too few:
 * then call it again with more bytes, and it goes on where it was. Returns true with search->head_length set to the
 * length of the head; or, if another record begins before the end, with search->head_length 0 and search->line_begin
 * the offset of that record. */
bool warc_find_head_end(struct warc_search *search, const char *bytes, size_t length);

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

/* Reads the head of a record, of `length` bytes, into *parsed, whose `id` then points into the head. Sets *bad and
 * returns false if the head does not begin with WARC/, or lacks a WARC-Type or a Content-Length that is a number. */
bool warc_parse_head(const char *head, size_t length, struct warc_head *parsed, struct bad *bad);

struct http_head {
    bool succeeded; /* The status is from 200 to 299. */
    struct media_type type;
    bool chunked;
    char encoding[16]; /* The Content-Encoding; "": there is none. */
};

/* Reads the head of an HTTP response, of `length` bytes, into *parsed. Sets *bad and returns false if it does not begin
 * with HTTP/ and a status. */
bool http_parse_head(const char *head, size_t length, struct http_head *parsed, struct bad *bad);

/* Joins the chunks of a body of *length bytes in place, and sets *length to the length of the joined body. A body that
 * doesn't begin with a chunk stays as it is, since many archives keep joined bodies with heads that say chunked. Sets
 * *cut to true if the body ends before its last chunk does; otherwise *cut stays. Sets *bad and returns false if a
 * chunk is broken; then the body is partly joined, and *length as it was. */
bool http_join_chunks(char *body, size_t *length, bool *cut, struct bad *bad);

#endif
