/* head.c: what libmicrohttpd 0.9 lets pass in the head of a request. It keeps the head as it came, but for the ends of
 * its parts, which it overwrites with NUL: whatever else stands between two parts was cut off by a NUL byte. */
#include "tools/serve/head.h"

#include <string.h>
#include <strings.h>

struct walk {
    const char *begin, *end; /* of the head */
    const char *after;       /* the last part */
    const char *length;      /* Content-Length; or NULL */
    unsigned hosts, encodings;
    bool is_chunked;
    const char *fault; /* NULL: none so far */
};

void head_take_uri(struct request *request, const char *uri) {
    const char *nul = strstr(uri, "%00"), *query = strchr(uri, '?');
    request->uri_length = strlen(uri);
    request->uri_end = uri + request->uri_length;
    if (nul != NULL && (query == NULL || nul < query)) request->uri_fault = "the path has a NUL byte";
    if (strchr(uri, ' ') != NULL) request->uri_fault = "the URL has a space; write it as %20";
}

/* Goes on to the next part; between it and the last one are white space and the ends of so many lines. Parts that
 * libmicrohttpd keeps elsewhere tell nothing. */
static void pass(struct walk *walk, const char *from, const char *to, unsigned lines) {
    size_t ends = 0;
    if (from < walk->begin || to > walk->end) return;
    for (; from < to && walk->fault == NULL; from++) {
        ends += *from == '\0' || *from == '\r' || *from == '\n';
        if (ends > 2 * (size_t)lines + (lines == 0) || memchr("\0\r\n \t", *from, 5) == NULL)
            walk->fault = "the head has a NUL byte, or a header that goes on in the next line";
    }
}

static bool is_token(const char *name, size_t length) {
    static const char others[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return length > 0 && strspn(name, others) == length;
}

static bool has_control(const char *value, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7f) return true;
    }
    return false;
}

static void count(struct walk *walk, const char *name, const char *value) {
    if (strcasecmp(name, "Host") == 0) {
        walk->hosts++;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        walk->encodings++;
        walk->is_chunked = strcasecmp(value, "chunked") == 0;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        if (walk->length != NULL && strcmp(walk->length, value) != 0) walk->fault = "two Content-Lengths differ";
        walk->length = value;
    }
}

static enum MHD_Result visit(void *context, enum MHD_ValueKind kind, const char *name, size_t name_length,
                             const char *value, size_t length) {
    struct walk *walk = context;
    (void)kind;
    if (value == NULL) value = "", length = 0;
    pass(walk, walk->after, name, 1);
    if (walk->fault == NULL && !is_token(name, name_length))
        walk->fault = "the name of a header has a character that is not allowed there";
    else if (walk->fault == NULL && has_control(value, length))
        walk->fault = "a header has a control character";
    if (walk->fault == NULL) pass(walk, name + name_length, value, 0);
    if (walk->fault == NULL) count(walk, name, value);
    walk->after = value + length;
    return walk->fault == NULL ? MHD_YES : MHD_NO;
}

static const char *find_fault(const struct walk *walk) {
    if (walk->fault != NULL) return walk->fault;
    if (walk->hosts > 1) return "there is more than one header Host";
    if (walk->encodings > 0 && walk->length != NULL) return "Content-Length and Transfer-Encoding exclude each other";
    if (walk->encodings > 1 || (walk->encodings == 1 && !walk->is_chunked))
        return "the Transfer-Encoding can only be chunked";
    return NULL;
}

bool head_check(struct request *request, const char *method, const char *version, size_t length) {
    struct walk walk = {.begin = method, .end = method + length, .after = version + strlen(version)};
    walk.fault = request->uri_fault;
    pass(&walk, request->uri_end, version, 0);
    if (walk.fault == NULL) MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, visit, &walk);
    if (walk.fault == NULL) pass(&walk, walk.after, walk.end, 2);
    const char *fault = find_fault(&walk);
    if (fault == NULL) return true;
    request->closes = true;
    request_fail(request, MHD_HTTP_BAD_REQUEST, "%s", fault);
    return false;
}
