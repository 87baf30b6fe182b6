/* writer.h: what the files of the type Writer share. */
#ifndef IDX_PYTHON_WRITER_H
#define IDX_PYTHON_WRITER_H

#include <stdatomic.h>

#include "libidx/python/core.h"

struct writer_object {
    struct handle handle; /* of a struct idx_writer; its progress is that of compactions */
    enum idx_id_type id_type;
    PyObject *progress_exception; /* what progress raised during a compaction, until `wait` raises it again; or NULL */
    atomic_bool must_cancel;      /* the running compaction is to end */
};

/* This is the idx_progress_visitor of a compacting thread; `context` is a struct writer_object (writer_wait.c). Called
 * without the GIL. Returns false, which cancels the compaction, if `must_cancel` is set, or if progress raised or
 * returned False. What progress raised is kept in `progress_exception`, since the compacting thread has no caller in
 * Python. */
bool writer_visit_progress(void *context, const struct idx_progress *progress);

/* These are methods of Writer (writer_wait.c, writer_check.c, resembling.c). */
PyObject *writer_wait(PyObject *self, PyObject *unused);
PyObject *writer_check_and_add(PyObject *self, PyObject *arguments);
PyObject *writer_add_unlike(PyObject *self, PyObject *arguments);

#endif
