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

/* The arrays of a column that came in. It starts as {0}. */
struct chunks {
    struct ArrowArray *arrays;
    size_t count;
    char format[4]; /* of all of them */
};

/* Checks the format of a column: returns false with an exception set. `what` is for messages: "fingerprints". */
typedef bool (*format_check)(const char *what, const char *format);

/* Takes what an object gives by __arrow_c_array__, or else by __arrow_c_stream__, without nulls. *found is false if the
 * object has neither, or lacks a package for them. Returns false with an exception set. The caller releases the chunks
 * in any case. */
bool chunks_take(PyObject *object, const char *what, format_check check, struct chunks *chunks, bool *found);

/* Releases the arrays of a column, and leaves it without any. */
void chunks_release(struct chunks *chunks);

#endif
