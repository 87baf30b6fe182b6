/* json.c: writes JSON to an output, over jansson. */
#include "tools/shared/json.h"

#include <errno.h>
#include <stdlib.h>

static int append_bytes(const char *bytes, size_t length, void *context) {
    output_bytes(context, bytes, length);
    return 0;
}

void json_put(struct output *output, json_t *value) {
    bool written =
        value != NULL && json_dump_callback(value, append_bytes, output, JSON_COMPACT | JSON_ENCODE_ANY) == 0;
    if (!written && output->error == 0) output->error = ENOMEM;
    json_decref(value);
}

json_t *json_appended(json_t *array, json_t *value) {
    if (json_array_append_new(array, value) == 0) return array;
    json_decref(array);
    return NULL;
}

json_t *json_bytes(const void *bytes, size_t length) {
    const unsigned char *byte = bytes;
    if (printable_is_utf8(bytes, length)) return json_stringn(bytes, length);
    char *hex = malloc(2 * length + 1);
    if (hex == NULL) return NULL;
    for (size_t i = 0; i < length; i++) notation_print(NOTATION_HEX, 8, byte[i], hex + 2 * i);
    json_t *object = json_pack("{s:s%}", "hex", hex, 2 * length);
    free(hex);
    return object;
}

/* Returns whether bytes stand in a JSON string as they are, as most IDs do. */
static bool is_plain(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i] < ' ' || bytes[i] > '~' || bytes[i] == '"' || bytes[i] == '\\') return false;
    return true;
}

void json_put_bytes(struct output *output, const void *bytes, size_t length) {
    if (is_plain(bytes, length)) {
        output_byte(output, '"');
        output_bytes(output, bytes, length);
        output_byte(output, '"');
    } else {
        json_put(output, json_bytes(bytes, length));
    }
}
