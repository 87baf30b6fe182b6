/* lines.c: bodies of JSON, a value a line. */
#include "tools/serve/lines.h"

#include <string.h>

/* Brackets, braces, colons and commas of a line; {"fingerprint":"…","id":{"hex":"…"}} has six. */
enum { MOST_MARKS = 16 };

static bool is_blank(const char *line, size_t length) {
    while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL) length--;
    return length == 0;
}

/* Whether a line has no more arrays, objects, values and keys than those that are taken: a value takes many times the
 * bytes that it has in a line. */
static bool has_few_values(const char *line, size_t length) {
    size_t marks = 0;
    bool quoted = false;
    for (size_t i = 0; i < length && marks <= MOST_MARKS; i++) {
        if (line[i] == '"')
            quoted = !quoted;
        else if (quoted)
            i += line[i] == '\\';
        else
            marks += line[i] == '[' || line[i] == '{' || line[i] == ':' || line[i] == ',';
    }
    return marks <= MOST_MARKS;
}

static bool read_line(struct request *request, const char *line, size_t length, line_visitor visit, void *context,
                      struct problem *problem) {
    json_error_t error;
    if (!has_few_values(line, length)) return problem_set(problem, "it has more values than a fingerprint and an id");
    json_t *value = json_loadb(line, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (value == NULL && *error.text == '\0') /* jansson does not say more */
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the body");
    if (value == NULL) return problem_set(problem, "it is not JSON: %s", error.text);
    bool good = visit(context, value, problem);
    json_decref(value);
    return good;
}

void lines_read(struct request *request, line_visitor visit, void *context) {
    const char *line = request->body.bytes, *end = line + request->body.length;
    struct problem problem;
    for (size_t number = 1; line < end && request_goes_on(request); number++) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((newline == NULL ? end : newline) - line);
        bool good = is_blank(line, length) || read_line(request, line, length, visit, context, &problem);
        if (!good && request->status == 0)
            request_fail(request, MHD_HTTP_BAD_REQUEST, "line %zu of the body: %s", number, problem.sentence);
        line += length + 1;
    }
}
