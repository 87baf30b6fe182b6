/* writer.h: what the files of the type Writer share. */
#ifndef IDX_PYTHON_WRITER_H
#define IDX_PYTHON_WRITER_H

#include <stdatomic.h>

#include "libidx/python/core.h"

struct writer_object {
    PyObject_HEAD struct idx_writer *writer; /* NULL: closed */
    enum idx_id_type id_type;
    long process;        /* that opened it */
    bool busy;           /* a call is under way */
    PyObject *progress;  /* of compactions: a callable or None */
    PyObject *raised;    /* what progress raised and nobody has seen, or NULL */
    atomic_bool cancels; /* the running compaction is to end */
};

/* Begins a call, unless another one is under way. At its end the caller sets `busy` to false. */
bool writer_enter(struct writer_object *object);

/* This is the idx_progress_visitor of a compacting thread; `context` is a struct writer_object (writer_wait.c). */
bool writer_visit(void *context, const struct idx_progress *progress);

PyObject *writer_wait(PyObject *self, PyObject *unused);
PyObject *writer_check_and_add(PyObject *self, PyObject *arguments);
PyObject *writer_add_unlike(PyObject *self, PyObject *arguments);

#endif
