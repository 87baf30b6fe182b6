/* writer.c: the type Writer. */
#include "libidx/python/core.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/python/items.h"

struct writer_object {
    PyObject_HEAD struct idx_writer *writer; /* NULL: closed */
    enum idx_id_type id_type;
    unsigned k;
    long process;
    bool busy; /* a call is under way */
};

/* Begins a call that no other thread's may meet. */
static bool enter(struct writer_object *object) {
    if (!check_process(object->process, "writer")) return false;
    if (object->writer == NULL || object->busy) {
        raise_status(IDX_INVALID_ARGUMENT, object->busy ? "another thread is using this writer: one at a time"
                                                        : "this writer is closed: open another one");
        return false;
    }
    object->busy = true;
    return true;
}

/* (path, threads, compact_records, compact_segments): records -1 for by size */
static PyObject *writer_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_properties properties;
    struct idx_error error;
    PyObject *path, *bytes;
    const char *text;
    long long records;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "OILI", &path, &options.threads, &records, &options.compact_segments) ||
        !check_range("compact_records", records, -1, UINT32_MAX) || !path_take(path, &bytes, &text))
        return NULL;
    options.compact_records = records < 0 ? IDX_COMPACT_BY_SIZE : (uint64_t)records;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct writer_object *object = (struct writer_object *)allocate(type, 0);
    if (object != NULL) {
        struct idx_writer *writer = NULL;
        PyThreadState *thread = PyEval_SaveThread();
        enum idx_status status = idx_writer_open(&writer, text, &options, &error);
        PyEval_RestoreThread(thread);
        if (status == IDX_OK) {
            idx_get_properties(idx_writer_view(writer), &properties);
            *object = (struct writer_object){.ob_base = object->ob_base,
                                             .writer = writer,
                                             .id_type = properties.id_type,
                                             .k = properties.k,
                                             .process = (long)getpid()};
        } else {
            raise_error(&error);
            Py_CLEAR(object);
        }
    }
    Py_DECREF(bytes);
    return (PyObject *)object;
}

/* Not in a process that did not open it: its compaction thread and its lock are another's. */
static void close_writer(struct writer_object *object) {
    struct idx_writer *writer = object->writer;
    object->writer = NULL;
    if (writer == NULL || object->process != (long)getpid()) return;
    PyThreadState *thread = PyEval_SaveThread();
    idx_writer_close(writer);
    PyEval_RestoreThread(thread);
}

static void writer_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    close_writer((struct writer_object *)self);
    release(self);
    Py_DECREF(type);
}

static PyObject *writer_close(PyObject *self, PyObject *unused) {
    struct writer_object *object = (struct writer_object *)self;
    (void)unused;
    if (object->writer != NULL) {
        if (!enter(object)) return NULL;
        object->busy = false;
        close_writer(object);
    }
    Py_RETURN_NONE;
}

static PyObject *writer_wait(PyObject *self, PyObject *unused) {
    struct writer_object *object = (struct writer_object *)self;
    struct idx_error error;
    (void)unused;
    if (!enter(object)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_writer_wait(object->writer, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    if (!check_call(status, &error, NULL)) return NULL;
    Py_RETURN_NONE;
}

/* ---- Adding ---- */

/* (fingerprints, ids) */
static PyObject *writer_add(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *ids;
    struct items items;
    struct idx_error error;
    if (!PyArg_ParseTuple(arguments, "OO", &fingerprints, &ids) ||
        !items_take(fingerprints, ids, object->id_type, false, &items))
        return NULL;
    struct idx_item *list = items_list(&items);
    if (list == NULL || !enter(object)) {
        free(list);
        items_release(&items);
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_writer_add(object->writer, list, items.count, &error);
    PyEval_RestoreThread(thread);
    object->busy = false;
    free(list);
    items_release(&items);
    if (!check_call(status, &error, NULL)) return NULL;
    Py_RETURN_NONE;
}

/* ---- Checking and adding ---- */

/* Matches of each document that are kept room for at first. */
#define EXPECTED ((size_t)8)

/* A document that was added, by its place. Those of one call differ in their fingerprints. */
struct addition {
    uint64_t fingerprint;
    size_t place;
};

struct check {
    struct writer_object *object;
    struct idx_item *list;
    size_t count, limit, capacity;
    unsigned distance;
    struct idx_match *matches;
    size_t *counts;
    uint8_t *added;
    struct addition *additions; /* by fingerprint; NULL until some query has many matches */
    size_t addition_count;
    struct gathering gathering;
    struct idx_error error;
};

static enum idx_status out_of_memory(struct check *check) {
    check->error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
    return IDX_OUT_OF_MEMORY;
}

static int compare_additions(const void *a, const void *b) {
    uint64_t one = ((const struct addition *)a)->fingerprint, other = ((const struct addition *)b)->fingerprint;
    return (one > other) - (one < other);
}

static bool list_additions(struct check *check) {
    if (check->additions != NULL) return true;
    check->additions = malloc((check->count + 1) * sizeof *check->additions);
    for (size_t i = 0; i < check->count && check->additions != NULL; i++) {
        if (check->added[i])
            check->additions[check->addition_count++] = (struct addition){check->list[i].fingerprint, i};
    }
    if (check->additions != NULL)
        qsort(check->additions, check->addition_count, sizeof *check->additions, compare_additions);
    return check->additions != NULL;
}

/* Whether one of the documents behind `at` was added with this fingerprint: then it was no match yet. */
static bool came_later(const struct check *check, size_t at, uint64_t fingerprint) {
    const struct addition wanted = {fingerprint, 0}, *found;
    found = bsearch(&wanted, check->additions, check->addition_count, sizeof wanted, compare_additions);
    return found != NULL && found->place > at;
}

/* Looks up again what has more matches than were kept, less those that came later. */
static enum idx_status take_many(struct check *check, size_t at) {
    const struct idx_index *view = idx_writer_view(check->object->writer);
    uint64_t query = check->list[at].fingerprint;
    size_t count, capacity = 2 * check->counts[at] + 16, kept = 0;
    struct idx_match *matches = NULL;
    enum idx_status status;
    if (!list_additions(check)) return out_of_memory(check);
    do {
        struct idx_match *grown = realloc(matches, capacity * sizeof *matches);
        if (grown == NULL) {
            free(matches);
            return out_of_memory(check);
        }
        matches = grown;
        status = idx_lookup(view, query, check->distance, matches, capacity, &count, &check->error);
    } while (status == IDX_OK && count > capacity && (capacity = count) > 0);
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        if (kept < check->limit && !came_later(check, at, matches[i].fingerprint)) matches[kept++] = matches[i];
    }
    if (status == IDX_OK && !gather_matches(&check->gathering, at, matches, kept)) status = out_of_memory(check);
    free(matches);
    return status;
}

static enum idx_status take_checked(struct check *check) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < check->count; i++) check->added[i] = check->counts[i] == 0;
    for (size_t i = 0; i < check->count && status == IDX_OK; i++) {
        size_t count = check->counts[i] < check->limit ? check->counts[i] : check->limit;
        if (count > check->capacity) {
            status = take_many(check, i);
        } else if (!gather_matches(&check->gathering, i, check->matches + i * check->capacity, count)) {
            status = out_of_memory(check);
        }
    }
    if (status == IDX_OK && !gather_end(&check->gathering, check->count)) status = out_of_memory(check);
    return status;
}

static enum idx_status run_check(struct check *check, struct block *added) {
    size_t room = 0;
    check->matches = malloc(check->count * check->capacity * sizeof *check->matches + 1);
    check->counts = malloc(check->count * sizeof *check->counts + 1);
    if (check->matches == NULL || check->counts == NULL || !column_reserve(&added->columns[0], &room, check->count))
        return out_of_memory(check);
    check->added = added->columns[0].items;
    added->columns[0].count = check->count;
    enum idx_status status = idx_writer_check_and_add(check->object->writer, check->list, check->count, check->distance,
                                                      check->matches, check->capacity, check->counts, &check->error);
    return status == IDX_OK ? take_checked(check) : status;
}

static PyObject *check_and_add(struct check *check) {
    struct block *added = block_new("?");
    enum idx_status status = IDX_OUT_OF_MEMORY;
    check->gathering.block = block_new(MATCHES_KINDS);
    if (added == NULL || check->gathering.block == NULL) {
        out_of_memory(check);
    } else {
        PyThreadState *thread = PyEval_SaveThread();
        status = run_check(check, added);
        PyEval_RestoreThread(thread);
    }
    free(check->matches);
    free(check->counts);
    free(check->additions);
    if (!check_call(status, &check->error, NULL)) {
        block_release(added);
        block_release(check->gathering.block);
        return NULL;
    }
    PyObject *matches = result_new(RESULT_MATCHES, check->gathering.block), *array = result_array(added);
    if (matches != NULL && array != NULL) return Py_BuildValue("(NN)", array, matches);
    Py_XDECREF(matches);
    Py_XDECREF(array);
    return NULL;
}

/* (fingerprints, ids, k or -1, limit or -1) */
static PyObject *writer_check_and_add(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *ids, *answer = NULL;
    struct items items;
    long long limit;
    int k;
    if (!PyArg_ParseTuple(arguments, "OOiL", &fingerprints, &ids, &k, &limit) ||
        !check_range("limit", limit, -1, PY_SSIZE_T_MAX) ||
        !items_take(fingerprints, ids, object->id_type, false, &items))
        return NULL;
    struct check check = {.object = object, .count = items.count, .limit = (size_t)limit};
    check.capacity = check.limit < EXPECTED ? check.limit : EXPECTED;
    check.distance = k < 0 ? object->k : (unsigned)k;
    check.list = items_list(&items);
    if (check.list != NULL && enter(object)) {
        answer = check_and_add(&check);
        object->busy = false;
    }
    free(check.list);
    items_release(&items);
    return answer;
}

/* ---- Removing ---- */

static PyObject *end_removal(enum idx_status status, const struct idx_removal *removal, const struct idx_error *error) {
    if (!check_call(status, error, NULL)) return NULL;
    return Py_BuildValue("(KK)", (unsigned long long)removal->documents, (unsigned long long)removal->missing);
}

/* (fingerprints, ids) */
static PyObject *writer_remove(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *ids, *answer = NULL;
    struct idx_removal removal;
    struct idx_error error;
    struct items items;
    if (!PyArg_ParseTuple(arguments, "OO", &fingerprints, &ids) ||
        !items_take(fingerprints, ids, object->id_type, false, &items))
        return NULL;
    struct idx_item *list = items_list(&items);
    if (list != NULL && enter(object)) {
        PyThreadState *thread = PyEval_SaveThread();
        enum idx_status status = idx_writer_remove(object->writer, list, items.count, &removal, &error);
        PyEval_RestoreThread(thread);
        object->busy = false;
        answer = end_removal(status, &removal, &error);
    }
    free(list);
    items_release(&items);
    return answer;
}

/* (fingerprints) */
static PyObject *writer_remove_fingerprints(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *answer = NULL;
    struct idx_removal removal;
    struct idx_error error;
    struct array array;
    if (!PyArg_ParseTuple(arguments, "O", &fingerprints) || !array_take(fingerprints, "fingerprints", &array))
        return NULL;
    if (enter(object)) {
        PyThreadState *thread = PyEval_SaveThread();
        enum idx_status status =
            idx_writer_remove_fingerprints(object->writer, array.items, array.count, &removal, &error);
        PyEval_RestoreThread(thread);
        object->busy = false;
        answer = end_removal(status, &removal, &error);
    }
    array_release(&array);
    return answer;
}

/* Takes IDs alone, without fingerprints. */
static bool take_ids(struct writer_object *object, PyObject *ids, struct items *items) {
    *items = (struct items){.id_type = object->id_type};
    if (object->id_type == IDX_ID_TEXT) {
        if (!texts_take(ids, "ids", &items->texts)) return false;
        items->count = items->texts.count;
    } else {
        if (!array_take(ids, "ids", &items->numbers)) return false;
        items->count = items->numbers.count;
    }
    return true;
}

/* (ids) */
static PyObject *writer_remove_ids(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *ids, *answer = NULL;
    struct idx_removal removal;
    struct idx_error error;
    struct items items;
    if (!PyArg_ParseTuple(arguments, "O", &ids) || !take_ids(object, ids, &items)) return NULL;
    struct idx_item *list = calloc(items.count + 1, sizeof *list);
    for (size_t i = 0; i < items.count && list != NULL; i++) {
        if (object->id_type == IDX_ID_TEXT)
            list[i] = (struct idx_item){0, 0, items.texts.items[i], items.texts.lengths[i]};
        else
            list[i].number = items.numbers.items[i];
    }
    if (list == NULL) PyErr_NoMemory();
    if (list != NULL && enter(object)) {
        PyThreadState *thread = PyEval_SaveThread();
        enum idx_status status = idx_writer_remove_ids(object->writer, list, items.count, &removal, &error);
        PyEval_RestoreThread(thread);
        object->busy = false;
        answer = end_removal(status, &removal, &error);
    }
    free(list);
    items_release(&items);
    return answer;
}

/* ---- The type ---- */

static PyObject *get_closed(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((struct writer_object *)self)->writer == NULL);
}

static PyMethodDef methods[] = {
    {"close", writer_close, METH_NOARGS,
     "close($self)\n--\n\nClose the writer, and end a compaction that is at work, undone. Often is fine."},
    {"wait", writer_wait, METH_NOARGS,
     "wait($self)\n--\n\nWait for the compaction that is at work, if any. Raises what the last one failed by: nothing "
     "is\n"
     "lost by that."},
    {"_add", writer_add, METH_VARARGS, NULL},
    {"_check_and_add", writer_check_and_add, METH_VARARGS, NULL},
    {"_remove", writer_remove, METH_VARARGS, NULL},
    {"_remove_fingerprints", writer_remove_fingerprints, METH_VARARGS, NULL},
    {"_remove_ids", writer_remove_ids, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", get_closed, NULL, "Whether it was closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

bool writer_init(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, writer_new},
        {Py_tp_dealloc, writer_free},
        {Py_tp_methods, methods},
        {Py_tp_getset, properties},
        {Py_tp_doc, "An open writer; libidx.Writer is the whole of it."},
        {0, NULL},
    };
    static PyType_Spec spec = {"libidx._core.Writer", sizeof(struct writer_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&spec);
    return type != NULL && PyModule_AddType(module, type) == 0;
}
