/* lines.h: reads bodies of JSON, one value per line, and documents that such lines describe. */
#ifndef IDX_TOOLS_SERVE_LINES_H
#define IDX_TOOLS_SERVE_LINES_H

#include "tools/serve/request.h"
#include "tools/shared/json.h"

/* A function that gets each value. It returns false and sets *problem if the value is wrong. */
typedef bool (*line_visitor)(void *context, json_t *value, struct problem *problem);

/* Visits the values of the body's lines, and skips blank lines. Stops once the request has failed; the answer names a
 * bad line by its number, counted from 1. */
void lines_read(struct request *request, line_visitor visit, void *context);

enum item_keys { ITEM_FINGERPRINT = 1, ITEM_ID = 2, ITEM_BOTH = 3 };

struct items {
    const struct idx_properties *properties;
    struct idx_item *list;
    size_t count, capacity;
    struct output ids;
    int keys;          /* Every line has these keys, of enum item_keys; 0 before the first line. */
    bool may_lack_key; /* The caller sets this where either key alone is enough. */
};

/* Reads the documents in the body of a request. Returns false where the request failed. */
bool items_read(struct items *items, struct request *request);

void items_free(struct items *items);

#endif
