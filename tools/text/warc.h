/* warc.h: the heads of WARC records (ISO 28500), and of the HTTP responses in them: bytes in, what they say out. No
 * I/O, no allocation. */
#ifndef IDX_TOOLS_WARC_H
#define IDX_TOOLS_WARC_H

#include "tools/text/bad.h"
#include "tools/text/charset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest head that is read. */
enum { WARC_MOST_HEAD = 1 << 16 };

/* Where the head ends that begins here, as far as that is known: bytes that come later are searched alone. All zero to
 * begin with. */
struct warc_search {
    size_t head;           /* its length, the empty line that ends it included; 0: it has no end */
    size_t line, searched; /* the last line begins, and what was searched ends, so many bytes behind its beginning */
};

/* Searches the first `length` bytes of what begins with a head, no fewer than before. Returns false where its end has
 * still to come. A line that begins another record ends it, too: then it is no head, and that line is where to go on.
 */
bool warc_find_head(struct warc_search *search, const char *bytes, size_t length);

/* What a document is made of. */
enum media {
    MEDIA_OTHER, /* no text */
    MEDIA_TEXT,
    MEDIA_HTML,
    MEDIA_HTTP, /* a message */
};

struct media_type {
    enum media media;
    char charset[CHARSET_NAME_SIZE]; /* "" where it is not said */
};

enum warc_type {
    WARC_OTHER,    /* no document: request, metadata, revisit… */
    WARC_RESPONSE, /* an HTTP response */
    WARC_DOCUMENT, /* conversion or resource: the document itself */
};

struct warc_head {
    enum warc_type type;
    uint64_t length; /* of the block that follows */
    struct span id;  /* the target URI, else the record's ID; length 0: neither */
    struct media_type type_of_block;
};

/* Reads the head of a record. */
bool warc_parse_head(const char *head, size_t length, struct warc_head *parsed, struct bad *bad);

struct http_head {
    bool good; /* status 200 to 299 */
    struct media_type type;
    bool chunked;
    char encoding[16]; /* of the content; "" where it is as it is */
};

/* Reads the head of an HTTP response. */
bool http_parse_head(const char *head, size_t length, struct http_head *parsed, struct bad *bad);

/* Joins the chunks of a body, in place. A body that doesn't begin with a chunk is left alone: many archives keep bodies
 * joined, under heads that say chunked. */
bool http_join_chunks(char *body, size_t *length, struct bad *bad);

#endif
