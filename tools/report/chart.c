/* chart.c: see chart.h. The drawings are so narrow that their letters can be read on a small screen; they grow to a
 * width that style.h has. */
#include "tools/report/chart.h"

#include "tools/report/html.h"

#include <math.h>

enum { WIDTH = 400, LEFT = 78, RIGHT = 84, ROW = 18, BITS_HEIGHT = 90 };

/* The remark is beside the title, for those who see the drawing; the description is for those who don't. */
static void begin(struct output *output, const char *name, const char *title, const char *remark,
                  const char *description, unsigned height) {
    output_format(output,
                  "<figure><figcaption>%s%s</figcaption>\n<svg role=\"img\" aria-labelledby=\"%s-title %s-text\" "
                  "viewBox=\"0 0 %d %u\"><title id=\"%s-title\">%s</title><desc id=\"%s-text\">%s</desc>\n",
                  title, remark, name, name, WIDTH, height, name, title, name, description);
}

static void put_value(struct output *output, const struct bar *bar) {
    if (bar->about) output_text(output, "≈ ");
    html_number(output, bar->value);
}

void chart_put(struct output *output, const char *name, const char *title, const char *description,
               const struct bar *bars, size_t count) {
    uint64_t most = 1;
    for (size_t i = 0; i < count; i++) most = bars[i].value > most ? bars[i].value : most;
    begin(output, name, title, " <span class=\"soft\">(logarithmic bars)</span>", description,
          (unsigned)count * ROW + 4);
    for (size_t i = 0; i < count; i++) {
        unsigned y = (unsigned)i * ROW + 2;
        double length = (WIDTH - LEFT - RIGHT) * log1p((double)bars[i].value) / log1p((double)most);
        output_format(output, "<text class=\"label\" x=\"%d\" y=\"%u\">%s</text>", LEFT - 6, y + 12, bars[i].label);
        output_format(output, "<rect class=\"%s\" x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\"/>",
                      bars[i].about ? "bar about" : "bar", LEFT, y + 1, length, ROW - 4);
        output_format(output, "<text x=\"%.1f\" y=\"%u\">", LEFT + length + 5, y + 12);
        put_value(output, &bars[i]);
        output_text(output, "</text>\n");
    }
    output_text(output, "</svg></figure>\n");
}

void chart_put_bits(struct output *output, const char *title, const uint64_t *ones, unsigned bits, uint64_t all) {
    const unsigned floor = BITS_HEIGHT - 16;
    double step = (double)WIDTH / bits;
    begin(output, "bits-chart", title, "", "One bar per bit, from the most significant one; dead bits are hatched.",
          BITS_HEIGHT);
    output_format(output, "<line class=\"half\" x1=\"0\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", floor / 2.0, WIDTH,
                  floor / 2.0);
    for (unsigned i = 0; i < bits; i++) {
        uint64_t count = ones[bits - 1 - i];
        bool dead = count == 0 || count == all;
        double height = dead ? floor : floor * (double)count / (double)all;
        output_format(output, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                      dead ? "dead" : "bar", i * step, floor - height, step * 0.8, height);
    }
    output_format(output,
                  "\n<text x=\"0\" y=\"%d\">bit %u</text><text class=\"label\" x=\"%d\" y=\"%d\">bit 0</text>\n"
                  "</svg></figure>\n",
                  BITS_HEIGHT - 3, bits - 1, WIDTH, BITS_HEIGHT - 3);
}
