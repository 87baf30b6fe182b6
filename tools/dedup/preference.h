/* preference.h: which documents are preferred as representatives, where their texts or dates say so. All of them are
 * kept in a temporary file, and go into the index in the order of preference: of those that are near, the first one
 * represents the others then. */
#ifndef IDX_TOOLS_PREFERENCE_H
#define IDX_TOOLS_PREFERENCE_H

#include "tools/input/tsv.h"
#include "tools/shared/temporary.h"

#include <idx.h>

/* The values of --representative that idx_clusters does not know, behind those that it knows. */
enum preferred { PREFERRED_NONE, PREFERRED_LONGEST, PREFERRED_NEWEST };

struct preference {
    enum preferred preferred;

    /* Within. */
    struct temporary documents;
    struct preferred_document {
        int64_t value;
        uint64_t number, offset; /* in the order in which they came; in the file */
    } * order;
    size_t count, capacity;
    uint64_t length; /* of the file */
};

#define PREFERENCE_NONE                                                                                                \
    { .documents = TEMPORARY_CLOSED }

/* Takes a document; larger values are preferred, of equal ones the first. False after a complaint. */
bool preference_add(struct preference *preference, const struct tsv_record *record, int64_t value);

/* Adds all documents to the index. False after a complaint. */
bool preference_build(struct preference *preference, struct idx_builder *builder);

/* The number, in the order in which they came, of a document that has a number in the index. */
uint64_t preference_number(const struct preference *preference, uint64_t number);

void preference_close(struct preference *preference);

#endif
