/* divided.h: the parts of documents that are compared by themselves (--by), and what of a document is dropped. */
#ifndef IDX_TOOLS_DEDUP_DIVIDED_H
#define IDX_TOOLS_DEDUP_DIVIDED_H

#include "tools/dedup/resemble.h"
#include "tools/text/pipeline.h"

/* A part that is compared. Its number there is that of its set. */
struct divided_part {
    uint32_t document, number, words, bytes; /* The first is its document's number among those that were compared. */
};

struct divided_document {
    uint64_t first;       /* Its first part. The others follow. */
    uint64_t other_words; /* Those of its parts that are not compared. */
};

struct divided {
    /* These are set by the caller. */
    enum parts_by by;
    uint64_t min_document_words; /* Documents that have fewer words once parts are dropped are dropped themselves. */
    uint64_t again;              /* What fewer documents have stays in all of them. */
    bool within;                 /* What repeats within a document is dropped as well. */
    uint64_t text_bytes;         /* Of the texts of all documents. */

    /* These are set by divided_decide. */
    uint64_t *dropped;                     /* A bit for each part. */
    uint64_t *gone;                        /* A bit for each document: it is dropped as a whole. */
    uint64_t dropped_count, dropped_bytes; /* Of parts. */
    uint64_t gone_count;                   /* Of documents. */

    struct divided_part *parts;
    struct divided_document *documents;
    uint64_t part_count, document_count;

    /* These are used by divided.c alone. */
    size_t part_capacity, document_capacity;
};

/* Takes the parts of the next document, of which there is one at least. */
bool divided_add(struct divided *divided, struct resemble *resemble, struct span id, const struct made *made);

/* Decides what is dropped, once `resemble` has decided, and keeps those of its sets that stay for other reasons. */
bool divided_decide(struct divided *divided, struct resemble *resemble);

/* Writes a line for each document that is dropped as a whole: its ID, and what follows it. */
void divided_put_gone(const struct divided *divided, struct resemble *resemble, struct output *output, const char *end);

/* Returns whether a part of a document is dropped. Parts are asked for in ascending order: *next is the first part at
 * first, and then where the search goes on. */
bool divided_is_dropped(const struct divided *divided, uint64_t document, uint32_t number, uint64_t *next);

/* Returns whether any part of a document is dropped. */
bool divided_has_dropped(const struct divided *divided, uint64_t document);

void divided_close(struct divided *divided);

#endif
