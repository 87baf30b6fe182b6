/* resembling.h: look-ups by resemblance, and the files of sets that they read. */
#ifndef IDX_PYTHON_RESEMBLING_H
#define IDX_PYTHON_RESEMBLING_H

#include "libidx/python/core.h"

/* ---- Files of sets (kept_sets.c) ---- */

struct kept_object {
    PyObject_HEAD struct idx_kept_sets *kept; /* NULL: closed */
    PyThread_type_lock lock;                  /* held by the call that uses the file */
    bool writes;
    long process; /* that opened it */
};

/* Begins a call, which kept_leave ends: until then, other calls wait here if the file is only read, and raise if it is
 * written. Returns NULL with an exception set then, and if the object is no KeptSets, closed, or of another process. */
struct kept_object *kept_enter(PyObject *object);
void kept_leave(struct kept_object *object);

/* ---- Sets that come in (resembling.c) ---- */

/* Sets of hashes that ascend, one after the other; counts says how many hashes each has. */
struct sets {
    struct array hashes, counts;
    struct idx_set *list;
};

/* Takes sets and checks them. If it succeeds, the caller releases them. */
bool sets_take(PyObject *hashes, PyObject *counts, struct sets *sets);
void sets_release(struct sets *sets);

#endif
