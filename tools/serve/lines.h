/* lines.h: reads bodies of JSON, one value per line, and documents that such lines describe. */
#ifndef IDX_TOOLS_SERVE_LINES_H
#define IDX_TOOLS_SERVE_LINES_H

#include "tools/serve/request.h"
#include "tools/serve/texts.h"
#include "tools/shared/json.h"

/* A function that handles the value of a line, which stays valid until it returns. If the value is wrong, it sets
 * *problem and returns false. It may also fail the request. */
typedef bool (*line_visitor)(void *context, json_t *value, struct problem *problem);

/* Parses each line of the request's body as JSON, and calls `visit` with its value; skips blank lines. A line that is
 * no JSON, or that `visit` refuses, fails the request, with an answer that has the line's number, from 1. Stops once
 * the request has failed. */
void lines_visit(struct request *request, line_visitor visit, void *context);

/* Which keys a line has, one bit for each. ITEM_FINGERPRINT is a fingerprint, or if `takes_texts`, a text. */
enum item_keys { ITEM_NO_KEYS = 0, ITEM_FINGERPRINT = 1, ITEM_ID = 2, ITEM_BOTH = 3 };

/* The documents in a body. The caller sets `properties`, and all that is not mentioned to 0. */
struct items {
    const struct idx_properties *properties;
    struct idx_item *list;
    size_t count, capacity;
    struct output ids;   /* The bytes of all text IDs. */
    enum item_keys keys; /* Every line has these; ITEM_NO_KEYS before the first line. */
    bool may_lack_key;   /* The caller sets this to true where either key alone is enough. */

    /* Lines have texts, in place of fingerprints, whose sets are made. */
    bool takes_texts;
    struct idx_text_shingle_options shingling; /* What these are made of. */
    struct idx_set *sets;                      /* As many as `list` has. */
    size_t set_capacity;
    struct output hashes; /* Those of all sets. */
};

/* Reads the documents in the request's body into `items`, whose members the caller has set as struct items says.
 * Returns false where the request failed: a line is bad, or memory ran out. The caller calls items_free either way. */
bool items_read(struct items *items, struct request *request);

/* Frees what items_read made; `properties` stays the caller's. */
void items_free(struct items *items);

#endif
