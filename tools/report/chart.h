/* chart.h: histograms as SVG in a page. */
#ifndef IDX_TOOLS_CHART_H
#define IDX_TOOLS_CHART_H

#include "tools/shared/output.h"

struct bar {
    char label[24]; /* of digits and the like: it is written as it is */
    uint64_t value;
    bool about; /* an estimate */
};

/* Writes a figure with a bar for each, as long as the logarithm of its value. `name` is the figure's own in the page;
 * `title` and `description` are markup. */
void chart_put(struct output *output, const char *name, const char *title, const char *description,
               const struct bar *bars, size_t count);

/* Writes a figure of how often each bit is 1, of the most significant one first. */
void chart_put_bits(struct output *output, const char *title, const uint64_t *ones, unsigned bits, uint64_t all);

#endif
