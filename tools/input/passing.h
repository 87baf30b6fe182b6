/* passing.h: the fingerprints that stream past the queries of `idx batch --stream`: those of an index, or of files. */
#ifndef IDX_TOOLS_INPUT_PASSING_H
#define IDX_TOOLS_INPUT_PASSING_H

#include "tools/input/format.h"
#include "tools/input/tsv.h"

struct passing {
    struct strings paths; /* Files, or one index; without any, standard input is read. */
    enum input_format format;
    struct tsv_rules rules;
    bool partial;               /* Files that state a recipe need not be whole (struct totals). */
    const char *recipe;         /* The recipe of the queries; NULL: not known. */
    uint32_t part, parts;       /* The part of the index, from 0, and their number; 0: all of it is read. */
    struct idx_index *index;    /* NULL: files are read. */
    bool warned_of_icu, failed; /* `failed`: the visitor returned false. */
};

/* A function that takes fingerprints. It returns false to stop, and keeps its errors itself. */
typedef bool (*passing_visitor)(void *context, const uint64_t *fingerprints, size_t count);

/* Opens the index if the only path is a folder. */
bool passing_open(struct passing *passing);

/* Passes all fingerprints to the visitor, many at a time. Returns false also if the visitor did, or if a signal was
 * noted. */
bool passing_read(struct passing *passing, passing_visitor visit, void *context);

void passing_close(struct passing *passing);

#endif
