/* lookup.h: look-ups of many queries, as lookup.c asks for them. */
#ifndef IDX_PYTHON_LOOKUP_H
#define IDX_PYTHON_LOOKUP_H

#include "libidx/python/core.h"

/* What a look-up answers for each query: its matches, their number, or whether there is any. */
enum answer { ANSWER_MATCHES, ANSWER_COUNTS, ANSWER_TRUTHS };

/* Looks up all queries, an array as parse_array reads it, on `threads` threads, 1 to IDX_MAX_THREADS. Returns Matches
 * within `distance` bits, up to the `limit` nearest ones of each query; or int64[n] of their numbers, or bool[n] of
 * whether there are any, for which `limit` does not matter. Returns NULL with an exception set if it fails. */
PyObject *look_up_array(const struct view *view, PyObject *queries, unsigned distance, size_t limit, unsigned threads,
                        enum answer answer);

/* Begins the columns of an answer, moves the match lists of `count` queries to them, and closes the lists. If memory
 * runs out, it sets columns->failed. No GIL needed. */
void move_lists_to_columns(struct columns *columns, struct idx_match_lists *lists, size_t count, enum answer answer);

#endif
