/* passing.h: visits the fingerprints that `idx batch --stream` compares with its queries: those of an index, or of
 * files. */
#ifndef IDX_TOOLS_INPUT_PASSING_H
#define IDX_TOOLS_INPUT_PASSING_H

#include "tools/input/format.h"
#include "tools/input/tsv.h"

struct fingerprint_source {
    /* These are set by the caller; `part` and `part_count` are for an index alone. */
    struct strings paths; /* Files, or one index; without any, standard input is read. */
    enum input_format format;
    struct tsv_rules rules;
    bool partial;              /* Files that state a recipe need not be whole (struct totals). */
    const char *recipe;        /* The recipe of the queries; NULL: not known. */
    uint32_t part, part_count; /* The part of an index that is read, from 0, and how many it has; 0: all is read. */

    struct idx_index *index; /* open_fingerprint_source sets it; NULL: files are read. */
    bool visitor_stopped;    /* The visitor returned false while the index was read. */
};

/* A function that gets fingerprints, which are valid until it returns. It returns false to stop, and stores its own
 * errors in `context`. */
typedef bool (*fingerprint_visitor)(void *context, const uint64_t *fingerprints, size_t count);

/* Opens the index if the only path is a folder; otherwise sets source->format, if it is INPUT_AUTO, by the files, as
 * input_wait_and_resolve_format does. Complains and returns false if the index can't be opened, if the files have
 * different formats, or if `part_count` is not 0 and there is no index. The caller calls close_fingerprint_source in
 * any case. */
bool open_fingerprint_source(struct fingerprint_source *source);

/* Passes all fingerprints of an open source to the visitor, many at a time, with `context`. Returns false
 * - after a complaint: memory ran out, or the library, a file or a line is at fault;
 * - without one, if the visitor returned false or a signal was noted. */
bool visit_source_fingerprints(struct fingerprint_source *source, fingerprint_visitor visit, void *context);

/* Closes the index, if one is open. */
void close_fingerprint_source(struct fingerprint_source *source);

#endif
