/* jsonl.h: the fields of a document that is a line of JSON. */
#ifndef IDX_TOOLS_JSONL_H
#define IDX_TOOLS_JSONL_H

#include "tools/text/bad.h"

#include <jansson.h>

#include <stddef.h>

/* Where fields stand in the object: a JSON pointer (/a/b, RFC 6901) where it begins with a slash, else names with dots
 * between them (a.b). */
struct jsonl_rules {
    const char *text;
    const char *id;    /* NULL: the line has no ID */
    const char *title; /* NULL: there is none */
    const char *date;  /* the same */
};

struct jsonl_fields {
    const char *text, *title; /* UTF-8, which may hold NUL bytes; a title that is not there has length 0 */
    size_t text_length, title_length;
    const char *id; /* NULL: none */
    size_t id_length;
    char number[24]; /* an ID that is an integer */
    int64_t date;    /* DATE_NONE: there is none, or it is in no notation that is known */
};

/* Reads a line. The fields stand in *object, which the caller releases (json_decref) whatever comes. */
bool jsonl_parse(const struct jsonl_rules *rules, const char *line, size_t length, json_t **object,
                 struct jsonl_fields *fields, struct bad *bad);

#endif
