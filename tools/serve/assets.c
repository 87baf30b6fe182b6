/* assets.c: the files that the executable has in it. */
#include "tools/serve/assets.h"

#include "tools/serve/asset_bytes.h"

const struct asset assets[] = {
    {"/", "text/html; charset=utf-8", asset_page_html, &asset_page_html_length},
    {"/page.js", "text/javascript; charset=utf-8", asset_page_js, &asset_page_js_length},
    {"/page.css", "text/css; charset=utf-8", asset_page_css, &asset_page_css_length},
    {"/openapi.json", "application/json", asset_openapi_json, &asset_openapi_json_length},
    {0},
};
