/* page.c: writes the data of a report as a page, whose script draws them. */
#include "tools/report/page.h"

#include "tools/page/assets.h"

#include <string.h>

const char page_begin[] = "<!DOCTYPE html>\n<!-- A report of idx. -->\n";

/* ---- Without scripts ---- */

/* The most bytes of a string, such as a text. */
enum { MAX_STRING_BYTES = 1000 };

/* Writes up to MAX_STRING_BYTES bytes of a JSON string as text of HTML, and an ellipsis if that cuts it. What would be
 * markup or change the reading order is escaped; control characters for white space become spaces. */
static void write_html_string(struct output *output, const json_t *string) {
    const char *text = json_string_value(string), *text_end = text + json_string_length(string);
    const char *shown_end = text_end - text > MAX_STRING_BYTES ? text + MAX_STRING_BYTES : text_end;
    while (text < shown_end) {
        char piece[PRINTABLE_PIECE_BYTES];
        text += printable_write_piece(text, piece);
        if (text[-1] >= '\t' && text[-1] <= '\r') strcpy(piece, " "); /* text[-1] is the last byte of the piece. */
        if (strchr("<>&\"", *piece) != NULL) /* A piece is never empty, so this finds no NUL. */
            output_format(output, "&#%d;", *piece);
        else
            output_text(output, piece);
    }
    if (text < text_end) output_text(output, "…");
}

/* Writes a value as HTML. An object becomes a table with a row for each member, and an array of objects a table with a
 * row for each object, all of which must have the members of the first one. NULL is written as no. */
static void write_html_value(struct output *output, json_t *value) {
    json_t *first_item = json_array_get(value, 0), *item; /* `first_item` may be NULL: no array, or an empty one. */
    const char *name;
    size_t i;
    if (json_is_object(value)) {
        output_text(output, "<table>\n");
        json_object_foreach(value, name, item) {
            output_format(output, "<tr><th scope=\"row\">%s</th><td>", name);
            write_html_value(output, item);
            output_text(output, "</td></tr>\n");
        }
        output_text(output, "</table>\n");
    } else if (json_is_object(first_item)) {
        output_text(output, "<table>\n<tr>");
        json_object_foreach(first_item, name, item) output_format(output, "<th scope=\"col\">%s</th>", name);
        json_array_foreach(value, i, item) {
            json_t *member;
            output_text(output, "</tr>\n<tr>");
            json_object_foreach(item, name, member) {
                output_text(output, "<td>");
                write_html_value(output, member);
                output_text(output, "</td>");
            }
        }
        output_text(output, "</tr>\n</table>\n");
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, item) {
            write_html_value(output, item);
            output_byte(output, ' ');
        }
    } else if (json_is_string(value)) {
        write_html_string(output, value);
    } else if (json_is_integer(value)) {
        output_format(output, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        output_format(output, "%.4g", json_real_value(value));
    } else if (!json_is_null(value)) {
        output_text(output, json_is_true(value) ? "yes" : "no");
    }
}

/* ---- All ---- */

/* Writes a part of the data, which is JSON, to the output that is the context. Escapes each <, so that no </script> in
 * the data ends the script around it. This is a json_dump_callback_t. Returns 0, which means success: the output keeps
 * its own error. */
static int write_json(const char *bytes, size_t length, void *context) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '<')
            output_text(context, "\\u003c");
        else
            output_byte(context, bytes[i]);
    }
    return 0;
}

bool page_write(struct output *output, const struct findings *findings, const struct page_origin *origin) {
    json_t *data = data_pack_findings(findings, origin);
    output_text(output, page_begin);
    /* The policy forbids other scripts and styles than these, and anything from other files. */
    output_format(output,
                  "<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
                  "script-src 'sha256-%s' 'sha256-%s'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>Near-duplicates: report of %s</title>\n<style>",
                  asset_style_hash, asset_shared_hash, asset_report_hash, origin->command);
    output_text(output, asset_style);
    output_format(output,
                  "</style></head>\n<body>\n<header><h1>Near-duplicates</h1>\n"
                  "<p class=\"soft\">A report of <code>%s</code> %s</p></header>\n<noscript>\n"
                  "<p>This page draws its data by a script. Without it, these are the data:</p>\n",
                  origin->command, idx_version());
    write_html_value(output, data);
    output_text(output, "</noscript>\n<script type=\"application/json\" id=\"data\">");
    bool ok = data != NULL && json_dump_callback(data, write_json, output, JSON_COMPACT | JSON_REAL_PRECISION(15)) == 0;
    output_text(output, "</script>\n<script>");
    output_text(output, asset_shared);
    output_text(output, "</script>\n<script>");
    output_text(output, asset_report);
    output_text(output, "</script>\n</body>\n</html>\n");
    json_decref(data);
    return (ok && output->error == 0) || complain("out of memory");
}
