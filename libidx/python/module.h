/* module.h: what the extension modules _core and _text share: errors, progress, arrays and texts that come in, columns
 * that go out. All functions are called with the GIL held, unless they say otherwise. A comment "Takes (a, b)" is on a
 * function that Python calls with these arguments: it returns NULL with an exception set on failure, and None if the
 * comment names no result. */
#ifndef IDX_PYTHON_MODULE_H
#define IDX_PYTHON_MODULE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <idx.h>

#include "libidx/python/arrow.h"

/* ---- Errors (errors.c) ---- */

/* Imports the function that makes exceptions, libidx._errors.make. Each module calls this once, before all else.
 * Returns false with an exception set if that fails. So do all functions declared here that return bool; those that
 * return a pointer return NULL then. Exceptions to this are stated. */
bool import_make_error(void);

/* Raises the exception for a call of the library that failed, of the class that libidx gives its status. Returns
 * NULL. */
PyObject *raise_error(const struct idx_error *error);

/* Raises the exception for a status, with a sentence that is formatted as PyUnicode_FromFormat does. Returns NULL. */
PyObject *raise_status(enum idx_status status, const char *format, ...);

/* Raises an exception of the class `type`, such as PyExc_TypeError, with a sentence that is formatted as
 * PyUnicode_FromFormat does. Returns false. */
bool refuse(PyObject *type, const char *format, ...);

/* Raises MemoryError. Returns false. */
bool refuse_memory(void);

/* Checks that the value of the argument `name` is from `min` to `max`. Otherwise raises InvalidArgumentError and
 * returns false. */
bool check_range(const char *name, long long value, long long min, long long max);

/* Imports a module, and calls its function. `format` makes the tuple of the arguments, as for Py_BuildValue: "(Os)",
 * for example. Returns the result, for the caller to release. */
PyObject *call_python(const char *module, const char *function, const char *format, ...);

/* ---- Arguments (arguments.c) ---- */

/* These are converters of PyArg_ParseTuple, for example "O&", parse_natural, &natural. They return 0 with an exception
 * set if they fail. What parse_path and parse_call set must be released: by the caller, or if PyArg_ParseTuple fails at
 * a later argument, by the converter itself, which PyArg_ParseTuple then calls with `object` = NULL. */

/* The argument `name`: an integer from 0 to `max`. PyArg_ParseTuple's own formats of unsigned integers, such as K,
 * would not refuse other integers, but reduce them modulo 2^n. */
struct natural {
    const char *name;
    unsigned long long max, value;
};
/* Sets `value` of the struct natural, whose `name` and `max` the caller has set. */
int parse_natural(PyObject *object, void *natural_out);

/* A path as the file system takes it. */
struct path {
    PyObject *bytes;  /* owns the characters */
    const char *text; /* ends with a NUL byte */
};
/* Sets the members of a struct path. The caller releases its `bytes`. */
int parse_path(PyObject *object, void *path_out);

/* A call of the library, with the arguments that most calls have: (threads, memory, tmpdir, progress). It runs without
 * the GIL, which it takes to handle Ctrl-C and to report progress. */
struct call {
    unsigned threads;
    uint64_t memory;            /* in bytes; 0: half of what is free */
    struct path folder;         /* for temporary files; NULLs: the default one */
    PyObject *progress;         /* a callable (phase, done, total), or NULL */
    PyThreadState *thread;      /* of the caller, while it does not have the GIL */
    int64_t signals_checked_at; /* when call_check_signals last did so, in tenths of a second; 0: not yet */
    bool failed;                /* an exception is set */
    struct idx_error error;
};
/* Sets the first four members of a struct call from the tuple, and the others to 0. The caller releases the call. */
int parse_call(PyObject *tuple, void *call_out);

/* Releases the folder and the progress of a call, which may have been released before. */
void call_release(struct call *call);

/* Sets the members threads, memory_bytes, progress and context of a struct of options of the library from a call. Not
 * all options have a temporary folder, so the caller sets that. */
#define SET_OPTIONS(options, call)                                                                                     \
    ((options).threads = (call).threads, (options).memory_bytes = (call).memory, (options).progress = visit_progress,  \
     (options).context = &(call))

/* ---- Calls (errors.c) ---- */

/* Release the GIL for a call of the library; call_end must follow. call_begin is for a call that parse_call or
 * handle_new has set, call_begin_quiet for one without progress, of which the caller has set nothing. Both always
 * return true, so that one can write call_begin(&call) && call_end(&call, idx_...(..., &call.error)). */
bool call_begin(struct call *call);
bool call_begin_quiet(struct call *call);

/* Acquires the GIL again, and returns whether the call succeeded: `status` is IDX_OK, and call->failed is false. If
 * not, an exception is set: that of a signal's handler or of progress, or one for call->error. */
bool call_end(struct call *call, enum idx_status status);

/* Calls a progress callable as (phase, done, total), with the name of the phase. Sets *go_on to whether the call of the
 * library is to go on: false if the callable raised or returned False. Returns false, with the exception set, only if
 * it raised. */
bool report_progress(PyObject *callable, const struct idx_progress *progress, bool *go_on);

/* This is the idx_progress_visitor of most calls; `context` is a struct call. Handles signals and calls progress.
 * Returns false, which cancels the call, if either raised or progress returned False. Called without the GIL, from any
 * thread. */
bool visit_progress(void *context, const struct idx_progress *progress);

/* Handles signals, such as Ctrl-C, at most ten times a second, so that it may be called often while a call is under
 * way. Called without the GIL, on the thread of call_begin. Returns false if a signal's handler has raised. */
bool call_check_signals(struct call *call);

/* Sets call->error for lack of memory, and returns IDX_OUT_OF_MEMORY. No GIL needed. */
enum idx_status call_fail_memory(struct call *call);

/* ---- Types (types.c) ---- */

/* Makes a type of these slots, with `flags` beside the default ones, and adds it to a module as the last part of
 * `name`. `size` is that of its objects in bytes. The type is never freed, so the returned pointer stays valid. */
PyTypeObject *add_type(PyObject *module, const char *name, size_t size, unsigned flags, PyType_Slot *slots);

/* Makes an object of a type that add_type made, for the caller to release. All members after its head are zeros. */
void *object_new(PyTypeObject *type);

/* Frees an object whose members were released, and releases its reference to its type. This is for tp_dealloc. */
void object_free(PyObject *self);

/* What distinguishes a type of handles from the others. */
struct handle_kind {
    const char *name, *ended_phrase;             /* for messages: "writer", "is closed: open another one" */
    void (*close)(PyObject *self, void *opened); /* closes what was opened; is called without the GIL */
};

/* The beginning of an object that holds what the library opened, such as a writer. One thread at a time may use it, and
 * only in the process that opened it. The functions below get a pointer to such an object as void *. */
struct handle {
    PyObject_HEAD void *opened; /* NULL: it is not open any more */
    const struct handle_kind *kind;
    struct call call; /* the one under way, and its progress */
    long process_id;  /* the number of the process that opened it */
    bool busy;        /* a call is under way */
};

/* Makes a handle, in which nothing is opened yet, and moves `call` to it: the caller goes on with handle->call, and
 * must not release `call`, even on failure. */
void *handle_new(PyTypeObject *type, const struct handle_kind *kind, const struct call *call);

/* Ends the opening of a handle: it owns `opened` from then on, which may be NULL on failure. `ok` is what call_end
 * returned. If it is false, an exception is set already: then releases the handle, which closes `opened`, and returns
 * NULL. Otherwise returns the handle. */
PyObject *handle_set_opened(void *object, void *opened, bool ok);

/* Begins a call of the library for a handle, as call_begin does. Raises InvalidArgumentError, and returns false, if
 * another call is under way, if another process opened the handle, or if it is not open any more. If it returned true,
 * the caller calls handle_end. */
bool handle_begin(void *object);

/* Ends the call that handle_begin began, as call_end does; from then on other threads may use the handle. */
bool handle_end(void *object, enum idx_status status);

/* Closes what a handle holds, if anything, without the GIL. A forked process only forgets it, since its threads, locks
 * and files are the parent's. No call may be under way. */
void handle_close_opened(void *object);

/* This is the method `close` of all handles. Raises if another call is under way. */
PyObject *handle_close(PyObject *self, PyObject *unused);
/* The properties of all handles: `closed`. */
extern PyGetSetDef handle_properties[];
/* This is the tp_dealloc of all handles: closes what was opened, and frees the object. */
void handle_free(PyObject *self);

/* ---- What comes in (arrays.c, strings.c) ---- */

/* 64-bit integers that stay valid until array_release, signed ones as the same bits. */
struct array {
    const uint64_t *items;
    size_t count;
    Py_buffer view;       /* held where view.obj is not NULL */
    struct chunks chunks; /* of Arrow */
    uint64_t *owned_copy; /* a copy, or NULL */
};

/* Returns false with TypeError set if an object is a masked array of NumPy, whose mask would be ignored, or with
 * another exception if that can't be found out. `what` is for messages: "fingerprints". */
bool check_unmasked(PyObject *object, const char *what);

/* Reads integers from anything with the buffer protocol, Arrow's interfaces or __array__, or from a list or tuple of
 * int. `what` is for messages: "fingerprints". Sets TypeError, ValueError or MemoryError if it fails, and then there is
 * nothing to release; if it succeeds, the caller releases the array. */
bool parse_array(PyObject *object, const char *what, struct array *array);

/* Releases what an array holds, and leaves it empty. It may be empty, or have been released. */
void array_release(struct array *array);

/* Returns whether an object is a single number, for parse_number, and not an array: an int, a NumPy scalar, or the
 * like. Sets no exception. */
bool is_number(PyObject *object);

/* Sets *number to the value of an int or another single number, from 0 to 2^64 - 1. A negative int64 of NumPy counts as
 * the same bits. `what` is for messages: "queries". Raises TypeError for other objects, such as float, and ValueError
 * for numbers out of range. */
bool parse_number(PyObject *object, const char *what, uint64_t *number);

/* Texts or IDs, each as bytes, that stay valid until strings_release. */
struct strings {
    const char **items;
    size_t *lengths;
    size_t count, capacity;
    PyObject *keeper;     /* a tuple of the objects that own the bytes, or NULL */
    struct chunks chunks; /* of Arrow, which own the bytes if there is no such tuple */
};

/* Reads Arrow strings or binaries, or a sequence of str (as UTF-8) and bytes. `what` is for messages: "texts". If it
 * succeeds, the caller releases the strings; if it fails, there is nothing to release. Raises TypeError for other
 * objects and items, ValueError for nulls, and what iterating over the sequence raises. */
bool parse_strings(PyObject *object, const char *what, struct strings *strings);

/* Reads the strings of a tuple as parse_strings does, and releases the tuple in any case. The tuple may be NULL if
 * making it failed: then this fails with the exception that is set already. */
bool parse_strings_and_release(PyObject *tuple, const char *what, struct strings *strings);

/* Releases what the strings hold, and leaves them empty. */
void strings_release(struct strings *strings);

/* ---- What goes out (columns.c) ---- */

enum { MAX_COLUMNS = 8 };

/* Columns of memory, which grow. They start with columns_begin, and end with one of the functions whose names begin
 * with columns_end: those make Python's objects of them, and free what is left. */
struct columns {
    struct column {
        char kind;   /* of its items, a letter of Python's module struct: Q, q, d, B or ?; 0: there is no such column */
        void *items; /* of malloc; NULL: there is no such column, either */
        size_t count, capacity;
    } list[MAX_COLUMNS];
    bool failed; /* Memory ran out, so columns_end will raise MemoryError. */
};

/* Begins columns of these kinds, one letter each. None has memory until columns_add is called for it. No GIL needed, as
 * for all functions of columns but those that make objects or set exceptions. */
void columns_begin(struct columns *columns, const char *kinds);

/* Adds `new_count` items to a column. It then has memory, even if `new_count` is 0, so that its end is an empty array
 * and not None. Returns the first of the new items, which the caller sets; the column may have moved. If memory runs
 * out, returns NULL, and sets columns->failed, but no exception. */
void *columns_add(struct columns *columns, size_t column_number, size_t new_count);

/* Begins columns, and adds `count` items to each, which the caller sets. Returns false with MemoryError set if memory
 * runs out; then their memory is freed already, and ending them with `ok` = false only returns NULL. */
bool columns_begin_sized(struct columns *columns, const char *kinds, size_t count);

/* Makes a column, which has no memory yet, own `count` items in memory of malloc. */
void columns_adopt(struct columns *columns, size_t column_number, void *items, size_t count);

/* End the columns after a call of the library, and return what Python gets of them. The objects own the memory then.
 *
 *   columns_end           a tuple of NumPy arrays, with None for a column without memory
 *   columns_end_as_array  the NumPy array of the first column alone
 *   columns_end_result    what the class `name` of libidx._results makes of the columns, which are read-only then
 *
 * `ok` says whether the call succeeded. If it did not, it has set an exception. If it did, but memory ran out while the
 * columns grew, they set MemoryError. In both cases they free the memory, and return NULL. */
PyObject *columns_end(struct columns *columns, bool ok);
PyObject *columns_end_as_array(struct columns *columns, bool ok);
PyObject *columns_end_result(struct columns *columns, bool ok, const char *name);

/* Makes the type of the objects that own columns. Must be called once in each module, before any columns end. */
bool make_column_type(void);

#endif
