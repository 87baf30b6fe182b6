/* lines.h: reads bodies of JSON, one value per line, and documents that such lines describe. */
#ifndef IDX_TOOLS_SERVE_LINES_H
#define IDX_TOOLS_SERVE_LINES_H

#include "tools/serve/request.h"
#include "tools/shared/json.h"

#include <idx.h>

/* Called with each value. False where it can't be taken, and says why. */
typedef bool (*line_visitor)(void *context, json_t *value, struct problem *problem);

/* Visits the values of the body's lines; blank lines are passed over. Ends where the request failed, as by a bad line,
 * whose number it names. */
void lines_read(struct request *request, line_visitor visit, void *context);

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
