/* module.h: what the extension modules _core and _text share: errors, progress, arrays and texts that come in, columns
 * that go out. All is called with the GIL held, but where it says otherwise. */
#ifndef IDX_PYTHON_MODULE_H
#define IDX_PYTHON_MODULE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <idx.h>

/* ---- Errors (errors.c) ---- */

/* Imports what makes exceptions. False with an exception set, as all that return bool. */
bool errors_init(void);

/* Raises the exception of a call that failed. Returns NULL. */
PyObject *raise_error(const struct idx_error *error);

/* Raises likewise, from a status and a sentence that is formatted as PyUnicode_FromFormat does. */
PyObject *raise_status(enum idx_status status, const char *format, ...);

/* Raises an exception of Python's with such a sentence, or MemoryError. Returns false. */
bool refuse(PyObject *type, const char *format, ...);
bool refuse_memory(void);

/* Checks that the argument `name` is from `least` to `most`. */
bool check_range(const char *name, long long value, long long least, long long most);

/* This watches a call of the library for Ctrl-C, and reports progress to the caller. */
struct watch {
    PyObject *progress; /* a callable (phase, done, total), or None; borrowed */
    bool failed;        /* an exception is set */
};

/* Calls a caller's progress, with the GIL held. False where it raised; *go_on is false where it returned False. */
bool tell_progress(PyObject *callable, const struct idx_progress *progress, bool *go_on);

/* This is an idx_progress_visitor, called without the GIL; `context` is a struct watch. */
bool watch_visit(void *context, const struct idx_progress *progress);

/* Whether a call succeeded. If not, sets the exception that the watch raised, or the call's own. */
bool check_call(enum idx_status status, const struct idx_error *error, const struct watch *watch);

/* Lets signals be handled, some times a second. From a thread without the GIL, which it gives back; `last` begins as 0.
 * False where a handler raised: then it has the exception. */
bool check_signals(PyThreadState **thread, int64_t *last);

/* Whether this process opened an object; else it raises, since a writer or builder can't be shared by fork. */
bool check_process(long owner, const char *what);

/* ---- Types (types.c) ---- */

/* Makes a type of these slots, with flags beside the default ones, and adds it to a module. NULL with an exception. */
PyTypeObject *type_make(PyObject *module, const char *name, size_t size, unsigned flags, PyType_Slot *slots);

/* Makes an object of a type, with nothing but zeros behind its head. */
void *object_new(PyTypeObject *type);

/* Frees an object that holds nothing any more. */
void object_free(PyObject *self);

/* Begins a call of an open object, such as a "writer", which `process` opened and one thread at a time may use; else it
 * raises. `ended` is what is said if the object is not open. The caller sets *busy to false in the end. */
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

/* Whether an object is no NumPy masked array, whose mask nobody would read; else it sets TypeError. */
bool check_unmasked(PyObject *object, const char *what);

/* Takes anything with the buffer protocol, Arrow's interfaces or __array__, or a list or tuple of int. `what` is for
 * messages: "fingerprints". Sets TypeError or ValueError. */
bool array_take(PyObject *object, const char *what, struct array *array);
void array_release(struct array *array);

/* Whether an object is a single number, to be taken by number_take: an int or a NumPy scalar. */
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

/* Takes an Arrow array or stream of strings or binaries, or a sequence of str and bytes. */
bool strings_take(PyObject *object, const char *what, struct strings *strings);
void strings_release(struct strings *strings);

/* ---- Paths that come in (paths.c) ---- */

/* Converts a path to what the file system takes. The caller releases *bytes. */
bool path_take(PyObject *path, PyObject **bytes, const char **text);

/* Converts the path of a folder likewise. If it is None, both are NULL. */
bool folder_take(PyObject *path, PyObject **bytes, const char **text);

/* ---- What goes out (columns.c) ---- */

enum { MAX_COLUMNS = 8 };

/* Columns of memory, shared by those who hold the block, with the GIL or not. */
struct block {
    size_t holders; /* changed atomically */
    size_t count;
    struct column {
        void *items; /* of malloc; NULL: there is no such column */
        size_t count, room;
        char kind; /* as of struct: Q, q, B, ? */
    } columns[MAX_COLUMNS];
};

/* Makes a block of as many empty columns as `kinds` has letters. Returns NULL if there is no memory. */
struct block *block_new(const char *kinds);
void block_hold(struct block *block);
void block_release(struct block *block);

/* Makes a block whose columns have `count` items each, which the caller sets. Returns NULL with an exception set. */
struct block *block_with(const char *kinds, size_t count);

/* Makes room for `more` items behind column->count. No GIL needed; false when out of memory, without an exception. */
bool column_reserve(struct column *column, size_t more);

/* Gives an empty column `count` items, which the caller sets; as column_reserve. */
bool column_make(struct column *column, size_t count);

/* Gives back what the columns of a block do not need. */
void block_trim(struct block *block);

/* Returns a column as a NumPy array, or None if there is no such column. */
PyObject *column_view(struct block *block, size_t column);

/* Returns a tuple of all columns, as column_view returns them. */
PyObject *block_views(struct block *block);

bool columns_init(void);

#endif
