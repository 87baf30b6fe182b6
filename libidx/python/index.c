/* index.c: the type Index: opening, closing, refreshing, and look-ups. A call holds the view that it began with, so
 * that another thread may close or refresh the index while it is under way. */
#include "libidx/python/core.h"

#include <stdlib.h>
#include <string.h>

struct index_object {
    PyObject_HEAD struct view *view; /* NULL: closed */
    PyObject *path, *residence;
    bool check_pages;
};

static PyTypeObject *index_type, *match_type;

/* ---- Views ---- */

struct view *view_hold(PyObject *object) {
    if (!PyObject_TypeCheck(object, index_type)) {
        PyErr_Format(PyExc_TypeError, "%R where an Index is wanted", (PyObject *)Py_TYPE(object));
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
    if (--view->holders > 0) return;
    PyThreadState *thread = PyEval_SaveThread();
    idx_close(view->index);
    PyEval_RestoreThread(thread);
    free(view);
}

/* A view of an index that is open, held once; closes it where there is no memory. */
static struct view *make_view(struct idx_index *index) {
    struct idx_properties properties;
    struct view *view = malloc(sizeof *view);
    if (view == NULL) {
        idx_close(index);
        PyErr_NoMemory();
        return NULL;
    }
    idx_get_properties(index, &properties);
    *view = (struct view){index, 1, properties.k, properties.bits, properties.id_type};
    return view;
}

bool distance_take(PyObject *argument, const struct view *view, unsigned *distance) {
    *distance = view->k;
    if (argument == NULL || argument == Py_None) return true;
    long value = PyLong_AsLong(argument);
    if (value == -1 && PyErr_Occurred()) return false;
    *distance = value < 0 || value > 64 ? 65 : (unsigned)value;
    if (*distance <= view->k) return true;
    raise_status(IDX_BAD_DISTANCE, "k = %ld: this index answers 0 to %u", value, view->k);
    return false;
}

/* ---- Opening and closing ---- */

static bool read_residence(PyObject *name, enum idx_residence *residence) {
    static const char *const names[] = {"directory", "none", "all", "disk"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, names[i]) != 0) continue;
        *residence = (enum idx_residence)i;
        return true;
    }
    PyErr_Format(PyExc_ValueError, "residence: %R, which is none of 'directory', 'none', 'all' and 'disk'", name);
    return false;
}

static struct view *open_view(PyObject *path, PyObject *residence, bool check_pages) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index = NULL;
    struct idx_error error;
    PyObject *bytes;
    const char *text;
    options.skip_page_checks = !check_pages;
    if (!read_residence(residence, &options.residence) || !path_take(path, &bytes, &text)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_open(&index, text, &options, &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(bytes);
    return check_call(status, &error, NULL) ? make_view(index) : NULL;
}

static PyObject *index_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {"path", "residence", "check_pages", NULL};
    PyObject *path, *residence = NULL;
    int check_pages = 1;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|$Op", names, &path, &residence, &check_pages)) return NULL;
    residence = residence == NULL ? PyUnicode_FromString("directory") : Py_NewRef(residence);
    if (residence == NULL) return NULL;
    struct view *view = open_view(path, residence, check_pages);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct index_object *object = view == NULL ? NULL : (struct index_object *)allocate(type, 0);
    if (object == NULL) {
        if (view != NULL) view_release(view);
        Py_DECREF(residence);
        return NULL;
    }
    object->view = view;
    object->path = Py_NewRef(path);
    object->residence = residence;
    object->check_pages = check_pages;
    return (PyObject *)object;
}

static PyObject *index_close(PyObject *self, PyObject *unused) {
    struct index_object *object = (struct index_object *)self;
    struct view *view = object->view;
    (void)unused;
    object->view = NULL;
    if (view != NULL) view_release(view);
    Py_RETURN_NONE;
}

static void index_free(PyObject *self) {
    struct index_object *object = (struct index_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    struct view *view = object->view;
    object->view = NULL;
    if (view != NULL) view_release(view);
    Py_XDECREF(object->path);
    Py_XDECREF(object->residence);
    release(self);
    Py_DECREF(type);
}

static PyObject *index_refresh(PyObject *self, PyObject *unused) {
    struct index_object *object = (struct index_object *)self;
    struct idx_index *newer = NULL;
    struct idx_error error;
    struct view *view = view_hold(self);
    (void)unused;
    if (view == NULL) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_refresh(view->index, &newer, &error);
    PyEval_RestoreThread(thread);
    bool fine = check_call(status, &error, NULL);
    struct view *fresh = fine && newer != NULL ? make_view(newer) : NULL;
    if (fresh != NULL) {
        /* Another thread may have closed it, or been faster: then this view, no older than that one, takes its place.
         */
        struct view *old = object->view;
        object->view = old == NULL ? NULL : fresh;
        view_release(old == NULL ? fresh : old);
    }
    view_release(view);
    if (!fine || (newer != NULL && fresh == NULL)) return NULL;
    return PyBool_FromLong(newer != NULL);
}

static PyObject *index_replaced(PyObject *self, PyObject *unused) {
    struct idx_error error;
    bool replaced = false;
    struct view *view = view_hold(self);
    (void)unused;
    if (view == NULL) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_replaced(view->index, &replaced, &error);
    PyEval_RestoreThread(thread);
    view_release(view);
    return check_call(status, &error, NULL) ? PyBool_FromLong(replaced) : NULL;
}

/* ---- Arguments of look-ups, which are read by hand: that is most of the time of a single one ---- */

struct question {
    PyObject *queries, *k, *limit, *threads;
};

static bool read_keyword(struct question *question, PyObject *name, PyObject *value, bool with_limit) {
    if (PyUnicode_CompareWithASCIIString(name, "k") == 0 && question->k == NULL) {
        question->k = value;
    } else if (PyUnicode_CompareWithASCIIString(name, "threads") == 0) {
        question->threads = value;
    } else if (with_limit && PyUnicode_CompareWithASCIIString(name, "limit") == 0) {
        question->limit = value;
    } else if (PyUnicode_CompareWithASCIIString(name, "queries") == 0 && question->queries == NULL) {
        question->queries = value;
    } else {
        PyErr_Format(PyExc_TypeError, "there is no argument %R here, or it was given twice", name);
        return false;
    }
    return true;
}

static bool read_question(struct question *question, PyObject *const *arguments, Py_ssize_t count, PyObject *names,
                          bool with_limit) {
    *question = (struct question){count > 0 ? arguments[0] : NULL, count > 1 ? arguments[1] : NULL, NULL, NULL};
    if (count > 2) {
        PyErr_Format(PyExc_TypeError, "%zd positional arguments; there are queries and k", count);
        return false;
    }
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_Size(names); i++) {
        if (!read_keyword(question, PyTuple_GetItem(names, i), arguments[count + i], with_limit)) return false;
    }
    if (question->queries != NULL) return true;
    PyErr_SetString(PyExc_TypeError, "no queries were given: an int, or an array of uint64");
    return false;
}

static bool read_limit(PyObject *argument, size_t *limit) {
    *limit = SIZE_MAX;
    if (argument == NULL || argument == Py_None) return true;
    long long value = PyLong_AsLongLong(argument);
    if (value == -1 && PyErr_Occurred()) return false;
    *limit = (size_t)value;
    return check_range("limit", value, 0, PY_SSIZE_T_MAX);
}

static bool read_threads(PyObject *argument, unsigned *threads) {
    *threads = 1;
    if (argument == NULL) return true;
    long long value = PyLong_AsLongLong(argument);
    if (value == -1 && PyErr_Occurred()) return false;
    *threads = (unsigned)value;
    return check_range("threads", value, 1, IDX_MAX_THREADS);
}

/* ---- One query ---- */

static PyObject *make_match(const struct idx_match *match) {
    PyObject *object = PyStructSequence_New(match_type);
    PyObject *fingerprint = PyLong_FromUnsignedLongLong(match->fingerprint);
    PyObject *distance = PyLong_FromUnsignedLong(match->distance);
    if (object == NULL || fingerprint == NULL || distance == NULL) {
        Py_XDECREF(object);
        Py_XDECREF(fingerprint);
        Py_XDECREF(distance);
        return NULL;
    }
    PyStructSequence_SetItem(object, 0, fingerprint);
    PyStructSequence_SetItem(object, 1, distance);
    return object;
}

static PyObject *make_matches(const struct idx_match *matches, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list != NULL; i++) {
        PyObject *match = make_match(&matches[i]);
        if (match == NULL || PyList_SetItem(list, (Py_ssize_t)i, match) < 0) Py_CLEAR(list);
    }
    return list;
}

/* Looks up more matches than fit on the stack; *matches is to be freed. */
static enum idx_status look_up_all(const struct view *view, uint64_t query, unsigned distance, size_t capacity,
                                   struct idx_match **matches, size_t *count, struct idx_error *error) {
    *matches = malloc(capacity * sizeof **matches);
    if (*matches != NULL) return idx_lookup(view->index, query, distance, *matches, capacity, count, error);
    *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
    return IDX_OUT_OF_MEMORY;
}

static PyObject *look_up_one(struct view *view, const struct question *question, unsigned distance, size_t limit) {
    struct idx_match few[32], *matches = few, *more = NULL;
    struct idx_error error;
    uint64_t query;
    size_t count;
    if (!number_take(question->queries, "queries", &query)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_lookup(view->index, query, distance, few, 32, &count, &error);
    size_t wanted = status == IDX_OK && count < limit ? count : limit;
    if (status == IDX_OK && wanted > 32) {
        status = look_up_all(view, query, distance, wanted, &more, &count, &error);
        matches = more;
    }
    PyEval_RestoreThread(thread);
    PyObject *list = check_call(status, &error, NULL) ? make_matches(matches, wanted) : NULL;
    free(more);
    return list;
}

/* ---- Many queries ---- */

/* Queries that are looked up at a time, on each thread, and how many matches of each are at first expected. */
#define PIECE ((size_t)4096)
#define EXPECTED ((size_t)4)
#define MOST_EXPECTED ((size_t)64)

struct search {
    const struct view *view;
    const uint64_t *queries;
    size_t count, limit, piece, capacity;
    unsigned distance, threads;
    struct idx_match *matches; /* `capacity` of each query of a piece */
    size_t *counts;
    struct gathering gathering;
    struct idx_error error;
};

static enum idx_status out_of_memory(struct search *search) {
    search->error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
    return IDX_OUT_OF_MEMORY;
}

/* Gathers the matches of one query, looking it up again where there are more than were expected. */
static enum idx_status take_query(struct search *search, size_t query, size_t place) {
    struct idx_match *more = NULL, *matches = search->matches + place * search->capacity;
    size_t count = search->counts[place] < search->limit ? search->counts[place] : search->limit;
    enum idx_status status = IDX_OK;
    if (count > search->capacity) {
        size_t found;
        status =
            look_up_all(search->view, search->queries[query], search->distance, count, &more, &found, &search->error);
        matches = more;
    }
    if (status == IDX_OK && !gather_matches(&search->gathering, query, matches, count)) status = out_of_memory(search);
    free(more);
    return status;
}

/* Expects more of each query where an eighth of them have more. */
static void expect_more(struct search *search, size_t overfull, size_t queries) {
    if (overfull <= queries / 8 || search->capacity == MOST_EXPECTED || search->capacity >= search->limit) return;
    struct idx_match *grown = realloc(search->matches, 2 * search->capacity * search->piece * sizeof *grown);
    if (grown == NULL) return;
    search->matches = grown;
    search->capacity *= 2;
}

static enum idx_status look_up_piece(struct search *search, size_t begin) {
    size_t count = search->count - begin < search->piece ? search->count - begin : search->piece, overfull = 0;
    enum idx_status status =
        idx_lookup_many(search->view->index, search->queries + begin, count, search->distance, search->threads,
                        search->matches, search->capacity, search->counts, &search->error);
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        overfull += search->counts[i] > search->capacity;
        status = take_query(search, begin + i, i);
    }
    if (status == IDX_OK) expect_more(search, overfull, count);
    return status;
}

static enum idx_status look_up_pieces(struct search *search, bool *interrupted) {
    int64_t last = 0;
    enum idx_status status = IDX_OK;
    PyThreadState *thread = PyEval_SaveThread();
    for (size_t begin = 0; begin < search->count && status == IDX_OK && !*interrupted; begin += search->piece) {
        status = look_up_piece(search, begin);
        *interrupted = !check_signals(&thread, &last);
    }
    if (status == IDX_OK && !*interrupted && !gather_end(&search->gathering, search->count))
        status = out_of_memory(search);
    PyEval_RestoreThread(thread);
    return status;
}

static PyObject *look_up_array(struct view *view, const struct question *question, unsigned distance, size_t limit) {
    struct search search = {.view = view, .distance = distance, .limit = limit};
    struct array array;
    bool interrupted = false;
    if (!read_threads(question->threads, &search.threads) || !array_take(question->queries, "queries", &array))
        return NULL;
    search.queries = array.items;
    search.count = array.count;
    search.piece = search.threads > 1 ? PIECE * 8 : PIECE;
    if (search.piece > array.count) search.piece = array.count > 0 ? array.count : 1;
    search.capacity = limit < EXPECTED ? limit : EXPECTED;
    search.matches = malloc(search.piece * search.capacity * sizeof *search.matches + 1);
    search.counts = malloc(search.piece * sizeof *search.counts);
    search.gathering.block = block_new(MATCHES_KINDS);
    bool room = search.matches != NULL && search.counts != NULL && search.gathering.block != NULL;
    enum idx_status status = room ? look_up_pieces(&search, &interrupted) : out_of_memory(&search);
    array_release(&array);
    free(search.matches);
    free(search.counts);
    if (!interrupted && check_call(status, &search.error, NULL))
        return result_new(RESULT_MATCHES, search.gathering.block);
    block_release(search.gathering.block);
    return NULL;
}

static PyObject *index_lookup(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    struct question question;
    unsigned distance;
    size_t limit;
    PyObject *answer = NULL;
    if (!read_question(&question, arguments, count, names, true)) return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (distance_take(question.k, view, &distance) && read_limit(question.limit, &limit))
        answer = (is_number(question.queries) ? look_up_one : look_up_array)(view, &question, distance, limit);
    view_release(view);
    return answer;
}

/* ---- Counting, and whether there is any ---- */

/* How many matches each query of an array has; as truth values where `truths`. */
static enum idx_status count_pieces(struct search *search, struct column *column, bool truths, bool *interrupted) {
    int64_t last = 0;
    enum idx_status status = IDX_OK;
    PyThreadState *thread = PyEval_SaveThread();
    for (size_t begin = 0; begin < search->count && status == IDX_OK && !*interrupted; begin += search->piece) {
        size_t count = search->count - begin < search->piece ? search->count - begin : search->piece;
        status = idx_lookup_many(search->view->index, search->queries + begin, count, search->distance, search->threads,
                                 NULL, 0, search->counts, &search->error);
        for (size_t i = 0; i < count && status == IDX_OK; i++) {
            if (truths) {
                ((uint8_t *)column->items)[begin + i] = search->counts[i] > 0;
            } else {
                ((int64_t *)column->items)[begin + i] = (int64_t)search->counts[i];
            }
        }
        *interrupted = !check_signals(&thread, &last);
    }
    PyEval_RestoreThread(thread);
    return status;
}

static PyObject *count_array(struct view *view, const struct question *question, unsigned distance, bool truths) {
    struct search search = {.view = view, .distance = distance};
    struct block *block = block_new(truths ? "?" : "q");
    struct array array;
    bool interrupted = false;
    size_t room = 0;
    if (!read_threads(question->threads, &search.threads) || !array_take(question->queries, "queries", &array)) {
        block_release(block);
        return NULL;
    }
    search.queries = array.items;
    search.count = array.count;
    search.piece = search.threads > 1 ? PIECE * 8 : PIECE;
    search.counts = malloc(search.piece * sizeof *search.counts);
    bool enough = block != NULL && search.counts != NULL && column_reserve(block->columns, &room, array.count);
    enum idx_status status =
        enough ? count_pieces(&search, block->columns, truths, &interrupted) : out_of_memory(&search);
    if (block != NULL) block->columns[0].count = array.count;
    array_release(&array);
    free(search.counts);
    if (!interrupted && check_call(status, &search.error, NULL)) return result_array(block);
    block_release(block);
    return NULL;
}

static PyObject *exists_one(struct view *view, const struct question *question, unsigned distance) {
    struct idx_error error;
    uint64_t query;
    bool exists = false;
    if (!number_take(question->queries, "queries", &query)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_exists(view->index, query, distance, &exists, &error);
    PyEval_RestoreThread(thread);
    return check_call(status, &error, NULL) ? PyBool_FromLong(exists) : NULL;
}

static PyObject *count_one(struct view *view, const struct question *question, unsigned distance) {
    struct idx_error error;
    uint64_t query;
    size_t count = 0;
    if (!number_take(question->queries, "queries", &query)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_lookup(view->index, query, distance, NULL, 0, &count, &error);
    PyEval_RestoreThread(thread);
    return check_call(status, &error, NULL) ? PyLong_FromSize_t(count) : NULL;
}

static PyObject *ask(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names, bool truths) {
    struct question question;
    unsigned distance;
    PyObject *answer = NULL;
    if (!read_question(&question, arguments, count, names, false)) return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (distance_take(question.k, view, &distance)) {
        answer = !is_number(question.queries) ? count_array(view, &question, distance, truths)
                 : truths                     ? exists_one(view, &question, distance)
                                              : count_one(view, &question, distance);
    }
    view_release(view);
    return answer;
}

static PyObject *index_exists(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return ask(self, arguments, count, names, true);
}

static PyObject *index_count(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return ask(self, arguments, count, names, false);
}

/* ---- What it is ---- */

static PyObject *make_info(const struct idx_properties *p) {
    static const char *const types[] = {"text", "u64", "none"};
    return Py_BuildValue(
        "{s:I,s:s,s:I,s:I,s:s,s:s,s:s,s:n,s:n,s:K,s:K,s:K,s:K,s:K,s:N,s:K,s:K,s:K,s:K}", "format_version",
        p->format_version, "uuid", p->uuid, "bits", p->bits, "k", p->k, "id_type", types[p->id_type], "recipe",
        p->recipe, "scheme", p->scheme->name, "tables", (Py_ssize_t)p->scheme->table_count, "segments",
        (Py_ssize_t)p->segments, "fingerprints", (unsigned long long)p->fingerprints, "documents",
        (unsigned long long)p->documents, "table_bytes", (unsigned long long)p->table_bytes, "documents_bytes",
        (unsigned long long)p->documents_bytes, "resident_bytes", (unsigned long long)p->resident_bytes, "by_id",
        PyBool_FromLong(p->by_id), "by_id_bytes", (unsigned long long)p->by_id_bytes, "removals",
        (unsigned long long)p->removals, "pending_documents", (unsigned long long)p->pending_documents,
        "pending_removals", (unsigned long long)p->pending_removals);
}

static PyObject *index_info(PyObject *self, PyObject *unused) {
    struct idx_properties properties;
    struct view *view = view_hold(self);
    (void)unused;
    if (view == NULL) return NULL;
    idx_get_properties(view->index, &properties);
    PyObject *info = make_info(&properties);
    view_release(view);
    return info;
}

static PyObject *get_closed(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((struct index_object *)self)->view == NULL);
}

static PyObject *get_path(PyObject *self, void *closure) {
    (void)closure;
    return Py_NewRef(((struct index_object *)self)->path);
}

static PyObject *get_options(PyObject *self, void *closure) {
    struct index_object *object = (struct index_object *)self;
    (void)closure;
    return Py_BuildValue("(ON)", object->residence, PyBool_FromLong(object->check_pages));
}

/* ---- The type ---- */

#define FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"lookup", FAST(index_lookup),
     "lookup($self, queries, k=None, *, limit=None, threads=1)\n--\n\n"
     "Find the fingerprints within k bits of each query.\n\n"
     "`queries` is an int, answered by a list of Match(fingerprint, distance), or an array of n uint64 (int64 is "
     "taken\n"
     "as the same bits), answered by Matches: columns offsets int64[n + 1], fingerprints uint64[m], distances\n"
     "uint8[m]. Matches come nearest first, then by value; all of them, or with `limit` the nearest so many of each\n"
     "query. `k` is a distance in bits, from 0 to the index's, which is the default. `threads`, 1 to 256, is for\n"
     "arrays. Any number of threads may call it; the GIL is released.\n\n"
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
     "exists($self, queries, k=None, *, threads=1)\n--\n\n"
     "Whether any fingerprint is within k bits: bool for an int, bool[n] for an array. Arguments and errors are those\n"
     "of lookup.\n\n"
     ">>> index.exists(7)\n"
     "True\n"},
    {"count", FAST(index_count),
     "count($self, queries, k=None, *, threads=1)\n--\n\n"
     "How many fingerprints are within k bits: int for an int, int64[n] for an array. Arguments and errors are those\n"
     "of lookup.\n\n"
     ">>> index.count(7, 1)\n"
     "2\n"},
    {"refresh", index_refresh, METH_NOARGS,
     "refresh($self)\n--\n\n"
     "Go on with what writers and builders have made of the index by now. Returns whether there was anything new.\n"
     "Calls under way in other threads end with the view that they began with.\n\n"
     ">>> index.refresh()\n"
     "False\n"},
    {"replaced", index_replaced, METH_NOARGS,
     "replaced($self)\n--\n\n"
     "Whether another version of the index is at its path by now, or none. What is pending is no other version.\n\n"
     ">>> index.replaced()\n"
     "False\n"},
    {"close", index_close, METH_NOARGS,
     "close($self)\n--\n\nClose the index, once calls under way in other threads have ended. Often is fine."},
    {"_info", index_info, METH_NOARGS, "_info($self)\n--\n\n"},
    {"_batch", index_batch, METH_VARARGS, NULL},
    {"_pairs", index_pairs, METH_VARARGS, NULL},
    {"_join", index_join, METH_VARARGS, NULL},
    {"_clusters", index_clusters, METH_VARARGS, NULL},
    {"_part", index_part, METH_VARARGS, NULL},
    {"_documents", index_documents, METH_VARARGS, NULL},
    {"_find", index_find, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", get_closed, NULL, "Whether it was closed.", NULL},
    {"path", get_path, NULL, "The path that it was opened by, as it was given.", NULL},
    {"_options", get_options, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyStructSequence_Field match_fields[] = {
    {"fingerprint", "The fingerprint."},
    {"distance", "Its Hamming distance to the query, in bits."},
    {NULL, NULL},
};

bool index_init(PyObject *module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, index_new},
        {Py_tp_dealloc, index_free},
        {Py_tp_methods, methods},
        {Py_tp_getset, properties},
        {Py_tp_doc, "An open index; libidx.Index is the whole of it."},
        {0, NULL},
    };
    static PyType_Spec spec = {"libidx._core.Index", sizeof(struct index_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    static PyStructSequence_Desc match = {"libidx.Match", "A fingerprint near a query.", match_fields, 2};
    index_type = (PyTypeObject *)PyType_FromSpec(&spec);
    match_type = PyStructSequence_NewType(&match);
    return index_type != NULL && match_type != NULL && PyModule_AddType(module, index_type) == 0 &&
           PyModule_AddType(module, match_type) == 0;
}
