/* rows.h: writes rows of values, either as columns with tabs between them, or as objects of JSON, a line each. Each
 * value has a name in JSON, but in arrays, where the name is NULL. */
#ifndef IDX_TOOLS_SHARED_ROWS_H
#define IDX_TOOLS_SHARED_ROWS_H

#include "tools/shared/output.h"

#include <idx.h>

struct rows {
    struct output *output;
    bool json;
    bool needs_separator; /* A tab or a comma comes before the next value. */
};

/* Begin and end a row, which is an object in JSON. All values of the row are written between the two calls. row_end
 * also ends the line. An error shows only in the `error` of the output, as with all functions here. */
void row_begin(struct rows *rows);
void row_end(struct rows *rows);

/* Begins a value, which the caller writes next. In columns, writes a tab, in JSON a comma, unless the value is the
 * first; in JSON, then writes the name, unless it is NULL. */
void row_begin_value(struct rows *rows, const char *name);

/* Writes a word, such as true, without quotation marks, in JSON as well. */
void row_write_word(struct rows *rows, const char *name, const char *word);

/* Writes bytes as an ID: escaped in columns (wording.h), and in JSON a string, or {"hex":"…"} if they are not UTF-8. */
void row_write_id(struct rows *rows, const char *name, const void *id, size_t length);

/* Writes the ID of a document, of either type; in JSON a string. */
void row_write_document_id(struct rows *rows, const char *name, const struct idx_document *document);

/* Writes a fingerprint of `bits` bits in a notation; in JSON a string. */
void row_write_fingerprint(struct rows *rows, const char *name, enum notation notation, unsigned bits,
                           uint64_t fingerprint);

/* Writes a number in decimal; in JSON a number. */
void row_write_number(struct rows *rows, const char *name, uint64_t number);

/* Writes a share, as output_share does. */
void row_write_share(struct rows *rows, const char *name, uint64_t shared, uint64_t total);

/* In JSON, what is written between a begin and its end is in an object, or in an array, named `name` unless that is
 * NULL. In columns, these functions write nothing. */
void row_begin_object(struct rows *rows, const char *name);
void row_end_object(struct rows *rows);
void row_begin_array(struct rows *rows, const char *name);
void row_end_array(struct rows *rows);

#endif
