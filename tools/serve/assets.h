/* assets.h: the page, and the description of the service, as embed.cmake writes them into a C file of the build. */
#ifndef IDX_TOOLS_SERVE_ASSETS_H
#define IDX_TOOLS_SERVE_ASSETS_H

#include <stddef.h>

extern const unsigned char asset_page_html[], asset_page_js[], asset_page_css[], asset_openapi_json[];
extern const size_t asset_page_html_length, asset_page_js_length, asset_page_css_length, asset_openapi_json_length;

#endif
