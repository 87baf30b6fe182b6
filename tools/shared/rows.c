/* rows.c: writes rows of values as columns or JSON. */
#include "tools/shared/rows.h"

#include "tools/shared/json.h"

#include <string.h>

/* The names are literals in the code of commands, and are shorter. */
enum { MAX_NAME_BYTES = 32 };

/* Writes what comes before a value of JSON: a comma if it follows another value, and its name, unless that is NULL. */
static void write_json_name(struct rows *rows, const char *name) {
    char prefix[MAX_NAME_BYTES + 4]; /* Besides the name, a comma, two quotation marks and a colon. */
    size_t length = 0;
    if (rows->needs_separator) prefix[length++] = ',';
    if (name != NULL) {
        const size_t name_length = strnlen(name, MAX_NAME_BYTES);
        prefix[length++] = '"';
        memcpy(prefix + length, name, name_length);
        memcpy(prefix + length + name_length, "\":", 2);
        length += name_length + 2;
    }
    output_bytes(rows->output, prefix, length);
}

void row_begin_value(struct rows *rows, const char *name) {
    if (rows->json)
        write_json_name(rows, name);
    else if (rows->needs_separator)
        output_byte(rows->output, '\t');
    rows->needs_separator = true;
}

/* Writes a bracket of JSON, and nothing in columns. `needs_separator` says whether a value right behind it needs a
 * comma before it. */
static void write_bracket(struct rows *rows, char bracket, bool needs_separator) {
    if (rows->json) {
        output_byte(rows->output, bracket);
        rows->needs_separator = needs_separator;
    }
}

/* Writes a quotation mark of JSON, and nothing in columns. */
static void write_quote(struct rows *rows) {
    if (rows->json) output_byte(rows->output, '"');
}

void row_begin_object(struct rows *rows, const char *name) {
    if (rows->json) row_begin_value(rows, name);
    write_bracket(rows, '{', false);
}

void row_begin_array(struct rows *rows, const char *name) {
    if (rows->json) row_begin_value(rows, name);
    write_bracket(rows, '[', false);
}

void row_end_object(struct rows *rows) { write_bracket(rows, '}', true); }
void row_end_array(struct rows *rows) { write_bracket(rows, ']', true); }

void row_begin(struct rows *rows) {
    rows->needs_separator = false;
    write_bracket(rows, '{', false);
}

void row_end(struct rows *rows) { output_text(rows->output, rows->json ? "}\n" : "\n"); }

void row_write_word(struct rows *rows, const char *name, const char *word) {
    row_begin_value(rows, name);
    output_text(rows->output, word);
}

void row_write_id(struct rows *rows, const char *name, const void *id, size_t length) {
    row_begin_value(rows, name);
    (rows->json ? json_write_bytes : output_id)(rows->output, id, length);
}

void row_write_document_id(struct rows *rows, const char *name, const struct idx_document *document) {
    if (document->id != NULL) {
        row_write_id(rows, name, document->id, document->id_length);
        return;
    }
    row_begin_value(rows, name);
    write_quote(rows);
    output_decimal(rows->output, document->number);
    write_quote(rows);
}

void row_write_fingerprint(struct rows *rows, const char *name, enum notation notation, unsigned bits,
                           uint64_t fingerprint) {
    row_begin_value(rows, name);
    write_quote(rows);
    output_fingerprint(rows->output, notation, bits, fingerprint);
    write_quote(rows);
}

void row_write_number(struct rows *rows, const char *name, uint64_t number) {
    row_begin_value(rows, name);
    output_decimal(rows->output, number);
}

void row_write_share(struct rows *rows, const char *name, uint64_t shared, uint64_t total) {
    row_begin_value(rows, name);
    output_share(rows->output, shared, total);
}
