/* extract.h: from a document as it was cut from an input to its fields, in UTF-8. */
#ifndef IDX_TOOLS_TEXT_EXTRACT_H
#define IDX_TOOLS_TEXT_EXTRACT_H

#include "tools/shared/output.h"
#include "tools/text/documents.h"

#include <idx.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- The fields of a document ---- */

struct fields {
    struct span id; /* It has no tab and no newline, and is not empty. */
    struct span body, title, description;
};

/* ---- The text of an HTML document ---- */

/* How deep elements may be nested, and how many attributes one of them may have. */
enum { HTML_MOST_DEPTH = 2000, HTML_MOST_ATTRIBUTES = 1000 };

/* All UTF-8. */
struct html {
    struct output text, title, description;
};

#define HTML_INIT                                                                                                      \
    { OUTPUT_KEPT, OUTPUT_KEPT, OUTPUT_KEPT }

/* Reads a document in UTF-8, replacing what `html` held. Tags, comments, scripts, styles and the like are dropped;
 * entities are resolved; elements that aren't part of a line separate words. With `main_text`, what is in nav,
 * header, footer, aside and form elements is dropped too, and each run of text between two such elements or line breaks
 * of which more than half the bytes, blanks apart, are in links. The title and the description of a meta element are no
 * part of the text. Any thread. */
bool html_parse(struct html *html, struct span document, bool main_text, struct bad *bad);

/* The character set that a meta element among the first bytes names; "" where there is none. */
void html_find_charset(struct span document, char name[CHARSET_NAME_SIZE]);

/* Once, before several threads call html_parse. */
void html_start(void);

void html_free(struct html *html);

/* ---- The fields of a document that is a line of JSON ---- */

/* Where fields stand in the object: a JSON pointer (/a/b, RFC 6901) where it begins with a slash, else names with dots
 * between them (a.b). */
struct jsonl_rules {
    const char *text;
    const char *id;    /* It is NULL if the line has no ID. */
    const char *title; /* It is NULL if there is none. */
    const char *date;  /* It is NULL if there is none. */
};

/* It is a document's object, in which its fields are, and what else is read of it. */
struct jsonl {
    json_t *object;  /* The caller releases it (json_decref) whatever comes. */
    char number[24]; /* An ID that is an integer is here. */
    int64_t date;    /* It is DATE_NONE if there is none, or if its notation is unknown. */
};

/* Reads a line. Sets the text as the body, which is UTF-8 and may have NUL bytes, and the ID and the title if the rules
 * name them; a title that is not there has length 0. */
bool jsonl_parse(const struct jsonl_rules *rules, const char *line, size_t length, struct jsonl *jsonl,
                 struct fields *fields, struct bad *bad);

/* ---- The text of manual pages, which are written in man(7) or mdoc(7): as the program mandoc prints it ---- */

/* What recipes say of texts among which there are manual pages: the version of this way to read them. */
#define MANUAL_PART ";man=1"

/* Returns whether a file's name, of `length` bytes, ends like a manual page's: in .1 to .9, perhaps with letters and
 * digits behind that, .n or .man. */
bool manual_is_named(const char *name, size_t length);

/* Returns whether a file that is named so also begins like one: with a comment or a macro of roff. */
bool manual_begins(const char *bytes, size_t length);

/* Makes the text of a page in UTF-8, in place of what `text` kept, of up to `most` bytes. Returns false where it can't
 * be had. Any thread. */
bool manual_read(struct span page, uint64_t most, struct output *text, struct bad *bad);

/* ---- From a document as it was cut from an input to its fields, in UTF-8 ---- */

struct extract_rules {
    struct jsonl_rules json;
    uint64_t max_text; /* A document may have so many bytes, up to MOST_DOCUMENT_BYTES. */
    bool main_text;    /* Of HTML, only the main text is taken. */
    /* Of FORMAT_FEATURES. */
    bool hashes;             /* Features are their hashes, in hex. */
    bool tokens;             /* A line has many features, feature:weight, with blanks between them. */
    enum idx_hash_kind hash; /* Features are hashed by it. */
    bool ties;               /* A bit is 1 if the weights are equal. */
};

/* What extracting needs room for; a thread has its own, and uses it for one document after another. */
struct extractor {
    const struct extract_rules *rules;
    bool reads_manuals; /* Otherwise a manual page is bad, because the recipe does not say that there are any. */
    struct output decompressed, decoded, manual;
    struct html html;
    struct jsonl json;
};

void extractor_init(struct extractor *extractor, const struct extract_rules *rules);

/* Sets the fields, which are valid until the next use of `raw` or of the extractor; sets raw's text_bytes, and its date
 * where the record has one; may change its bytes. Returns false where the record is bad. */
bool extract(struct extractor *extractor, struct raw_document *raw, struct fields *fields, struct bad *bad);

/* Cuts a line of FORMAT_FEATURES or FORMAT_TSV into its ID and what follows the tab. Returns false if it has no tab. */
bool extract_id(struct span line, struct span *id, struct span *rest, struct bad *bad);

void extractor_free(struct extractor *extractor);

#endif
