/* lines.c: bodies of JSON, a value a line. */
#include "tools/serve/lines.h"

#include <string.h>

static bool is_blank(const char *line, size_t length) {
    while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL) length--;
    return length == 0;
}

static bool read_line(const char *line, size_t length, line_visitor visit, void *context, struct problem *problem) {
    json_error_t error;
    json_t *value = json_loadb(line, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
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
        if (!is_blank(line, length) && !read_line(line, length, visit, context, &problem))
            request_fail(request, MHD_HTTP_BAD_REQUEST, "line %zu of the body: %s", number, problem.sentence);
        line += length + 1;
    }
}
