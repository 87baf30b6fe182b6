/* lines.c: reads bodies of JSON, one value per line, and the documents in them that are to be added or removed. */
#include "tools/serve/lines.h"

#include "tools/shared/array.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lines ---- */

/* The most opening brackets and braces, colons and commas of a line; {"fingerprint":"…","id":{"hex":"…"}} has six. */
enum { MAX_MARKS = 16 };

/* Returns whether a line has nothing but spaces, tabs and carriage returns. */
static bool is_blank_line(const char *line, size_t length) {
    while (length > 0 && memchr(" \t\r", line[length - 1], 3) != NULL) length--;
    return length == 0;
}

/* Returns whether a line has at most MAX_MARKS opening brackets and braces, colons and commas outside strings. Each
 * array, object, value and key takes many times its bytes in memory once it is parsed, so a line with too many is not
 * parsed. */
static bool is_within_mark_limit(const char *line, size_t length) {
    size_t mark_count = 0;
    bool in_string = false;
    for (size_t i = 0; i < length && mark_count <= MAX_MARKS; i++) {
        if (line[i] == '"')
            in_string = !in_string;
        else if (in_string && line[i] == '\\')
            i++; /* The byte behind a backslash ends no string. */
        else if (!in_string && (line[i] == '[' || line[i] == '{' || line[i] == ':' || line[i] == ','))
            mark_count++;
    }
    return mark_count <= MAX_MARKS;
}

/* Parses a line as JSON, and calls the visitor with its value. Returns false, and sets *problem, if the line can't be
 * parsed or the visitor refuses it. If memory ran out, also fails the request; then *problem does not count. */
static bool parse_and_visit_line(struct request *request, const char *line, size_t length, line_visitor visit,
                                 void *context, struct problem *problem) {
    json_error_t error;
    if (!is_within_mark_limit(line, length)) return problem_set(problem, "it has more values than a document has");
    json_t *value = json_loadb(line, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (value == NULL && *error.text == '\0') /* jansson leaves the text empty if memory ran out. */
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the body");
    if (value == NULL) return problem_set(problem, "it is not JSON: %s", error.text);
    bool ok = visit(context, value, problem);
    json_decref(value);
    return ok;
}

void lines_visit(struct request *request, line_visitor visit, void *context) {
    const char *line = request->body.bytes, *body_end = line + request->body.length;
    struct problem problem;
    for (size_t line_number = 1; line < body_end && request_check_limits(request); line_number++) {
        const char *newline = memchr(line, '\n', (size_t)(body_end - line));
        size_t length = (size_t)((newline == NULL ? body_end : newline) - line);
        bool ok = is_blank_line(line, length) || parse_and_visit_line(request, line, length, visit, context, &problem);
        if (!ok && request->status == 0)
            request_fail(request, MHD_HTTP_BAD_REQUEST, "line %zu of the body: %s", line_number, problem.sentence);
        line += length + 1;
    }
}

/* ---- Documents ---- */

/* Returns the value of a hex digit, or -1 if the character is no hex digit in lower case. */
static int parse_hex_digit(char character) {
    static const char digits[] = "0123456789abcdef";
    const char *found = character == '\0' ? NULL : strchr(digits, character); /* strchr would find the NUL. */
    return found == NULL ? -1 : (int)(found - digits);
}

/* Parses an ID of the form {"hex":"…"}, for bytes that are not UTF-8. Appends its bytes to `ids`, and sets the item's
 * id_length. Returns false if the value has another form; some bytes may be appended even then. */
static bool parse_hex_id(struct items *items, json_t *id, struct idx_item *item) {
    json_t *hex = json_object_get(id, "hex");
    const char *text = json_string_value(hex);
    size_t length = json_string_length(hex);
    if (text == NULL || length % 2 != 0 || json_object_size(id) != 1) return false;
    for (size_t i = 0; i < length; i += 2) {
        if (parse_hex_digit(text[i]) < 0 || parse_hex_digit(text[i + 1]) < 0) return false;
        output_byte(&items->ids, (char)(parse_hex_digit(text[i]) * 16 + parse_hex_digit(text[i + 1])));
    }
    item->id_length = length / 2;
    return true;
}

/* Parses an ID of the index's type, from a JSON value. An integer ID becomes the item's number. The bytes of a text ID
 * are appended to `ids`, and only their number is set in the item: items_read sets the pointer to them. Returns false,
 * and sets *problem, if the value is no such ID. If memory ran out, only the error of `ids` is set. */
static bool parse_id(struct items *items, json_t *id, struct idx_item *item, struct problem *problem) {
    const char *text = json_string_value(id);
    size_t length = json_string_length(id);
    if (items->properties->id_type == IDX_ID_NONE)
        return problem_set(problem, "it has an id, but the index keeps none");
    if (items->properties->id_type == IDX_ID_U64) {
        if (text != NULL && number_parse_digits(text, length, &item->number)) return true;
        if (json_is_integer(id) && json_integer_value(id) >= 0) {
            item->number = (uint64_t)json_integer_value(id);
            return true;
        }
        return problem_set(problem, "the IDs of this index are decimal numbers below 2^64, as strings");
    }
    if (json_is_object(id) && parse_hex_id(items, id, item)) return true;
    if (text == NULL) return problem_set(problem, "the id is neither a string nor {\"hex\":\"…\"}");
    item->id_length = length;
    output_bytes(&items->ids, text, length);
    return true;
}

/* Checks the keys of a line, whose JSON value is `value`. The caller has found `keys` among them. The line must have no
 * other keys, lack none that is needed, and have the same keys as the lines before it. Notes the keys for the next
 * lines. Returns false, and sets *problem, if a check fails. An ID in a line for an index that keeps none passes here,
 * and parse_id refuses it. */
static bool check_and_note_keys(struct items *items, json_t *value, enum item_keys keys, struct problem *problem) {
    bool without_ids = items->properties->id_type == IDX_ID_NONE;
    enum item_keys needed = without_ids ? ITEM_FINGERPRINT : ITEM_BOTH;
    const char *main_key = items->takes_texts ? "text" : "fingerprint";
    if (keys == ITEM_NO_KEYS || json_object_size(value) != (keys == ITEM_BOTH ? 2 : 1))
        return problem_set(problem, "it is no object with the keys %s%s alone", main_key, without_ids ? "" : " and id");
    if ((keys & needed) != needed && !items->may_lack_key)
        return problem_set(problem, "the key %s is missing", keys & ITEM_ID ? main_key : "id");
    if (items->keys != ITEM_NO_KEYS && items->keys != keys)
        return problem_set(problem, "its keys are not those of the lines before it");
    items->keys = keys;
    return true;
}

/* Makes the set of shingles of the last item from its text, a JSON string. Appends the hashes to `hashes`, and sets
 * only their count: they may still move in memory, so items_read sets the pointer to them. Returns false, and sets
 * *problem, if the text is no string, or its shingles can't be made. */
static bool make_set_of_text(struct items *items, json_t *value, struct problem *problem) {
    const struct span text = {json_string_value(value), json_string_length(value)};
    const size_t length_before = items->hashes.length;
    if (text.bytes == NULL) return problem_set(problem, "the text is no string");
    if (!array_grow(&items->sets, &items->set_capacity, items->count - 1, sizeof *items->sets))
        return problem_set(problem, "out of memory");
    if (!texts_append_shingle_hashes(&text, &items->shingling, &items->hashes, problem)) return false;
    items->sets[items->count - 1] =
        (struct idx_set){.count = (items->hashes.length - length_before) / sizeof(uint64_t)};
    return true;
}

/* Appends the document of a line to the items, which are the context. Returns false, and sets *problem, if the line is
 * bad or memory ran out. This is a line_visitor. */
static bool append_item(void *context, json_t *value, struct problem *problem) {
    struct items *items = context;
    json_t *content = json_object_get(value, items->takes_texts ? "text" : "fingerprint"),
           *id = json_object_get(value, "id");
    enum item_keys keys = content == NULL ? ITEM_NO_KEYS : ITEM_FINGERPRINT;
    if (id != NULL) keys |= ITEM_ID;
    if (!check_and_note_keys(items, value, keys, problem)) return false;
    if (!array_grow(&items->list, &items->capacity, items->count, sizeof *items->list) || items->ids.error != 0)
        return problem_set(problem, "out of memory");
    struct idx_item *item = &items->list[items->count++];
    *item = (struct idx_item){.fingerprint = 0};
    if (id != NULL && !parse_id(items, id, item, problem)) return false;
    if (content == NULL) return true;
    if (items->takes_texts) return make_set_of_text(items, content, problem);
    if (!json_is_string(content)) return problem_set(problem, "the fingerprint is no string");
    return notation_parse_fingerprint(NOTATION_HEX, items->properties->bits, json_string_value(content),
                                      json_string_length(content), &item->fingerprint, problem);
}

bool items_read(struct items *items, struct request *request) {
    items->ids = items->hashes = (struct output)OUTPUT_BUFFER;
    lines_visit(request, append_item, items);
    if (items->ids.error != 0 || items->hashes.error != 0)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the documents");
    if (request->status != 0) return false;
    const char *id = items->ids.bytes; /* The IDs have their final place only now. */
    for (size_t i = 0; i < items->count; i++) {
        if (items->list[i].id_length == 0) continue; /* An integer ID, an empty one, or none. */
        items->list[i].id = id;
        id += items->list[i].id_length;
    }
    /* NULL if no text has a shingle; then the sets need no pointers. */
    const uint64_t *hash = (const uint64_t *)(const void *)items->hashes.bytes;
    for (size_t i = 0; i < items->count && items->takes_texts && hash != NULL; i++) {
        items->sets[i].hashes = hash;
        hash += items->sets[i].count;
    }
    return true;
}

void items_free(struct items *items) {
    free(items->list);
    free(items->ids.bytes);
    free(items->sets);
    free(items->hashes.bytes);
}
