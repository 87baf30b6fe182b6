/* resemblance.c: how much texts resemble each other: the functions shingles and resemblance, and the type Leaders. */
#include "libidx/python/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Shingles ---- */

static bool set_options(struct idx_text_shingle_options *options, long long width, const char *unit) {
    *options = (struct idx_text_shingle_options)IDX_TEXT_SHINGLE_OPTIONS_INIT;
    if (!check_range("width", width, 1, IDX_TEXT_MAX_SHINGLE_WIDTH)) return false;
    options->width = (unsigned)width;
    options->unit = strcmp(unit, "characters") == 0 ? IDX_TEXT_CHARACTERS : IDX_TEXT_WORDS;
    if (options->unit == IDX_TEXT_CHARACTERS || strcmp(unit, "words") == 0) return true;
    raise_status(IDX_INVALID_ARGUMENT, "unit = '%s': give 'words' or 'characters'", unit);
    return false;
}

/* A guess of their number, which most texts have room in, saves memory; a text of shorter words says how many it has.
 */
enum idx_status hashes_make(struct hashes *hashes, const char *text, size_t length,
                            const struct idx_text_shingle_options *options, struct idx_error *error) {
    hashes->count = (options->unit == IDX_TEXT_WORDS ? length / 3 : length) + 1;
    size_t room = 0;
    enum idx_status status = IDX_OK;
    while (room < hashes->count) {
        room = hashes->count;
        if (room > hashes->capacity) {
            free(hashes->items);
            hashes->items = room > SIZE_MAX / sizeof *hashes->items ? NULL : malloc(room * sizeof *hashes->items);
            hashes->capacity = hashes->items == NULL ? 0 : room;
        }
        if (hashes->items == NULL) {
            *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
            return error->status;
        }
        status = idx_text_shingles(text, length, options, hashes->items, room, &hashes->count, error);
    }
    return status;
}

/* (text, width, unit) → uint64[n], ascending */
PyObject *resemblance_shingles(PyObject *module, PyObject *arguments) {
    struct idx_text_shingle_options options;
    struct idx_error error;
    struct hashes hashes = {NULL, 0, 0};
    struct texts texts;
    PyObject *text, *answer = NULL;
    const char *unit;
    long long width;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OLs", &text, &width, &unit) || !set_options(&options, width, unit)) return NULL;
    PyObject *tuple = PyTuple_Pack(1, text);
    bool taken = tuple != NULL && texts_take(tuple, "text", &texts);
    Py_XDECREF(tuple);
    if (!taken) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = hashes_make(&hashes, texts.items[0], texts.lengths[0], &options, &error);
    PyEval_RestoreThread(thread);
    struct block *block = check_call(status, &error, NULL) ? block_new("Q") : NULL;
    if (block != NULL) {
        block->columns[0].items = hashes.items;
        block->columns[0].count = hashes.count;
        hashes.items = NULL;
        column_trim(&block->columns[0]);
        answer = column_view(block, 0);
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    free(hashes.items);
    block_release(block);
    texts_release(&texts);
    return answer;
}

/* (a, b, width, unit) → float */
PyObject *resemblance_of(PyObject *module, PyObject *arguments) {
    struct idx_text_shingle_options options;
    struct idx_error error;
    struct texts texts;
    PyObject *a, *b;
    const char *unit;
    long long width;
    double found = 0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOLs", &a, &b, &width, &unit) || !set_options(&options, width, unit)) return NULL;
    PyObject *tuple = PyTuple_Pack(2, a, b);
    bool taken = tuple != NULL && texts_take(tuple, "texts", &texts);
    Py_XDECREF(tuple);
    if (!taken) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_text_resemblance(texts.items[0], texts.lengths[0], texts.items[1], texts.lengths[1],
                                                  &options, &found, &error);
    PyEval_RestoreThread(thread);
    texts_release(&texts);
    return check_call(status, &error, NULL) ? PyFloat_FromDouble(found) : NULL;
}

/* ---- Representatives ---- */

struct leaders_object {
    PyObject_HEAD struct idx_text_leaders *leaders;
    struct idx_text_shingle_options options;
    struct hashes shingles; /* of the text at hand */
    uint64_t **sets;        /* the shingles of each representative */
    size_t set_count, set_capacity;
    uint64_t offered; /* texts so far */
    uint64_t group;   /* that the last of them was in */
    bool busy;        /* a call is under way */
};

static PyTypeObject *leaders_type;

int64_t threshold_of(double resemblance) {
    bool fits = resemblance > 0 && resemblance <= 1;
    int64_t threshold = fits ? (int64_t)lround(resemblance * (double)IDX_DECIMAL_WEIGHT_ONE) : 0;
    PyObject *given = threshold == 0 ? PyFloat_FromDouble(resemblance) : NULL;
    if (given != NULL) raise_status(IDX_INVALID_ARGUMENT, "resemblance = %R: give one from 0.0001 to 1", given);
    Py_XDECREF(given);
    return threshold;
}

/* (resemblance, width, unit) */
static PyObject *leaders_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"resemblance", "width", "unit", NULL};
    struct idx_text_shingle_options options;
    struct idx_error error;
    const char *unit = "words";
    long long width = 5;
    double least;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "d|$Ls", names, &least, &width, &unit) ||
        !set_options(&options, width, unit))
        return NULL;
    int64_t threshold = threshold_of(least);
    if (threshold == 0) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct leaders_object *object = (struct leaders_object *)allocate(type, 0);
    if (object == NULL) return NULL;
    object->options = options;
    enum idx_status status = idx_text_leaders_make(&object->leaders, threshold, &error);
    if (check_call(status, &error, NULL)) return (PyObject *)object;
    Py_DECREF(object);
    return NULL;
}

static void forget_all(struct leaders_object *object) {
    if (object->leaders != NULL) idx_text_leaders_clear(object->leaders);
    while (object->set_count > 0) free(object->sets[--object->set_count]);
}

static void leaders_free(PyObject *self) {
    struct leaders_object *object = (struct leaders_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    forget_all(object);
    idx_text_leaders_free(object->leaders);
    free(object->sets);
    free(object->shingles.items);
    release(self);
    Py_DECREF(type);
}

/* Copies the shingles of the current text, which are kept if the text becomes a representative. */
static uint64_t *copy_shingles(struct leaders_object *object) {
    const struct hashes *shingles = &object->shingles;
    if (object->set_count == object->set_capacity) {
        size_t capacity = 2 * object->set_capacity + 16;
        uint64_t **grown = realloc(object->sets, capacity * sizeof *grown);
        if (grown == NULL) return NULL;
        object->sets = grown;
        object->set_capacity = capacity;
    }
    uint64_t *copy = malloc(shingles->count * sizeof *copy + 1);
    if (copy != NULL && shingles->count > 0) memcpy(copy, shingles->items, shingles->count * sizeof *copy);
    return copy;
}

/* Sets the number of the text's representative. */
static enum idx_status join(struct leaders_object *object, const char *text, size_t length, uint64_t *leader,
                            struct idx_error *error) {
    struct hashes *shingles = &object->shingles;
    enum idx_status status = hashes_make(shingles, text, length, &object->options, error);
    if (status != IDX_OK) return status;
    uint64_t *hashes = copy_shingles(object);
    if (hashes == NULL) {
        *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
        return error->status;
    }
    status = idx_text_leaders_join(object->leaders, object->offered, hashes, shingles->count, leader, error);
    if (status == IDX_OK && *leader == object->offered)
        object->sets[object->set_count++] = hashes;
    else
        free(hashes);
    object->offered += status == IDX_OK;
    return status;
}

/* Without the GIL. False where a signal's handler raised. */
static bool join_all(struct leaders_object *object, const struct texts *texts, const struct array *groups,
                     uint64_t *leaders, enum idx_status *status, struct idx_error *error, PyThreadState **thread) {
    int64_t last = 0;
    bool fine = true;
    for (size_t i = 0; i < texts->count && fine && *status == IDX_OK; i++) {
        if (groups != NULL && groups->items[i] != object->group) forget_all(object);
        if (groups != NULL) object->group = groups->items[i];
        *status = join(object, texts->items[i], texts->lengths[i], &leaders[i], error);
        fine = check_signals(thread, &last);
    }
    if (!fine || *status != IDX_OK) forget_all(object);
    return fine;
}

static PyObject *join_into(struct leaders_object *object, const struct texts *texts, const struct array *groups) {
    struct idx_error error;
    enum idx_status status = IDX_OK;
    size_t room = 0;
    struct block *block = block_new("Q");
    PyObject *answer = NULL;
    if (block != NULL && column_reserve(&block->columns[0], &room, texts->count)) {
        block->columns[0].count = texts->count;
        object->busy = true;
        PyThreadState *thread = PyEval_SaveThread();
        bool fine = join_all(object, texts, groups, block->columns[0].items, &status, &error, &thread);
        PyEval_RestoreThread(thread);
        object->busy = false;
        if (fine && check_call(status, &error, NULL)) answer = column_view(block, 0);
    } else {
        PyErr_NoMemory();
    }
    block_release(block);
    return answer;
}

static bool check_offer(const struct leaders_object *object, const struct texts *texts, const struct array *groups) {
    if (groups != NULL && groups->count != texts->count)
        return PyErr_Format(PyExc_ValueError, "%zu texts and %zu groups: give as many", texts->count, groups->count) !=
               NULL;
    return !object->busy ||
           raise_status(IDX_INVALID_ARGUMENT, "another thread is using these leaders: one at a time") != NULL;
}

/* (texts, groups) → leaders uint64[n] */
static PyObject *leaders_join(PyObject *self, PyObject *arguments) {
    struct leaders_object *object = (struct leaders_object *)self;
    PyObject *texts, *groups, *answer = NULL;
    struct array given_groups;
    struct texts given;
    if (!PyArg_ParseTuple(arguments, "OO", &texts, &groups) || !texts_take(texts, "texts", &given)) return NULL;
    bool grouped = groups != Py_None && array_take(groups, "groups", &given_groups);
    const struct array *taken = grouped ? &given_groups : NULL;
    if (!PyErr_Occurred() && check_offer(object, &given, taken)) answer = join_into(object, &given, taken);
    if (grouped) array_release(&given_groups);
    texts_release(&given);
    return answer;
}

static PyObject *leaders_clear(PyObject *self, PyObject *unused) {
    struct leaders_object *object = (struct leaders_object *)self;
    (void)unused;
    if (object->busy) return raise_status(IDX_INVALID_ARGUMENT, "another thread is using these leaders: one at a time");
    forget_all(object);
    Py_RETURN_NONE;
}

/* (resemblance, features, recipe, bits) → distance, whether it was measured */
PyObject *resemblance_distance(PyObject *module, PyObject *arguments) {
    unsigned long long features;
    const char *recipe;
    double resemblance;
    unsigned bits;
    bool measured;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "dKzI", &resemblance, &features, &recipe, &bits)) return NULL;
    unsigned distance = idx_text_distance(resemblance, features, recipe, bits, &measured);
    return Py_BuildValue("IN", distance, PyBool_FromLong(measured));
}

static PyMethodDef leaders_methods[] = {
    {"_join", leaders_join, METH_VARARGS, NULL},
    {"clear", leaders_clear, METH_NOARGS, "clear($self, /)\n--\n\nForget all representatives; numbers go on."},
    {NULL, NULL, 0, NULL},
};

bool resemblance_init(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, leaders_new},
        {Py_tp_dealloc, leaders_free},
        {Py_tp_methods, leaders_methods},
        {Py_tp_doc, "Finds representatives of texts; libidx.Leaders is the whole of it."},
        {0, NULL},
    };
    static PyType_Spec spec = {"libidx._text.Leaders", sizeof(struct leaders_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    leaders_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return leaders_type != NULL && PyModule_AddType(module, leaders_type) == 0;
}
