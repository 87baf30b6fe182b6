/* json.h: JSON on an output, over jansson. */
#ifndef IDX_TOOLS_JSON_H
#define IDX_TOOLS_JSON_H

#include "tools/shared/output.h"

#include <jansson.h>

/* The array with one more value, both of which it takes over; NULL if either is NULL, or without memory. */
json_t *json_appended(json_t *array, json_t *value);

/* Bytes as a string if they are UTF-8, or else as {"hex":"…"}; NULL without memory. The caller releases it. */
json_t *json_bytes(const void *bytes, size_t length);

/* Writes them. */
void json_put_bytes(struct output *output, const void *bytes, size_t length);

/* Writes a value, compact, and releases it. NULL, as jansson's makers return where memory runs out, is an error of the
 * output. */
void json_put(struct output *output, json_t *value);

#endif
