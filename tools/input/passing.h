/* passing.h: the fingerprints that stream past the queries of `idx batch --stream`: those of an index, or of files. */
#ifndef IDX_TOOLS_INPUT_PASSING_H
#define IDX_TOOLS_INPUT_PASSING_H

#include "tools/input/format.h"
#include "tools/input/tsv.h"

struct passing {
    struct strings paths; /* Files, or one index; without any, standard input is read. */
    enum input_format format;
    struct tsv_rules rules;
    bool partial;            /* Files that state a recipe need not be whole (struct totals). */
    const char *recipe;      /* The recipe of the queries; NULL: not known. */
    uint32_t part, parts;    /* The part of an index that is read, from 0, and how many it has; 0: all is read. */
    struct idx_index *index; /* NULL: files are read. */
    bool failed;             /* The visitor stopped reading the index. */
};

/* A function that takes fingerprints, valid until it returns. It returns false to stop, and keeps its errors itself. */
typedef bool (*passing_visitor)(void *context, const uint64_t *fingerprints, size_t count);

/* Opens the index if the only path is a folder; otherwise finds out the format of the files. Complains and returns
 * false if that fails. */
bool passing_open(struct passing *passing);

/* Passes all fingerprints to the visitor, many at a time. Returns false also, without a complaint, if the visitor did,
 * or if a signal was noted. */
bool passing_read(struct passing *passing, passing_visitor visit, void *context);

/* Closes the index, if one is open. */
void passing_close(struct passing *passing);

#endif
