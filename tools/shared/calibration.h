/* calibration.h: reads and writes as JSON how long look-ups take on a machine. */
#ifndef IDX_TOOLS_CALIBRATION_H
#define IDX_TOOLS_CALIBRATION_H

#include "tools/shared/output.h"

#include <idx.h>

/* Reads a file, or standard input if it is `-`. Complains, and returns false, if it can't be read or lacks a number. */
bool calibration_read(const char *file, struct idx_calibration *calibration);

/* Writes the calibration in the form that calibration_read reads. */
void calibration_write(struct output *output, const struct idx_calibration *calibration);

#endif
