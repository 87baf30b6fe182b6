/* router.h: finds what a request asks for, checks who asks, and has it answered. */
#ifndef IDX_TOOLS_SERVE_ROUTER_H
#define IDX_TOOLS_SERVE_ROUTER_H

#include "tools/serve/request.h"

/* libmicrohttpd calls these with the service as their context: when the first line of a request has come, for each
 * further part, and at its end. */
void *router_begin(void *service, const char *uri, struct MHD_Connection *connection);
enum MHD_Result router_handle(void *service, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request);
void router_end(void *service, struct MHD_Connection *connection, void **request,
                enum MHD_RequestTerminationCode reason);

/* lookups.c: GET /lookup/HEX; POST /lookup with lines of JSON, or with fingerprints as they are in memory; and
 * GET /documents?id=ID. Fingerprints in memory have 8 bytes each, little-endian. The answer to n of them is n + 1
 * offsets and as many fingerprints as the last offset says, of 8 bytes each as well, and then one byte for the distance
 * of each fingerprint. The matches of query i begin at offset i and end before offset i + 1. */
void lookups_answer_one(struct request *request);
bool lookups_answer_one_quickly(struct request *request);
void lookups_answer_many(struct request *request);
void lookups_answer_id(struct request *request);

/* files.c: answers GET /document?id=ID with the text of the file that the ID names, below the folder of the documents.
 * files_open_folder returns the descriptor of that folder, or -1 after a complaint. */
void files_answer(struct request *request);
int files_open_folder(const char *path);

/* embed.cmake writes the bytes of the page, and of the description of the service, into a C file of the build. */
extern const unsigned char asset_page_html[], asset_page_js[], asset_page_css[], asset_openapi_json[];
extern const size_t asset_page_html_length, asset_page_js_length, asset_page_css_length, asset_openapi_json_length;

/* Returns the name of a route for the metrics. */
const char *router_name(unsigned route);

#endif
