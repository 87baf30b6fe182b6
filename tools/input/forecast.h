/* forecast.h: what a build is expected to take, said before it starts, and whether there is room for it. */
#ifndef IDX_TOOLS_FORECAST_H
#define IDX_TOOLS_FORECAST_H

#include "tools/input/input.h"

#include <idx.h>

/* Says it where `shown`, and warns in any case where a file system has less free. `output` is where the index will
 * stand. */
void forecast(const struct idx_build_options *options, const char *output, const struct input_size *size, bool shown);

#endif
