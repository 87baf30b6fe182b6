/* fingerprinter.c: the type Fingerprinter: fingerprints of texts, many at a time on threads, and training. */
#include "libidx/python/text.h"

#include <stdlib.h>
#include <string.h>

struct fingerprinter_object {
    PyObject_HEAD PyObject *table; /* a Table, or None */
    char *recipe;                  /* as the caller wrote it; NULL for the default */
    unsigned bits;
    struct idx_text *idle_texts[IDX_MAX_THREADS]; /* opened, and used by no call; changed with the GIL held */
    size_t idle_count;
};

static PyTypeObject *fingerprinter_type;

/* The columns of fingerprints. */
enum { FINGERPRINTS, FEATURE_COUNTS, USED_COUNTS };

/* Returns an idle struct idx_text, or opens another one, for the caller alone until it calls return_text. A struct
 * idx_text serves one thread at a time, and opening one takes time, so they are cached. Returns NULL with an exception
 * set if opening fails. */
static struct idx_text *claim_text(struct fingerprinter_object *object) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    struct idx_text *text = NULL;
    struct call call;
    if (object->idle_count > 0) return object->idle_texts[--object->idle_count];
    options.recipe = object->recipe;
    if (object->table != Py_None) options.table = get_table(object->table);
    bool ok = call_begin_quiet(&call) && call_end(&call, idx_text_open(&text, &options, &call.error));
    return ok ? text : NULL;
}

/* Gives back a struct idx_text that claim_text returned, for later calls, or closes it if IDX_MAX_THREADS, the most
 * that a call uses, are idle already. */
static void return_text(struct fingerprinter_object *object, struct idx_text *text) {
    if (object->idle_count < IDX_MAX_THREADS)
        object->idle_texts[object->idle_count++] = text;
    else
        idx_text_close(text);
}

/* Takes (recipe=None, *, table=None, bits=64). Returns a Fingerprinter, or raises if the recipe or table is refused. */
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
    bool ok = recipe == NULL || object->recipe != NULL || refuse_memory();
    /* A text is opened here, so that a wrong recipe is refused now, and not at the first call. */
    struct idx_text *text = ok ? claim_text(object) : NULL;
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
    while (object->idle_count > 0) idx_text_close(object->idle_texts[--object->idle_count]);
    free(object->recipe);
    Py_XDECREF(object->table);
    object_free(self);
}

/* ---- Many texts, on threads ---- */

/* Claims a struct idx_text for each of `threads` threads. Sets *claimed_count to how many it claimed, even if it fails,
 * with an exception set: the caller calls return_texts in any case. */
static bool claim_texts(struct fingerprinter_object *object, struct idx_text **texts, size_t threads,
                        size_t *claimed_count) {
    for (*claimed_count = 0; *claimed_count < threads; ++*claimed_count) {
        texts[*claimed_count] = claim_text(object);
        if (texts[*claimed_count] == NULL) return false;
    }
    return true;
}

/* Returns the `count` texts that claim_texts has claimed, as return_text does. */
static void return_texts(struct fingerprinter_object *object, struct idx_text **texts, size_t count) {
    while (count > 0) return_text(object, texts[--count]);
}

/* Makes *list, of all documents, and *fields, to which its pointers point; both are valid until documents_release. The
 * caller frees both, even if this fails. Returns false, without an exception, if memory runs out. */
static bool make_document_list(const struct documents *documents, struct idx_text_field **fields,
                               struct idx_text_document **list) {
    size_t count = documents->fields[BODY].count;
    *fields = calloc(count + 1, FIELDS * sizeof **fields);
    *list = calloc(count + 1, sizeof **list);
    if (*fields == NULL || *list == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        (*list)[i].fields = *fields + i * FIELDS;
        (*list)[i].field_count = documents_get_fields(documents, i, *fields + i * FIELDS);
    }
    return true;
}

/* Fingerprints the documents of `list`, as many as the column FEATURE_COUNTS has items, on `threads` threads. Sets all
 * items of the three columns; FINGERPRINTS has `capacity` places for each document. Returns false with an exception set
 * on failure. */
static bool fingerprint_documents(struct fingerprinter_object *object, const struct idx_text_document *list,
                                  size_t capacity, unsigned threads, struct columns *columns) {
    struct idx_text *texts[IDX_MAX_THREADS];
    struct call call;
    size_t claimed_count;
    bool ok = claim_texts(object, texts, threads, &claimed_count) && call_begin_quiet(&call) &&
              call_end(&call, idx_text_fingerprint_many(
                                  texts, threads, list, columns->list[FEATURE_COUNTS].count, object->bits,
                                  columns->list[FINGERPRINTS].items, capacity, columns->list[USED_COUNTS].items,
                                  columns->list[FEATURE_COUNTS].items, visit_progress, &call, &call.error));
    return_texts(object, texts, claimed_count);
    return ok;
}

/* Fingerprints documents on up to `threads` threads, and appends to the columns, which are empty:
 *
 * - FINGERPRINTS: `capacity` places for each document, whose unused ones are 0
 * - FEATURE_COUNTS: how many features each document has
 * - USED_COUNTS: how many of its places are used
 *
 * Returns false with an exception set on failure; but true if memory runs out for a column: then columns->failed is
 * set, and columns_end raises MemoryError. */
static bool fingerprint_into_columns(struct fingerprinter_object *object, struct columns *columns,
                                     const struct documents *documents, size_t capacity, unsigned threads) {
    struct idx_text_field *fields = NULL;
    struct idx_text_document *list = NULL;
    size_t count = documents->fields[BODY].count;
    /* idx_text_fingerprint_many gives a thread 64 documents at a time, so more threads would have nothing to do. */
    if (threads > count / 64 + 1) threads = (unsigned)(count / 64 + 1);
    bool ok = make_document_list(documents, &fields, &list);
    for (size_t i = 0; i <= USED_COUNTS; i++) columns_add(columns, i, i == FINGERPRINTS ? count * capacity : count);
    if (ok && !columns->failed)
        ok = fingerprint_documents(object, list, capacity, threads, columns);
    else if (!ok)
        PyErr_NoMemory();
    free(fields);
    free(list);
    return ok;
}

/* Sets *max_fingerprints to the most fingerprints that the recipe makes of a document. Returns false with an exception
 * set if claim_text fails. */
static bool find_max_fingerprints(struct fingerprinter_object *object, size_t *max_fingerprints) {
    struct idx_recipe_properties properties;
    struct idx_text *text = claim_text(object);
    if (text == NULL) return false;
    idx_recipe_read(idx_text_recipe(text), &properties);
    *max_fingerprints = properties.fingerprints;
    return_text(object, text);
    return true;
}

/* Takes (texts, titles or None, descriptions or None, threads, several). Returns three columns for n texts: their
 * fingerprints, uint64[n * capacity], how many features each has, uint64[n], and how many of its `capacity` places for
 * fingerprints are used, uint64[n]. `capacity` is 1, or if `several`, the most fingerprints that the recipe makes of a
 * text. */
static PyObject *fingerprinter_call(PyObject *self, PyObject *arguments) {
    struct fingerprinter_object *object = (struct fingerprinter_object *)self;
    PyObject *field_args[FIELDS];
    struct documents documents;
    struct columns columns;
    int threads, several;
    if (!PyArg_ParseTuple(arguments, "OOOip", &field_args[0], &field_args[1], &field_args[2], &threads, &several) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !parse_documents(field_args, &documents))
        return NULL;
    size_t capacity = 1;
    columns_begin(&columns, "QQQ");
    bool ok = (!several || find_max_fingerprints(object, &capacity)) &&
              fingerprint_into_columns(object, &columns, &documents, capacity, (unsigned)threads);
    documents_release(&documents);
    return columns_end(&columns, ok);
}

/* ---- Training ---- */

/* Makes a table, and adds all documents to it. The caller closes *table, which is NULL at first, even if it fails. If a
 * signal's handler raised, it ends early with IDX_OK, and call_end fails. Called without the GIL. */
static enum idx_status make_and_fill_table(struct idx_text_table **table, struct idx_text *text,
                                           const struct documents *documents, struct call *call) {
    struct idx_text_field fields[FIELDS];
    enum idx_status status = idx_text_table_open(table, text, &call->error);
    for (size_t i = 0; i < documents->fields[BODY].count && status == IDX_OK && call_check_signals(call); i++) {
        size_t count = documents_get_fields(documents, i, fields);
        status = idx_text_table_add(*table, text, fields, count, &call->error);
    }
    return status;
}

/* Takes (fingerprinter, texts, titles or None, descriptions or None). Returns a Table of how many of the texts have
 * each feature. */
PyObject *fingerprinter_train(PyObject *module, PyObject *arguments) {
    PyObject *fingerprinter, *field_args[FIELDS], *answer = NULL;
    struct idx_text_table *table = NULL;
    struct documents documents;
    struct call call;
    if (!PyArg_ParseTuple(arguments, "O!OOO", fingerprinter_type, &fingerprinter, &field_args[0], &field_args[1],
                          &field_args[2]) ||
        !parse_documents(field_args, &documents))
        return NULL;
    struct idx_text *text = claim_text((struct fingerprinter_object *)fingerprinter);
    if (text != NULL) {
        if (call_begin_quiet(&call) && call_end(&call, make_and_fill_table(&table, text, &documents, &call)))
            answer = table_new(table);
        else
            idx_text_table_close(table);
        return_text((struct fingerprinter_object *)fingerprinter, text);
    }
    documents_release(&documents);
    return answer;
}

/* ---- The type ---- */

/* Returns the recipe in canonical form, which only an opened text knows. This is a getter of
 * fingerprinter_properties. */
static PyObject *get_recipe(PyObject *self, void *closure) {
    struct fingerprinter_object *object = (struct fingerprinter_object *)self;
    struct idx_text *text = claim_text(object);
    if (text == NULL) return NULL;
    PyObject *recipe = PyUnicode_FromString(idx_text_recipe(text));
    return_text(object, text);
    return recipe;
}

/* Returns how many bits a fingerprint has. This is a getter of fingerprinter_properties. */
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

bool add_fingerprinter_type(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, fingerprinter_new},
        {Py_tp_dealloc, fingerprinter_free},
        {Py_tp_methods, fingerprinter_methods},
        {Py_tp_getset, fingerprinter_properties},
        {Py_tp_doc, "Fingerprints texts; libidx.Fingerprinter is the whole of it."},
        {0, NULL},
    };
    fingerprinter_type =
        add_type(module, "libidx._text.Fingerprinter", sizeof(struct fingerprinter_object), Py_TPFLAGS_BASETYPE, slots);
    return fingerprinter_type != NULL;
}
