/* html_writing.c: see html.h. */
#include "tools/report/html.h"

#include "tools/shared/printable.h"

#include <string.h>

enum { LONGEST_ID = 600 /* bytes, as it is written */ };

static void put_piece(struct output *output, const char *piece) {
    switch (*piece) {
        case '<': output_text(output, "&lt;"); break;
        case '>': output_text(output, "&gt;"); break;
        case '&': output_text(output, "&amp;"); break;
        case '"': output_text(output, "&quot;"); break;
        default: output_text(output, piece);
    }
}

static bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

void html_text(struct output *output, const char *bytes, size_t length, bool spaces, size_t most) {
    const char *end = bytes + length;
    size_t longest = output->length + most;
    bool hidden = false;
    while (bytes < end && output->length < longest) {
        char piece[PRINTABLE_PIECE];
        size_t step = spaces && is_space(*bytes) ? 1 : printable_piece(bytes, piece);
        if (spaces && is_space(*bytes)) strcpy(piece, " ");
        bool hides = piece[0] == '\\' && *bytes != '\\';
        if (hides != hidden) output_text(output, hides ? "<span class=\"byte\">" : "</span>");
        hidden = hides;
        put_piece(output, piece);
        bytes += step;
    }
    if (hidden) output_text(output, "</span>");
    if (bytes < end) output_text(output, "…");
}

void html_fingerprint(struct output *output, const struct findings *findings, uint64_t fingerprint) {
    output_text(output, "<code>");
    output_fingerprint(output, NOTATION_HEX, findings->properties.bits, fingerprint);
    output_text(output, "</code>");
}

void html_id(struct output *output, const struct findings *findings, const struct shown *shown) {
    if (findings->properties.id_type == IDX_ID_NONE) {
        html_fingerprint(output, findings, shown->fingerprint);
        return;
    }
    output_text(output, "<bdi class=\"id\">");
    if (findings->properties.id_type == IDX_ID_U64)
        output_decimal(output, shown->number);
    else
        html_text(output, shown->id, shown->id_length, false, shown->id_is_cut ? LONGEST_ID - 1 : LONGEST_ID);
    output_text(output, "</bdi>");
}

void html_number(struct output *output, uint64_t number) {
    char digits[NOTATION_MAX_LENGTH];
    size_t length = notation_print_decimal(number, digits);
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) output_byte(output, ',');
        output_byte(output, digits[i]);
    }
}

void html_count(struct output *output, uint64_t number, const char *what) {
    html_number(output, number);
    output_byte(output, ' ');
    output_text(output, what);
    if (number != 1) output_byte(output, 's');
}
