/* html.c: writes text and charts into a page. Charts are drawn narrow, so that their letters can be read on a small
 * screen, and grow up to the width that style.css sets. */
#include "tools/report/html.h"

#include <math.h>
#include <string.h>

/* ---- Text ---- */

enum { LONGEST_ID = 600 /* The most bytes of an ID as it is written. */ };

/* Writes a character, or the escape of a byte, so that it is no markup. */
static void put_without_markup(struct output *output, const char *piece) {
    switch (*piece) {
        case '<': output_text(output, "&lt;"); break;
        case '>': output_text(output, "&gt;"); break;
        case '&': output_text(output, "&amp;"); break;
        case '"': output_text(output, "&quot;"); break;
        default: output_text(output, piece);
    }
}

static bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

void html_text(struct output *output, const char *bytes, size_t length, enum html_space space, size_t most) {
    const char *end = bytes + length;
    size_t longest = output->length + most;
    bool in_span = false;
    while (bytes < end && output->length < longest) {
        bool is_plain_space = space == HTML_PLAIN_SPACE && is_space(*bytes);
        char piece[PRINTABLE_PIECE] = " ";
        size_t step = is_plain_space ? 1 : printable_piece(bytes, piece);
        bool is_escape = piece[0] == '\\' && *bytes != '\\';
        if (is_escape != in_span) output_text(output, is_escape ? "<span class=\"byte\">" : "</span>");
        in_span = is_escape;
        put_without_markup(output, piece);
        bytes += step;
    }
    if (in_span) output_text(output, "</span>");
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
        html_text(output, shown->id, shown->id_length, HTML_ESCAPED_SPACE,
                  shown->id_is_cut ? LONGEST_ID - 1 : LONGEST_ID); /* With one less, the ellipsis follows. */
    output_text(output, "</bdi>");
}

const char *html_digits(char text[HTML_DIGITS], uint64_t number) {
    char digits[NOTATION_MAX_LENGTH], *to = text;
    size_t length = notation_print_decimal(number, digits);
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

void html_count(struct output *output, uint64_t number, const char *what) {
    char digits[HTML_DIGITS];
    output_format(output, "%s %s%s", html_digits(digits, number), what, number == 1 ? "" : "s");
}

void html_bits(struct output *output, uint64_t bits) {
    const char *separator = (bits & (bits - 1)) == 0 ? "bit " : "bits ";
    if (bits == 0) output_text(output, "no bit");
    for (unsigned bit = IDX_MAX_BITS; bit-- > 0;) {
        if ((bits >> bit & 1) == 0) continue;
        output_format(output, "%s%u", separator, bit);
        separator = ", ";
    }
}

/* ---- Charts ---- */

/* In units of the drawing. LEFT and RIGHT are the room for labels and values beside the bars. */
enum { WIDTH = 400, LEFT = 78, RIGHT = 84, ROW = 18, BITS_HEIGHT = 90 };

/* Begins a figure, which the caller ends. The remark is beside the title, for those who see the drawing; the
 * description is for those who don't. */
static void begin_figure(struct output *output, const char *name, const char *title, const char *remark,
                         const char *description, unsigned height) {
    output_format(output,
                  "<figure><figcaption>%s%s</figcaption>\n<svg role=\"img\" aria-labelledby=\"%s-title %s-text\" "
                  "viewBox=\"0 0 %d %u\"><title id=\"%s-title\">%s</title><desc id=\"%s-text\">%s</desc>\n",
                  title, remark, name, name, WIDTH, height, name, title, name, description);
}

void chart_put(struct output *output, const char *name, const char *title, const char *description,
               const struct bar *bars, size_t count) {
    char digits[HTML_DIGITS];
    uint64_t most = 1;
    for (size_t i = 0; i < count; i++) most = bars[i].value > most ? bars[i].value : most;
    begin_figure(output, name, title, " <span class=\"soft\">(logarithmic bars)</span>", description,
                 (unsigned)count * ROW + 4);
    for (size_t i = 0; i < count; i++) {
        unsigned y = (unsigned)i * ROW + 2;
        double length = (WIDTH - LEFT - RIGHT) * log1p((double)bars[i].value) / log1p((double)most);
        output_format(output, "<text class=\"label\" x=\"%d\" y=\"%u\">%s</text>", LEFT - 6, y + 12, bars[i].label);
        output_format(output, "<rect class=\"%s\" x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\"/>",
                      bars[i].is_estimate ? "bar about" : "bar", LEFT, y + 1, length, ROW - 4);
        output_format(output, "<text x=\"%.1f\" y=\"%u\">%s%s</text>\n", LEFT + length + 5, y + 12,
                      bars[i].is_estimate ? "≈ " : "", html_digits(digits, bars[i].value));
    }
    output_text(output, "</svg></figure>\n");
}

void chart_put_bits(struct output *output, const char *title, const uint64_t *ones, unsigned bits, uint64_t all) {
    const unsigned base = BITS_HEIGHT - 16; /* Where bars begin: below them is the text. */
    double step = (double)WIDTH / bits;
    begin_figure(output, "bits-chart", title, "",
                 "One bar per bit, from the most significant one; dead bits are hatched.", BITS_HEIGHT);
    output_format(output, "<line class=\"half\" x1=\"0\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", base / 2.0, WIDTH,
                  base / 2.0);
    for (unsigned i = 0; i < bits; i++) {
        uint64_t count = ones[bits - 1 - i];
        bool dead = count == 0 || count == all;
        double height = dead ? base : base * (double)count / (double)all;
        output_format(output, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                      dead ? "dead" : "bar", i * step, base - height, step * 0.8, height);
    }
    output_format(output,
                  "\n<text x=\"0\" y=\"%d\">bit %u</text><text class=\"label\" x=\"%d\" y=\"%d\">bit 0</text>\n"
                  "</svg></figure>\n",
                  BITS_HEIGHT - 3, bits - 1, WIDTH, BITS_HEIGHT - 3);
}
