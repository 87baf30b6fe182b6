/* lookup.c: look-ups in an Index: the matches of queries, how many there are, and whether there is any. An index of
 * texts is asked by texts, in Python. */
#include "libidx/python/lookup.h"

static PyTypeObject *match_type;

/* ---- Arguments of look-ups: they are parsed here, since PyArg_Parse would take most of the time of one look-up ----
 */

/* The arguments of a call, borrowed; NULL for those that were not passed. */
struct request {
    PyObject *queries, *k, *limit, *threads;
};

/* Sets the member `name` of the request to `argument`. `takes_limit` says whether the method has the argument `limit`,
 * as only lookup has. Returns false with TypeError set for an unknown argument, or for `queries` or `k` if that is set
 * already; and with InvalidArgumentError for `resemble`, which only indexes of texts have. */
static bool parse_keyword(struct request *request, PyObject *name, PyObject *argument, bool takes_limit) {
    if (PyUnicode_CompareWithASCIIString(name, "k") == 0 && request->k == NULL) {
        request->k = argument;
    } else if (PyUnicode_CompareWithASCIIString(name, "threads") == 0) {
        request->threads = argument;
    } else if (takes_limit && PyUnicode_CompareWithASCIIString(name, "limit") == 0) {
        request->limit = argument;
    } else if (PyUnicode_CompareWithASCIIString(name, "queries") == 0 && request->queries == NULL) {
        request->queries = argument;
    } else if (PyUnicode_CompareWithASCIIString(name, "resemble") == 0) {
        raise_status(IDX_INVALID_ARGUMENT, "resemble: this index has no sets of texts; make one by libidx.build(path, "
                                           "texts=..., resemble=...)");
        return false;
    } else {
        return refuse(PyExc_TypeError, "there is no argument %R here, or it was given twice", name);
    }
    return true;
}

/* Sets the request from arguments as METH_FASTCALL | METH_KEYWORDS has them: `nargs` positional ones, queries and k,
 * and after them one for each of `kwnames`, a tuple or NULL. Returns false with an exception set if there are more than
 * two positional ones, if there are no queries, or if parse_keyword fails. */
static bool parse_request(struct request *request, PyObject *const *arguments, Py_ssize_t nargs, PyObject *kwnames,
                          bool takes_limit) {
    *request = (struct request){.queries = nargs > 0 ? arguments[0] : NULL, .k = nargs > 1 ? arguments[1] : NULL};
    if (nargs > 2) return refuse(PyExc_TypeError, "%zd positional arguments; there are queries and k", nargs);
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_Size(kwnames); i++) {
        if (!parse_keyword(request, PyTuple_GetItem(kwnames, i), arguments[nargs + i], takes_limit)) return false;
    }
    if (request->queries != NULL) return true;
    return refuse(PyExc_TypeError, "no queries were given: an int, or an array of uint64");
}

/* Sets *limit to the argument `limit`, or to SIZE_MAX, for no limit, if it is NULL or None. Returns false with an
 * exception set if it is no integer or out of range. */
static bool parse_limit(PyObject *argument, size_t *limit) {
    *limit = SIZE_MAX;
    if (argument == NULL || argument == Py_None) return true;
    long long asked_limit = PyLong_AsLongLong(argument);
    if (asked_limit == -1 && PyErr_Occurred()) return false;
    *limit = (size_t)asked_limit;
    return check_range("limit", asked_limit, 0, PY_SSIZE_T_MAX);
}

/* Sets *threads to the argument `threads`, or to 1 if it is NULL. Returns false with an exception set if it is no
 * integer or out of range. */
static bool parse_threads(PyObject *argument, unsigned *threads) {
    *threads = 1;
    if (argument == NULL) return true;
    long long asked_threads = PyLong_AsLongLong(argument);
    if (asked_threads == -1 && PyErr_Occurred()) return false;
    *threads = (unsigned)asked_threads;
    return check_range("threads", asked_threads, 1, IDX_MAX_THREADS);
}

/* ---- Indexes of texts ---- */

/* Answers for an index of texts, in Python: calls self._ask(name, ...), where `name` is the method that was called, and
 * the other arguments are its own, as for parse_request. Returns the result, or NULL with an exception set. */
static PyObject *call_ask_method(PyObject *self, const char *name, PyObject *const *arguments, Py_ssize_t nargs,
                                 PyObject *kwnames) {
    PyObject *method = PyObject_GetAttrString(self, "_ask"), *name_object = PyUnicode_FromString(name);
    PyObject *positional = PyTuple_New(nargs + 1), *named = PyDict_New();
    bool ok = method != NULL && name_object != NULL && positional != NULL && named != NULL;
    if (ok) PyTuple_SetItem(positional, 0, Py_NewRef(name_object));
    for (Py_ssize_t i = 0; i < nargs && ok; i++) PyTuple_SetItem(positional, i + 1, Py_NewRef(arguments[i]));
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_Size(kwnames) && ok; i++)
        ok = PyDict_SetItem(named, PyTuple_GetItem(kwnames, i), arguments[nargs + i]) == 0;
    PyObject *answer = ok ? PyObject_Call(method, positional, named) : NULL;
    Py_XDECREF(method);
    Py_XDECREF(name_object);
    Py_XDECREF(positional);
    Py_XDECREF(named);
    return answer;
}

/* ---- One query ---- */

/* Makes a libidx.Match of a match. Returns NULL with an exception set if memory runs out. */
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

/* Makes a list of libidx.Match of `count` matches. Returns NULL with an exception set if memory runs out. */
static PyObject *make_match_list(const struct idx_match *matches, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list != NULL; i++) {
        PyObject *match = make_match(&matches[i]);
        if (match == NULL || PyList_SetItem(list, (Py_ssize_t)i, match) < 0) Py_CLEAR(list);
    }
    return list;
}

/* Up to this many matches, as most queries have, are found by one look-up, without allocating memory. */
enum { FIRST_CAPACITY = 32 };

/* Looks up one query, the int `number`. Returns a list of Match: the `limit` nearest ones, if there are more. Returns
 * NULL with an exception set on failure. */
static PyObject *look_up_one_query(const struct view *view, PyObject *number, unsigned distance, size_t limit) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists = {.matches = NULL};
    struct idx_match first_matches[FIRST_CAPACITY];
    struct call call;
    uint64_t query;
    size_t count = 0;
    if (!parse_number(number, "queries", &query)) return NULL;
    options.distance = distance;
    options.max_matches = limit;
    call_begin_quiet(&call);
    enum idx_status status =
        idx_lookup(view->index, query, distance, first_matches, FIRST_CAPACITY, &count, &call.error);
    size_t wanted_count = count < limit ? count : limit; /* `count` is the number of all matches */
    if (status == IDX_OK && wanted_count > FIRST_CAPACITY)
        status = idx_list_matches(view->index, &query, 1, &options, &lists, &call.error);
    const struct idx_match *matches = lists.matches != NULL ? lists.matches : first_matches;
    PyObject *list = call_end(&call, status) ? make_match_list(matches, wanted_count) : NULL;
    idx_match_lists_close(&lists);
    return list;
}

PyObject *index_lookup(PyObject *self, PyObject *const *arguments, Py_ssize_t nargs, PyObject *kwnames) {
    struct request request;
    unsigned distance, threads;
    size_t limit;
    PyObject *answer = NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (view->has_sets) {
        answer = call_ask_method(self, "lookup", arguments, nargs, kwnames);
    } else if (parse_request(&request, arguments, nargs, kwnames, true) && parse_distance(request.k, view, &distance) &&
               parse_limit(request.limit, &limit) && parse_threads(request.threads, &threads)) {
        answer = is_number(request.queries)
                     ? look_up_one_query(view, request.queries, distance, limit)
                     : look_up_array(view, request.queries, distance, limit, threads, ANSWER_MATCHES);
    }
    view_release(view);
    return answer;
}

/* ---- Counting, and whether there is any ---- */

/* Looks up one query. Returns whether it has any match, a bool, for ANSWER_TRUTHS, or how many it has, an int, for
 * ANSWER_COUNTS; or NULL with an exception set. */
static PyObject *count_or_test_one(const struct view *view, PyObject *number, unsigned distance, enum answer answer) {
    struct call call;
    uint64_t query;
    size_t count = 0;
    bool exists = false;
    if (!parse_number(number, "queries", &query)) return NULL;
    call_begin_quiet(&call);
    enum idx_status status = answer == ANSWER_TRUTHS
                                 ? idx_exists(view->index, query, distance, &exists, &call.error)
                                 : idx_lookup(view->index, query, distance, NULL, 0, &count, &call.error);
    if (!call_end(&call, status)) return NULL;
    return answer == ANSWER_TRUTHS ? PyBool_FromLong(exists) : PyLong_FromSize_t(count);
}

/* Does what the methods exists (ANSWER_TRUTHS) and count (ANSWER_COUNTS) do. Returns for one query whether it has any
 * match, or how many it has, and for an array of queries an array of these; or NULL with an exception set. The
 * arguments are as for parse_request. */
static PyObject *count_or_test_matches(PyObject *self, PyObject *const *arguments, Py_ssize_t nargs, PyObject *kwnames,
                                       enum answer answer) {
    struct request request;
    unsigned distance, threads;
    PyObject *result = NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (view->has_sets) {
        result = call_ask_method(self, answer == ANSWER_TRUTHS ? "exists" : "count", arguments, nargs, kwnames);
    } else if (parse_request(&request, arguments, nargs, kwnames, false) &&
               parse_distance(request.k, view, &distance) && parse_threads(request.threads, &threads)) {
        result = is_number(request.queries) ? count_or_test_one(view, request.queries, distance, answer)
                                            : look_up_array(view, request.queries, distance, SIZE_MAX, threads, answer);
    }
    view_release(view);
    return result;
}

PyObject *index_exists(PyObject *self, PyObject *const *arguments, Py_ssize_t nargs, PyObject *kwnames) {
    return count_or_test_matches(self, arguments, nargs, kwnames, ANSWER_TRUTHS);
}

PyObject *index_count(PyObject *self, PyObject *const *arguments, Py_ssize_t nargs, PyObject *kwnames) {
    return count_or_test_matches(self, arguments, nargs, kwnames, ANSWER_COUNTS);
}

/* ---- The type Match ---- */

static PyStructSequence_Field match_fields[] = {
    {"fingerprint", "The fingerprint."},
    {"distance", "Its Hamming distance to the query, in bits."},
    {NULL, NULL},
};

bool add_match_type(PyObject *module) {
    static PyStructSequence_Desc match = {"libidx.Match", "A fingerprint near a query.", match_fields, 2};
    match_type = PyStructSequence_NewType(&match);
    return match_type != NULL && PyModule_AddType(module, match_type) == 0;
}
