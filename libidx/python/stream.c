/* stream.c: the types Stream and Simhash. */
#include "libidx/python/core.h"

#include <idx_simhash.h>

/* ---- Streams ---- */

struct stream_object {
    struct handle handle; /* of a struct idx_stream */
    size_t query_count;
};

/* Closes a stream, as struct handle_kind has it. */
static void close_stream(PyObject *self, void *stream) { idx_stream_close(stream); }

/* Takes (queries, k, bits, call), and opens a stream for these queries, of which the library keeps a copy. */
static PyObject *stream_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static const struct handle_kind kind = {"stream", "has ended: make another one", close_stream};
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct idx_stream *stream = NULL;
    PyObject *queries;
    struct array array;
    struct call opening;
    unsigned bits;
    if (!PyArg_ParseTuple(arguments, "OIIO&", &queries, &options.distance, &bits, parse_call, &opening)) return NULL;
    struct stream_object *object = handle_new(type, &kind, &opening);
    if (object == NULL) return NULL;
    bool ok = parse_array(queries, "queries", &array);
    if (ok) {
        struct call *call = &object->handle.call;
        SET_OPTIONS(options, *call);
        options.temporary_folder = call->folder.text;
        object->query_count = array.count;
        ok = call_begin(call) &&
             call_end(call, idx_stream_open(&stream, array.items, array.count, bits, &options, &call->error));
        array_release(&array);
    }
    return handle_set_opened(object, stream, ok);
}

/* Takes (fingerprints), and compares them with the queries. If that fails, closes the stream. */
static PyObject *stream_add(PyObject *self, PyObject *fingerprints) {
    struct handle *handle = (struct handle *)self;
    struct array array;
    bool ok = false;
    if (!parse_array(fingerprints, "fingerprints", &array)) return NULL;
    if (handle_begin(handle)) {
        ok = handle_end(handle, idx_stream_add(handle->opened, array.items, array.count, &handle->call.error));
        if (!ok) handle_close_opened(handle);
    }
    array_release(&array);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* Returns Matches of all fingerprints that were added, and closes the stream, even if that fails. */
static PyObject *stream_finish(PyObject *self, PyObject *unused) {
    struct stream_object *object = (struct stream_object *)self;
    struct columns columns;
    if (!handle_begin(object)) return NULL;
    columns_begin(&columns, MATCHES_KINDS);
    enum idx_status status =
        idx_stream_finish(object->handle.opened, append_query_matches, &columns, &object->handle.call.error);
    /* Queries without matches were not visited: this adds the offsets of the last ones, and the end. */
    if (status == IDX_OK && !columns.failed) append_query_matches(&columns, object->query_count, NULL, 0);
    bool ok = handle_end(object, status);
    handle_close_opened(object);
    return columns_end_result(&columns, ok, "Matches");
}

bool add_stream_type(PyObject *module) {
    static PyMethodDef methods[] = {
        {"_add", stream_add, METH_O, NULL},
        {"_finish", stream_finish, METH_NOARGS, NULL},
        {"close", handle_close, METH_NOARGS, "close($self)\n--\n\nFree its memory and files. May be called again."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, stream_new},
        {Py_tp_dealloc, handle_free},
        {Py_tp_methods, methods},
        {Py_tp_getset, handle_properties},
        {Py_tp_doc, "Queries that fingerprints stream past; libidx.Stream is the whole of it."},
        {0, NULL},
    };
    return add_type(module, "libidx._core.Stream", sizeof(struct stream_object), Py_TPFLAGS_BASETYPE, slots) != NULL;
}

/* ---- Simhash ---- */

struct simhash_object {
    PyObject_HEAD struct idx_simhash simhash;
    uint64_t total_weight; /* the sum of all weights without their signs, which must stay below 2^63 */
};

/* Takes nothing. Returns a Simhash without features. */
static PyObject *simhash_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "", names)) return NULL;
    struct simhash_object *object = object_new(type);
    if (object != NULL) idx_simhash_init(&object->simhash);
    return (PyObject *)object;
}

/* Adds the absolute value of a weight to object->total_weight, so that no sum of the SimHash can overflow. Returns
 * false with OverflowError set if the total would reach 2^63. */
static bool add_to_total_weight(struct simhash_object *object, long long weight) {
    /* Unsigned, since the least long long has no positive counterpart. */
    uint64_t absolute = weight < 0 ? (uint64_t)0 - (uint64_t)weight : (uint64_t)weight;
    if (absolute <= (uint64_t)INT64_MAX - object->total_weight) {
        object->total_weight += absolute;
        return true;
    }
    return refuse(PyExc_OverflowError, "weight: the sum of all weights must stay below 2**63");
}

/* Takes (feature[, weight]), and adds the feature, a str, as UTF-8, or bytes, by the hash of its bytes. */
static PyObject *simhash_add(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"feature", "weight", NULL};
    struct simhash_object *object = (struct simhash_object *)self;
    long long weight = IDX_WEIGHT_ONE;
    const char *feature;
    Py_ssize_t length;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "s#|L", names, &feature, &length, &weight) ||
        !add_to_total_weight(object, weight))
        return NULL;
    idx_simhash_add(&object->simhash, feature, (size_t)length, weight);
    Py_RETURN_NONE;
}

/* Takes (hash[, weight]), and adds the feature with this 64-bit hash. */
static PyObject *simhash_add_hash(PyObject *self, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"hash", "weight", NULL};
    struct simhash_object *object = (struct simhash_object *)self;
    long long weight = IDX_WEIGHT_ONE;
    uint64_t hash;
    PyObject *number;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|L", names, &number, &weight) ||
        !parse_number(number, "hash", &hash) || !add_to_total_weight(object, weight))
        return NULL;
    idx_simhash_add_hash(&object->simhash, hash, weight);
    Py_RETURN_NONE;
}

/* The type of idx_simhash_finish and idx_simhash_ties. */
typedef uint64_t simhash_reader(const struct idx_simhash *simhash, unsigned bits);

/* Takes (bits=64). Returns what `read` makes of the sums so far. Features may be added afterwards. */
static PyObject *read_simhash(PyObject *self, PyObject *arguments, PyObject *keywords, simhash_reader *read) {
    static char *names[] = {"bits", NULL};
    int bits = IDX_MAX_BITS;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|i", names, &bits) ||
        !check_range("bits", bits, 1, IDX_MAX_BITS))
        return NULL;
    return PyLong_FromUnsignedLongLong(read(&((struct simhash_object *)self)->simhash, (unsigned)bits));
}

/* Takes (bits=64). Returns the fingerprint of the features so far. */
static PyObject *simhash_finish(PyObject *self, PyObject *arguments, PyObject *keywords) {
    return read_simhash(self, arguments, keywords, idx_simhash_finish);
}

/* Takes (bits=64). Returns the bits whose sums are 0. */
static PyObject *simhash_ties(PyObject *self, PyObject *arguments, PyObject *keywords) {
    return read_simhash(self, arguments, keywords, idx_simhash_ties);
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

bool add_simhash_type(PyObject *module) {
    static PyMethodDef methods[] = {
        {"add", KEYWORDS(simhash_add),
         "add($self, feature, weight=65536)\n--\n\n"
         "Add a feature, str (as UTF-8) or bytes, by its XXH3 hash. `weight` is an int in any unit used throughout;\n"
         "WEIGHT_ONE is the unit of recipes. Raises OverflowError if the sum of all weights reaches 2**63."},
        {"add_hash", KEYWORDS(simhash_add_hash),
         "add_hash($self, hash, weight=65536)\n--\n\nAdd a feature by a 64-bit hash made elsewhere."},
        {"finish", KEYWORDS(simhash_finish),
         "finish($self, bits=64)\n--\n\nThe fingerprint of what was added so far, of 1 to 64 bits."},
        {"ties", KEYWORDS(simhash_ties),
         "ties($self, bits=64)\n--\n\nThe bits whose sums are 0. Programs that count a tie as 1 use "
         "finish() | ties()."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_new, simhash_new},
        {Py_tp_dealloc, object_free},
        {Py_tp_methods, methods},
        {Py_tp_doc, "Simhash()\n--\n\n"
                    "Accumulates features into a fingerprint (Charikar 2002). One thread at a time.\n\n"
                    ">>> simhash = libidx.Simhash()\n"
                    ">>> for word in 'the quick brown fox'.split():\n"
                    "...     simhash.add(word)\n"
                    ">>> f'{simhash.finish():016x}'\n"
                    "'8002c6820052906b'\n"},
        {0, NULL},
    };
    return add_type(module, "libidx.Simhash", sizeof(struct simhash_object), 0, slots) != NULL;
}
