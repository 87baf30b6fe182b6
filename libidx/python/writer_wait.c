/* writer_wait.c: the compactions that a Writer runs in the background: their progress, and waiting for them. */
#include "libidx/python/writer.h"

#include <pthread.h>
#include <time.h>

/* ---- Progress, from the compacting thread ---- */

/* Moves the exception that is set to object->progress_exception, in place of one from an earlier compaction. The next
 * call of `wait` raises it. */
static void keep_progress_exception(struct writer_object *object) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    Py_XDECREF(object->progress_exception);
    object->progress_exception = value;
}

bool writer_visit_progress(void *context, const struct idx_progress *progress) {
    struct writer_object *object = context;
    bool go_on = true;
    if (object->must_cancel) return false;
    if (object->handle.call.progress == NULL) return true;
    PyGILState_STATE state = PyGILState_Ensure();
    if (!report_progress(object->handle.call.progress, progress, &go_on)) {
        keep_progress_exception(object);
        go_on = false;
    }
    PyGILState_Release(state);
    return go_on;
}

/* ---- Waiting, on a thread of its own, so that signals are handled on this one ---- */

#define NANOSECONDS 1000000000L

struct wait_state {
    struct handle *handle; /* of the writer */
    enum idx_status status;
    pthread_mutex_t mutex; /* for what follows */
    pthread_cond_t changed;
    bool ended;
};

/* Waits for the end of the compaction, and sets `status` and `ended` of a struct wait_state, `context`. This is the
 * function of a thread. Called without the GIL. */
static void *wait_and_signal_end(void *context) {
    struct wait_state *wait_state = context;
    wait_state->status = idx_writer_wait(wait_state->handle->opened, &wait_state->handle->call.error);
    pthread_mutex_lock(&wait_state->mutex);
    wait_state->ended = true;
    pthread_cond_signal(&wait_state->changed);
    pthread_mutex_unlock(&wait_state->mutex);
    return NULL;
}

/* Waits until the compaction has ended, for a tenth of a second at most. Returns whether it has ended. */
static bool wait_tenth_of_second(struct wait_state *wait_state) {
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += NANOSECONDS / 10;
    deadline.tv_sec += deadline.tv_nsec / NANOSECONDS;
    deadline.tv_nsec %= NANOSECONDS;
    pthread_mutex_lock(&wait_state->mutex);
    while (!wait_state->ended && pthread_cond_timedwait(&wait_state->changed, &wait_state->mutex, &deadline) == 0) {
    }
    bool ended = wait_state->ended;
    pthread_mutex_unlock(&wait_state->mutex);
    return ended;
}

/* Waits for the end of the compaction, and handles signals meanwhile. Sets wait_state->status to how it ended. If a
 * signal's handler raises, cancels the compaction. If no thread can be made, waits without handling signals. Called
 * without the GIL. */
static void wait_and_handle_signals(struct writer_object *object, struct wait_state *wait_state) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_and_signal_end, wait_state) != 0) {
        wait_and_signal_end(wait_state);
        return;
    }
    while (!wait_tenth_of_second(wait_state))
        if (!call_check_signals(&object->handle.call)) object->must_cancel = true;
    pthread_join(thread, NULL);
    object->must_cancel = false;
}

/* This is the method `wait`: waits for the end of the running compaction, if any, and raises its error. If progress
 * raised, which cancelled the compaction, raises that exception in place of the error. */
PyObject *writer_wait(PyObject *self, PyObject *unused) {
    struct writer_object *object = (struct writer_object *)self;
    struct wait_state wait_state = {
        .handle = &object->handle, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    if (!handle_begin(object)) return NULL;
    wait_and_handle_signals(object, &wait_state);
    bool ok = handle_end(object, wait_state.status);
    PyObject *exception = object->progress_exception;
    object->progress_exception = NULL;
    /* Not if a signal's handler raised: that exception is set already, and goes first. */
    if (wait_state.status == IDX_CANCELLED && !object->handle.call.failed && exception != NULL)
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
    return ok ? Py_NewRef(Py_None) : NULL;
}
