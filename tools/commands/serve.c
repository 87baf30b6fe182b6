/* serve.c: `idx serve`: answers over HTTP what is near to fingerprints and texts. */
#include "tools/connections/options.h"
#include "tools/shared/wording.h"

#include <limits.h>

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_serve_arguments(int argc, char **argv, struct serve_options *serve, int *status) {
    struct strings operands;
    const struct option_rule rules[] = {
#include "options/serve.h" /* the rules made of serve.txt; they set *serve */
    };
    const struct grammar grammar = GRAMMAR(serve, rules, "INDEX", 1, 1);
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    serve->path = operands.values[0];
    return true;
}

/* Runs `idx serve` until a signal ends it. Returns what serve_run returns, or ENDS_BADLY if the command line is
 * wrong. */
int command_serve(int argc, char **argv) {
    struct serve_options serve = {.threads = arguments_get_default_threads(),
                                  .connections = 1000,
                                  .max_body = (uint64_t)8 << 20,
                                  .refresh_seconds = 1,
                                  .distance = UINT_MAX};
    int status;
    if (read_serve_arguments(argc, argv, &serve, &status)) status = serve_run(&serve);
    strings_free(&serve.listen);
    strings_free(&serve.hosts);
    strings_free(&serve.origins);
    return status;
}
