/* passing.h: the fingerprints that `idx batch --stream` lets pass: of an index, or lines and rows of files. */
#ifndef IDX_TOOLS_PASSING_H
#define IDX_TOOLS_PASSING_H

#include "tools/input/input.h"

#include <idx.h>

struct passing {
    struct texts paths; /* files, or one index; none: standard input */
    enum input_format format;
    struct tsv_rules rules;
    bool partial;               /* files that state a recipe need not be whole (struct totals) */
    const char *recipe;         /* of the queries; NULL: not known */
    uint32_t part, parts;       /* of the index; parts 0: all of it */
    struct idx_index *index;    /* NULL: files; closed by passing_close */
    struct idx_error *error;    /* of what takes them */
    bool warned_of_icu, failed; /* after a complaint, or what takes them failed */
};

/* Takes some fingerprints; false, with an error of its own, where it can't. */
typedef bool (*passing_visitor)(void *context, const uint64_t *fingerprints, size_t count);

/* Opens the index, where the one path is a folder. Returns false after a complaint. */
bool passing_open(struct passing *passing);

/* Gives all fingerprints, many at a time. Returns false after a complaint, or when the visitor returned false, or a
 * signal was noted. */
bool passing_read(struct passing *passing, passing_visitor visit, void *context);

void passing_close(struct passing *passing);

#endif
