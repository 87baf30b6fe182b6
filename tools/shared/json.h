/* json.h: writes values as JSON, and reads and writes calibrations as such, over jansson. */
#ifndef IDX_TOOLS_JSON_H
#define IDX_TOOLS_JSON_H

#include "tools/shared/output.h"

#include <idx.h>
#include <idx_planning.h>
#include <jansson.h>

/* Appends the value to the array, and returns the array. Takes ownership of both arguments: the caller releases the
 * result alone. Returns NULL, without a complaint, if either argument is NULL or memory ran out; then both arguments
 * are released. So calls can be chained, and only the last result need be checked. */
json_t *json_append_value(json_t *array, json_t *value);

/* Returns bytes as a string if they are UTF-8, or else as {"hex":"…"}. Returns NULL, without a complaint, if memory ran
 * out. The caller releases the value. */
json_t *json_from_bytes(const void *bytes, size_t length);

/* Writes bytes as json_from_bytes represents them: a JSON string, or {"hex":"…"}. Sets the error of the output if
 * memory ran out. */
void json_write_bytes(struct output *output, const void *bytes, size_t length);

/* Writes a value without white space, and releases it. Sets the error of the output if the value is NULL, as when
 * memory ran out, or if it can't be written. */
void json_write_value(struct output *output, json_t *value);

/* ---- How long look-ups take on a machine: `idx plan --measure` ---- */

/* Reads a calibration from the file at a path, or from standard input if that is `-`. Complains and returns false if it
 * can't be read, or if a member is missing or of another type; then *calibration is unspecified. */
bool calibration_read(const char *path, struct idx_calibration *calibration);

/* Writes the calibration in the form that calibration_read reads. Each number is rounded to four significant digits. */
void calibration_write(struct output *output, const struct idx_calibration *calibration);

#endif
