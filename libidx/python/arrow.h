/* arrow.h: the layout of Arrow's C data and stream interfaces, which is an ABI:
 * https://arrow.apache.org/docs/format/CDataInterface.html */
#ifndef IDX_PYTHON_ARROW_H
#define IDX_PYTHON_ARROW_H

#include <stdint.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* Called for a column's array, or for each of its chunks. Returns false with an exception set. A visitor that keeps an
 * array copies it and sets its `release` to NULL. */
typedef bool (*arrow_visitor)(void *context, const char *format, struct ArrowArray *array);

/* Visits what an object gives by __arrow_c_array__, or else by __arrow_c_stream__. *keeps is what the former gave, else
 * NULL, already during the visit: the array lives as long as that, which the caller releases. *found is false if the
 * object has neither, or lacks a package for them. `what` is for messages: "fingerprints". Returns false with an
 * exception set. */
bool arrow_visit(PyObject *object, const char *what, arrow_visitor visit, void *context, PyObject **keeps, bool *found);

#endif
