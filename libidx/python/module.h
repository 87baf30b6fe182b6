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

/* Imports what makes exceptions. Unless they say otherwise, functions declared here that return bool or a pointer
 * return false or NULL with an exception set when they fail. */
bool errors_init(void);

/* Raises the exception of a call that failed. Returns NULL. */
PyObject *raise_error(const struct idx_error *error);

/* Raises likewise, from a status and a sentence that is formatted as PyUnicode_FromFormat does. */
PyObject *raise_status(enum idx_status status, const char *format, ...);

/* Raise an exception of Python's with such a sentence, and MemoryError. Both return false. */
bool refuse(PyObject *type, const char *format, ...);
bool refuse_memory(void);

/* Checks that the value of the argument `name` is from `least` to `most`. */
bool check_range(const char *name, long long value, long long least, long long most);

/* A number that is not negative, the argument `name`, for PyArg_ParseTuple as "O&", natural_take, &natural. Its formats
 * of unsigned integers, such as K, would take other numbers modulo 2^n. */
struct natural {
    const char *name;
    unsigned long long most, value;
};
int natural_take(PyObject *object, void *natural);

/* What is needed, while a call of the library runs, to handle Ctrl-C and to report progress to the caller. */
struct watch {
    PyObject *progress; /* a callable (phase, done, total), or None; borrowed */
    bool failed;        /* an exception is set */
};

/* Calls a caller's progress. Returns false if it raised. *go_on is false if it raised, or returned False: it cancels.
 */
bool call_progress(PyObject *callable, const struct idx_progress *progress, bool *go_on);

/* The idx_progress_visitor of most calls, which the library calls without the GIL; `context` is a struct watch. Handles
 * signals and calls progress. Returns false, which cancels the call, if either raised or progress returned False. */
bool watch_visit(void *context, const struct idx_progress *progress);

/* Fills an error of the library for lack of memory, without the GIL. Returns its status. */
enum idx_status fail_memory(struct idx_error *error);

/* Returns whether a call succeeded. If not, an exception is set: what its watch (may be NULL) caught, or its error. */
bool check_call(enum idx_status status, const struct idx_error *error, const struct watch *watch);

/* Handles signals, such as Ctrl-C, up to ten times a second, so that it may be called often. It is called without the
 * GIL, which it takes and gives back: *thread is what PyEval_SaveThread returned, and *last begins as 0. Returns false
 * where a signal's handler raised. */
bool check_signals(PyThreadState **thread, int64_t *last);

/* Returns whether this process is `owner`, which opened the object `what`. If not, it raises: fork can't share one. */
bool check_process(long owner, const char *what);

/* ---- Types (types.c) ---- */

/* Makes a type of these slots, with flags beside the default ones, and adds it to a module. */
PyTypeObject *type_make(PyObject *module, const char *name, size_t size, unsigned flags, PyType_Slot *slots);

/* Makes an object of a type, with nothing but zeros after its head. */
void *object_new(PyTypeObject *type);

/* Frees an object whose members were released, and its reference to its type. */
void object_free(PyObject *self);

/* Begins a call of an object that one thread at a time may use. Sets *busy, which the caller sets to false at the end
 * of the call. Raises if another call is under way, if another process opened the object, or if it is not open any
 * more. `what` is for messages, such as "writer", and so is `ended`, what became of an object that is not open: "is
 * closed". */
bool call_begin(bool *busy, long process, bool is_open, const char *what, const char *ended);

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
void array_release(struct array *array);

/* Returns whether an object is a single number, to be taken by number_take: an int, a NumPy scalar, or the like. */
bool is_number(PyObject *object);
bool number_take(PyObject *object, const char *what, uint64_t *number);

/* Texts or IDs, each as bytes, that stay valid until strings_release. */
struct strings {
    const char **items;
    size_t *lengths;
    size_t count, capacity;
    PyObject *keeps;      /* a tuple that holds them, or NULL */
    struct chunks chunks; /* of Arrow, which hold them */
};

/* Takes Arrow strings or binaries, or a sequence of str and bytes. If it succeeds, the caller releases them. */
bool strings_take(PyObject *object, const char *what, struct strings *strings);

/* Takes the items of a tuple that was just made, or NULL, and releases the tuple, also where it fails. */
bool strings_take_new(PyObject *tuple, const char *what, struct strings *strings);
void strings_release(struct strings *strings);

/* ---- Paths that come in (paths.c) ---- */

/* Converts a path to what the file system takes, *text, which *bytes keeps. The caller releases *bytes. */
bool path_take(PyObject *path, PyObject **bytes, const char **text);

/* Converts the path of a folder likewise. If it is None, both are NULL. */
bool folder_take(PyObject *path, PyObject **bytes, const char **text);

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

/* Begins columns of these kinds, which are not there yet. No GIL needed, here and below, unless an object is made. */
void columns_begin(struct columns *columns, const char *kinds);

/* Adds `more` items to a column, which is there from then on, also with `more` = 0. Returns the first of these, which
 * the caller sets, or NULL with columns->failed if memory ran out. */
void *columns_add(struct columns *columns, size_t column, size_t more);

/* Adds `count` items to each of the columns. Returns false, with MemoryError, if memory ran out. */
bool columns_make(struct columns *columns, const char *kinds, size_t count);

/* Makes a column of memory of malloc, which it takes over. */
void columns_adopt(struct columns *columns, size_t column, void *items, size_t count);

/* Return a tuple of NumPy arrays that take over the columns' memory, None for each that is not there; the array of the
 * first column alone; or the object that a class of libidx._results makes of them, which has read-only ones. They are
 * for the end of a call, and return NULL if that failed, which has set an exception, or if memory ran out. */
PyObject *columns_end(struct columns *columns, bool ok);
PyObject *columns_end_first(struct columns *columns, bool ok);
PyObject *columns_end_result(struct columns *columns, bool ok, const char *name);

bool columns_init(void);

#endif
