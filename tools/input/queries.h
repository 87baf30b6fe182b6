/* queries.h: reads the queries of `idx lookup`: fingerprints as arguments, texts in files, documents of the index by
 * their IDs, or lines of standard input. */
#ifndef IDX_TOOLS_QUERIES_H
#define IDX_TOOLS_QUERIES_H

#include "tools/documents/text_reader.h"
#include "tools/input/tsv.h"

struct query {
    uint64_t fingerprint;
    const char *id; /* NULL: the query is named by its fingerprint. */
    size_t id_length;
    struct span shingles; /* The hashes of a text's shingles, if lists_shingles is set. */
};

enum queries_status {
    QUERIES_ONE, /* There is a query. */
    QUERIES_END,
    QUERIES_PENDING, /* There is nothing more without waiting. */
    QUERIES_BAD,     /* queries_complain_of_bad_query says why. */
    QUERIES_FAILED,  /* A complaint was made. */
};

struct queries {
    struct strings fingerprints; /* Arguments; without any, and without texts and IDs, standard input is read. */
    struct strings texts;        /* Files and folders to fingerprint by the index's recipe. */
    struct globs globs;          /* Which files of the folders are fingerprinted. */
    struct strings ids;          /* IDs of documents of the index. */
    struct tsv_rules rules;
    const struct idx_index *index;
    enum idx_id_type id_type;
    const char *recipe;           /* That of the index; "": not known. */
    struct extract_rules extract; /* For the texts. */
    bool partial;                 /* Lines that state a recipe need not be whole (struct totals). */
    bool lists_shingles;          /* Queries that are texts have shingles. */
    const char *table_path;       /* A table of document frequencies, for recipes that need one, or NULL. */

    /* These are private. */
    size_t begun_count; /* How many of the fingerprints, texts or IDs above were begun: the last is the current one. */
    struct reader line_reader; /* Standard input. */
    struct totals totals;      /* Those of the lines. */
    struct text_reader reader;
    struct idx_text_table *table;
    struct strings folder;        /* The path of the current folder alone. */
    struct documents documents;   /* The documents of the current folder, or of the current file. */
    bool in_folder;               /* Documents of the current folder may still have to be read. */
    struct raw_document raw;      /* The current text, */
    struct text_result result;    /* its fingerprints and ID, */
    struct output shingles;       /* and the hashes of its shingles. */
    struct bad_counts bad;        /* The bad records of the current folder, by kind. */
    uint64_t good_count;          /* How many texts of the current folder were fingerprinted. */
    bool folder_failed;           /* A file in a folder could not be read, or all records of a folder were bad. */
    uint64_t *found_fingerprints; /* Those of the current ID. */
    size_t found_count;
    size_t returned_count; /* How many fingerprints of the current text or ID were returned. */
    bool warned_of_icu;
    struct problem problem; /* What is wrong with the last query, if it is QUERIES_BAD. */
};

/* Opens standard input, or the fingerprinter and its table, if queries need them. The members above the private ones
 * must be set, and the private ones 0. Complains and returns false if a file can't be opened, or if there are texts and
 * the index has no recipe, or none that can be used. The caller calls queries_close in any case. */
bool queries_open(struct queries *queries);

/* Sets *query to the next query, whose ID and shingles are valid until the next call, and returns QUERIES_ONE. Without
 * `wait`, returns QUERIES_PENDING instead of waiting for standard input. At its end, checks that the lines are whole,
 * unless `partial` is set. After another result than QUERIES_ONE, *query is unspecified; only QUERIES_PENDING may be
 * followed by another call. */
enum queries_status queries_read_next(struct queries *queries, bool wait, struct query *query);

/* Complains of the query for which queries_read_next returned QUERIES_BAD, by its text, path or line, and `problem`. */
void queries_complain_of_bad_query(const struct queries *queries);

/* Frees and closes what the queries hold, but not the lists that the caller set. */
void queries_close(struct queries *queries);

/* text_queries.c has what queries.c does with texts. */

/* Opens the fingerprinter for the index's recipe, with its table if there is one. Warns if its version of ICU is not
 * that of the index. Complains and returns false if that fails. */
bool queries_open_fingerprinter(struct queries *queries);

/* Sets *query to the next fingerprint of the current text, or to the first one of the next text. A folder stands for
 * its texts; bad records in it are skipped, as by `idx fingerprint`, and a message at its end counts them. Returns
 * - QUERIES_ONE, or QUERIES_END behind the last text;
 * - QUERIES_BAD, with `problem` set, if a path has a tab or a newline;
 * - QUERIES_FAILED, after a complaint, if a single file can't be read or is bad, or if memory ran out; also at the end,
 *   if folder_failed is set. */
enum queries_status queries_next_fingerprint_of_text(struct queries *queries, struct query *query);

/* Frees and closes what queries of texts hold. */
void queries_close_texts(struct queries *queries);

#endif
