/* jsonl.c: finds the fields of a document that is a line of JSON, by jansson. */
#include "tools/text/extract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 256 };

/* Reads a name in a path. In a JSON pointer, ~1 means a slash, and ~0 a tilde. Returns false if the name is too
 * long. */
static bool read_name(const char *from, size_t length, bool pointer, char name[NAME_SIZE]) {
    size_t size = 0;
    for (size_t i = 0; i < length; i++, size++) {
        if (size + 1 == NAME_SIZE) return false;
        name[size] = from[i];
        if (pointer && from[i] == '~' && i + 1 < length && (from[i + 1] == '0' || from[i + 1] == '1'))
            name[size] = from[++i] == '0' ? '~' : '/';
    }
    name[size] = '\0';
    return true;
}

static json_t *find_member(const json_t *value, const char *name) {
    char *end;
    if (!json_is_array(value)) return json_object_get(value, name);
    unsigned long index = strtoul(name, &end, 10);
    return *name >= '0' && *name <= '9' && *end == '\0' ? json_array_get(value, index) : NULL;
}

/* Returns the value at a path, or NULL if there is none. */
static json_t *find_value(json_t *value, const char *path) {
    bool pointer = *path == '/';
    char separator = pointer ? '/' : '.', name[NAME_SIZE];
    if (pointer) path++;
    while (value != NULL) {
        const char *end = strchrnul(path, separator);
        if (!read_name(path, (size_t)(end - path), pointer, name)) return NULL;
        value = find_member(value, name);
        if (*end == '\0') return value;
        path = end + 1;
    }
    return NULL;
}

static bool find_string(json_t *object, const char *path, struct span *found, struct bad *bad) {
    const json_t *value = find_value(object, path);
    if (value == NULL) return bad_set(bad, BAD_FIELD, "the field '%.100s' is missing", path);
    if (!json_is_string(value)) return bad_set(bad, BAD_FIELD, "the field '%.100s' is not a string", path);
    *found = (struct span){json_string_value(value), json_string_length(value)};
    return true;
}

static bool find_id(struct jsonl *jsonl, const char *path, struct span *id, struct bad *bad) {
    const json_t *value = find_value(jsonl->object, path);
    if (value == NULL || json_is_string(value)) return find_string(jsonl->object, path, id, bad);
    if (!json_is_integer(value))
        return bad_set(bad, BAD_FIELD, "the field '%.100s' is neither a string nor an integer", path);
    int length = snprintf(jsonl->number, sizeof jsonl->number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    *id = (struct span){jsonl->number, (size_t)length};
    return true;
}

/* Returns the date at a path, which is a string or a number of seconds, or DATE_NONE. */
static int64_t find_date(json_t *object, const char *path) {
    const json_t *value = path == NULL ? NULL : find_value(object, path);
    int64_t date;
    if (json_is_string(value) && date_parse(json_string_value(value), json_string_length(value), &date)) return date;
    if (json_is_number(value) && date_of_seconds(json_number_value(value), &date)) return date;
    return DATE_NONE;
}

bool jsonl_parse(const struct jsonl_rules *rules, const char *line, size_t length, struct jsonl *jsonl,
                 struct fields *fields, struct bad *bad) {
    json_error_t error;
    json_t *object = jsonl->object = json_loadb(line, length, JSON_ALLOW_NUL, &error);
    if (object == NULL) return bad_set(bad, BAD_JSON, "it is not JSON: %s", error.text);
    if (!json_is_object(object)) return bad_set(bad, BAD_JSON, "it is not a JSON object");
    if (!find_string(object, rules->text, &fields->body, bad)) return false;
    if (rules->id != NULL && !find_id(jsonl, rules->id, &fields->id, bad)) return false;
    jsonl->date = find_date(object, rules->date);
    const json_t *title = rules->title == NULL ? NULL : find_value(object, rules->title);
    return title == NULL || json_is_null(title) || find_string(object, rules->title, &fields->title, bad);
}
