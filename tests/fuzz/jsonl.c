/* jsonl.c: fuzzes finding the fields of a line of JSON. An input is: where the fields are, then the line. What jansson
 * takes must be found as jansson finds it; what is found must be gone from a line that is cut short. */
#include "tools/formats/jsonl.h"

#include "tests/fuzz/fuzz.h"

#include <jansson.h>

static const struct jsonl_rules rules[] = {
    {.text = "text", .id = "id", .title = "title", .date = "date"},
    {.text = "a.b", .id = "a.0", .title = "/a~1b/c", .date = "a"},
    {.text = "a", .id = "a", .title = "a", .date = "a"},
    {.text = "/0/1/2", .id = "", .title = "/"},
};

static void check_equal(const json_t *value, struct span string) {
    CHECK(json_is_string(value) && json_string_length(value) == string.length);
    CHECK(string.length == 0 || memcmp(json_string_value(value), string.bytes, string.length) == 0);
}

/* Compares the fields at the top with those that jansson finds, if it finds an object. It passes over NUL bytes behind
 * numbers, which JSON does not have. */
static void compare(const struct jsonl_rules *fields_at, const char *line, size_t length, bool ok,
                    const struct fields *fields) {
    json_error_t error;
    json_t *object = json_loadb(line, length, JSON_ALLOW_NUL, &error);
    const json_t *text = json_object_get(object, fields_at->text), *id = json_object_get(object, fields_at->id);
    if (json_is_object(object) && fields_at == &rules[0] && memchr(line, '\0', length) == NULL) {
        const json_t *title = json_object_get(object, fields_at->title);
        bool has_title = title != NULL && !json_is_null(title);
        CHECK(ok == (json_is_string(text) && (json_is_string(id) || json_is_number(id)) &&
                     (!has_title || json_is_string(title))));
        if (ok) check_equal(text, fields->body);
        if (ok && json_is_string(id)) check_equal(id, fields->id);
        if (ok && has_title) check_equal(title, fields->title);
    }
    json_decref(object);
}

/* Returns whether the line is an object that has the fields, and compares these with what jansson finds. */
static bool parse(const struct jsonl_rules *fields_at, const char *line, size_t length) {
    struct jsonl jsonl = JSONL_INIT;
    struct fields fields = {.id = {NULL, 0}};
    struct bad bad = {.kind = BAD_NONE};
    bool ok = jsonl_parse(fields_at, (struct span){line, length}, &jsonl, &fields, &bad);
    CHECK(ok == (bad.kind == BAD_NONE) && bad.kind != BAD_MEMORY);
    CHECK(ok || bad.problem.sentence[0] != '\0');
    if (ok) CHECK(fields.body.length + fields.id.length <= 2 * length);
    compare(fields_at, line, length, ok, &fields);
    jsonl_free(&jsonl);
    return ok;
}

/* A line that is an object is known for one, also without its end. */
static void look(const struct jsonl_rules *fields_at, const char *line, size_t length, bool ok) {
    bool in_line = length > 0 && memchr(line, '\n', length) == NULL;
    struct jsonl_beginning found = jsonl_look_at_beginning((struct span){line, length}, fields_at->text);
    CHECK(!found.is_lines || !found.is_array);
    CHECK(!ok || !in_line || (found.is_lines && found.has_text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    const struct jsonl_rules *fields_at = &rules[data[0] % (sizeof rules / sizeof *rules)];
    size_t length = size - 1;
    char *line = copy_exactly(data + 1, length);
    bool ok = parse(fields_at, line, length);
    look(fields_at, line, length, ok);
    if (ok) {
        while (line[length - 1] != '}') length--;
        char *shorter = copy_exactly(line, length - 1);
        CHECK(!parse(fields_at, shorter, length - 1));
        look(fields_at, shorter, length - 1, true);
        free(shorter);
    }
    free(line);
    return 0;
}
