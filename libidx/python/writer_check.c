/* writer_check.c: the method check_and_add of Writer. */
#include "libidx/python/writer.h"

#include <stdlib.h>

#include "libidx/python/items.h"

/* Matches of each document that are kept room for at first. */
#define EXPECTED ((size_t)8)

/* This is the place of a document that was added. Those of one call differ in their fingerprints. */
struct addition {
    uint64_t fingerprint;
    size_t place;
};

struct check {
    struct writer_object *object;
    struct idx_item *list;
    size_t count, limit, capacity;
    unsigned distance;
    struct idx_match *matches;
    size_t *counts;
    uint8_t *added;
    struct addition *additions; /* by fingerprint; NULL until some query has many matches */
    size_t addition_count;
    struct gathering gathering;
    struct idx_error error;
};

static enum idx_status out_of_memory(struct check *check) {
    check->error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
    return IDX_OUT_OF_MEMORY;
}

static int compare_additions(const void *a, const void *b) {
    uint64_t one = ((const struct addition *)a)->fingerprint, other = ((const struct addition *)b)->fingerprint;
    return (one > other) - (one < other);
}

static bool list_additions(struct check *check) {
    if (check->additions != NULL) return true;
    check->additions = malloc((check->count + 1) * sizeof *check->additions);
    for (size_t i = 0; i < check->count && check->additions != NULL; i++) {
        if (check->added[i])
            check->additions[check->addition_count++] = (struct addition){check->list[i].fingerprint, i};
    }
    if (check->additions != NULL)
        qsort(check->additions, check->addition_count, sizeof *check->additions, compare_additions);
    return check->additions != NULL;
}

/* Whether one of the documents behind `at` was added with this fingerprint: then it was no match yet. */
static bool came_later(const struct check *check, size_t at, uint64_t fingerprint) {
    const struct addition wanted = {fingerprint, 0}, *found;
    found = bsearch(&wanted, check->additions, check->addition_count, sizeof wanted, compare_additions);
    return found != NULL && found->place > at;
}

/* Looks up again what has more matches than were kept, less those that came later. */
static enum idx_status take_many(struct check *check, size_t at) {
    const struct idx_index *view = idx_writer_view(check->object->writer);
    uint64_t query = check->list[at].fingerprint;
    size_t count, capacity = 2 * check->counts[at] + 16, kept = 0;
    struct idx_match *matches = NULL;
    enum idx_status status;
    if (!list_additions(check)) return out_of_memory(check);
    do {
        struct idx_match *grown = realloc(matches, capacity * sizeof *matches);
        if (grown == NULL) {
            free(matches);
            return out_of_memory(check);
        }
        matches = grown;
        status = idx_lookup(view, query, check->distance, matches, capacity, &count, &check->error);
    } while (status == IDX_OK && count > capacity && (capacity = count) > 0);
    for (size_t i = 0; i < count && status == IDX_OK; i++) {
        if (kept < check->limit && !came_later(check, at, matches[i].fingerprint)) matches[kept++] = matches[i];
    }
    if (status == IDX_OK && !gather_matches(&check->gathering, at, matches, kept)) status = out_of_memory(check);
    free(matches);
    return status;
}

static enum idx_status take_checked(struct check *check) {
    enum idx_status status = IDX_OK;
    for (size_t i = 0; i < check->count; i++) check->added[i] = check->counts[i] == 0;
    for (size_t i = 0; i < check->count && status == IDX_OK; i++) {
        size_t count = check->counts[i] < check->limit ? check->counts[i] : check->limit;
        if (count > check->capacity) {
            status = take_many(check, i);
        } else if (!gather_matches(&check->gathering, i, check->matches + i * check->capacity, count)) {
            status = out_of_memory(check);
        }
    }
    if (status == IDX_OK && !gather_end(&check->gathering, check->count)) status = out_of_memory(check);
    return status;
}

static enum idx_status run_check(struct check *check, struct block *added) {
    size_t room = 0;
    check->matches = malloc(check->count * check->capacity * sizeof *check->matches + 1);
    check->counts = malloc(check->count * sizeof *check->counts + 1);
    if (check->matches == NULL || check->counts == NULL || !column_reserve(&added->columns[0], &room, check->count))
        return out_of_memory(check);
    check->added = added->columns[0].items;
    added->columns[0].count = check->count;
    enum idx_status status = idx_writer_check_and_add(check->object->writer, check->list, check->count, check->distance,
                                                      check->matches, check->capacity, check->counts, &check->error);
    return status == IDX_OK ? take_checked(check) : status;
}

static PyObject *check_and_add(struct check *check) {
    struct block *added = block_new("?");
    enum idx_status status = IDX_OUT_OF_MEMORY;
    check->gathering.block = block_new(MATCHES_KINDS);
    if (added == NULL || check->gathering.block == NULL) {
        out_of_memory(check);
    } else {
        PyThreadState *thread = PyEval_SaveThread();
        status = run_check(check, added);
        PyEval_RestoreThread(thread);
    }
    free(check->matches);
    free(check->counts);
    free(check->additions);
    if (!check_call(status, &check->error, NULL)) {
        block_release(added);
        block_release(check->gathering.block);
        return NULL;
    }
    PyObject *matches = result_new(RESULT_MATCHES, check->gathering.block), *array = result_array(added);
    if (matches != NULL && array != NULL) return Py_BuildValue("(NN)", array, matches);
    Py_XDECREF(matches);
    Py_XDECREF(array);
    return NULL;
}

/* (fingerprints, ids, k or -1, limit or -1) */
PyObject *writer_check_and_add(PyObject *self, PyObject *arguments) {
    struct writer_object *object = (struct writer_object *)self;
    PyObject *fingerprints, *ids, *answer = NULL;
    struct items items;
    long long limit;
    int k;
    if (!PyArg_ParseTuple(arguments, "OOiL", &fingerprints, &ids, &k, &limit) ||
        !check_range("limit", limit, -1, PY_SSIZE_T_MAX) ||
        !items_take(fingerprints, ids, object->id_type, false, &items))
        return NULL;
    struct check check = {.object = object, .count = items.count, .limit = (size_t)limit};
    check.capacity = check.limit < EXPECTED ? check.limit : EXPECTED;
    check.distance = k < 0 ? object->k : (unsigned)k;
    check.list = items_list(&items);
    if (check.list != NULL && writer_enter(object)) {
        answer = check_and_add(&check);
        object->busy = false;
    }
    free(check.list);
    items_release(&items);
    return answer;
}
