/* extract.h: from a document as it was cut from an input to its fields, in UTF-8. */
#ifndef IDX_TOOLS_EXTRACT_H
#define IDX_TOOLS_EXTRACT_H

#include "tools/text/documents.h"
#include "tools/text/html.h"
#include "tools/text/jsonl.h"

#include <idx.h>

struct extract_rules {
    struct jsonl_rules json;
    uint64_t max_text; /* bytes that a document may have, up to MOST_DOCUMENT_BYTES */
    bool main_text;    /* of HTML */
    /* Of FORMAT_FEATURES. */
    bool hashes;             /* features are their hashes, in hex */
    bool tokens;             /* a line has many features, feature:weight, with blanks between them */
    enum idx_hash_kind hash; /* of features */
    bool ties;               /* a bit is 1 where the weights are equal */
};

struct fields {
    struct span id; /* without tab or newline, not empty */
    struct span body, title, description;
};

/* What extracting needs room for; a thread has its own, and uses it for one document after another. */
struct extractor {
    const struct extract_rules *rules;
    bool reads_manuals; /* else a manual page is bad, because the recipe does not say that there are any */
    struct output decompressed, decoded, manual;
    struct html html;
    struct jsonl_fields json;
    json_t *object;
};

void extractor_init(struct extractor *extractor, const struct extract_rules *rules);

/* Sets the fields, which are valid until the next use of `raw` or of the extractor; sets raw's text_bytes, and its date
 * where the record has one; may change its bytes. Returns false where the record is bad. */
bool extract(struct extractor *extractor, struct raw_document *raw, struct fields *fields, struct bad *bad);

/* Cuts a line of FORMAT_FEATURES or FORMAT_TSV into its ID and what follows the tab. Returns false if it has no tab. */
bool extract_id(struct span line, struct span *id, struct span *rest, struct bad *bad);

void extractor_free(struct extractor *extractor);

#endif
