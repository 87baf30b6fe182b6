/* assets.h: the files that the executable has in it: the page, and the description of the service. embed.cmake writes
 * their bytes into a C file of the build, from the files in page/ and from openapi.json. */
#ifndef IDX_TOOLS_SERVE_ASSETS_H
#define IDX_TOOLS_SERVE_ASSETS_H

#include <stddef.h>

extern const unsigned char asset_page_html[], asset_page_js[], asset_page_css[], asset_openapi_json[];
extern const size_t asset_page_html_length, asset_page_js_length, asset_page_css_length, asset_openapi_json_length;

#endif
