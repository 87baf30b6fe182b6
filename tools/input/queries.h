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
    const char *id; /* If it is NULL, the query goes by its fingerprint. */
    size_t id_length;
};

enum queries_status {
    QUERIES_ONE,
    QUERIES_END,
    QUERIES_PENDING, /* There is nothing more without waiting. */
    QUERIES_BAD,     /* The function queries_complain says why. */
    QUERIES_FAILED,  /* A complaint was made. */
};

struct queries {
    struct texts fingerprints; /* They are the arguments; without any, and without texts and IDs, lines are read from
                                  standard input. */
    struct texts texts;        /* These files and folders are fingerprinted by the index's recipe. */
    struct globs globs;        /* They say which files of the folders are. */
    struct texts ids;          /* They are of documents of the index. */
    struct tsv_rules rules;
    const struct idx_index *index;
    enum idx_id_type id_type;
    const char *recipe;           /* It is the index's; "" if that is not known. */
    struct extract_rules extract; /* They are for the texts. */
    bool partial;                 /* Lines that state a recipe need not be whole (struct totals). */
    const char *table_path;       /* It is of document frequencies, for recipes that weigh by one; or NULL. */

    /* These are private. */
    size_t next;
    struct reader lines;
    struct totals totals; /* They are of the lines. */
    struct text text;
    struct idx_text_table *table;
    struct text_result made; /* They are of the last text. */
    struct below *below;     /* It has the documents of the last folder that are left, or is NULL. */
    bool partly;             /* A file in a folder could not be read. */
    uint64_t *found;         /* They are the fingerprints of the last ID. */
    size_t found_count;
    size_t given; /* So many of these fingerprints were given. */
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
