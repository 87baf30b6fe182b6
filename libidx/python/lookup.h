/* lookup.h: look-ups of many queries, as lookup.c asks for them. */
#ifndef IDX_PYTHON_LOOKUP_H
#define IDX_PYTHON_LOOKUP_H

#include "libidx/python/core.h"

/* A look-up answers one of these for each query of an array: its matches, their number, or whether there is any. */
enum answer { ANSWER_MATCHES, ANSWER_COUNTS, ANSWER_TRUTHS };

/* Looks up all queries of an array, on `threads` threads. Returns Matches, with up to `limit` nearest ones of each
 * query, or an array of other answers. */
PyObject *look_up_array(const struct view *view, PyObject *queries, unsigned distance, size_t limit, unsigned threads,
                        enum answer answer);

/* Fills the columns of an answer from the match lists of `count` queries, and closes the lists. If memory runs out, it
 * sets columns->failed. No GIL needed. */
void fill_columns(struct columns *columns, struct idx_match_lists *lists, size_t count, enum answer answer);

#endif
