/* divided.h: the parts of documents that are compared by themselves (--by), and what of a document is dropped. */
#ifndef IDX_TOOLS_DEDUP_DIVIDED_H
#define IDX_TOOLS_DEDUP_DIVIDED_H

#include "tools/documents/reading.h"
#include "tools/resemblance/resemble.h"

/* A part that is compared. Part i of all is document i of struct resemble, without the known ones. */
struct divided_part {
    uint32_t document; /* The number of its document, from 0, among those that were compared. */
    uint32_t number;   /* Among all parts of its document, from 1. */
    uint32_t words, bytes;
};

struct divided_document {
    uint64_t first;       /* Where its first part is in `parts`. The others follow. */
    uint64_t other_words; /* The words of its parts that are not compared. */
};

struct divided {
    /* These are set by the caller. */
    enum parts_by by;
    uint64_t min_document_words; /* Documents that have fewer words once parts are dropped are dropped themselves. */
    struct quota again;  /* Parts that fewer documents have stay in all of these, unless a known one has them. */
    bool within;         /* What repeats within a document is dropped as well. */
    bool all_copies;     /* The first one of the parts that several documents have is dropped as well. */
    uint64_t text_bytes; /* Of the texts of all documents. */

    /* These are set by divided_decide. */
    uint64_t *dropped;      /* A bit for each part: it is dropped. */
    uint64_t *gone;         /* A bit for each document: it is dropped as a whole. */
    uint64_t dropped_bytes; /* Of parts. */
    uint64_t first_count;   /* Of parts that nothing is kept of: of their copies, the first ones. */
    uint64_t gone_count;    /* Of documents. */

    struct divided_part *parts;
    struct divided_document *documents;
    uint64_t part_count, document_count;

    /* These are used by divided.c alone. */
    size_t part_capacity, document_capacity;
};

/* Appends the next document and its parts, of which there is one at least, and adds the parts' sets to `resemble`.
 * Returns false after a complaint. */
bool divided_add_document(struct divided *divided, struct resemble *resemble, struct span id, const struct made *made);

/* Adds the sets of the parts of a known document to `resemble`, each with the ID DOCUMENT:NUMBER. Returns false after a
 * complaint. */
bool divided_add_known_document(struct resemble *resemble, struct span id, const struct made *made);

/* Decides which parts and documents are dropped, once `resemble` has decided. Parts that stay by `again` and `within`
 * are kept there, too. Returns false after a complaint if memory ran out. */
bool divided_decide(struct divided *divided, struct resemble *resemble);

/* Writes a line for each document that is dropped as a whole: its ID, and `line_end`, which includes the line feed. */
void divided_put_dropped_documents(const struct divided *divided, struct resemble *resemble, struct output *output,
                                   const char *line_end);

/* Returns whether part `number` of a document is dropped. A document's parts are asked for in ascending order:
 * *next_part is the document's `first` before the first call, and then where the search goes on. */
bool divided_part_is_dropped(const struct divided *divided, uint64_t document, uint32_t number, uint64_t *next_part);

/* Returns whether any part of a document is dropped. */
bool divided_has_dropped_part(const struct divided *divided, uint64_t document);

/* Frees the lists of parts and documents, and what was decided. */
void divided_close(struct divided *divided);

#endif
