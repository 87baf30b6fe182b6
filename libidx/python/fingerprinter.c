/* fingerprinter.c: the type Fingerprinter: fingerprints of texts, many at a time on threads, and training. */
#include "libidx/python/text.h"

#include <stdlib.h>
#include <string.h>

struct fingerprinter_object {
    PyObject_HEAD PyObject *table; /* a Table, or None */
    char *recipe;                  /* as it was given; NULL for the default */
    unsigned bits;
    struct idx_text *idle[IDX_MAX_THREADS]; /* those that no call uses; changed with the GIL held */
    size_t idle_count;
};

static PyTypeObject *fingerprinter_type;

/* The columns of fingerprints. */
enum { FINGERPRINTS, FEATURES, COUNTS };

/* Takes an idle struct idx_text for this call, or opens another one; return_text takes it back. A struct idx_text
 * serves one thread at a time, and opening it takes time, so they are cached. Returns NULL with an exception set. */
static struct idx_text *take_text(struct fingerprinter_object *object) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text *text = NULL;
    struct call call;
    if (object->idle_count > 0) return object->idle[--object->idle_count];
    options.recipe = object->recipe;
    if (object->table != Py_None) options.table = get_table(object->table);
    return call_begin_plain(&call) && call_end(&call, idx_text_open(&text, &options, &call.error)) ? text : NULL;
}

/* Makes a struct idx_text, which take_text took, idle again. Closes it if as many are idle as a call has threads at
 * most. */
static void return_text(struct fingerprinter_object *object, struct idx_text *text) {
    if (object->idle_count < IDX_MAX_THREADS) {
        object->idle[object->idle_count++] = text;
    } else {
        idx_text_close(text);
    }
}

/* Takes (recipe=None, *, table=None, bits=64). */
static PyObject *fingerprinter_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"recipe", "table", "bits", NULL};
    const char *recipe = NULL;
    PyObject *table = Py_None;
    int bits = IDX_MAX_BITS;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|z$Oi", names, &recipe, &table, &bits) ||
        !check_range("bits", bits, 1, IDX_MAX_BITS))
        return NULL;
    if (table != Py_None && get_table(table) == NULL) return NULL;
    struct fingerprinter_object *object = object_new(type);
    if (object == NULL) return NULL;
    object->table = Py_NewRef(table);
    object->bits = (unsigned)bits;
    object->recipe = recipe == NULL ? NULL : strdup(recipe);
    if (recipe != NULL && object->recipe == NULL) {
        Py_DECREF(object);
        return PyErr_NoMemory();
    }
    struct idx_text *text = take_text(object); /* which refuses a wrong recipe here, rather than at the first call */
    if (text == NULL) {
        Py_DECREF(object);
        return NULL;
    }
    return_text(object, text);
    return (PyObject *)object;
}

/* Closes all idle texts, and frees the object. */
static void fingerprinter_free(PyObject *self) {
    struct fingerprinter_object *object = (struct fingerprinter_object *)self;
    while (object->idle_count > 0) idx_text_close(object->idle[--object->idle_count]);
    free(object->recipe);
    Py_XDECREF(object->table);
    object_free(self);
}

/* ---- Many texts, on threads ---- */

/* Takes a struct idx_text for each of `threads` threads. Sets *taken to how many it took, also if it fails;
 * return_texts takes them back in any case. */
static bool take_texts(struct fingerprinter_object *object, struct idx_text **texts, size_t threads, size_t *taken) {
    for (*taken = 0; *taken < threads; ++*taken) {
        texts[*taken] = take_text(object);
        if (texts[*taken] == NULL) return false;
    }
    return true;
}

/* Makes the first `taken` of these idle again. */
static void return_texts(struct fingerprinter_object *object, struct idx_text **texts, size_t taken) {
    while (taken > 0) return_text(object, texts[--taken]);
}

/* Lists documents and their fields; the caller frees both lists, also where it fails. Returns false for lack of memory,
 * without an exception. */
static bool list_documents(const struct documents *documents, struct idx_text_field **fields,
                           struct idx_text_document **list) {
    size_t count = documents->fields[BODY].count;
    *fields = calloc(count + 1, FIELDS * sizeof **fields);
    *list = calloc(count + 1, sizeof **list);
    if (*fields == NULL || *list == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        struct idx_text_field *own_fields = *fields + i * FIELDS;
        (*list)[i] = (struct idx_text_document){own_fields, documents_get_fields(documents, i, own_fields)};
    }
    return true;
}

/* Fingerprints the listed documents on threads, into columns that have room for `max` fingerprints of each document. */
static bool fingerprint_listed(struct fingerprinter_object *object, const struct idx_text_document *list, size_t max,
                               unsigned threads, struct columns *columns) {
    struct idx_text *texts[IDX_MAX_THREADS];
    struct call call;
    size_t taken;
    bool ok =
        take_texts(object, texts, threads, &taken) && call_begin_plain(&call) &&
        call_end(&call, idx_text_fingerprint_many(texts, threads, list, columns->list[FEATURES].count, object->bits,
                                                  columns->list[FINGERPRINTS].items, max, columns->list[COUNTS].items,
                                                  columns->list[FEATURES].items, call_visit, &call, &call.error));
    return_texts(object, texts, taken);
    return ok;
}

/* Makes the columns. They have for each document `max` places for fingerprints, how many features it has, and how many
 * of the places are filled. May return true with columns->failed, for which columns_end raises MemoryError. */
static bool make_fingerprint_columns(struct fingerprinter_object *object, struct columns *columns,
                                     const struct documents *documents, size_t max, unsigned threads) {
    struct idx_text_field *fields = NULL;
    struct idx_text_document *list = NULL;
    size_t count = documents->fields[BODY].count, useful = count / 64 + 1; /* A thread takes 64 at a time. */
    bool ok = list_documents(documents, &fields, &list);
    for (size_t i = 0; i <= COUNTS; i++) columns_add(columns, i, i == FINGERPRINTS ? count * max : count);
    if (ok && !columns->failed)
        ok = fingerprint_listed(object, list, max, threads < useful ? threads : (unsigned)useful, columns);
    else if (!ok)
        PyErr_NoMemory();
    free(fields);
    free(list);
    return ok;
}

/* Sets *max to how many fingerprints of a document the recipe makes at most. */
static bool find_max_fingerprints(struct fingerprinter_object *object, size_t *max) {
    struct idx_recipe_properties properties;
    struct idx_text *text = take_text(object);
    if (text == NULL) return false;
    idx_recipe_read(idx_text_recipe(text), &properties);
    *max = properties.fingerprints;
    return_text(object, text);
    return true;
}

/* Takes (texts, titles, descriptions, threads, several). Returns places for fingerprints, uint64[n * most], how many
 * features each text has, uint64[n], and how many of its `most` places are filled, uint64[n]; `most` is 1 unless
 * several are asked for. */
static PyObject *fingerprinter_call(PyObject *self, PyObject *arguments) {
    struct fingerprinter_object *object = (struct fingerprinter_object *)self;
    PyObject *lists[FIELDS];
    struct documents documents;
    struct columns columns;
    int threads, several;
    if (!PyArg_ParseTuple(arguments, "OOOip", &lists[0], &lists[1], &lists[2], &threads, &several) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !documents_take(lists, &documents))
        return NULL;
    size_t max = 1;
    columns_begin(&columns, "QQQ");
    bool ok = (!several || find_max_fingerprints(object, &max)) &&
              make_fingerprint_columns(object, &columns, &documents, max, (unsigned)threads);
    documents_release(&documents);
    return columns_end(&columns, ok);
}

/* ---- Training ---- */

/* Makes a table and adds documents to it, without the GIL. *table may be set where it fails; the caller closes it. If a
 * signal's handler raised, it ends early with IDX_OK, and call_end fails. */
static enum idx_status fill_table(struct idx_text_table **table, struct idx_text *text,
                                  const struct documents *documents, struct call *call) {
    struct idx_text_field fields[FIELDS];
    enum idx_status status = idx_text_table_open(table, text, &call->error);
    for (size_t i = 0; i < documents->fields[BODY].count && status == IDX_OK && call_check_signals(call); i++) {
        size_t count = documents_get_fields(documents, i, fields);
        status = idx_text_table_add(*table, text, fields, count, &call->error);
    }
    return status;
}

/* Takes (fingerprinter, texts, titles, descriptions). Returns a Table. */
PyObject *fingerprinter_train(PyObject *module, PyObject *arguments) {
    PyObject *fingerprinter, *columns[FIELDS], *answer = NULL;
    struct idx_text_table *table = NULL;
    struct documents documents;
    struct call call;
    if (!PyArg_ParseTuple(arguments, "O!OOO", fingerprinter_type, &fingerprinter, &columns[0], &columns[1],
                          &columns[2]) ||
        !documents_take(columns, &documents))
        return NULL;
    struct idx_text *text = take_text((struct fingerprinter_object *)fingerprinter);
    if (text != NULL) {
        if (call_begin_plain(&call) && call_end(&call, fill_table(&table, text, &documents, &call)))
            answer = table_new(table);
        else
            idx_text_table_close(table);
        return_text((struct fingerprinter_object *)fingerprinter, text);
    }
    documents_release(&documents);
    return answer;
}

/* ---- The type ---- */

/* Returns the recipe in canonical form. This is a getter of fingerprinter_properties, as the next function is. */
static PyObject *get_recipe(PyObject *self, void *closure) {
    struct fingerprinter_object *object = (struct fingerprinter_object *)self;
    struct idx_text *text = take_text(object);
    if (text == NULL) return NULL;
    PyObject *recipe = PyUnicode_FromString(idx_text_recipe(text));
    return_text(object, text);
    return recipe;
}

/* Returns how many bits a fingerprint has. */
static PyObject *get_bits(PyObject *self, void *closure) {
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

bool fingerprinter_init(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, fingerprinter_new},
        {Py_tp_dealloc, fingerprinter_free},
        {Py_tp_methods, fingerprinter_methods},
        {Py_tp_getset, fingerprinter_properties},
        {Py_tp_doc, "Fingerprints texts; libidx.Fingerprinter is the whole of it."},
        {0, NULL},
    };
    fingerprinter_type = type_make(module, "libidx._text.Fingerprinter", sizeof(struct fingerprinter_object),
                                   Py_TPFLAGS_BASETYPE, slots);
    return fingerprinter_type != NULL;
}
