/* index.c: the type Index: opening, closing, refreshing, and what an index is. A call holds the view that it began
 * with, so that another thread may close or refresh the index while it is under way. */
#include "libidx/python/core.h"

#include <limits.h>
#include <stdlib.h>

struct index_object {
    PyObject_HEAD struct view *view; /* NULL: closed */
    PyObject *path, *residence;
    bool check_pages;
    unsigned unpacked_k; /* the distance that it was opened to be unpacked for; UINT_MAX: none was given */
};

static PyTypeObject *index_type;

/* ---- Views ---- */

struct view *view_hold(PyObject *object) {
    if (!PyObject_TypeCheck(object, index_type)) {
        PyErr_Format(PyExc_TypeError, "expected an Index, not %R", (PyObject *)Py_TYPE(object));
        return NULL;
    }
    struct view *view = ((struct index_object *)object)->view;
    if (view == NULL) {
        raise_status(IDX_INVALID_ARGUMENT, "%S: the index is closed: open it again",
                     ((struct index_object *)object)->path);
        return NULL;
    }
    view->holders++;
    return view;
}

void view_release(struct view *view) {
    if (view == NULL || --view->holders > 0) return;
    PyThreadState *thread = PyEval_SaveThread();
    idx_close(view->index);
    PyEval_RestoreThread(thread);
    free(view);
}

/* Makes a view, held once, of an open index, which the view owns. `unpacked_k` is that of the index_object. If memory
 * runs out, closes the index, and returns NULL with MemoryError set. */
static struct view *make_view(struct idx_index *index, unsigned unpacked_k) {
    struct idx_properties properties;
    struct view *view = malloc(sizeof *view);
    if (view == NULL) {
        idx_close(index);
        PyErr_NoMemory();
        return NULL;
    }
    idx_get_properties(index, &properties);
    *view = (struct view){.index = index, .holders = 1, .k = properties.k, .max_distance = properties.k};
    view->bits = properties.bits;
    view->id_type = properties.id_type;
    view->has_sets = properties.sketch > 0;
    if (unpacked_k != UINT_MAX && unpacked_k > properties.k) view->max_distance = unpacked_k;
    return view;
}

/* Distances below 0 or above 64 become 65, which no index answers, so that the library refuses it. */
bool parse_any_distance(PyObject *argument, const struct view *view, unsigned *distance) {
    *distance = view->k;
    if (argument == NULL || argument == Py_None) return true;
    long asked_distance = PyLong_AsLong(argument);
    if (asked_distance == -1 && PyErr_Occurred()) return false;
    *distance = asked_distance < 0 || asked_distance > 64 ? 65 : (unsigned)asked_distance;
    return true;
}

bool parse_distance(PyObject *argument, const struct view *view, unsigned *distance) {
    if (!parse_any_distance(argument, view, distance)) return false;
    if (*distance <= view->max_distance) return true;
    /* Read once more, since *distance may be 65 in place of another number. It is an int, as parse_any_distance saw. */
    long asked_distance = PyLong_AsLong(argument);
    raise_status(IDX_BAD_DISTANCE, "k = %ld: this index answers 0 to %u", asked_distance, view->max_distance);
    return false;
}

/* ---- Opening and closing ---- */

bool parse_residence(PyObject *name, enum idx_residence *residence) {
    static const char *const names[] = {"directory", "none", "all", "disk", "unpacked"}; /* as enum idx_residence */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, names[i]) != 0) continue;
        *residence = (enum idx_residence)i;
        return true;
    }
    return refuse(PyExc_ValueError, "residence: %R, which is none of 'directory', 'none', 'all', 'disk' and 'unpacked'",
                  name);
}

/* Sets *unpacked_k to the distance that an index is to be unpacked for, or to UINT_MAX if the argument is None. Returns
 * false with an exception set if it is no distance, or if the residence is not `unpacked`. */
static bool parse_unpacked_k(PyObject *argument, enum idx_residence residence, unsigned *unpacked_k) {
    *unpacked_k = UINT_MAX;
    if (argument == Py_None) return true;
    long asked = PyLong_AsLong(argument);
    if ((asked == -1 && PyErr_Occurred()) || !check_range("k", asked, 0, IDX_MAX_K)) return false;
    *unpacked_k = (unsigned)asked;
    if (residence == IDX_RESIDENCE_UNPACKED) return true;
    raise_status(IDX_INVALID_ARGUMENT,
                 "k = %ld: look-ups take up to the k of the index; give residence=\"unpacked\" too, or omit k", asked);
    return false;
}

/* Opens the index at a path. `residence` and `k` are the arguments of index_new. Sets *unpacked_k as parse_unpacked_k
 * does. Returns the view of the index, held once, or NULL with an exception set. */
static struct view *open_view(PyObject *path, PyObject *residence, bool check_pages, PyObject *k,
                              unsigned *unpacked_k) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index = NULL;
    struct path parsed_path;
    struct call call;
    options.skip_page_checks = !check_pages;
    if (!parse_residence(residence, &options.residence) || !parse_unpacked_k(k, options.residence, &options.distance) ||
        !parse_path(path, &parsed_path))
        return NULL;
    *unpacked_k = options.distance;
    bool ok = call_begin_quiet(&call) && call_end(&call, idx_open(&index, parsed_path.text, &options, &call.error));
    Py_DECREF(parsed_path.bytes);
    return ok ? make_view(index, options.distance) : NULL;
}

/* Takes (path, *, residence="directory", check_pages=True, k=None). Opens the index at the path, and returns an Index.
 */
static PyObject *index_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"path", "residence", "check_pages", "k", NULL};
    PyObject *path, *residence = NULL, *k = Py_None;
    int check_pages = 1;
    unsigned unpacked_k;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|$OpO", names, &path, &residence, &check_pages, &k))
        return NULL;
    residence = residence == NULL ? PyUnicode_FromString("directory") : Py_NewRef(residence);
    if (residence == NULL) return NULL;
    struct view *view = open_view(path, residence, check_pages, k, &unpacked_k);
    struct index_object *object = view == NULL ? NULL : object_new(type);
    if (object == NULL) {
        view_release(view);
        Py_DECREF(residence);
        return NULL;
    }
    object->view = view;
    object->path = Py_NewRef(path);
    object->residence = residence;
    object->check_pages = check_pages;
    object->unpacked_k = unpacked_k;
    return (PyObject *)object;
}

/* Closes the index of an object: later calls raise, while calls under way go on with the view that they hold. The
 * object lets go of its view first, since view_release releases the GIL, and another thread must not find the view
 * then. */
static void release_own_view(struct index_object *object) {
    struct view *view = object->view;
    object->view = NULL;
    view_release(view);
}

/* This is the method `close`. May be called again. */
static PyObject *index_close(PyObject *self, PyObject *unused) {
    release_own_view((struct index_object *)self);
    Py_RETURN_NONE;
}

/* Closes the index and frees the object. */
static void index_free(PyObject *self) {
    struct index_object *object = (struct index_object *)self;
    release_own_view(object);
    Py_XDECREF(object->path);
    Py_XDECREF(object->residence);
    object_free(self);
}

/* If `older` is still the view of the object, replaces it by `newer`, and releases it for the object. If another thread
 * has replaced `older`, perhaps by a view that is older than `newer`, returns false, and releases `newer`. */
static bool replace_view_if_same(struct index_object *object, struct view *older, struct view *newer) {
    bool replaces = object->view == older;
    if (replaces) object->view = newer;
    view_release(replaces ? older : newer);
    return replaces;
}

/* Refreshes the view that the object has now. Returns 1 if there is something new, 0 if not, and -1 with an exception
 * set. Sets *done to true, or to false if another thread has replaced that view meanwhile, so that the caller must try
 * again. Leaves *done if the object is closed. */
static int refresh_once(struct index_object *object, bool *done) {
    struct idx_index *newer = NULL;
    struct call call;
    struct view *view = view_hold((PyObject *)object);
    if (view == NULL) return -1;
    bool ok = call_begin_quiet(&call) && call_end(&call, idx_refresh(view->index, &newer, &call.error));
    struct view *fresh = ok && newer != NULL ? make_view(newer, object->unpacked_k) : NULL;
    ok = ok && (newer == NULL || fresh != NULL); /* false if make_view has failed */
    *done = fresh == NULL || replace_view_if_same(object, view, fresh);
    view_release(view);
    return ok ? newer != NULL : -1;
}

/* This is the method `refresh`: refreshes the view, again if another thread has replaced it in between. Returns whether
 * there was something new. */
static PyObject *index_refresh(PyObject *self, PyObject *unused) {
    bool done = false;
    int has_news = 0;
    while (!done && has_news >= 0) has_news = refresh_once((struct index_object *)self, &done);
    return has_news < 0 ? NULL : PyBool_FromLong(has_news);
}

/* This is the method `replaced`. Returns whether the path has another version of the index now, or none. */
static PyObject *index_replaced(PyObject *self, PyObject *unused) {
    struct call call;
    bool replaced = false;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    bool ok = call_begin_quiet(&call) && call_end(&call, idx_replaced(view->index, &replaced, &call.error));
    view_release(view);
    return ok ? PyBool_FromLong(replaced) : NULL;
}

/* ---- What it is ---- */

/* Returns a dict of the properties of an index, with the names that libidx.Info has. */
static PyObject *make_info_dict(const struct idx_properties *p) {
    static const char *const types[] = {"text", "u64", "none"}; /* as enum idx_id_type */
    return Py_BuildValue(
        "{s:I,s:s,s:I,s:I,s:s,s:s,s:s,s:n,s:n,s:K,s:K,s:K,s:K,s:K,s:N,s:K,s:K,s:K,s:K,s:I,s:d,s:K,s:K,s:K}",
        "format_version", p->format_version, "uuid", p->uuid, "bits", p->bits, "k", p->k, "id_type", types[p->id_type],
        "recipe", p->recipe, "scheme", p->scheme->name, "tables", (Py_ssize_t)p->scheme->table_count, "segments",
        (Py_ssize_t)p->segments, "fingerprints", (unsigned long long)p->fingerprints, "documents",
        (unsigned long long)p->documents, "table_bytes", (unsigned long long)p->table_bytes, "documents_bytes",
        (unsigned long long)p->documents_bytes, "resident_bytes", (unsigned long long)p->resident_bytes, "by_id",
        PyBool_FromLong(p->by_id), "by_id_bytes", (unsigned long long)p->by_id_bytes, "removals",
        (unsigned long long)p->removals, "pending_documents", (unsigned long long)p->pending_documents,
        "pending_removals", (unsigned long long)p->pending_removals, "sketch", (unsigned)p->sketch, "resemble",
        (double)p->threshold / (double)IDX_THRESHOLD_ONE, "texts", (unsigned long long)p->texts, "members",
        (unsigned long long)p->members, "sets_bytes", (unsigned long long)p->sets_bytes);
}

/* Returns the properties of the index, a dict. */
static PyObject *index_info(PyObject *self, PyObject *unused) {
    struct idx_properties properties;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    idx_get_properties(view->index, &properties);
    PyObject *info = make_info_dict(&properties);
    view_release(view);
    return info;
}

/* Returns whether the index was closed. This is a getter of `properties`. */
static PyObject *get_closed(PyObject *self, void *closure) {
    return PyBool_FromLong(((struct index_object *)self)->view == NULL);
}

/* Returns the path, as it was given. This is a getter of `properties`. */
static PyObject *get_path(PyObject *self, void *closure) { return Py_NewRef(((struct index_object *)self)->path); }

/* Returns (residence, check_pages, k or None), as they were given. This is a getter of `properties`. */
static PyObject *get_options(PyObject *self, void *closure) {
    struct index_object *object = (struct index_object *)self;
    PyObject *k = object->unpacked_k == UINT_MAX ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(object->unpacked_k);
    return Py_BuildValue("(ONN)", object->residence, PyBool_FromLong(object->check_pages), k);
}

/* ---- The type ---- */

#define FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"lookup", FAST(index_lookup),
     "lookup($self, queries, k=None, *, limit=None, threads=1, resemble=None, max_candidates=None)\n--\n\n"
     "Find the fingerprints within k bits of each query.\n\n"
     "For an int, returns a list of Match(fingerprint, distance). For an array of n uint64 (or int64: the same bits),\n"
     "returns Matches, with the columns offsets int64[n + 1], fingerprints uint64[m] and distances uint8[m]. Matches\n"
     "are sorted by distance, then by value. `limit` keeps the nearest so many per query. `k` is a distance in\n"
     "bits, from 0 to the k of the index, which is the default, or to the k that it was opened with. `threads`, 1 to\n"
     "256, is for arrays. Any number of threads may call it. The GIL is released.\n\n"
     "In an index of texts, queries are texts: for a str, returns a list of (ID, resemblance); for n texts, returns\n"
     "Resembling, with the columns offsets int64[n + 1], resemblances float64[m] and those of IDs. Each list has the\n"
     "texts that resemble the query by `resemble` or more, exactly, the greatest resemblance first, then by ID. The\n"
     "default is what the index was built for; with less, texts may be missed, and a warning says so.\n"
     "`max_candidates` is how many texts of each value of a sketch are compared.\n\n"
     "Raises BadDistanceError, InvalidArgumentError (a query of more bits than the index's), DamagedError, "
     "TypeError.\n\n"
     ">>> index.lookup(7, k=1)\n"
     "[libidx.Match(fingerprint=7, distance=0), libidx.Match(fingerprint=6, distance=1)]\n"
     ">>> found = index.lookup(numpy.array([7, 99], numpy.uint64), k=1)\n"
     ">>> found.offsets\n"
     "array([0, 2, 2])\n"
     ">>> found.fingerprints\n"
     "array([7, 6], dtype=uint64)\n"},
    {"exists", FAST(index_exists),
     "exists($self, queries, k=None, *, threads=1, resemble=None, max_candidates=None)\n--\n\n"
     "Whether any fingerprint is within k bits, or any text resembles one: bool for one query, bool[n] for many.\n"
     "Arguments and errors are those of lookup.\n\n"
     ">>> index.exists(7)\n"
     "True\n"},
    {"count", FAST(index_count),
     "count($self, queries, k=None, *, threads=1, resemble=None, max_candidates=None)\n--\n\n"
     "How many fingerprints are within k bits, or texts resemble one: int for one query, int64[n] for many.\n"
     "Arguments and errors are those of lookup.\n\n"
     ">>> index.count(7, 1)\n"
     "2\n"},
    {"refresh", index_refresh, METH_NOARGS,
     "refresh($self)\n--\n\n"
     "Refresh to the current state of the index, with all that writers acknowledged. Returns whether there was\n"
     "anything new. Running calls of other threads finish with the view that they began with, but their next calls\n"
     "answer from the newer one: documents() may find none for what lookup() has just found. To hold a view over\n"
     "several calls, open an Index of its own for it, which only its own refresh() changes; or open a new one in "
     "place\n"
     "of refreshing, and let threads that began with the old one go on with that.\n\n"
     ">>> held = libidx.open(\"crawl.idx\")\n"
     ">>> with libidx.Writer(\"crawl.idx\") as writer:\n"
     "...     writer.remove_ids([\"b\"]).documents\n"
     "1\n"
     ">>> index.refresh(), index.documents(7), held.documents(7)\n"
     "(True, [], ['b'])\n"},
    {"replaced", index_replaced, METH_NOARGS,
     "replaced($self)\n--\n\n"
     "Whether the path now has another version of the index, or none. Newly pending documents do not make another\n"
     "version.\n\n"
     ">>> index.replaced()\n"
     "False\n"},
    {"close", index_close, METH_NOARGS,
     "close($self)\n--\n\nClose the index, once running calls of other threads have ended. May be called again."},
    {"_info", index_info, METH_NOARGS, "_info($self)\n--\n\n"},
    {"_batch", index_batch, METH_VARARGS, NULL},
    {"_pairs", index_pairs, METH_VARARGS, NULL},
    {"_clusters", index_clusters, METH_VARARGS, NULL},
    {"_part", index_part, METH_VARARGS, NULL},
    {"_documents", index_documents, METH_VARARGS, NULL},
    {"_find", index_find, METH_O, NULL},
    {"_resembling", index_resembling, METH_VARARGS, NULL},
    {"_visit_sets", index_visit_sets, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", get_closed, NULL, "Whether it was closed.", NULL},
    {"path", get_path, NULL, "The path from which it was opened, as given.", NULL},
    {"_options", get_options, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

bool add_index_type(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, index_new},
        {Py_tp_dealloc, index_free},
        {Py_tp_methods, methods},
        {Py_tp_getset, properties},
        {Py_tp_doc, "An open index; libidx.Index is the whole of it."},
        {0, NULL},
    };
    index_type = add_type(module, "libidx._core.Index", sizeof(struct index_object), Py_TPFLAGS_BASETYPE, slots);
    return index_type != NULL;
}
