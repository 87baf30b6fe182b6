/* lookup.c: look-ups in an Index: the matches of queries, how many there are, and whether there is any. */
#include "libidx/python/core.h"

#include <stdlib.h>

static PyTypeObject *match_type;

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

PyObject *index_lookup(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
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

PyObject *index_exists(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return ask(self, arguments, count, names, true);
}

PyObject *index_count(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    return ask(self, arguments, count, names, false);
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
