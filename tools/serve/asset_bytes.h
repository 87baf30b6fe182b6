/* asset_bytes.h: the bytes of the assets, in a file that the build makes (embed.cmake). */
#ifndef IDX_TOOLS_SERVE_ASSET_BYTES_H
#define IDX_TOOLS_SERVE_ASSET_BYTES_H

#include <stddef.h>

extern const unsigned char asset_page_html[], asset_page_js[], asset_page_css[], asset_openapi_json[];
extern const size_t asset_page_html_length, asset_page_js_length, asset_page_css_length, asset_openapi_json_length;

#endif
