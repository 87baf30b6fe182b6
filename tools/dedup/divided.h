/* divided.h: the parts of documents that are compared by themselves (--by), and what of a document is dropped. */
#ifndef IDX_TOOLS_DEDUP_DIVIDED_H
#define IDX_TOOLS_DEDUP_DIVIDED_H

#include "tools/documents/reading.h"
#include "tools/resemblance/resemble.h"

/* A part that is compared. Part i of all is document i of struct resemble, without the known ones. */
struct divided_part {
    uint32_t document; /* The number of its document, from 0, among those that were compared. */
    uint32_t number;   /* Among all parts of its document, from 1. */
    uint32_t word_count, byte_count;
};

struct divided_document {
    uint64_t first_part;  /* The index of its first part in `parts`. The others follow. */
    uint64_t other_words; /* The words of its parts that are not compared. */
};

struct divided {
    /* These are set by the caller. */
    enum parts_by by;
    uint64_t min_document_words; /* Documents that have fewer words once parts are dropped are dropped themselves. */
    struct quota again;  /* A part that fewer documents have stays in all of them, unless a known document has it. */
    bool within;         /* What repeats within a document is dropped as well. */
    bool all_copies;     /* If several documents have a part, it is dropped in the first one as well. */
    uint64_t text_bytes; /* The bytes of the texts of all documents. */

    /* These are set by divided_decide_dropped. */
    uint64_t *dropped;      /* A bit for each part: it is dropped. */
    uint64_t *gone;         /* A bit for each document: it is dropped as a whole. */
    uint64_t dropped_bytes; /* The bytes of all dropped parts. */
    uint64_t first_count;   /* Dropped parts that are the first of their copies, so that no copy is kept. */
    uint64_t gone_count;    /* How many documents are dropped as a whole. */

    struct divided_part *parts;
    struct divided_document *documents;
    uint64_t part_count, document_count;

    /* These are used by divided.c alone. */
    size_t part_capacity, document_capacity;
};

/* Appends the next document and its parts, at least one, and adds the sets of the parts to `resemble`, as
 * divided_add_part_sets does. `id` is the document's ID. Returns false, after a complaint, if there are too many
 * documents or if memory ran out. */
bool divided_add_document(struct divided *divided, struct resemble *resemble, struct span id, const struct made *made);

/* Adds the sets of a document's parts to `resemble`, each with the ID DOCUMENT:NUMBER, such as a.txt:3, where `id` is
 * that of the document. Of known documents, nothing else is needed. Returns false after a complaint. */
bool divided_add_part_sets(struct resemble *resemble, struct span id, const struct made *made);

/* Decides which parts and documents are dropped, and sets `dropped`, `gone` and their counts. Call it after
 * resemble_decide_kept. A copy that is not dropped, because of `again` or `within`, becomes a part that is kept in
 * `resemble`, too. Returns false after a complaint if memory ran out. */
bool divided_decide_dropped(struct divided *divided, struct resemble *resemble);

/* Writes a line for each document that is dropped as a whole: its ID, and `line_end`, which includes the line feed. An
 * error stays in `output`. */
void divided_write_dropped_documents(const struct divided *divided, struct resemble *resemble, struct output *output,
                                     const char *line_end);

/* Returns whether part `number` of a document, from 1, is dropped; parts that were not compared are not. Call it for a
 * document's parts in ascending order. *next_part is an index in `parts`: the document's first_part before the first
 * call; each call moves it on. */
bool divided_part_is_dropped(const struct divided *divided, uint64_t document, uint32_t number, uint64_t *next_part);

/* Returns whether any part of a document is dropped. */
bool divided_has_dropped_part(const struct divided *divided, uint64_t document);

/* Frees the lists of parts and documents, and what was decided. */
void divided_close(struct divided *divided);

#endif
