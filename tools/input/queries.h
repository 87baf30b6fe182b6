/* queries.h: what `idx lookup` is asked: fingerprints as arguments, text files, documents of the index by their IDs, or
 * lines on standard input. */
#ifndef IDX_TOOLS_QUERIES_H
#define IDX_TOOLS_QUERIES_H

#include "tools/input/input.h"
#include "tools/shared/command.h"
#include "tools/text/text.h"

#include <idx.h>

struct query {
    uint64_t fingerprint;
    const char *id; /* NULL: the query goes by its fingerprint */
    size_t id_length;
};

enum queries_status {
    QUERIES_ONE,
    QUERIES_END,
    QUERIES_PENDING, /* nothing more without waiting */
    QUERIES_BAD,     /* queries_complain says why */
    QUERIES_FAILED,  /* after a complaint */
};

struct queries {
    struct texts fingerprints; /* the arguments; none, and no texts or IDs: standard input */
    struct texts texts;        /* files and folders to be fingerprinted by the index's recipe */
    struct globs globs;        /* what of the folders is */
    struct texts ids;          /* of documents of the index */
    struct tsv_rules rules;
    const struct idx_index *index;
    enum idx_id_type id_type;
    const char *recipe;           /* of the index; "" when not known */
    struct extract_rules extract; /* of the texts */
    bool partial;                 /* lines that state a recipe need not be whole (struct totals) */
    const char *table_path;       /* of document frequencies, for recipes that weigh by one; or NULL */

    /* These are private. */
    size_t next;
    struct reader lines;
    struct totals totals; /* of the lines */
    struct text text;
    struct idx_text_table *table;
    struct text_result made; /* of the last text */
    struct below *below;     /* the documents of the last folder that are left, or NULL */
    bool partly;             /* a file in a folder could not be read */
    uint64_t *found;         /* fingerprints of the last ID */
    size_t found_count;
    size_t given; /* of these fingerprints */
    bool warned_of_icu;
    struct problem problem;
};

/* Opens what there is to open. Returns false after a complaint. */
bool queries_open(struct queries *queries);

/* Gives the next query; its ID is valid until the next call. Without `wait`, QUERIES_PENDING rather than waiting for
 * standard input. */
enum queries_status queries_next(struct queries *queries, bool wait, struct query *query);

/* Says what was wrong with the query that was QUERIES_BAD. */
void queries_complain(const struct queries *queries);

void queries_close(struct queries *queries);

#endif
