/* lookup.c: look-ups in an Index: the matches of queries, how many there are, and whether there is any. An index of
 * texts is asked by texts, in Python. */
#include "libidx/python/lookup.h"

static PyTypeObject *match_type;

/* ---- Arguments of look-ups, which are read by hand: that is most of the time of a single one ---- */

/* The arguments that were given, borrowed; NULL for others. */
struct question {
    PyObject *queries, *k, *limit, *threads;
};

/* Reads an argument that was given by name. Only lookup, `with_limit`, has the argument `limit`. */
static bool read_keyword(struct question *question, PyObject *name, PyObject *value, bool with_limit) {
    if (PyUnicode_CompareWithASCIIString(name, "k") == 0 && question->k == NULL) {
        question->k = value;
    } else if (PyUnicode_CompareWithASCIIString(name, "threads") == 0) {
        question->threads = value;
    } else if (with_limit && PyUnicode_CompareWithASCIIString(name, "limit") == 0) {
        question->limit = value;
    } else if (PyUnicode_CompareWithASCIIString(name, "queries") == 0 && question->queries == NULL) {
        question->queries = value;
    } else if (PyUnicode_CompareWithASCIIString(name, "resemble") == 0) {
        raise_status(IDX_INVALID_ARGUMENT, "resemble: this index has no sets of texts; make one by libidx.build(path, "
                                           "texts=..., resemble=...)");
        return false;
    } else {
        return refuse(PyExc_TypeError, "there is no argument %R here, or it was given twice", name);
    }
    return true;
}

/* Reads `count` arguments, and after them those with `names`, as METH_FASTCALL | METH_KEYWORDS gives them. */
static bool read_question(struct question *question, PyObject *const *arguments, Py_ssize_t count, PyObject *names,
                          bool with_limit) {
    *question = (struct question){count > 0 ? arguments[0] : NULL, count > 1 ? arguments[1] : NULL, NULL, NULL};
    if (count > 2) return refuse(PyExc_TypeError, "%zd positional arguments; there are queries and k", count);
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_Size(names); i++) {
        if (!read_keyword(question, PyTuple_GetItem(names, i), arguments[count + i], with_limit)) return false;
    }
    if (question->queries != NULL) return true;
    return refuse(PyExc_TypeError, "no queries were given: an int, or an array of uint64");
}

/* Without the argument, or with None, there is no limit. */
static bool read_limit(PyObject *argument, size_t *limit) {
    *limit = SIZE_MAX;
    if (argument == NULL || argument == Py_None) return true;
    long long value = PyLong_AsLongLong(argument);
    if (value == -1 && PyErr_Occurred()) return false;
    *limit = (size_t)value;
    return check_range("limit", value, 0, PY_SSIZE_T_MAX);
}

/* Without the argument, there is one thread. */
static bool read_threads(PyObject *argument, unsigned *threads) {
    *threads = 1;
    if (argument == NULL) return true;
    long long value = PyLong_AsLongLong(argument);
    if (value == -1 && PyErr_Occurred()) return false;
    *threads = (unsigned)value;
    return check_range("threads", value, 1, IDX_MAX_THREADS);
}

/* ---- Indexes of texts ---- */

/* Calls the method `_ask` of the Python class, which answers for indexes of texts, with the name of this method and its
 * arguments. */
static PyObject *ask_by_texts(PyObject *self, const char *name, PyObject *const *arguments, Py_ssize_t count,
                              PyObject *names) {
    PyObject *method = PyObject_GetAttrString(self, "_ask"), *what = PyUnicode_FromString(name);
    PyObject *given = PyTuple_New(count + 1), *named = PyDict_New();
    bool ok = method != NULL && what != NULL && given != NULL && named != NULL;
    if (ok) PyTuple_SetItem(given, 0, Py_NewRef(what));
    for (Py_ssize_t i = 0; i < count && ok; i++) PyTuple_SetItem(given, i + 1, Py_NewRef(arguments[i]));
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_Size(names) && ok; i++)
        ok = PyDict_SetItem(named, PyTuple_GetItem(names, i), arguments[count + i]) == 0;
    PyObject *answer = ok ? PyObject_Call(method, given, named) : NULL;
    Py_XDECREF(method);
    Py_XDECREF(what);
    Py_XDECREF(given);
    Py_XDECREF(named);
    return answer;
}

/* ---- One query ---- */

/* Makes a libidx.Match. */
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

/* Makes a list of libidx.Match. */
static PyObject *make_matches(const struct idx_match *matches, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list != NULL; i++) {
        PyObject *match = make_match(&matches[i]);
        if (match == NULL || PyList_SetItem(list, (Py_ssize_t)i, match) < 0) Py_CLEAR(list);
    }
    return list;
}

/* Most queries have no more matches than so many, which are found by one look-up, without allocating memory. */
enum { FEW = 32 };

/* Returns a list of Match for one query, the `limit` nearest ones. */
static PyObject *look_up_one(const struct view *view, PyObject *number, unsigned distance, size_t limit) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists = {.matches = NULL};
    struct idx_match few[FEW];
    struct call call;
    uint64_t query;
    size_t count = 0;
    if (!number_take(number, "queries", &query)) return NULL;
    options.distance = distance;
    options.max_matches = limit;
    call_begin_plain(&call);
    enum idx_status status = idx_lookup(view->index, query, distance, few, FEW, &count, &call.error);
    size_t wanted = count < limit ? count : limit;
    if (status == IDX_OK && wanted > FEW)
        status = idx_list_matches(view->index, &query, 1, &options, &lists, &call.error);
    const struct idx_match *matches = lists.matches != NULL ? lists.matches : few;
    PyObject *list = call_end(&call, status) ? make_matches(matches, wanted) : NULL;
    idx_match_lists_close(&lists);
    return list;
}

PyObject *index_lookup(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    struct question question;
    unsigned distance, threads;
    size_t limit;
    PyObject *answer = NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (view->has_sets) {
        answer = ask_by_texts(self, "lookup", arguments, count, names);
    } else if (read_question(&question, arguments, count, names, true) && distance_take(question.k, view, &distance) &&
               read_limit(question.limit, &limit) && read_threads(question.threads, &threads)) {
        answer = is_number(question.queries)
                     ? look_up_one(view, question.queries, distance, limit)
                     : look_up_array(view, question.queries, distance, limit, threads, ANSWER_MATCHES);
    }
    view_release(view);
    return answer;
}

/* ---- Counting, and whether there is any ---- */

/* Answers for one query: returns bool for ANSWER_TRUTHS, and int for ANSWER_COUNTS. */
static PyObject *exists_or_count_one(const struct view *view, PyObject *number, unsigned distance, enum answer answer) {
    struct call call;
    uint64_t query;
    size_t count = 0;
    bool exists = false;
    if (!number_take(number, "queries", &query)) return NULL;
    call_begin_plain(&call);
    if (!call_end(&call, answer == ANSWER_TRUTHS
                             ? idx_exists(view->index, query, distance, &exists, &call.error)
                             : idx_lookup(view->index, query, distance, NULL, 0, &count, &call.error)))
        return NULL;
    return answer == ANSWER_TRUTHS ? PyBool_FromLong(exists) : PyLong_FromSize_t(count);
}

/* Answers for one query, or for an array of them, whether there is any match, or how many there are. */
static PyObject *exists_or_count(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names,
                                 enum answer answer) {
    struct question question;
    unsigned distance, threads;
    PyObject *result = NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (view->has_sets) {
        result = ask_by_texts(self, answer == ANSWER_TRUTHS ? "exists" : "count", arguments, count, names);
    } else if (read_question(&question, arguments, count, names, false) && distance_take(question.k, view, &distance) &&
               read_threads(question.threads, &threads)) {
        result = is_number(question.queries)
                     ? exists_or_count_one(view, question.queries, distance, answer)
                     : look_up_array(view, question.queries, distance, SIZE_MAX, threads, answer);
    }
    view_release(view);
    return result;
}

PyObject *index_exists(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return exists_or_count(self, arguments, count, names, ANSWER_TRUTHS);
}

PyObject *index_count(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return exists_or_count(self, arguments, count, names, ANSWER_COUNTS);
}

/* ---- The type Match ---- */

static PyStructSequence_Field match_fields[] = {
    {"fingerprint", "The fingerprint."},
    {"distance", "Its Hamming distance to the query, in bits."},
    {NULL, NULL},
};

bool lookup_init(PyObject *module) {
    static PyStructSequence_Desc match = {"libidx.Match", "A fingerprint near a query.", match_fields, 2};
    match_type = PyStructSequence_NewType(&match);
    return match_type != NULL && PyModule_AddType(module, match_type) == 0;
}
