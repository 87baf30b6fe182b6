/* writer.h: what the files of the type Writer share. */
#ifndef IDX_PYTHON_WRITER_H
#define IDX_PYTHON_WRITER_H

#include "libidx/python/core.h"

struct writer_object {
    PyObject_HEAD struct idx_writer *writer; /* NULL: closed */
    enum idx_id_type id_type;
    unsigned k;
    long process;
    bool busy; /* a call is under way */
};

/* Begins a call that no other thread's may meet. The caller sets `busy` to false at its end. */
bool writer_enter(struct writer_object *object);

PyObject *writer_check_and_add(PyObject *self, PyObject *arguments);

#endif
