/* assets.h: the pages' files, and the description of the service, as embed.cmake writes them into a C file of the
 * build: each as a string, and the SHA-256 of those that a Content-Security-Policy allows, in base64. */
#ifndef IDX_TOOLS_PAGE_ASSETS_H
#define IDX_TOOLS_PAGE_ASSETS_H

extern const char asset_style[], asset_shared[], asset_report[], asset_serve[], asset_page[], asset_openapi[];
extern const char asset_style_hash[], asset_shared_hash[], asset_report_hash[];

#endif
