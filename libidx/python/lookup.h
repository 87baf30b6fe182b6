/* lookup.h: look-ups of many queries, as lookup.c asks for them. */
#ifndef IDX_PYTHON_LOOKUP_H
#define IDX_PYTHON_LOOKUP_H

#include "libidx/python/core.h"

/* A look-up answers one of these for each query of an array: its matches, their number, or whether there is any. */
enum answer { ANSWER_MATCHES, ANSWER_COUNTS, ANSWER_TRUTHS };

/* Looks up all queries; of each, at most `limit` matches are kept. Matches, or an array. */
PyObject *look_up_array(const struct view *view, PyObject *queries, unsigned distance, size_t limit, size_t threads,
                        enum answer answer);

/* Looks up one query with room for `capacity` matches; *matches is to be freed. From a thread without the GIL. */
enum idx_status look_up_all(const struct view *view, uint64_t query, unsigned distance, size_t capacity,
                            struct idx_match **matches, size_t *count, struct idx_error *error);

#endif
