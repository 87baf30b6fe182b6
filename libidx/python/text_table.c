/* text_table.c: the type Table: document frequencies of features. */
#include "libidx/python/text.h"

struct table_object {
    PyObject_HEAD struct idx_text_table *table;
};

static PyTypeObject *table_type;

PyObject *table_new(struct idx_text_table *table) {
    struct table_object *object = object_new(table_type);
    if (object == NULL) {
        idx_text_table_close(table);
        return NULL;
    }
    object->table = table;
    return (PyObject *)object;
}

/* Frees a Table and what it owns. */
static void table_free(PyObject *self) {
    idx_text_table_close(((struct table_object *)self)->table);
    object_free(self);
}

/* Takes (path), and writes the table there. */
static PyObject *table_save(PyObject *self, PyObject *path_arg) {
    const struct idx_text_table *table = ((struct table_object *)self)->table;
    struct path path;
    struct call call;
    if (!parse_path(path_arg, &path)) return NULL;
    bool ok = call_begin_quiet(&call) && call_end(&call, idx_text_table_write(table, path.text, &call.error));
    Py_DECREF(path.bytes);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* Takes (path), and reads a table from there. Returns a Table. */
static PyObject *table_load(PyObject *type, PyObject *path_arg) {
    struct idx_text_table *table = NULL;
    struct path path;
    struct call call;
    if (!parse_path(path_arg, &path)) return NULL;
    bool ok = call_begin_quiet(&call) && call_end(&call, idx_text_table_read(&table, path.text, &call.error));
    Py_DECREF(path.bytes);
    return ok ? table_new(table) : NULL;
}

/* The properties of a Table; the closure of each is its number. */
enum property { DOCUMENTS, TERMS, DROPPED, FEATURES };

/* Returns the property whose number, an enum property, is the closure: an int, or a str for FEATURES. This is the
 * getter of all table_properties. */
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

const struct idx_text_table *get_table(PyObject *object) {
    if (PyObject_TypeCheck(object, table_type)) return ((struct table_object *)object)->table;
    PyErr_Format(PyExc_TypeError, "table: expected a Table, not %R", (PyObject *)Py_TYPE(object));
    return NULL;
}

bool add_table_type(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, table_free},
        {Py_tp_methods, table_methods},
        {Py_tp_getset, table_properties},
        {Py_tp_doc, "Document frequencies of features, made by train: what recipes with w=tfidf and w=idf weigh by."},
        {0, NULL},
    };
    table_type =
        add_type(module, "libidx.Table", sizeof(struct table_object), Py_TPFLAGS_DISALLOW_INSTANTIATION, slots);
    return table_type != NULL;
}
