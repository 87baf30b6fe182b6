/* jsonl.h: the fields of a document that is a line of JSON. */
#ifndef IDX_TOOLS_FORMATS_JSONL_H
#define IDX_TOOLS_FORMATS_JSONL_H

#include <string.h>

#include "tools/formats/raw_document.h"
#include "tools/shared/command.h"

/* The most names * of a text's field. */
enum { JSONL_MOST_STARS = 16 };

/* Where fields are: JSON pointers (/a/b, RFC 6901) if they begin with a slash, or else names with dots (a.b). In that
 * of a text, the name * stands for each element of an array. */
struct jsonl_rules {
    const char *text;
    struct strings texts; /* If jsonl_joins_texts says so, their texts are joined; otherwise `text` alone counts. */
    const char *id;       /* NULL: lines have no ID. */
    const char *title;    /* NULL: lines have no title. */
    const char *date;     /* NULL: lines have no date. */
    bool date_is_score;   /* It is a number; what date_convert_score makes of it takes the place of the date. */
};

enum jsonl_field { JSONL_ID, JSONL_TEXT, JSONL_TITLE, JSONL_DATE, JSONL_FIELDS };

/* What a line has beside its fields. */
struct jsonl {
    struct output strings[JSONL_FIELDS]; /* Strings of fields, decoded, if they have escapes. */
    struct output joined;                /* The texts of several fields, one behind the other. */
    int64_t date;                        /* DATE_NONE: there is none, or its notation is unknown. */
};

#define JSONL_INIT                                                                                                     \
    { {OUTPUT_BUFFER, OUTPUT_BUFFER, OUTPUT_BUFFER, OUTPUT_BUFFER}, OUTPUT_BUFFER, DATE_NONE }

/* Sets the fields of a line, and jsonl->date. The text becomes the body, which may have NUL bytes. If the rules name
 * several texts, those that are there and not null become the body, with line ends between them. ID and title are set
 * only if the rules name them; a missing title stays as it is. An ID that is a number keeps its digits. The fields are
 * valid until the line or `jsonl` changes. Sets *bad and returns false if
 * - the line is no object, or an object that leads to a field has a syntax error,
 * - the ID or the text is missing, or has another type,
 * - the title is there and neither a string nor null,
 * - a path has more than JSONL_MOST_STARS names *,
 * - one of these strings, or that of the date, has an escape that JSON lacks, or
 * - memory ran out.
 * Even then the ID is set if it could be read. Other fields of the line do not matter. */
bool jsonl_parse(const struct jsonl_rules *rules, struct span line, struct jsonl *jsonl, struct fields *fields,
                 struct bad *bad);

/* Returns whether the text of a line is made of several strings: of several fields, or of a field with a *. */
static inline bool jsonl_joins_texts(const struct jsonl_rules *rules) {
    return rules->texts.count > 1 || (rules->texts.count == 1 && strchr(rules->texts.values[0], '*') != NULL);
}

/* Sets *value to the string of the field rules->text as the line has it, with quotes and escapes. Sets *bad and returns
 * false if the field is missing or no string, or if the line is no object or has a syntax error. */
bool jsonl_find_text(const struct jsonl_rules *rules, struct span line, struct span *value, struct bad *bad);

/* Frees the strings, and with them the fields of the last line. */
void jsonl_free(struct jsonl *jsonl);

/* What JSON a file begins with. */
struct jsonl_beginning {
    bool is_lines;   /* A line that is an object, or as much of it as is there. */
    bool is_array;   /* An array with an object in it, or as much of it as is there. */
    bool has_text;   /* The first object has the field, or the first of its names. */
    bool has_second; /* Another line begins with a brace. */
};

/* Returns what JSON a file begins with, by its first bytes. `text_field` is the path of the text, as in jsonl_rules.
 * All is false if the bytes do not begin with an object, or with [ and an object. */
struct jsonl_beginning jsonl_look_at_beginning(struct span bytes, const char *text_field);

#endif
