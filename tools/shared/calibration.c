/* calibration.c: reads and writes calibrations. The keys are the names of struct idx_calibration's members. */
#include "tools/shared/calibration.h"

#include "tools/shared/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A member is a number, or IDX_CALIBRATION_SIZES numbers. */
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
#define MEMBERS (sizeof members / sizeof *members)

/* Reads a member of the JSON object into the calibration. Returns false if it is missing or not of the right type. */
static bool read_member(const json_t *object, const struct member *member, struct idx_calibration *calibration) {
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

bool calibration_read(const char *file, struct idx_calibration *calibration) {
    json_error_t error;
    FILE *input = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
    if (input == NULL) return complain("%s: %s", file, strerror(errno));
    json_t *object = json_loadf(input, 0, &error);
    if (input != stdin) fclose(input);
    if (object == NULL) return complain("%s: %s: make it with idx plan --measure", file, error.text);
    const struct member *missing = NULL;
    for (size_t i = MEMBERS; i-- > 0;) {
        if (!read_member(object, &members[i], calibration)) missing = &members[i];
    }
    json_decref(object);
    if (missing != NULL && missing->is_array)
        complain("%s: '%s' is not a list of %d numbers: make the file with idx plan --measure", file, missing->name,
                 IDX_CALIBRATION_SIZES);
    else if (missing != NULL)
        complain("%s: '%s' is not a number: make the file with idx plan --measure", file, missing->name);
    return missing == NULL;
}

/* Writes four digits: hundredths of a nanosecond are measured, and thousandths of what occurs many times per query. */
static void write_number(struct output *output, double number) { output_format(output, "%.4g", number); }

void calibration_write(struct output *output, const struct idx_calibration *calibration) {
    for (size_t i = 0; i < MEMBERS; i++) {
        const double *numbers = (const double *)(const void *)((const char *)calibration + members[i].offset);
        output_format(output, "%s\"%s\": %s", i == 0 ? "{" : ",\n ", members[i].name, members[i].is_array ? "[" : "");
        for (size_t j = 0; j < (members[i].is_array ? IDX_CALIBRATION_SIZES : 1); j++) {
            if (j > 0) output_text(output, ", ");
            write_number(output, numbers[j]);
        }
        if (members[i].is_array) output_byte(output, ']');
    }
    output_text(output, "}\n");
}
