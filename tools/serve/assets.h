/* assets.h: the files that the executable has in it: the page, and the description of the service. The build makes
 * their bytes from the files in page/ and openapi.json, by embed.cmake. */
#ifndef IDX_TOOLS_SERVE_ASSETS_H
#define IDX_TOOLS_SERVE_ASSETS_H

#include <stddef.h>

struct asset {
    const char *path, *type;
    const unsigned char *bytes;
    const size_t *length;
};

/* Ends with one without a path. */
extern const struct asset assets[];

#endif
