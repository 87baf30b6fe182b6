/* arrow_export.c: gives the rows of a result as an Arrow stream. Columns of plain numbers are shared, not copied. */
#include "libidx/python/results.h"

#include <errno.h>
#include <stdlib.h>

#include "libidx/python/arrow.h"

/* How a column of the rows is made of a column of the block. */
enum making {
    PLAIN,    /* it is that column */
    EXPANDED, /* the number of its query for each row, from the offsets of queries */
    BITS,     /* from truth values of a byte each */
    TEXTS,    /* that column has the offsets, and the next one the bytes */
};

struct row_layout {
    const char *name, *format;
    enum making making;
    size_t column;
};

#define MAX_ROW_COLUMNS 6

static const struct row_layout result_layouts[RESULT_COUNT][MAX_ROW_COLUMNS] = {
    [RESULT_MATCHES] = {{"query", "l", EXPANDED, MATCHES_OFFSETS},
                        {"fingerprint", "L", PLAIN, MATCHES_FINGERPRINTS},
                        {"distance", "C", PLAIN, MATCHES_DISTANCES}},
    [RESULT_DOCUMENTS] = {{"query", "l", EXPANDED, DOCUMENTS_OFFSETS},
                          {"id", "L", PLAIN, DOCUMENTS_NUMBERS},
                          {"id", "U", TEXTS, DOCUMENTS_ID_OFFSETS}},
    [RESULT_PAIRS] = {{"a", "L", PLAIN, PAIRS_A},
                      {"b", "L", PLAIN, PAIRS_B},
                      {"distance", "C", PLAIN, PAIRS_DISTANCES}},
    [RESULT_CLUSTERS] = {{"cluster", "l", PLAIN, CLUSTERS_CLUSTERS},
                         {"fingerprint", "L", PLAIN, CLUSTERS_FINGERPRINTS},
                         {"distance", "C", PLAIN, CLUSTERS_DISTANCES},
                         {"is_representative", "b", BITS, CLUSTERS_REPRESENTATIVE},
                         {"id", "L", PLAIN, CLUSTERS_NUMBERS},
                         {"id", "U", TEXTS, CLUSTERS_ID_OFFSETS}},
    [RESULT_RESEMBLING] = {{"query", "l", EXPANDED, RESEMBLING_OFFSETS},
                           {"id", "L", PLAIN, RESEMBLING_NUMBERS},
                           {"id", "U", TEXTS, RESEMBLING_ID_OFFSETS},
                           {"resemblance", "g", PLAIN, RESEMBLING_RESEMBLANCES}},
};

struct export {
    enum result result;
    struct block *block;
    bool binary; /* texts are not all UTF-8 */
    bool given;  /* the stream has given its only array */
};

/* Returns whether the rows of the result have a column: IDs are numbers, or texts, or none. */
static bool has_column(const struct export *export, const struct row_layout *layout) {
    return layout->name != NULL && export->block->columns[layout->column].items != NULL;
}

/* The `release` of the schema of the rows, and of its children, which the consumer calls, or make_schema if it fails.
 */
static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    schema->release = NULL;
}

/* Makes the schema of the rows: a struct with a child for each column that there is. Returns 0 or a value of errno. */
static int make_schema(const struct export *export, struct ArrowSchema *schema) {
    const struct row_layout *layouts = result_layouts[export->result];
    *schema = (struct ArrowSchema){.format = "+s", .name = "", .release = release_schema};
    schema->children = calloc(MAX_ROW_COLUMNS, sizeof *schema->children);
    bool ok = schema->children != NULL;
    for (size_t i = 0; i < MAX_ROW_COLUMNS && ok; i++) {
        if (!has_column(export, &layouts[i])) continue;
        struct ArrowSchema *child = malloc(sizeof *child);
        ok = child != NULL;
        if (!ok) break;
        const char *format = export->binary && layouts[i].making == TEXTS ? "Z" : layouts[i].format;
        *child = (struct ArrowSchema){.format = format, .name = layouts[i].name, .release = release_schema};
        schema->children[schema->n_children++] = child;
    }
    if (!ok) release_schema(schema);
    return ok ? 0 : ENOMEM;
}

struct column_holder {
    struct block *block; /* whose memory the buffers are, but for `made` */
    const void *buffers[3];
    void *made; /* a buffer that was made for it, or NULL */
};

static void release_column(struct ArrowArray *array) {
    struct column_holder *column = array->private_data;
    block_release(column->block);
    free(column->made);
    free(column);
    array->release = NULL;
}

static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    free(array->buffers);
    array->release = NULL;
}

/* Returns the number of its query for each row, for the caller to free. NULL if memory runs out. */
static void *expand_offsets(const struct column *offsets, size_t row_count) {
    const int64_t *offset = offsets->items;
    int64_t *queries = malloc(row_count * sizeof *queries + 1);
    for (size_t i = 0; i + 1 < offsets->count && queries != NULL; i++) {
        for (int64_t row = offset[i]; row < offset[i + 1]; row++) queries[row] = (int64_t)i;
    }
    return queries;
}

/* Returns truth values as bits, for the caller to free. NULL if memory runs out. */
static void *pack_bits(const struct column *truths) {
    const uint8_t *truth = truths->items;
    uint8_t *bits = calloc(truths->count / 8 + 1, 1);
    for (size_t i = 0; i < truths->count && bits != NULL; i++) bits[i / 8] |= (uint8_t)((truth[i] != 0) << (i % 8));
    return bits;
}

/* Makes the array of one column, which keeps the block. Returns 0 or a value of errno. */
static int make_column(const struct export *export, const struct row_layout *layout, size_t row_count,
                       struct ArrowArray *array) {
    const struct column *source = &export->block->columns[layout->column];
    struct column_holder *column = calloc(1, sizeof *column);
    if (column == NULL) return ENOMEM;
    if (layout->making == EXPANDED) column->made = expand_offsets(source, row_count);
    if (layout->making == BITS) column->made = pack_bits(source);
    bool is_made = layout->making == EXPANDED || layout->making == BITS;
    if (is_made && column->made == NULL) {
        free(column);
        return ENOMEM;
    }
    column->buffers[1] = is_made ? column->made : source->items;
    if (layout->making == TEXTS) column->buffers[2] = source[1].items;
    block_hold(export->block);
    column->block = export->block;
    *array = (struct ArrowArray){.length = (int64_t)row_count,
                                 .n_buffers = layout->making == TEXTS ? 3 : 2,
                                 .buffers = column->buffers,
                                 .release = release_column,
                                 .private_data = column};
    return 0;
}

/* Makes the array of all rows, with a child for each column that there is. Returns 0 or a value of errno. */
static int make_array(const struct export *export, struct ArrowArray *array) {
    const struct row_layout *layouts = result_layouts[export->result];
    size_t count = result_count_rows(export->result, export->block);
    *array = (struct ArrowArray){.length = (int64_t)count, .n_buffers = 1, .release = release_array};
    array->buffers = calloc(1, sizeof *array->buffers);
    array->children = calloc(MAX_ROW_COLUMNS, sizeof *array->children);
    int status = array->buffers == NULL || array->children == NULL ? ENOMEM : 0;
    for (size_t i = 0; i < MAX_ROW_COLUMNS && status == 0; i++) {
        if (!has_column(export, &layouts[i])) continue;
        struct ArrowArray *child = malloc(sizeof *child);
        status = child == NULL ? ENOMEM : make_column(export, &layouts[i], count, child);
        if (status == 0) array->children[array->n_children++] = child;
        if (status != 0) free(child);
    }
    if (status != 0) release_array(array);
    return status;
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
    return make_schema(stream->private_data, schema);
}

/* The get_next of the stream: all rows are in its first array, and the next one is the end of the stream. */
static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    struct export *export = stream->private_data;
    if (export->given) {
        array->release = NULL;
        return 0;
    }
    export->given = true;
    return make_array(export, array);
}

/* Only allocating memory can fail. */
static const char *stream_error(struct ArrowArrayStream *stream) { return "out of memory"; }

static void stream_release(struct ArrowArrayStream *stream) {
    struct export *export = stream->private_data;
    block_release(export->block);
    free(export);
    stream->release = NULL;
}

/* Frees the stream of a capsule, and releases it unless a consumer has moved it away. */
static void free_stream(PyObject *capsule) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release != NULL) stream->release(stream);
    free(stream);
}

/* Returns whether all IDs are UTF-8, each by itself, as Arrow's strings must be. */
static bool are_utf8(const struct column *offsets, const struct column *bytes) {
    const int64_t *offset = offsets->items;
    for (size_t i = 0; i + 1 < offsets->count && offset != NULL; i++) {
        PyObject *text = PyUnicode_DecodeUTF8((const char *)bytes->items + offset[i],
                                              (Py_ssize_t)(offset[i + 1] - offset[i]), "strict");
        if (text == NULL) {
            PyErr_Clear();
            return false;
        }
        Py_DECREF(text);
    }
    return true;
}

PyObject *arrow_export(enum result result, struct block *block) {
    struct export *export = calloc(1, sizeof *export);
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    if (export == NULL || stream == NULL) {
        free(export);
        free(stream);
        return PyErr_NoMemory();
    }
    size_t ids = result_first_id_column(result);
    *export = (struct export){.result = result, .block = block};
    if (ids > 0) export->binary = !are_utf8(&block->columns[ids + 1], &block->columns[ids + 2]);
    block_hold(block);
    *stream = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, export};
    PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", free_stream);
    if (capsule == NULL) {
        stream_release(stream);
        free(stream);
    }
    return capsule;
}
