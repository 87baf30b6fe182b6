/* module.h: what the extension modules _core and _text share: errors, progress, arrays and texts that come in, columns
 * that go out. All is called with the GIL held, but where it says otherwise. */
#ifndef IDX_PYTHON_MODULE_H
#define IDX_PYTHON_MODULE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <idx.h>

#include "libidx/python/arrow.h"

/* ---- Errors (errors.c) ---- */

/* Imports what makes exceptions. Returns false with an exception set when that fails. So do all functions declared here
 * that return bool or a pointer (then NULL), unless they say otherwise. */
bool errors_init(void);

/* Raises the exception for a call of the library that failed, of the class that libidx gives its status. Returns
 * NULL. */
PyObject *raise_error(const struct idx_error *error);

/* Raises the exception for a status, with a sentence that is formatted as PyUnicode_FromFormat does. Returns NULL. */
PyObject *raise_status(enum idx_status status, const char *format, ...);

/* Raises an exception of Python's own type, with a sentence that is formatted so. Returns false. */
bool refuse(PyObject *type, const char *format, ...);

/* Raises MemoryError. Returns false. */
bool refuse_memory(void);

/* Checks that the value of the argument `name` is from `min` to `max`. Raises otherwise. */
bool check_range(const char *name, long long value, long long min, long long max);

/* Calls a function of a module, with arguments as Py_BuildValue makes a tuple of them. Returns what it returns, for the
 * caller to release. */
PyObject *call_python(const char *module, const char *function, const char *format, ...);

/* ---- Arguments (arguments.c) ---- */

/* These are for PyArg_ParseTuple, as "O&", natural_take, &natural. What path_take and call_take took, PyArg_ParseTuple
 * releases if it fails, and the caller otherwise. */

/* A number that is not negative, the argument `name`. The formats of unsigned integers, such as K, would take other
 * numbers modulo 2^n. */
struct natural {
    const char *name;
    unsigned long long max, value;
};
/* Reads a number into *natural, whose `name` and `max` are set. */
int natural_take(PyObject *object, void *natural);

/* A path as the file system takes it, `text`, which `bytes` keeps. */
struct path {
    PyObject *bytes;
    const char *text;
};
/* Sets the members of *path. The caller releases path->bytes. */
int path_take(PyObject *object, void *path);

/* A call of the library, with the arguments that most calls have: (threads, memory, tmpdir, progress). It runs without
 * the GIL, which it takes to handle Ctrl-C and to report progress. */
struct call {
    unsigned threads;
    uint64_t memory;
    struct path folder; /* NULLs: the default one */
    PyObject *progress; /* a callable (phase, done, total), or NULL */
    PyThreadState *thread;
    int64_t looked; /* when call_check_signals last looked for signals, in tenths of a second; 0: not yet */
    bool failed;    /* an exception is set */
    struct idx_error error;
};
/* Sets the members of *call from the tuple. The caller releases the call. */
int call_take(PyObject *tuple, void *call);

/* Releases the folder and the progress of a call. */
void call_release(struct call *call);

/* Sets those options of the library that a call has, but for a temporary folder, which not all options have. */
#define SET_OPTIONS(options, call)                                                                                     \
    ((options).threads = (call).threads, (options).memory_bytes = (call).memory, (options).progress = call_visit,      \
     (options).context = &(call))

/* ---- Calls (errors.c) ---- */

/* Lets go of the GIL for a call, which call_take took; or, by call_begin_plain, for one without progress, of which
 * nothing needs to be set. Both return true, for call_begin(&call) && call_end(&call, idx_...(..., &call.error)). */
bool call_begin(struct call *call);
bool call_begin_plain(struct call *call);

/* Takes the GIL, and returns whether the call succeeded. If not, an exception is set: that of a signal's handler or of
 * progress, or the call's error. */
bool call_end(struct call *call, enum idx_status status);

/* Calls a caller's progress. Returns false if it raised. *go_on is false if it raised, or returned False: it cancels.
 */
bool call_progress(PyObject *callable, const struct idx_progress *progress, bool *go_on);

/* The idx_progress_visitor of most calls; `context` is a struct call. Handles signals and calls progress. Returns
 * false, which cancels the call, if either raised or progress returned False. */
bool call_visit(void *context, const struct idx_progress *progress);

/* Handles signals, such as Ctrl-C, up to ten times a second, so that it may be called often while a call is under way.
 * Returns false where a signal's handler raised. */
bool call_check_signals(struct call *call);

/* Fills the error of a call for lack of memory. Returns its status. */
enum idx_status call_fail_memory(struct call *call);

/* ---- Types (types.c) ---- */

/* Makes a type of these slots, with `flags` beside the default ones, and adds it to a module, which holds it. `size` is
 * that of its objects in bytes. */
PyTypeObject *type_make(PyObject *module, const char *name, size_t size, unsigned flags, PyType_Slot *slots);

/* Makes an object of a type. All its members after its head are zeros. */
void *object_new(PyTypeObject *type);

/* Frees an object whose members were released, and its reference to its type. */
void object_free(PyObject *self);

/* What is different of a type of handles. */
struct handle_kind {
    const char *name, *ended;                    /* for messages: "writer", "is closed: open another one" */
    void (*close)(PyObject *self, void *opened); /* closes what was opened, without the GIL */
};

/* The beginning of an object that holds what the library opened. One thread at a time may use it, and no process but
 * that which opened it. Functions take it as void *. */
struct handle {
    PyObject_HEAD void *opened; /* NULL: it is not open any more */
    const struct handle_kind *kind;
    struct call call; /* the one under way, and its progress */
    long process;     /* that opened it */
    bool busy;        /* a call is under way */
};

/* Makes a handle, which takes over the call that is to open it. If memory runs out, it releases the call. */
void *handle_new(PyTypeObject *type, const struct handle_kind *kind, const struct call *call);

/* Ends the call that opens a handle, and gives the handle what was opened. Returns the handle if `ok`, or else frees
 * it, and returns NULL with the exception that is set. */
PyObject *handle_opened(void *handle, void *opened, bool ok);

/* As call_begin and call_end, for a handle. handle_begin raises, and returns false, if another call is under way, if
 * another process opened the handle, or if it is not open any more. Call handle_end if it returned true. */
bool handle_begin(void *handle);

/* As call_end, for a handle, which others may use then. */
bool handle_end(void *handle, enum idx_status status);

/* Closes what a handle holds. A forked process only forgets it: its threads, locks and files are its parent's. */
void handle_shut(void *handle);

/* This is the method `close` of all handles. Raises if another call is under way. */
PyObject *handle_close(PyObject *self, PyObject *unused);
extern PyGetSetDef handle_properties[];
/* This is the tp_dealloc of all handles. */
void handle_free(PyObject *self);

/* ---- What comes in (arrays.c, strings.c) ---- */

/* 64-bit integers that stay valid until array_release, signed ones as the same bits. */
struct array {
    const uint64_t *items;
    size_t count;
    Py_buffer view;       /* held where view.obj is not NULL */
    struct chunks chunks; /* of Arrow */
    uint64_t *owned;      /* a copy, or NULL */
};

/* Returns whether an object is no NumPy masked array, whose mask nobody would read; else it sets TypeError. */
bool check_unmasked(PyObject *object, const char *what);

/* Takes anything with the buffer protocol, Arrow's interfaces or __array__, or a list or tuple of int. `what` is for
 * messages: "fingerprints". Sets TypeError or ValueError; if it succeeds, the caller releases the array. */
bool array_take(PyObject *object, const char *what, struct array *array);

/* Releases what an array holds, and leaves it empty. It may be empty, or have been released. */
void array_release(struct array *array);

/* Returns whether an object is a single number, to be taken by number_take: an int, a NumPy scalar, or the like. Sets
 * no exception. */
bool is_number(PyObject *object);

/* Sets *number to the number that an object is, from 0 to 2^64 - 1. A negative int64 of NumPy counts as the same bits.
 * `what` is for messages: "queries". */
bool number_take(PyObject *object, const char *what, uint64_t *number);

/* Texts or IDs, each as bytes, that stay valid until strings_release. */
struct strings {
    const char **items;
    size_t *lengths;
    size_t count, capacity;
    PyObject *keeps;      /* a tuple that holds them, or NULL */
    struct chunks chunks; /* of Arrow, which hold them */
};

/* Takes Arrow strings or binaries, or a sequence of str and bytes. `what` is for messages: "texts". If it succeeds, the
 * caller releases them. */
bool strings_take(PyObject *object, const char *what, struct strings *strings);

/* Does what strings_take does for a tuple that was just made, or fails if that is NULL, since making it has failed.
 * Releases the tuple in any case. */
bool strings_take_new(PyObject *tuple, const char *what, struct strings *strings);

/* Releases what the strings hold, and leaves them empty. */
void strings_release(struct strings *strings);

/* ---- What goes out (columns.c) ---- */

enum { MAX_COLUMNS = 8 };

/* Columns of memory, which grow. They start with columns_begin, and end with one of the functions that begin with
 * `columns_end`. */
struct columns {
    struct column {
        char kind;   /* of its items, a letter of Python's module struct: Q, q, d, B or ?; 0: there is no such column */
        void *items; /* of malloc; NULL: there is no such column, either */
        size_t count, capacity;
    } list[MAX_COLUMNS];
    bool failed; /* Memory ran out. Their end raises MemoryError then. */
};

/* Begins columns of these kinds, one letter each, which are not there yet. No GIL needed, here and below, unless an
 * object is made. */
void columns_begin(struct columns *columns, const char *kinds);

/* Adds `more` items to a column, which is there from then on, also with `more` = 0. Returns the first of the new items,
 * which the caller sets. If memory runs out, returns NULL, and sets columns->failed, but no exception. */
void *columns_add(struct columns *columns, size_t column, size_t more);

/* Begins columns, and adds `count` items to each. Returns false with MemoryError set if memory ran out; then nothing is
 * left to end. */
bool columns_make(struct columns *columns, const char *kinds, size_t count);

/* Makes a column of `count` items in memory of malloc, which the columns take over. */
void columns_adopt(struct columns *columns, size_t column, void *items, size_t count);

/* Return a tuple of NumPy arrays that take over the columns' memory, None for each that is not there; the array of the
 * first column alone; or the object that class `name` of libidx._results makes of them, which has read-only ones. They
 * are for the end of a call, which was `ok` or else has set an exception: then they free the memory, and return NULL.
 * If memory ran out, they do so with MemoryError. */
PyObject *columns_end(struct columns *columns, bool ok);
PyObject *columns_end_first(struct columns *columns, bool ok);
PyObject *columns_end_result(struct columns *columns, bool ok, const char *name);

/* Makes the type of columns. Must be called once in each module, before any columns end. */
bool columns_init(void);

#endif
