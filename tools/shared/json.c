/* json.c: JSON on an output, over jansson. */
#include "tools/shared/json.h"

#include <errno.h>

static int put(const char *bytes, size_t length, void *context) {
    output_bytes(context, bytes, length);
    return 0;
}

void json_put(struct output *output, json_t *value) {
    bool written = value != NULL && json_dump_callback(value, put, output, JSON_COMPACT | JSON_ENCODE_ANY) == 0;
    if (!written && output->error == 0) output->error = ENOMEM;
    json_decref(value);
}

static void put_hex(struct output *output, const unsigned char *bytes, size_t length) {
    output_text(output, "{\"hex\":\"");
    for (size_t i = 0; i < length; i++) output_fingerprint(output, NOTATION_HEX, 8, bytes[i]);
    output_text(output, "\"}");
}

void json_put_bytes(struct output *output, const void *bytes, size_t length) {
    json_t *string = json_stringn(bytes, length);
    if (string != NULL)
        json_put(output, string);
    else
        put_hex(output, bytes, length);
}
