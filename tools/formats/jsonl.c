/* jsonl.c: finds the fields of a document that is a line of JSON. */
#include "tools/formats/jsonl.h"
#include "tools/formats/scan.h"

#include <stdlib.h>
#include <string.h>

/* Names of fields have fewer bytes than this. */
enum { NAME_BYTES = 256 };

/* The rest of the path to a field: the names that are not followed yet. */
struct path {
    const char *rest; /* It begins with the next name. NULL: no name is left. */
    char separator;   /* A slash in a JSON pointer, or else a dot. */
};

/* Returns the whole path to a field. One that begins with a slash is a JSON pointer. */
static struct path begin_path(const char *field) {
    return *field == '/' ? (struct path){field + 1, '/'} : (struct path){field, '.'};
}

/* Removes the next name from the path, copies it to `name`, and returns it, without a NUL. In a JSON pointer, ~1 means
 * a slash, and ~0 a tilde. If the name is too long, returns a span without bytes, which is the name of no field. The
 * path must have a name left. */
static struct span remove_next_name(struct path *path, char name[NAME_BYTES]) {
    const char *next_byte = path->rest, *end = strchrnul(next_byte, path->separator);
    size_t length = 0;
    path->rest = *end == '\0' ? NULL : end + 1;
    for (; next_byte < end; next_byte++) {
        if (length + 1 == NAME_BYTES) return (struct span){NULL, 0};
        name[length++] = *next_byte;
        if (path->separator == '/' && *next_byte == '~' && (next_byte[1] == '0' || next_byte[1] == '1'))
            name[length - 1] = *++next_byte == '0' ? '~' : '/';
    }
    return (struct span){name, length};
}

/* Replaces an object by its member of this name, or an array by its element of this number. value->bytes becomes NULL
 * if there is none. Sets *bad and returns false if an object has a syntax error. */
static bool replace_by_member_or_element(struct span *value, struct span name, struct bad *bad) {
    struct scan_member member = {.name = name};
    uint64_t index;
    bool is_array = *value->bytes == '[' && number_parse_digits(name.bytes, name.length, &index);
    if (*value->bytes == '{' && !scan_members(*value, &member, 1, bad)) return false;
    *value = is_array ? scan_find_element(*value, index) : member.value;
    return true;
}

/* Replaces *value by the one that the path leads to from it. value->bytes becomes NULL if there is none. Sets *bad and
 * returns false if an object on the way has a syntax error. */
static bool follow_path(struct path *path, struct span *value, struct bad *bad) {
    char name[NAME_BYTES];
    while (value->bytes != NULL && path->rest != NULL) {
        if (!replace_by_member_or_element(value, remove_next_name(path, name), bad)) return false;
    }
    return true;
}

/* Sets values[i] to the value of the field fields[i]; its bytes are NULL if the field isn't there, or if fields[i] is
 * NULL. Sets *bad and returns false if the line, or an object that a field is in, has a syntax error; even then the
 * values of earlier fields are set. */
static bool find_field_values(const char *const fields[JSONL_FIELDS], struct span line,
                              struct span values[JSONL_FIELDS], struct bad *bad) {
    struct scan_member members[JSONL_FIELDS] = {{.name = {NULL, 0}}};
    char names[JSONL_FIELDS][NAME_BYTES];
    struct path paths[JSONL_FIELDS] = {{NULL, 0}};
    for (size_t i = 0; i < JSONL_FIELDS; i++) {
        values[i] = (struct span){NULL, 0};
        if (fields[i] == NULL) continue;
        paths[i] = begin_path(fields[i]);
        members[i].name = remove_next_name(&paths[i], names[i]);
    }
    if (!scan_members(line, members, JSONL_FIELDS, bad)) return false;
    for (size_t i = 0; i < JSONL_FIELDS; i++) {
        struct span value = members[i].value;
        if (!follow_path(&paths[i], &value, bad)) return false;
        values[i] = value;
    }
    return true;
}

/* ---- Fields ---- */

/* Returns whether a value is there and is not null. */
static bool is_present(struct span value) {
    return value.bytes != NULL && !(value.length == 4 && memcmp(value.bytes, "null", 4) == 0);
}

/* Checks that the value of the field at `path` is a string. Sets *bad and returns false if it is none, or is missing:
 * then its bytes are NULL. */
static bool check_string(struct span value, const char *path, struct bad *bad) {
    if (value.bytes == NULL) return bad_set(bad, BAD_FIELD, "the field '%.100s' is missing", path);
    if (*value.bytes != '"') return bad_set(bad, BAD_FIELD, "the field '%.100s' is not a string", path);
    return true;
}

/* Decodes the string that is the value of the field at `path`. *string points into the line, or into `buffer` if the
 * string has escapes. Sets *bad and returns false if the value is missing or no string, if it has an escape that JSON
 * lacks, or if memory ran out. */
static bool read_string(struct span value, const char *path, struct output *buffer, struct span *string,
                        struct bad *bad) {
    return check_string(value, path, bad) && scan_string(value, buffer, string, bad);
}

bool jsonl_find_text(const struct jsonl_rules *rules, struct span line, struct span *value, struct bad *bad) {
    char name[NAME_BYTES];
    struct path path = begin_path(rules->text);
    struct scan_member member = {.name = remove_next_name(&path, name)};
    if (!scan_members(line, &member, 1, bad)) return false;
    *value = member.value;
    return follow_path(&path, value, bad) && check_string(*value, rules->text, bad);
}

/* Sets *id to the value of the field at `path`: to a string, decoded as by read_string, or to a number as it is
 * written. Sets *bad and returns false if the value is neither, or if read_string fails. */
static bool read_id(struct span value, const char *path, struct output *buffer, struct span *id, struct bad *bad) {
    if (value.bytes == NULL || *value.bytes == '"') return read_string(value, path, buffer, id, bad);
    if (!scan_is_number(value))
        return bad_set(bad, BAD_FIELD, "the field '%.100s' is neither a string nor a number", path);
    *id = value;
    return true;
}

/* Returns whether a value is a number of JSON with fewer than 64 bytes, and sets *number if so. */
static bool parse_number(struct span value, double *number) {
    char digits[64];
    if (value.length >= sizeof digits || !scan_is_number(value)) return false;
    memcpy(digits, value.bytes, value.length);
    digits[value.length] = '\0';
    *number = strtod(digits, NULL);
    return true;
}

/* Sets *date by the value of a field: a string has a date, and a number is seconds since 1970. With date_is_score, a
 * number, perhaps in a string, is a score, and *date is what date_convert_score returns. For any other value, *date
 * becomes DATE_NONE. Sets *bad and returns false if a string has an escape that JSON lacks, or if memory ran out. */
static bool read_date(const struct jsonl_rules *rules, struct span value, struct output *buffer, int64_t *date,
                      struct bad *bad) {
    struct span string;
    double number;
    *date = DATE_NONE;
    if (value.bytes == NULL) return true;
    if (parse_number(value, &number)) {
        if (rules->date_is_score)
            *date = date_convert_score(number);
        else
            date_convert_seconds(number, date);
    } else if (*value.bytes == '"') {
        if (!scan_string(value, buffer, &string, bad)) return false;
        if (!rules->date_is_score)
            date_parse(string.bytes, string.length, date);
        else if (parse_number(string, &number))
            *date = date_convert_score(number);
    }
    return true;
}

/* Joins the texts of a line in jsonl->joined. */
struct text_joiner {
    struct jsonl *jsonl;
    const char *field; /* The path to the text that is appended next, for messages. */
    size_t text_count; /* How many texts were appended. */
};

/* Appends the string value, decoded, with a line end before it unless it is the first. Sets *bad and returns false as
 * read_string does. */
static bool append_decoded_string(struct text_joiner *joiner, struct span value, struct bad *bad) {
    struct output *joined = &joiner->jsonl->joined;
    struct span text;
    if (!read_string(value, joiner->field, &joiner->jsonl->strings[JSONL_TEXT], &text, bad)) return false;
    if (joiner->text_count > 0) output_byte(joined, '\n');
    joiner->text_count++;
    output_bytes(joined, text.bytes, text.length);
    return joined->error == 0 || bad_set_memory(bad);
}

/* Returns whether the next name of a path is *, which in an array stands for each element. */
static bool is_star_next(struct path path) {
    return path.rest[0] == '*' && (path.rest[1] == '\0' || path.rest[1] == path.separator);
}

static bool append_texts(struct text_joiner *joiner, struct path path, struct span value, unsigned star_count,
                         struct bad *bad);

/* Appends the texts in each element of an array, by the path whose next name is *. `star_count` is how many names *
 * were followed before. Sets *bad and returns false if that is JSONL_MOST_STARS, or if append_texts fails. */
static bool append_array_texts(struct text_joiner *joiner, struct path path, struct span array, unsigned star_count,
                               struct bad *bad) {
    struct span rest = {array.bytes + 1, array.length - 1}, value;
    if (star_count == JSONL_MOST_STARS)
        return bad_set(bad, BAD_FIELD, "the field '%.100s' has more than %d *", joiner->field, JSONL_MOST_STARS);
    path.rest = path.rest[1] == '\0' ? NULL : path.rest + 2;
    while (scan_next_element(&rest, &value)) {
        if (!append_texts(joiner, path, value, star_count + 1, bad)) return false;
    }
    return true;
}

/* Appends the texts that a path leads to from a value, except those that are missing or null. `star_count` is how many
 * names * were followed before. Sets *bad and returns false if an object has a syntax error, if the path has too many
 * *, or if append_decoded_string fails. */
static bool append_texts(struct text_joiner *joiner, struct path path, struct span value, unsigned star_count,
                         struct bad *bad) {
    char name[NAME_BYTES];
    while (value.bytes != NULL && path.rest != NULL) {
        if (*value.bytes == '[' && is_star_next(path)) return append_array_texts(joiner, path, value, star_count, bad);
        if (!replace_by_member_or_element(&value, remove_next_name(&path, name), bad)) return false;
    }
    return !is_present(value) || append_decoded_string(joiner, value, bad);
}

/* Sets *body to the texts of all fields, with line ends between them; a path with a * leads to a text in each element
 * of an array. Sets *bad and returns false if all texts are missing, if the line has a syntax error, or if
 * append_texts fails. */
static bool join_texts(const struct strings *fields, struct span line, struct jsonl *jsonl, struct span *body,
                       struct bad *bad) {
    struct text_joiner joiner = {.jsonl = jsonl};
    struct output *joined = &jsonl->joined;
    joined->length = 0;
    for (size_t i = 0; i < fields->count; i++) {
        char name[NAME_BYTES];
        joiner.field = fields->values[i];
        struct path path = begin_path(joiner.field);
        struct scan_member member = {.name = remove_next_name(&path, name)};
        if (!scan_members(line, &member, 1, bad) || !append_texts(&joiner, path, member.value, 0, bad)) return false;
    }
    *body = (struct span){joined->bytes != NULL ? joined->bytes : "", joined->length};
    if (joiner.text_count > 0) return true;
    if (fields->count == 1) return bad_set(bad, BAD_FIELD, "the field '%.100s' is missing", joiner.field);
    return bad_set(bad, BAD_FIELD, "all fields of --text-field are missing");
}

/* Sets *body to the text of a line: the joined texts if jsonl_joins_texts says so, or else `value`, that of the field
 * rules->text. Sets *bad and returns false as join_texts and read_string do. */
static bool read_text(const struct jsonl_rules *rules, struct span line, struct span value, struct jsonl *jsonl,
                      struct span *body, struct bad *bad) {
    return jsonl_joins_texts(rules) ? join_texts(&rules->texts, line, jsonl, body, bad)
                                    : read_string(value, rules->text, &jsonl->strings[JSONL_TEXT], body, bad);
}

bool jsonl_parse(const struct jsonl_rules *rules, struct span line, struct jsonl *jsonl, struct fields *fields,
                 struct bad *bad) {
    const char *const paths[JSONL_FIELDS] = {rules->id, rules->text, rules->title, rules->date};
    struct output *buffers = jsonl->strings;
    struct span values[JSONL_FIELDS];
    bool is_well_formed = find_field_values(paths, line, values, bad), has_id = values[JSONL_ID].bytes != NULL;
    /* The ID of a bad record names it, so it is read even if another field can't be. */
    if (rules->id != NULL && (is_well_formed || has_id) &&
        !read_id(values[JSONL_ID], rules->id, &buffers[JSONL_ID], &fields->id, bad))
        return false;
    return is_well_formed && read_text(rules, line, values[JSONL_TEXT], jsonl, &fields->body, bad) &&
           read_date(rules, values[JSONL_DATE], &buffers[JSONL_DATE], &jsonl->date, bad) &&
           (!is_present(values[JSONL_TITLE]) ||
            read_string(values[JSONL_TITLE], rules->title, &buffers[JSONL_TITLE], &fields->title, bad));
}

void jsonl_free(struct jsonl *jsonl) {
    for (size_t i = 0; i < JSONL_FIELDS; i++) free(jsonl->strings[i].bytes);
    free(jsonl->joined.bytes);
}

/* ---- What JSON a file begins with ---- */

struct jsonl_beginning jsonl_look_at_beginning(struct span bytes, const char *text_field) {
    char name[NAME_BYTES];
    struct path path = begin_path(text_field);
    struct scan_member member = {.name = remove_next_name(&path, name)};
    struct jsonl_beginning beginning = {0};
    charset_remove_utf8_mark(&bytes);
    span_skip(&bytes, " \t\r\n");
    bool in_array = bytes.length > 0 && *bytes.bytes == '[';
    if (in_array) bytes.bytes++, bytes.length--;
    const char *object = bytes.bytes;
    enum scan_end end = scan_object(&bytes, &member, 1);
    if (end == SCAN_NONE) return beginning;
    bool in_line = memchr(object, '\n', (size_t)(bytes.bytes - object)) == NULL;
    span_skip(&bytes, " \t\r");
    beginning.is_array = in_array;
    beginning.is_lines = !in_array && in_line && (bytes.length == 0 || *bytes.bytes == '\n');
    beginning.has_text = member.value.bytes != NULL;
    span_skip(&bytes, " \t\r\n");
    beginning.has_second = beginning.is_lines && bytes.length > 0 && *bytes.bytes == '{';
    return beginning;
}
