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

/* The Arrow arrays, one after the other, that make up a column. It starts as {0}. */
struct chunks {
    struct ArrowArray *arrays;
    size_t count;
    char format[4]; /* the Arrow format of all of them, and a NUL byte */
};

/* Checks the format of a column: returns false with an exception set. `what` is for messages: "fingerprints". */
typedef bool (*format_check)(const char *what, const char *format);

/* Moves the arrays that an object exports by __arrow_c_array__, or else by __arrow_c_stream__, into *chunks, which is
 * {0}. Sets *has_arrow to whether the object has one of these methods and the package that it needs; without, *chunks
 * stays {0}, which is no failure. Returns false with an exception set if exporting fails, `check` refuses the format,
 * or an item is null. The caller releases the chunks in any case. `what` is for messages: "fingerprints". */
bool import_chunks(PyObject *object, const char *what, format_check check, struct chunks *chunks, bool *has_arrow);

/* Releases the arrays of a column, and leaves it without any. */
void chunks_release(struct chunks *chunks);

#endif
