/* request.c: what is said of a request that fails, and how much it may take. */
#include "tools/serve/request.h"

#include "tools/serve/service.h"
#include "tools/shared/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Seconds that an answer may take. */
enum { MOST_SECONDS = 30 };

uint64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

double request_seconds(const struct request *request) { return (double)(now_nanoseconds() - request->started) / 1e9; }

void request_fail(struct request *request, unsigned status, const char *format, ...) {
    char sentence[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    request->status = status;
    request->answer_type = "application/json";
    request->answer.length = 0;
    request->answer.error = 0;
    output_text(&request->answer, "{\"error\":");
    json_put_bytes(&request->answer, sentence, strlen(sentence));
    output_text(&request->answer, "}\n");
}

void request_fail_by(struct request *request, const struct idx_error *error) {
    unsigned status = error->status == IDX_OUT_OF_MEMORY || error->status == IDX_BUSY ? MHD_HTTP_SERVICE_UNAVAILABLE
                      : error->status == IDX_DISK_FULL                                ? MHD_HTTP_INSUFFICIENT_STORAGE
                      : error->status < IDX_NOT_FOUND                                 ? MHD_HTTP_BAD_REQUEST
                                                                                      : MHD_HTTP_INTERNAL_SERVER_ERROR;
    request_fail(request, status, "%s", error->sentence);
}

bool request_goes_on(struct request *request) {
    if (request->status != 0) return false;
    if (request->answer.length > MOST_ANSWER_BYTES)
        request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT,
                     "the answer has more than %zu bytes; ask for less at once, or set limit and max-documents",
                     MOST_ANSWER_BYTES);
    else if (request->answer.error != 0)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the answer");
    else if (request_seconds(request) > MOST_SECONDS + JOBS_WAIT_SECONDS)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                     "the answer takes more than %d seconds; ask for less at once", MOST_SECONDS);
    return request->status == 0;
}

void request_end(struct request *request, const char *type) {
    if (request->answer.length > MOST_ANSWER_BYTES || request->answer.error != 0) request_goes_on(request);
    if (request->status != 0) return;
    request->status = MHD_HTTP_OK;
    request->answer_type = type;
}

bool request_hold(struct request *request, size_t bytes) {
    size_t held = atomic_fetch_add(&request->service->held, bytes);
    request->held += bytes;
    return held + bytes <= MOST_HELD_BYTES;
}
