/* items.h: documents that are to be added or removed, as lines of JSON. */
#ifndef IDX_TOOLS_SERVE_ITEMS_H
#define IDX_TOOLS_SERVE_ITEMS_H

#include "tools/serve/request.h"

#include <idx.h>

enum item_keys { ITEM_FINGERPRINT = 1, ITEM_ID = 2, ITEM_BOTH = 3 };

struct items {
    const struct idx_properties *properties;
    struct idx_item *list;
    size_t count, capacity;
    struct output ids;
    int keys;          /* of the lines: enum item_keys; 0: not yet known */
    bool may_lack_key; /* set by the caller: either key alone will do */
};

/* Reads the body of a request. False where the request failed. */
bool items_read(struct items *items, struct request *request);

void items_free(struct items *items);

#endif
