/* analysis.c: the long calls on an open index: batches, pairs, joins, clusters, parts, documents, and finding IDs. */
#include "libidx/python/core.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- Gathering matches ---- */

bool gather_matches(struct gathering *gathering, size_t query, const struct idx_match *matches, size_t count) {
    struct column *columns = gathering->block->columns;
    struct column *offsets = &columns[MATCHES_OFFSETS], *fingerprints = &columns[MATCHES_FINGERPRINTS];
    struct column *distances = &columns[MATCHES_DISTANCES];
    size_t offset = fingerprints->count;
    bool room = column_reserve(offsets, &gathering->offsets_room, query + 2 - offsets->count) &&
                column_reserve(fingerprints, &gathering->fingerprints_room, count) &&
                column_reserve(distances, &gathering->distances_room, count);
    if (!room) return false;
    while (offsets->count <= query) ((int64_t *)offsets->items)[offsets->count++] = (int64_t)offset;
    for (size_t i = 0; i < count; i++) {
        ((uint64_t *)fingerprints->items)[offset + i] = matches[i].fingerprint;
        ((uint8_t *)distances->items)[offset + i] = (uint8_t)matches[i].distance;
    }
    fingerprints->count = distances->count = offset + count;
    return true;
}

bool gather_end(struct gathering *gathering, size_t count) {
    struct column *columns = gathering->block->columns;
    if (!gather_matches(gathering, count, NULL, 0)) return false;
    for (size_t i = MATCHES_OFFSETS; i <= MATCHES_DISTANCES; i++) column_trim(&columns[i]);
    return true;
}

/* An idx_batch_visitor. */
static bool take_matches(void *context, size_t query, const struct idx_match *matches, size_t count) {
    struct gathering *gathering = context;
    gathering->failed = !gather_matches(gathering, query, matches, count);
    return !gathering->failed;
}

/* Makes the result of a block whose call ended, or raises. */
static PyObject *end_call(enum result result, struct block *block, enum idx_status status,
                          const struct idx_error *error, const struct watch *watch, bool out_of_memory) {
    if (check_call(status, error, watch)) {
        if (!out_of_memory) return result_new(result, block);
        PyErr_NoMemory();
    }
    block_release(block);
    return NULL;
}

/* ---- Batches ---- */

static bool read_method(const char *name, enum idx_batch_method *method) {
    static const char *const names[] = {"auto", "probe", "merge", "stream"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *method = (enum idx_batch_method)i;
        return true;
    }
    PyErr_Format(PyExc_ValueError, "method: '%s', which is none of 'auto', 'probe', 'merge' and 'stream'", name);
    return false;
}

static PyObject *run_batch(struct view *view, PyObject *queries, struct idx_batch_options *options) {
    struct gathering gathering = {.block = NULL};
    struct watch *watch = options->context;
    struct idx_error error;
    struct array array;
    if (!array_take(queries, "queries", &array)) return NULL;
    gathering.block = block_new(MATCHES_KINDS);
    if (gathering.block == NULL) {
        array_release(&array);
        return PyErr_NoMemory();
    }
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status =
        idx_batch(view->index, array.items, array.count, options, take_matches, &gathering, &error);
    bool enough = !gathering.failed && (status != IDX_OK || gather_end(&gathering, array.count));
    PyEval_RestoreThread(thread);
    array_release(&array);
    return end_call(RESULT_MATCHES, gathering.block, status, &error, watch, !enough);
}

/* (queries, k, method, threads, memory, tmpdir, progress) */
PyObject *index_batch(PyObject *self, PyObject *arguments) {
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    struct watch watch = {Py_None, false};
    PyObject *queries, *k, *folder, *bytes = NULL, *answer = NULL;
    const char *method;
    unsigned long long memory;
    int threads;
    if (!PyArg_ParseTuple(arguments, "OOsiKOO", &queries, &k, &method, &threads, &memory, &folder, &watch.progress) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !read_method(method, &options.method))
        return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    options.threads = (unsigned)threads;
    options.memory_bytes = memory;
    options.progress = watch_visit;
    options.context = &watch;
    if (distance_take(k, view, &options.distance) && folder_take(folder, &bytes, &options.temporary_folder))
        answer = run_batch(view, queries, &options);
    Py_XDECREF(bytes);
    view_release(view);
    return answer;
}

/* ---- Pairs and joins ---- */

struct pairs {
    struct block *block;
    size_t room[3];
    bool failed;
};

/* An idx_pairs_visitor. */
static bool take_pairs(void *context, const struct idx_pair *found, size_t count) {
    struct pairs *pairs = context;
    struct column *columns = pairs->block->columns;
    size_t at = columns[PAIRS_A].count;
    for (size_t i = 0; i < 3 && !pairs->failed; i++)
        pairs->failed = !column_reserve(&columns[i], &pairs->room[i], count);
    if (pairs->failed) return false;
    for (size_t i = 0; i < count; i++) {
        ((uint64_t *)columns[PAIRS_A].items)[at + i] = found[i].a;
        ((uint64_t *)columns[PAIRS_B].items)[at + i] = found[i].b;
        ((uint8_t *)columns[PAIRS_DISTANCES].items)[at + i] = (uint8_t)found[i].distance;
    }
    for (size_t i = 0; i < 3; i++) columns[i].count = at + count;
    return true;
}

/* Pairs of one index, where `other` is NULL, or of two. */
static PyObject *run_join(struct view *view, struct view *other, const struct idx_join_options *options) {
    struct pairs pairs = {.block = block_new(PAIRS_KINDS)};
    struct idx_error error;
    if (pairs.block == NULL) return PyErr_NoMemory();
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = other == NULL ? idx_pairs(view->index, options, take_pairs, &pairs, &error)
                                           : idx_join(view->index, other->index, options, take_pairs, &pairs, &error);
    if (status == IDX_OK && !pairs.failed) {
        for (size_t i = 0; i < 3; i++) column_trim(&pairs.block->columns[i]);
    }
    PyEval_RestoreThread(thread);
    bool empty = false;
    for (size_t i = 0; i < 3; i++) empty = empty || pairs.block->columns[i].items == NULL;
    return end_call(RESULT_PAIRS, pairs.block, status, &error, options->context, pairs.failed || empty);
}

static PyObject *join(PyObject *self, PyObject *other_index, PyObject *k, int threads, unsigned long long memory,
                      PyObject *progress) {
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct watch watch = {progress, false};
    PyObject *answer = NULL;
    if (!check_range("threads", threads, 1, IDX_MAX_THREADS)) return NULL;
    struct view *view = view_hold(self);
    struct view *other = view == NULL || other_index == NULL ? NULL : view_hold(other_index);
    options.threads = (unsigned)threads;
    options.memory_bytes = memory;
    options.progress = watch_visit;
    options.context = &watch;
    if (view != NULL && (other_index == NULL || other != NULL) && distance_take(k, view, &options.distance))
        answer = run_join(view, other, &options);
    if (other != NULL) view_release(other);
    if (view != NULL) view_release(view);
    return answer;
}

/* (k, threads, memory, progress) */
PyObject *index_pairs(PyObject *self, PyObject *arguments) {
    PyObject *k, *progress;
    unsigned long long memory;
    int threads;
    if (!PyArg_ParseTuple(arguments, "OiKO", &k, &threads, &memory, &progress)) return NULL;
    return join(self, NULL, k, threads, memory, progress);
}

/* (other, k, threads, memory, progress) */
PyObject *index_join(PyObject *self, PyObject *arguments) {
    PyObject *other, *k, *progress;
    unsigned long long memory;
    int threads;
    if (!PyArg_ParseTuple(arguments, "OOiKO", &other, &k, &threads, &memory, &progress)) return NULL;
    return join(self, other, k, threads, memory, progress);
}

/* ---- Clusters ---- */

struct clusters {
    struct block *block;
    enum idx_id_type id_type;
    size_t room[MAX_COLUMNS];
    bool failed;
};

static bool reserve(struct clusters *clusters, size_t column, size_t more) {
    return column_reserve(&clusters->block->columns[column], &clusters->room[column], more);
}

static bool take_text(struct clusters *clusters, const struct idx_document *document) {
    struct column *offsets = &clusters->block->columns[CLUSTERS_ID_OFFSETS];
    struct column *bytes = &clusters->block->columns[CLUSTERS_ID_BYTES];
    if (!reserve(clusters, CLUSTERS_ID_OFFSETS, 2) || !reserve(clusters, CLUSTERS_ID_BYTES, document->id_length))
        return false;
    if (document->id_length > 0) memcpy((uint8_t *)bytes->items + bytes->count, document->id, document->id_length);
    bytes->count += document->id_length;
    ((int64_t *)offsets->items)[offsets->count++] = (int64_t)bytes->count;
    return true;
}

/* An idx_cluster_visitor. */
static bool take_member(void *context, const struct idx_cluster_member *member) {
    struct clusters *clusters = context;
    struct column *columns = clusters->block->columns;
    bool numbers = clusters->id_type == IDX_ID_U64;
    for (size_t i = 0; i <= CLUSTERS_REPRESENTATIVE + (size_t)numbers && !clusters->failed; i++)
        clusters->failed = !reserve(clusters, i, 1);
    if (!clusters->failed && clusters->id_type == IDX_ID_TEXT)
        clusters->failed = !take_text(clusters, &member->document);
    if (clusters->failed) return false;
    ((int64_t *)columns[CLUSTERS_CLUSTERS].items)[columns[CLUSTERS_CLUSTERS].count++] = (int64_t)member->cluster;
    ((uint64_t *)columns[CLUSTERS_FINGERPRINTS].items)[columns[CLUSTERS_FINGERPRINTS].count++] = member->fingerprint;
    ((uint8_t *)columns[CLUSTERS_DISTANCES].items)[columns[CLUSTERS_DISTANCES].count++] = (uint8_t)member->distance;
    ((uint8_t *)columns[CLUSTERS_REPRESENTATIVE].items)[columns[CLUSTERS_REPRESENTATIVE].count++] =
        member->is_representative;
    if (numbers)
        ((uint64_t *)columns[CLUSTERS_NUMBERS].items)[columns[CLUSTERS_NUMBERS].count++] = member->document.number;
    return true;
}

/* Makes the columns that the index's ID type has, empty. */
static bool begin_clusters(struct clusters *clusters) {
    bool room = true;
    for (size_t i = 0; i <= CLUSTERS_REPRESENTATIVE; i++) room = room && reserve(clusters, i, 0);
    if (clusters->id_type == IDX_ID_U64) room = room && reserve(clusters, CLUSTERS_NUMBERS, 0);
    if (clusters->id_type != IDX_ID_TEXT || !room) return room;
    struct column *offsets = &clusters->block->columns[CLUSTERS_ID_OFFSETS];
    room = reserve(clusters, CLUSTERS_ID_OFFSETS, 1) && reserve(clusters, CLUSTERS_ID_BYTES, 0);
    if (room) ((int64_t *)offsets->items)[offsets->count++] = 0;
    return room;
}

static PyObject *run_clusters(struct view *view, const struct idx_cluster_options *options) {
    struct clusters clusters = {.block = block_new(CLUSTERS_KINDS), .id_type = view->id_type};
    struct idx_error error;
    if (clusters.block == NULL || !begin_clusters(&clusters)) {
        block_release(clusters.block);
        return PyErr_NoMemory();
    }
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_clusters(view->index, options, take_member, &clusters, NULL, &error);
    for (size_t i = 0; i < clusters.block->count && status == IDX_OK; i++) {
        if (clusters.block->columns[i].items != NULL) column_trim(&clusters.block->columns[i]);
    }
    PyEval_RestoreThread(thread);
    return end_call(RESULT_CLUSTERS, clusters.block, status, &error, options->context, clusters.failed);
}

/* (k, method, representative, alone, threads, memory, tmpdir, progress), the second and third as numbers */
PyObject *index_clusters(PyObject *self, PyObject *arguments) {
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
    struct watch watch = {Py_None, false};
    PyObject *k, *folder, *bytes = NULL, *answer = NULL;
    unsigned long long memory;
    int method, representative, alone, threads;
    if (!PyArg_ParseTuple(arguments, "OiipiKOO", &k, &method, &representative, &alone, &threads, &memory, &folder,
                          &watch.progress) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !check_range("method", method, 0, 1) ||
        !check_range("representative", representative, 0, 2))
        return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    options.method = (enum idx_cluster_method)method;
    options.representative = (enum idx_representative)representative;
    options.alone = alone;
    options.threads = (unsigned)threads;
    options.memory_bytes = memory;
    options.progress = watch_visit;
    options.context = &watch;
    if (distance_take(k, view, &options.distance) && folder_take(folder, &bytes, &options.temporary_folder))
        answer = run_clusters(view, &options);
    Py_XDECREF(bytes);
    view_release(view);
    return answer;
}

/* ---- Parts ---- */

struct part {
    struct column *column;
    size_t room;
    bool failed, interrupted;
    PyThreadState *thread;
    int64_t last;
};

/* An idx_fingerprints_visitor. */
static bool take_fingerprints(void *context, const uint64_t *fingerprints, size_t count) {
    struct part *part = context;
    part->failed = !column_reserve(part->column, &part->room, count);
    if (part->failed) return false;
    memcpy((uint64_t *)part->column->items + part->column->count, fingerprints, count * sizeof *fingerprints);
    part->column->count += count;
    part->interrupted = !check_signals(&part->thread, &part->last);
    return !part->interrupted;
}

/* (part, parts) */
PyObject *index_part(PyObject *self, PyObject *arguments) {
    struct idx_error error;
    long long number, parts;
    if (!PyArg_ParseTuple(arguments, "LL", &number, &parts) || !check_range("parts", parts, 1, UINT32_MAX) ||
        !check_range("part", number, 0, parts - 1))
        return NULL;
    struct view *view = view_hold(self);
    struct block *block = view == NULL ? NULL : block_new("Q");
    if (block == NULL) {
        if (view != NULL) view_release(view);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    struct part part = {.column = block->columns};
    part.thread = PyEval_SaveThread();
    part.failed = !column_reserve(part.column, &part.room, 0);
    enum idx_status status =
        idx_visit_part(view->index, (uint32_t)number, (uint32_t)parts, take_fingerprints, &part, &error);
    column_trim(part.column);
    PyEval_RestoreThread(part.thread);
    view_release(view);
    if (!part.interrupted && check_call(status, &error, NULL) && !part.failed) return result_array(block);
    block_release(block);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

/* ---- Documents ---- */

static PyObject *make_documents(struct idx_document_lists *lists, size_t count) {
    struct block *block = block_new(DOCUMENTS_KINDS);
    if (block == NULL) {
        idx_documents_many_free(lists);
        return PyErr_NoMemory();
    }
    size_t listed = (size_t)lists->offsets[count];
    void *items[] = {lists->offsets, lists->counts, lists->numbers, lists->id_offsets, lists->ids};
    size_t bytes = lists->id_offsets == NULL ? 0 : (size_t)lists->id_offsets[listed];
    size_t counts[] = {count + 1, count, listed, listed + 1, bytes};
    for (size_t i = 0; i < 5; i++) {
        block->columns[i].items = items[i];
        block->columns[i].count = counts[i];
    }
    return result_new(RESULT_DOCUMENTS, block);
}

static PyObject *list_documents(struct view *view, PyObject *fingerprints,
                                const struct idx_documents_options *options) {
    struct idx_document_lists lists;
    struct idx_error error;
    struct array array;
    if (!array_take(fingerprints, "fingerprints", &array)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_documents_many(view->index, array.items, array.count, options, &lists, &error);
    PyEval_RestoreThread(thread);
    size_t count = array.count;
    array_release(&array);
    if (check_call(status, &error, options->context)) return make_documents(&lists, count);
    if (status == IDX_OK) idx_documents_many_free(&lists); /* the watch raised */
    return NULL;
}

/* (fingerprints, limit, max_bytes, threads, progress), limits as numbers, -1: none */
PyObject *index_documents(PyObject *self, PyObject *arguments) {
    struct idx_documents_options options = IDX_DOCUMENTS_OPTIONS_INIT;
    struct watch watch = {Py_None, false};
    PyObject *fingerprints;
    long long limit, max_bytes;
    int threads;
    if (!PyArg_ParseTuple(arguments, "OLLiO", &fingerprints, &limit, &max_bytes, &threads, &watch.progress) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !check_range("limit", limit, -1, LLONG_MAX) ||
        !check_range("max_bytes", max_bytes, -1, LLONG_MAX))
        return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    options.max_documents = (uint64_t)limit;
    options.max_bytes = (uint64_t)max_bytes;
    options.threads = (unsigned)threads;
    options.progress = watch_visit;
    options.context = &watch;
    PyObject *answer = list_documents(view, fingerprints, &options);
    view_release(view);
    return answer;
}

/* ---- Fingerprints of IDs ---- */

/* Finds the fingerprints of one ID, of which there are mostly few: appends them to a column. */
static enum idx_status find_one(struct view *view, const char *id, size_t length, uint64_t number,
                                struct column *column, size_t *room, struct idx_error *error) {
    size_t count = 8, capacity;
    do {
        capacity = count;
        if (!column_reserve(column, room, capacity)) {
            *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
            return IDX_OUT_OF_MEMORY;
        }
        uint64_t *at = (uint64_t *)column->items + column->count;
        enum idx_status status = id == NULL ? idx_find_id_u64(view->index, number, at, capacity, &count, error)
                                            : idx_find_id(view->index, id, length, at, capacity, &count, error);
        if (status != IDX_OK) return status;
    } while (count > capacity);
    column->count += count;
    return IDX_OK;
}

/* The IDs are texts, or else numbers. */
static PyObject *find_all(struct view *view, const struct texts *texts, const struct array *numbers) {
    size_t count = texts == NULL ? numbers->count : texts->count, rooms[2] = {0, 0};
    struct block *block = block_new("qQ");
    struct idx_error error;
    enum idx_status status = IDX_OK;
    int64_t last = 0;
    bool interrupted = false;
    if (block == NULL || !column_reserve(&block->columns[0], &rooms[0], count + 1) ||
        !column_reserve(&block->columns[1], &rooms[1], 0)) {
        block_release(block);
        return PyErr_NoMemory();
    }
    int64_t *offsets = block->columns[0].items;
    block->columns[0].count = count + 1;
    PyThreadState *thread = PyEval_SaveThread();
    for (size_t i = 0; i < count && status == IDX_OK && !interrupted; i++) {
        offsets[i] = (int64_t)block->columns[1].count;
        status = find_one(view, texts == NULL ? NULL : texts->items[i], texts == NULL ? 0 : texts->lengths[i],
                          texts == NULL ? numbers->items[i] : 0, &block->columns[1], &rooms[1], &error);
        interrupted = i % 64 == 0 && !check_signals(&thread, &last);
    }
    offsets[count] = (int64_t)block->columns[1].count;
    PyEval_RestoreThread(thread);
    PyObject *answer = NULL;
    if (!interrupted && check_call(status, &error, NULL))
        answer = Py_BuildValue("(NN)", column_view(block, 0), column_view(block, 1));
    block_release(block);
    return answer;
}

/* (ids) */
PyObject *index_find(PyObject *self, PyObject *arguments) {
    PyObject *ids, *answer = NULL;
    struct texts texts;
    struct array array;
    if (!PyArg_ParseTuple(arguments, "O", &ids)) return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    if (view->id_type == IDX_ID_TEXT) {
        if (texts_take(ids, "ids", &texts)) {
            answer = find_all(view, &texts, NULL);
            texts_release(&texts);
        }
    } else if (array_take(ids, "ids", &array)) {
        answer = find_all(view, NULL, &array);
        array_release(&array);
    }
    view_release(view);
    return answer;
}
