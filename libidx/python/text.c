/* text.c: the extension module libidx._text, over libidxtext: from texts to fingerprints. It is left out of packages
 * that are built without ICU. */
#include "libidx/python/module.h"

#include <idx_text.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static bool check_range(const char *name, long long value, long long least, long long most) {
    if (value >= least && value <= most) return true;
    raise_status(IDX_INVALID_ARGUMENT, "%s = %lld: give %lld to %lld", name, value, least, most);
    return false;
}

/* ---- Tables of document frequencies ---- */

struct table_object {
    PyObject_HEAD struct idx_text_table *table;
};

static PyTypeObject *table_type;

static PyObject *make_table(struct idx_text_table *table) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(table_type, Py_tp_alloc);
    struct table_object *object = (struct table_object *)allocate(table_type, 0);
    if (object == NULL) {
        idx_text_table_free(table);
        return NULL;
    }
    object->table = table;
    return (PyObject *)object;
}

static void table_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    idx_text_table_free(((struct table_object *)self)->table);
    release(self);
    Py_DECREF(type);
}

static PyObject *table_save(PyObject *self, PyObject *path) {
    struct idx_error error;
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status =
        idx_text_table_write(((struct table_object *)self)->table, PyBytes_AsString(bytes), &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(bytes);
    if (!check_call(status, &error, NULL)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *table_load(PyObject *type, PyObject *path) {
    struct idx_text_table *table = NULL;
    struct idx_error error;
    PyObject *bytes;
    (void)type;
    if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_text_table_read(&table, PyBytes_AsString(bytes), &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(bytes);
    return check_call(status, &error, NULL) ? make_table(table) : NULL;
}

enum property { DOCUMENTS, TERMS, DROPPED, FEATURES };

static PyObject *get_property(PyObject *self, void *closure) {
    struct idx_text_table_properties properties;
    idx_text_table_get_properties(((struct table_object *)self)->table, &properties);
    switch ((enum property)(size_t)closure) {
        case DOCUMENTS: return PyLong_FromUnsignedLongLong(properties.documents);
        case TERMS: return PyLong_FromUnsignedLongLong(properties.terms);
        case DROPPED: return PyLong_FromUnsignedLongLong(properties.dropped);
        case FEATURES: break;
    }
    return PyUnicode_FromString(properties.features);
}

static PyMethodDef table_methods[] = {
    {"save", table_save, METH_O, "save($self, path, /)\n--\n\nWrite it to a file, atomically."},
    {"load", table_load, METH_O | METH_STATIC,
     "load(path, /)\n--\n\nRead what save, or idx fingerprint --train, wrote, or a list of words with idf or counts."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef table_properties[] = {
    {"documents", get_property, NULL, "Documents that it was made from.", (void *)DOCUMENTS},
    {"terms", get_property, NULL, "Terms that it holds.", (void *)TERMS},
    {"dropped", get_property, NULL,
     "How much lower than the truth a term's document frequency may be; 0: nothing was dropped.", (void *)DROPPED},
    {"features", get_property, NULL, "Which features: a recipe.", (void *)FEATURES},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- Documents that come in ---- */

enum { BODY, TITLE, DESCRIPTION, FIELDS };

struct documents {
    struct texts fields[FIELDS];
    bool given[FIELDS];
};

static void documents_release(struct documents *documents) {
    for (size_t i = 0; i < FIELDS; i++) texts_release(&documents->fields[i]);
}

/* Takes the texts of each field; None for one that there is not. */
static bool documents_take(PyObject *columns[FIELDS], struct documents *documents) {
    static const char *const names[] = {"texts", "titles", "descriptions"};
    *documents = (struct documents){.given = {true, columns[TITLE] != Py_None, columns[DESCRIPTION] != Py_None}};
    bool fine = true;
    for (size_t i = 0; i < FIELDS && fine; i++) {
        if (!documents->given[i]) continue;
        fine = texts_take(columns[i], names[i], &documents->fields[i]);
        if (fine && documents->fields[i].count != documents->fields[BODY].count) {
            PyErr_Format(PyExc_ValueError, "%zu texts and %zu %s: give as many", documents->fields[BODY].count,
                         documents->fields[i].count, names[i]);
            fine = false;
        }
    }
    if (!fine) documents_release(documents);
    return fine;
}

/* The fields of one document; returns how many. */
static size_t get_fields(const struct documents *documents, size_t at, struct idx_text_field fields[FIELDS]) {
    static const char *const names[] = {"body", "title", "description"};
    size_t count = 0;
    for (size_t i = 0; i < FIELDS; i++) {
        const struct texts *texts = &documents->fields[i];
        if (documents->given[i])
            fields[count++] = (struct idx_text_field){names[i], texts->items[at], texts->lengths[at]};
    }
    return count;
}

/* ---- Fingerprinters ---- */

struct fingerprinter_object {
    PyObject_HEAD PyObject *table; /* a Table, or None */
    char *recipe;                  /* as it was given; NULL for the default */
    unsigned bits;
    struct idx_text *idle[IDX_MAX_THREADS]; /* of which calls take some, with the GIL held */
    size_t idle_count;
};

static PyTypeObject *fingerprinter_type;

static struct idx_text *take_idle(struct fingerprinter_object *object) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text *text = NULL;
    struct idx_error error;
    if (object->idle_count > 0) return object->idle[--object->idle_count];
    options.recipe = object->recipe;
    if (object->table != Py_None) options.table = ((struct table_object *)object->table)->table;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_text_open(&text, &options, &error);
    PyEval_RestoreThread(thread);
    return check_call(status, &error, NULL) ? text : NULL;
}

static void give_idle(struct fingerprinter_object *object, struct idx_text *text) {
    if (object->idle_count < IDX_MAX_THREADS) {
        object->idle[object->idle_count++] = text;
    } else {
        idx_text_close(text);
    }
}

static PyObject *fingerprinter_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"recipe", "table", "bits", NULL};
    const char *recipe = NULL;
    PyObject *table = Py_None;
    int bits = IDX_MAX_BITS;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|z$Oi", names, &recipe, &table, &bits) ||
        !check_range("bits", bits, 1, IDX_MAX_BITS))
        return NULL;
    if (table != Py_None && !PyObject_TypeCheck(table, table_type)) {
        PyErr_Format(PyExc_TypeError, "table: %R where a Table is wanted", (PyObject *)Py_TYPE(table));
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct fingerprinter_object *object = (struct fingerprinter_object *)allocate(type, 0);
    if (object == NULL) return NULL;
    object->table = Py_NewRef(table);
    object->bits = (unsigned)bits;
    object->recipe = recipe == NULL ? NULL : strdup(recipe);
    struct idx_text *text = recipe != NULL && object->recipe == NULL ? NULL : take_idle(object);
    if (text != NULL) {
        give_idle(object, text);
        return (PyObject *)object;
    }
    Py_DECREF(object);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

static void fingerprinter_free(PyObject *self) {
    struct fingerprinter_object *object = (struct fingerprinter_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    while (object->idle_count > 0) idx_text_close(object->idle[--object->idle_count]);
    free(object->recipe);
    Py_XDECREF(object->table);
    release(self);
    Py_DECREF(type);
}

/* ---- Many texts, on threads ---- */

/* Documents that a thread takes at a time. */
#define TAKEN ((size_t)64)

struct work {
    const struct documents *documents;
    size_t count;
    unsigned bits;
    uint64_t *fingerprints, *features;
    atomic_size_t next;
    atomic_bool stop;
    pthread_mutex_t mutex; /* for what follows */
    enum idx_status status;
    struct idx_error error;
};

struct worker {
    struct work *work;
    struct idx_text *text;
    pthread_t thread;
};

static enum idx_status fingerprint_one(const struct work *work, struct idx_text *text, size_t at,
                                       struct idx_error *error) {
    struct idx_text_field fields[FIELDS];
    struct idx_text_counts counts = {0, 0};
    size_t count, field_count = get_fields(work->documents, at, fields);
    uint64_t fingerprint = 0;
    enum idx_status status =
        idx_text_fingerprints(text, fields, field_count, work->bits, &fingerprint, 1, &count, &counts, error);
    work->fingerprints[at] = fingerprint;
    work->features[at] = counts.features;
    return status;
}

static void fail(struct work *work, enum idx_status status, const struct idx_error *error) {
    pthread_mutex_lock(&work->mutex);
    if (work->status == IDX_OK) {
        work->status = status;
        work->error = *error;
    }
    pthread_mutex_unlock(&work->mutex);
    work->stop = true;
}

/* Takes the next few documents. False when there are none, or the work is to stop. */
static bool take_some(struct worker *worker) {
    struct work *work = worker->work;
    struct idx_error error;
    size_t begin = work->stop ? work->count : atomic_fetch_add(&work->next, TAKEN);
    if (begin >= work->count) return false;
    size_t end = work->count - begin < TAKEN ? work->count : begin + TAKEN;
    enum idx_status status = IDX_OK;
    for (size_t i = begin; i < end && status == IDX_OK; i++) status = fingerprint_one(work, worker->text, i, &error);
    if (status != IDX_OK) fail(work, status, &error);
    return true;
}

static void *run_worker(void *context) {
    while (take_some(context)) {
    }
    return NULL;
}

/* Without the GIL. False where a signal's handler raised. */
static bool run_work(struct worker *workers, size_t count, PyThreadState **thread) {
    int64_t last = 0;
    size_t started = 1;
    bool fine = true;
    while (started < count && pthread_create(&workers[started].thread, NULL, run_worker, &workers[started]) == 0)
        started++;
    while (fine && take_some(&workers[0])) fine = check_signals(thread, &last);
    if (!fine) workers[0].work->stop = true;
    while (started > 1) pthread_join(workers[--started].thread, NULL);
    return fine;
}

/* Takes as many fingerprinters as there are threads, and gives them back. */
static bool fingerprint_all(struct fingerprinter_object *object, struct work *work, size_t threads) {
    struct worker *workers = calloc(threads, sizeof *workers);
    size_t taken = 0;
    if (workers == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (; taken < threads; taken++) {
        workers[taken] = (struct worker){.work = work, .text = take_idle(object)};
        if (workers[taken].text == NULL) break;
    }
    bool fine = taken == threads;
    if (fine) {
        PyThreadState *thread = PyEval_SaveThread();
        fine = run_work(workers, threads, &thread);
        PyEval_RestoreThread(thread);
    }
    while (taken > 0) give_idle(object, workers[--taken].text);
    free(workers);
    return fine && check_call(work->status, &work->error, NULL);
}

/* (texts, titles, descriptions, threads) → fingerprints uint64[n], features uint64[n] */
static PyObject *fingerprinter_call(PyObject *self, PyObject *arguments) {
    struct fingerprinter_object *object = (struct fingerprinter_object *)self;
    PyObject *columns[FIELDS], *answer = NULL;
    struct documents documents;
    size_t rooms[2] = {0, 0};
    int threads;
    if (!PyArg_ParseTuple(arguments, "OOOi", &columns[0], &columns[1], &columns[2], &threads) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !documents_take(columns, &documents))
        return NULL;
    size_t count = documents.fields[BODY].count, most = count / TAKEN + 1;
    struct block *block = block_new("QQ");
    if (block != NULL && column_reserve(&block->columns[0], &rooms[0], count) &&
        column_reserve(&block->columns[1], &rooms[1], count)) {
        block->columns[0].count = block->columns[1].count = count;
        struct work work = {.documents = &documents,
                            .count = count,
                            .bits = object->bits,
                            .fingerprints = block->columns[0].items,
                            .features = block->columns[1].items,
                            .mutex = PTHREAD_MUTEX_INITIALIZER};
        if (fingerprint_all(object, &work, (size_t)threads < most ? (size_t)threads : most))
            answer = Py_BuildValue("(NN)", column_view(block, 0), column_view(block, 1));
        pthread_mutex_destroy(&work.mutex);
    } else {
        PyErr_NoMemory();
    }
    block_release(block);
    documents_release(&documents);
    return answer;
}

static PyObject *get_recipe(PyObject *self, void *closure) {
    struct fingerprinter_object *object = (struct fingerprinter_object *)self;
    struct idx_text *text = take_idle(object);
    (void)closure;
    if (text == NULL) return NULL;
    PyObject *recipe = PyUnicode_FromString(idx_text_recipe(text));
    give_idle(object, text);
    return recipe;
}

static PyObject *get_bits(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromUnsignedLong(((struct fingerprinter_object *)self)->bits);
}

static PyMethodDef fingerprinter_methods[] = {
    {"_fingerprint", fingerprinter_call, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef fingerprinter_properties[] = {
    {"recipe", get_recipe, NULL, "The recipe in canonical form, as an index is to store it.", NULL},
    {"bits", get_bits, NULL, "Bits of a fingerprint, 1 to 64.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- Training ---- */

static enum idx_status add_all(struct idx_text_table *table, struct idx_text *text, const struct documents *documents,
                               PyThreadState **thread, bool *interrupted, struct idx_error *error) {
    struct idx_text_field fields[FIELDS];
    enum idx_status status = IDX_OK;
    int64_t last = 0;
    for (size_t i = 0; i < documents->fields[BODY].count && status == IDX_OK && !*interrupted; i++) {
        size_t count = get_fields(documents, i, fields);
        status = idx_text_table_add(table, text, fields, count, error);
        *interrupted = !check_signals(thread, &last);
    }
    return status;
}

static PyObject *train_by(struct idx_text *text, const struct documents *documents) {
    struct idx_text_table *table = NULL;
    struct idx_error error;
    bool interrupted = false;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_text_table_create(&table, text, &error);
    if (status == IDX_OK) status = add_all(table, text, documents, &thread, &interrupted, &error);
    PyEval_RestoreThread(thread);
    if (!interrupted && check_call(status, &error, NULL)) return make_table(table);
    idx_text_table_free(table);
    return NULL;
}

/* (fingerprinter, texts, titles, descriptions) → Table */
static PyObject *train(PyObject *module, PyObject *arguments) {
    PyObject *fingerprinter, *columns[FIELDS], *answer = NULL;
    struct documents documents;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!OOO", fingerprinter_type, &fingerprinter, &columns[0], &columns[1],
                          &columns[2]) ||
        !documents_take(columns, &documents))
        return NULL;
    struct idx_text *text = take_idle((struct fingerprinter_object *)fingerprinter);
    if (text != NULL) {
        answer = train_by(text, &documents);
        give_idle((struct fingerprinter_object *)fingerprinter, text);
    }
    documents_release(&documents);
    return answer;
}

/* ---- The module ---- */

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec) {
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(spec);
    return type != NULL && PyModule_AddType(module, type) == 0 ? type : NULL;
}

static bool add_types(PyObject *module) {
    static PyType_Slot table_slots[] = {
        {Py_tp_dealloc, table_free},
        {Py_tp_methods, table_methods},
        {Py_tp_getset, table_properties},
        {Py_tp_doc, "Document frequencies of features, made by train: what recipes with w=tfidf and w=idf weigh by."},
        {0, NULL},
    };
    static PyType_Spec table = {"libidx.Table", sizeof(struct table_object), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, table_slots};
    static PyType_Slot fingerprinter_slots[] = {
        {Py_tp_new, fingerprinter_new},
        {Py_tp_dealloc, fingerprinter_free},
        {Py_tp_methods, fingerprinter_methods},
        {Py_tp_getset, fingerprinter_properties},
        {Py_tp_doc, "Fingerprints texts; libidx.Fingerprinter is the whole of it."},
        {0, NULL},
    };
    static PyType_Spec fingerprinter = {"libidx._text.Fingerprinter", sizeof(struct fingerprinter_object), 0,
                                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, fingerprinter_slots};
    table_type = add_type(module, &table);
    fingerprinter_type = add_type(module, &fingerprinter);
    return table_type != NULL && fingerprinter_type != NULL;
}

static PyMethodDef functions[] = {
    {"train", train, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "libidx._text", "libidx's fingerprints of texts.", -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__text(void);

PyMODINIT_FUNC PyInit__text(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    if (errors_init() && columns_init(module) && add_types(module) &&
        PyModule_AddStringConstant(module, "DEFAULT_RECIPE", IDX_TEXT_DEFAULT_RECIPE) == 0 &&
        PyModule_AddStringConstant(module, "ICU_VERSION", idx_text_icu_version()) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
