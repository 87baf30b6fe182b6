/* json.c: writes values as JSON, and reads and writes calibrations as such, over jansson. */
#include "tools/shared/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends bytes to the output that is the context. This is a json_dump_callback_t. Returns 0, which means success, even
 * if the output failed: it keeps its own error. */
static int append_bytes_to_output(const char *bytes, size_t length, void *context) {
    output_bytes(context, bytes, length);
    return 0;
}

void json_write_value(struct output *output, json_t *value) {
    bool written =
        value != NULL && json_dump_callback(value, append_bytes_to_output, output, JSON_COMPACT | JSON_ENCODE_ANY) == 0;
    if (!written && output->error == 0) output->error = ENOMEM;
    json_decref(value);
}

json_t *json_append_value(json_t *array, json_t *value) {
    if (json_array_append_new(array, value) == 0) return array;
    json_decref(array);
    return NULL;
}

json_t *json_from_bytes(const void *bytes, size_t length) {
    const unsigned char *byte = bytes;
    if (bytes_are_utf8(bytes, length)) return json_stringn(bytes, length);
    char *hex = malloc(2 * length + 1);
    if (hex == NULL) return NULL;
    for (size_t i = 0; i < length; i++) notation_format_fingerprint(NOTATION_HEX, 8, byte[i], hex + 2 * i);
    json_t *object = json_pack("{s:s%}", "hex", hex, 2 * length);
    free(hex);
    return object;
}

/* Returns whether bytes are in a JSON string as they are: printable ASCII without quotes and backslashes, as most IDs
 * are. */
static bool needs_no_escape(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i] < ' ' || bytes[i] > '~' || bytes[i] == '"' || bytes[i] == '\\') return false;
    return true;
}

void json_write_bytes(struct output *output, const void *bytes, size_t length) {
    if (needs_no_escape(bytes, length)) {
        output_byte(output, '"');
        output_bytes(output, bytes, length);
        output_byte(output, '"');
    } else {
        json_write_value(output, json_from_bytes(bytes, length));
    }
}

/* ---- Calibrations, whose keys are the names of struct idx_calibration's members ---- */

/* The members, each of which is a number, or an array of IDX_CALIBRATION_SIZES numbers. */
static const struct member {
    const char *name;
    size_t offset;
    bool is_array;
} members[] = {
    {"table", offsetof(struct idx_calibration, table), false},
    {"probe", offsetof(struct idx_calibration, probe), false},
    {"byte", offsetof(struct idx_calibration, byte), false},
    {"block", offsetof(struct idx_calibration, block), false},
    {"candidate", offsetof(struct idx_calibration, candidate), false},
    {"single", offsetof(struct idx_calibration, single), false},
    {"loaded_waits", offsetof(struct idx_calibration, loaded_waits), true},
    {"loaded_latencies", offsetof(struct idx_calibration, loaded_latencies), true},
    {"mapped_waits", offsetof(struct idx_calibration, mapped_waits), true},
    {"mapped_latencies", offsetof(struct idx_calibration, mapped_latencies), true},
};
#define MEMBER_COUNT (sizeof members / sizeof *members)

/* Reads a member of the object into the calibration. Returns false, without a complaint, if it is missing or of another
 * type. */
static bool read_calibration_member(const json_t *object, const struct member *member,
                                    struct idx_calibration *calibration) {
    double *numbers = (double *)(void *)((char *)calibration + member->offset);
    const json_t *value = json_object_get(object, member->name);
    if (!member->is_array) {
        *numbers = json_number_value(value);
        return json_is_number(value);
    }
    for (size_t i = 0; i < IDX_CALIBRATION_SIZES; i++) {
        const json_t *item = json_array_get(value, i);
        numbers[i] = json_number_value(item);
        if (!json_is_number(item)) return false;
    }
    return json_array_size(value) == IDX_CALIBRATION_SIZES;
}

bool calibration_read(const char *path, struct idx_calibration *calibration) {
    json_error_t error;
    FILE *input = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (input == NULL) return complain("%s: %s", path, strerror(errno));
    json_t *object = json_loadf(input, 0, &error);
    if (input != stdin) fclose(input);
    if (object == NULL) return complain("%s: %s: make it with idx plan --measure", path, error.text);
    const struct member *first_bad = NULL;
    for (size_t i = MEMBER_COUNT; i-- > 0;) { /* From the last on, so that the first one is named. */
        if (!read_calibration_member(object, &members[i], calibration)) first_bad = &members[i];
    }
    json_decref(object);
    if (first_bad != NULL && first_bad->is_array)
        complain("%s: '%s' is not a list of %d numbers: make the file with idx plan --measure", path, first_bad->name,
                 IDX_CALIBRATION_SIZES);
    else if (first_bad != NULL)
        complain("%s: '%s' is not a number: make the file with idx plan --measure", path, first_bad->name);
    return first_bad == NULL;
}

void calibration_write(struct output *output, const struct idx_calibration *calibration) {
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const double *numbers = (const double *)(const void *)((const char *)calibration + members[i].offset);
        const size_t number_count = members[i].is_array ? IDX_CALIBRATION_SIZES : 1;
        output_format(output, "%s\"%s\": %s", i == 0 ? "{" : ",\n ", members[i].name, members[i].is_array ? "[" : "");
        for (size_t j = 0; j < number_count; j++) {
            if (j > 0) output_text(output, ", ");
            output_format(output, "%.4g", numbers[j]); /* These times, in nanoseconds, are not more exact. */
        }
        if (members[i].is_array) output_byte(output, ']');
    }
    output_text(output, "}\n");
}
