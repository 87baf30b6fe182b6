/* module.h: what the extension modules _core and _text share: errors, progress, arrays and texts that come in, columns
 * that go out. All is called with the GIL held, but where it says otherwise. */
#ifndef IDX_PYTHON_MODULE_H
#define IDX_PYTHON_MODULE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <idx.h>

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
    Py_buffer view;  /* held where view.obj is not NULL */
    PyObject *keeps; /* what else holds them, or NULL */
    uint64_t *owned; /* a copy, or NULL */
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
    PyObject *keeps; /* what holds them: a tuple */
    void *chunks;    /* of Arrow, to be released */
    size_t chunk_count;
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

/* Columns of memory, shared by those who hold the block, with the GIL or not. */
struct block {
    size_t holders; /* references to the block; changed atomically */
    size_t count;
    bool readonly; /* its arrays can't be written, since C trusts what is in them */
    struct column {
        void *items; /* of malloc; NULL: there is no such column */
        size_t count, capacity;
        char kind; /* of its items, a letter of Python's module struct: Q, q, d, B or ? */
    } columns[MAX_COLUMNS];
};

/* Makes a block, held once, of as many columns as `kinds` has letters, which are not there yet. Returns NULL without an
 * exception if there is no memory. */
struct block *block_new(const char *kinds);
void block_hold(struct block *block);
void block_release(struct block *block);

/* Makes a block, held once, whose columns have `count` items each, which the caller sets. */
struct block *block_make(const char *kinds, size_t count);

/* Makes room for `more` items after column->count. A column is there from then on, also with `more` = 0. No GIL needed;
 * returns false when out of memory, without an exception. */
bool column_reserve(struct column *column, size_t more);

/* Gives an empty column `count` items, which the caller sets. Otherwise as column_reserve. */
bool column_make(struct column *column, size_t count);

/* Gives back the room that the columns of a block do not need. */
void block_trim(struct block *block);

/* Returns a column as a NumPy array, or None if there is no such column. */
PyObject *column_view(struct block *block, size_t column);

/* Returns a tuple of all columns, as column_view returns them. */
PyObject *block_views(struct block *block);

bool columns_init(void);

#endif
