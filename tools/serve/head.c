/* head.c: checks what libmicrohttpd lets pass in the head of a request, and reads the parameters of its URL.
 * libmicrohttpd keeps the head as it came, but overwrites the ends of its parts with NUL: whatever else is between two
 * parts was cut off by a NUL byte. Version 0.9 overwrites all of the end of a line. Version 1.0 refuses NUL bytes
 * itself, and overwrites one byte: the first after the value, white space or the end of the line. */
#include "tools/serve/head.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

/* ---- The whole head ---- */

/* What is known of the head while its parts are checked one after the other. */
struct checked_head {
    const char *begin, *end;             /* Where the head begins and ends. */
    const char *checked_end;             /* The end of the last part that was checked. */
    const char *content_length;          /* The value of Content-Length, or NULL. */
    unsigned host_count, encoding_count; /* How many headers Host and Transfer-Encoding there are. */
    bool is_chunked;
    const char *fault; /* NULL: no fault was found so far. */
};

void head_note_uri(struct request *request, const char *uri) {
    const char *nul = strstr(uri, "%00"), *query = strchr(uri, '?');
    request->uri_length = strlen(uri);
    request->uri_end = uri + request->uri_length;
    /* Parameters, which are behind the question mark, come with their lengths, so they may have NUL bytes. */
    if (nul != NULL && (query == NULL || nul < query)) request->uri_fault = "the path has a NUL byte";
    if (strchr(uri, ' ') != NULL) request->uri_fault = "the URL has a space; write it as %20";
}

/* Checks the gap between two parts of the head. It may have white space, and up to `max_line_ends` ends of lines, of up
 * to two bytes each. It may have as many NUL bytes as libmicrohttpd overwrites: all bytes of the ends of lines, or one
 * byte in a gap within a line. A gap beside a part that libmicrohttpd keeps outside the head is not checked. Returns
 * false, and sets the fault, if the gap has anything else. */
static bool check_gap(struct checked_head *head, const char *gap_begin, const char *gap_end, unsigned max_line_ends) {
    const size_t max_line_end_bytes = 2 * (size_t)max_line_ends, max_nuls = max_line_ends == 0 ? 1 : max_line_end_bytes;
    size_t nul_count = 0, line_end_bytes = 0;
    if (gap_begin < head->begin || gap_end > head->end) return true;
    for (const char *byte = gap_begin; byte < gap_end; byte++) {
        if (*byte == '\0') nul_count++;
        if (*byte == '\r' || *byte == '\n') line_end_bytes++;
        if (nul_count > max_nuls || line_end_bytes > max_line_end_bytes || memchr("\0\r\n \t", *byte, 5) == NULL) {
            head->fault = "the head has a NUL byte, or a header that goes on in the next line";
            return false;
        }
    }
    return true;
}

/* Returns whether a name has only characters that HTTP allows in the names of headers. */
static bool is_header_name(const char *name, size_t length) {
    static const char allowed[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return length > 0 && strspn(name, allowed) == length;
}

/* Returns whether a value has a control character other than a tab. */
static bool has_control_character(const char *value, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7f) return true;
    return false;
}

/* Notes a header that says where the request ends or which host it is for: Content-Length, Transfer-Encoding or Host.
 * Ignores others. A second Content-Length that differs is a fault. find_contradiction finds other faults once all
 * headers are noted. */
static void note_header(struct checked_head *head, const char *name, const char *value) {
    if (strcasecmp(name, "Host") == 0) {
        head->host_count++;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        head->encoding_count++;
        head->is_chunked = strcasecmp(value, "chunked") == 0;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        if (head->content_length != NULL && strcmp(head->content_length, value) != 0)
            head->fault = "two Content-Lengths differ";
        head->content_length = value;
    }
}

/* Checks one header, the gap before it, and the gap between its name and its value; then notes it. The context is the
 * struct checked_head. libmicrohttpd calls this for each header, and stops after MHD_NO, which means a fault. */
static enum MHD_Result check_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_length,
                                    const char *value, size_t value_length) {
    struct checked_head *head = context;
    (void)kind;
    if (value == NULL) {
        value = "";
        value_length = 0;
    }
    if (!check_gap(head, head->checked_end, name, 1)) return MHD_NO;
    if (!is_header_name(name, name_length))
        head->fault = "the name of a header has a character that is not allowed there";
    else if (has_control_character(value, value_length))
        head->fault = "a header has a control character";
    else if (check_gap(head, name + name_length, value, 0))
        note_header(head, name, value);
    head->checked_end = value + value_length;
    return head->fault == NULL ? MHD_YES : MHD_NO;
}

/* Returns what is wrong with the noted headers as a whole, or NULL. */
static const char *find_contradiction(const struct checked_head *head) {
    if (head->host_count > 1) return "there is more than one header Host";
    if (head->encoding_count > 0 && head->content_length != NULL)
        return "Content-Length and Transfer-Encoding exclude each other";
    if (head->encoding_count > 1 || (head->encoding_count == 1 && !head->is_chunked))
        return "the Transfer-Encoding can only be chunked";
    return NULL;
}

bool head_check_syntax(struct request *request, const char *method, const char *version, size_t length) {
    struct checked_head head = {.begin = method, .end = method + length, .checked_end = version + strlen(version)};
    head.fault = request->uri_fault;
    if (head.fault == NULL && check_gap(&head, request->uri_end, version, 0))
        MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, check_header, &head);
    /* An empty line ends the head, so that the last gap has the ends of two lines. */
    if (head.fault == NULL && check_gap(&head, head.checked_end, head.end, 2)) head.fault = find_contradiction(&head);
    if (head.fault == NULL) return true;
    request->closes = true;
    return request_fail(request, MHD_HTTP_BAD_REQUEST, "%s", head.fault);
}

/* ---- Parameters ---- */

/* Parses the text of the parameter `name`, which is NULL if the parameter has no value. Returns false, and fails the
 * request, unless it is a whole number from `min` to `max`; *number may have changed even then. */
static bool parse_number(struct request *request, const char *name, const char *text, size_t length, uint64_t min,
                         uint64_t max, uint64_t *number) {
    if (text != NULL && number_parse_digits(text, length, number) && *number >= min && *number <= max) return true;
    return request_fail(request, MHD_HTTP_BAD_REQUEST, "%s has to be a whole number from %" PRIu64 " to %" PRIu64, name,
                        min, max);
}

/* Parses the text of the parameter resemble, which is NULL if the parameter has no value, and stores the number in the
 * request. Fails the request if it is no number above 0 and up to 1. */
static void parse_resemblance(struct request *request, const char *text, size_t length) {
    if (text == NULL || !share_parse(text, length, &request->resemble) || request->resemble < 1 ||
        request->resemble > IDX_THRESHOLD_ONE)
        request_fail(request, MHD_HTTP_BAD_REQUEST, "resemble has to be a number above 0 and up to 1, such as 0.8");
}

/* Stores a parameter's value in the request. Returns false where the request failed: the value is bad, or the route
 * does not take the parameter. */
static bool parse_and_store_parameter(struct request *request, const char *name, const char *text, size_t length) {
    unsigned takes = request->route->takes;
    uint64_t number = 0, max_limit = takes & TAKES_SMALL_LIMIT ? MAX_SMALL_LIMIT : MAX_LIMIT;
    if ((takes & TAKES_DISTANCE) && strcmp(name, "k") == 0) {
        if (parse_number(request, name, text, length, 0, IDX_MAX_BITS, &number)) request->distance = (unsigned)number;
    } else if ((takes & (TAKES_LIMIT | TAKES_SMALL_LIMIT)) && strcmp(name, "limit") == 0) {
        if (parse_number(request, name, text, length, 1, max_limit, &number)) request->limit = (size_t)number;
    } else if ((takes & TAKES_DOCUMENTS) && strcmp(name, "max-documents") == 0) {
        if (parse_number(request, name, text, length, 0, MAX_LIMIT, &number)) request->max_documents = (size_t)number;
    } else if ((takes & TAKES_RESEMBLE) && strcmp(name, "resemble") == 0) {
        parse_resemblance(request, text, length);
    } else if ((takes & TAKES_ID) && strcmp(name, "id") == 0) {
        request->id = text == NULL ? "" : text;
        request->id_length = length;
    } else {
        request_fail(request, MHD_HTTP_BAD_REQUEST,
                     "this path has no parameter of this name; /openapi.json lists those that it has");
    }
    return request->status == 0;
}

/* Checks one parameter of the URL, and stores its value in the request, which is the context. libmicrohttpd calls this
 * for each parameter, and stops after MHD_NO, which means that the request failed. */
static enum MHD_Result visit_parameter(void *context, enum MHD_ValueKind kind, const char *name, size_t name_length,
                                       const char *text, size_t text_length) {
    struct request *request = context;
    (void)kind;
    if (strlen(name) != name_length) name = ""; /* No route takes a name that has a NUL byte. */
    return parse_and_store_parameter(request, name, text, text_length) ? MHD_YES : MHD_NO;
}

bool head_read_parameters(struct request *request) {
    request->distance = UINT_MAX;
    request->limit = request->route->takes & TAKES_SMALL_LIMIT ? MAX_SMALL_LIMIT : DEFAULT_LIMIT;
    request->max_documents = DEFAULT_MAX_DOCUMENTS;
    MHD_get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, visit_parameter, request);
    if (request->status == 0 && (request->route->takes & TAKES_ID) && request->id == NULL)
        request_fail(request, MHD_HTTP_BAD_REQUEST, "the parameter id is missing");
    if (request->status == 0 && request->resemble > 0 && request->distance != UINT_MAX)
        request_fail(request, MHD_HTTP_BAD_REQUEST, "k has no effect with resemble; omit it");
    return request->status == 0;
}
