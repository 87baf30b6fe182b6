/* serve.c: `idx serve`: answers over HTTP what is near to fingerprints and texts. */
#include "tools/serve/options.h"
#include "tools/shared/wording.h"

#include <limits.h>

/* The options that -h shows. */
static const char common[] =
    "--listen --host --threads --connections --max-body --refresh --unpacked --writable --token-file --documents";

static bool read_arguments(int argc, char **argv, struct serve_options *serve, int *status) {
    struct texts operands;
    const struct option_rule rules[] = {
        {.name = "listen", .kind = OPTION_TEXTS, .value = &serve->listen},
        {.name = "host", .kind = OPTION_TEXTS, .value = &serve->hosts},
        {.name = "allow-origin", .kind = OPTION_TEXTS, .value = &serve->origins},
        {.name = "threads", .kind = OPTION_NUMBER, .value = &serve->threads, .least = 1, .most = 256},
        {.name = "connections", .kind = OPTION_NUMBER, .value = &serve->connections, .least = 1, .most = 1000000},
        {.name = "max-body", .kind = OPTION_COUNT, .value = &serve->max_body, .least = 1, .most = SERVE_MOST_BODY},
        {.name = "refresh", .kind = OPTION_NUMBER, .value = &serve->refresh_seconds, .most = 86400},
        {.name = "unpacked", .kind = OPTION_FLAG, .value = &serve->unpacked},
        {.name = "k", .kind = OPTION_NUMBER, .value = &serve->distance, .most = IDX_MAX_K},
        {.name = "writable", .kind = OPTION_FLAG, .value = &serve->writable},
        {.name = "token-file", .kind = OPTION_TEXT, .value = &serve->token_file},
        {.name = "documents", .kind = OPTION_TEXT, .value = &serve->documents},
        {.name = "table", .kind = OPTION_TEXT, .value = &serve->table_path},
        {.name = "main-text", .kind = OPTION_FLAG, .value = &serve->main_text},
    };
    const struct grammar grammar = {help_serve, rules, sizeof rules / sizeof *rules, "INDEX", 1, 1, common};
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    serve->path = operands.values[0];
    if (serve->token_file != NULL && !serve->writable)
        return complain_of_usage("--token-file has no effect without --writable; omit it");
    if (serve->distance != UINT_MAX && !serve->unpacked)
        return complain_of_usage("-k has no effect without --unpacked; omit it");
    return true;
}

int command_serve(int argc, char **argv) {
    struct serve_options serve = {.threads = arguments_threads(),
                                  .connections = 1000,
                                  .max_body = (uint64_t)8 << 20,
                                  .refresh_seconds = 1,
                                  .distance = UINT_MAX};
    int status;
    if (read_arguments(argc, argv, &serve, &status)) status = serve_run(&serve);
    texts_free(&serve.listen);
    texts_free(&serve.hosts);
    texts_free(&serve.origins);
    return status;
}
