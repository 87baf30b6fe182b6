/* json.h: JSON on an output, over jansson. */
#ifndef IDX_TOOLS_JSON_H
#define IDX_TOOLS_JSON_H

#include "tools/shared/output.h"

#include <jansson.h>

/* Writes bytes as a string where they are UTF-8, else as {"hex":"…"}. */
void json_put_bytes(struct output *output, const void *bytes, size_t length);

/* Writes a value, compact, and releases it. NULL, as jansson's makers return where memory runs out, is an error of the
 * output. */
void json_put(struct output *output, json_t *value);

#endif
