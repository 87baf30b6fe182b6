/* parameters.c: what the URL of a request says behind its `?`. */
#include "tools/serve/parameters.h"

#include "tools/shared/number.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

static bool read_number(struct request *request, const char *name, const char *text, size_t length, uint64_t least,
                        uint64_t most, uint64_t *number) {
    if (text != NULL && number_parse_digits(text, length, number) && *number >= least && *number <= most) return true;
    request_fail(request, MHD_HTTP_BAD_REQUEST, "%s has to be a whole number from %" PRIu64 " to %" PRIu64, name, least,
                 most);
    return false;
}

static bool read_one(struct request *request, const char *name, const char *text, size_t length) {
    unsigned takes = request->route->takes;
    uint64_t number = 0, most = takes & TAKES_FEW ? MOST_FEW : MOST_LIMIT;
    if ((takes & TAKES_DISTANCE) && strcmp(name, "k") == 0) {
        if (read_number(request, name, text, length, 0, IDX_MAX_BITS, &number)) request->distance = (unsigned)number;
    } else if ((takes & (TAKES_LIMIT | TAKES_FEW)) && strcmp(name, "limit") == 0) {
        if (read_number(request, name, text, length, 1, most, &number)) request->limit = (size_t)number;
    } else if ((takes & TAKES_DOCUMENTS) && strcmp(name, "max-documents") == 0) {
        if (read_number(request, name, text, length, 0, MOST_LIMIT, &number)) request->max_documents = (size_t)number;
    } else if ((takes & TAKES_ID) && strcmp(name, "id") == 0) {
        request->id = text == NULL ? "" : text;
        request->id_length = length;
    } else {
        request_fail(request, MHD_HTTP_BAD_REQUEST,
                     "this path has no parameter of this name; /openapi.json lists those that it has");
    }
    return request->status == 0;
}

static enum MHD_Result visit(void *context, enum MHD_ValueKind kind, const char *name, size_t name_length,
                             const char *text, size_t length) {
    struct request *request = context;
    (void)kind;
    if (strlen(name) != name_length) name = "";
    return read_one(request, name, text, length) ? MHD_YES : MHD_NO;
}

bool parameters_read(struct request *request) {
    request->distance = UINT_MAX;
    request->limit = request->route->takes & TAKES_FEW ? MOST_FEW : DEFAULT_LIMIT;
    request->max_documents = DEFAULT_MAX_DOCUMENTS;
    MHD_get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, visit, request);
    if (request->status == 0 && (request->route->takes & TAKES_ID) && request->id == NULL)
        request_fail(request, MHD_HTTP_BAD_REQUEST, "the parameter id is missing");
    return request->status == 0;
}
