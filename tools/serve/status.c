/* status.c: what the service serves, and that it does. */
#include "tools/serve/status.h"

#include "tools/answers/properties.h"
#include "tools/serve/service.h"

void status_answer_info(struct request *request) {
    struct service *service = request->service;
    struct view *view = views_acquire(&service->views);
    struct idx_error error;
    if (!properties_put_json(view->index, &request->answer, &error)) request_fail_by(request, &error);
    views_release(&service->views, view);
    request_end(request, "application/json");
}

static const char *truth(bool value) { return value ? "true" : "false"; }

bool status_answer_health(struct request *request) {
    struct service *service = request->service;
    struct view *view = views_acquire(&service->views);
    output_format(
        &request->answer, "{\"status\":\"ok\",\"version\":\"%s\",\"uuid\":\"%s\",\"writable\":%s,\"documents\":%s}\n",
        idx_version(), view->properties.uuid, truth(service->options->writable), truth(service->documents >= 0));
    views_release(&service->views, view);
    request_end(request, "application/json");
    return true;
}
