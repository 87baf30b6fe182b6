/* extract.h: finds the fields of a document that was cut from an input, in UTF-8. */
#ifndef IDX_TOOLS_FORMATS_EXTRACT_H
#define IDX_TOOLS_FORMATS_EXTRACT_H

#include "tools/formats/html.h"
#include "tools/formats/jsonl.h"
#include "tools/formats/raw_document.h"

#include <idx.h>

struct extract_rules {
    struct jsonl_rules json;
    uint64_t max_text;   /* The most bytes of a document, up to MOST_DOCUMENT_BYTES; 0: not given. */
    bool main_text;      /* Of HTML, only the main text becomes the body. */
    bool divides_blocks; /* Of HTML, blank lines are between blocks, as struct html has it. */
    /* These are for FORMAT_FEATURES. */
    bool hashes;             /* Features are their hashes, in hex. */
    bool tokens;             /* A line has many features, feature:weight, with blanks between them. */
    enum idx_hash_kind hash; /* By which features are hashed. */
    bool ties;               /* A bit is 1 if the weights for 0 and 1 are equal. */
};

/* Completes the rules once the options are read: json.text becomes the first of json.texts, if there is one, and a
 * max_text of 0 becomes DOCUMENT_BYTES. */
static inline void extract_complete_rules(struct extract_rules *rules) {
    if (rules->json.texts.count > 0) rules->json.text = rules->json.texts.values[0];
    if (rules->max_text == 0) rules->max_text = DOCUMENT_BYTES;
}

/* The memory that extracting needs. Each thread has one, and uses it for one document after another. */
struct extractor {
    const struct extract_rules *rules;
    /* NULL, or why manual pages are bad records, because the recipe has no MANUAL_PART. */
    const char *manual_refusal;
    struct output decompressed, decoded, manual; /* The body decompressed, in UTF-8, and as mandoc prints it. */
    struct html html;
    struct jsonl json;
};

/* Makes an extractor without any memory yet, which extractor_free frees. The rules must stay valid until then. */
void extractor_init(struct extractor *extractor, const struct extract_rules *rules);

/* Sets *fields to the ID and the texts of a document. They point into `raw` and the extractor, and are valid until one
 * of these is used again; the bytes of `raw` may be changed. Also sets raw->text_bytes, and raw->date if the record has
 * a date. Sets *bad and returns false if the record is bad, or if memory ran out. Even then fields->id is set: to the
 * record's ID if it could be read, or else to its place, or to an empty one if the ID is too long. */
bool extract_fields(struct extractor *extractor, struct raw_document *raw, struct fields *fields, struct bad *bad);

/* Cuts a line of FORMAT_FEATURES or FORMAT_TSV at its first tab into *id, which may be empty, and *rest. Sets *bad and
 * returns false if it has no tab; then both stay as they are. */
bool extract_cut_id(struct span line, struct span *id, struct span *rest, struct bad *bad);

/* Returns whether an ID is neither empty nor too long for an index. If not, sets *bad, and makes the ID empty. */
bool extract_check_id(struct span *id, struct bad *bad);

/* Frees the extractor's memory, and with it the fields of the last document. */
void extractor_free(struct extractor *extractor);

#endif
