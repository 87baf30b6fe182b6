/* serve.c: `idx serve`: answers over HTTP what is near to fingerprints and texts. */
#include "tools/serve/options.h"
#include "tools/shared/command.h"
#include "tools/shared/wording.h"

#include <idx.h>

#include <limits.h>

static const char help[] =
    "Usage: idx serve [OPTION…] INDEX\n"
    "Answer over HTTP which fingerprints of INDEX are near to a given one or to a text, and show a page for that.\n"
    "Changes of INDEX show up by themselves; INDEX may be replaced while it is served.\n"
    "\n"
    "  --listen ADDRESS       ADDRESS:PORT, [IPV6-ADDRESS]:PORT or unix:PATH; may be repeated (default the sockets\n"
    "                         that systemd passes, or else 127.0.0.1:8470, which only this machine reaches)\n"
    "  --host NAME            a name by which clients call the service, besides localhost and IP addresses; may be\n"
    "                         repeated\n"
    "  --allow-origin ORIGIN  let the pages of ORIGIN, such as https://example.org, use the service; may be repeated\n"
    "  --threads N            threads for connections, and as many for long requests (default: the number of\n"
    "                         processors, up to 16)\n"
    "  --connections N        connections at a time (default 1000)\n"
    "  --max-body SIZE        bytes that a request may send (default 8M)\n"
    "  --refresh SECONDS      how often to look for changes of INDEX; 0: only on SIGHUP (default 1)\n"
    "  --unpacked             first make plain tables in memory: about a second per ten million fingerprints, and up\n"
    "                         to 40 bytes for each, 57 where k is 3\n"
    "  -k N                   with --unpacked: allow distances up to N, 0 to 16, in look-ups (default: the k of "
    "INDEX)\n"
    "  --writable             also add and remove documents, for clients that have the token\n"
    "  --token-file FILE      the token for --writable (default: the environment variable IDX_TOKEN)\n"
    "  --documents FOLDER     show the texts of documents whose IDs are names of files below FOLDER\n"
    "  --table FILE           table of document frequencies, if the recipe of INDEX needs one\n"
    "  --main-text            for HTML: drop what idx fingerprint --main-text drops\n"
    "\n"
    "  GET /lookup/HEX        what is near to a fingerprint; ?k=, ?limit= and ?max-documents= as in idx lookup\n"
    "  POST /lookup           the same for many: lines of JSON, or 8 bytes each\n"
    "  POST /text             what is near to a text\n"
    "  GET /documents?id=ID   what is near to the documents of an ID, if INDEX was built with --by-id\n"
    "  GET /openapi.json      describes these and all others; see also the man page\n"
    "\n"
    "Examples:\n"
    "  idx serve docs.idx &\n"
    "  curl http://127.0.0.1:8470/lookup/9f86d081884c7d65\n"
    "  idx serve --writable --token-file token docs.idx\n"
    "\n"
    "SIGTERM and SIGINT end the service after the requests under way, SIGHUP makes it look for changes.\n"
    "\n"
    "Exit status: 0 a signal ended the service; 2 error.\n";

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
    const struct grammar grammar = {help, rules, sizeof rules / sizeof *rules, "INDEX", 1, 1, common};
    if (!arguments_read(&grammar, argc, argv, &operands, status)) return false;
    *status = ENDS_BADLY;
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
