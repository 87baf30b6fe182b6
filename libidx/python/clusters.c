/* clusters.c: the clusters of an index. */
#include "libidx/python/core.h"

#include <string.h>

struct clusters {
    struct block *block;
    enum idx_id_type id_type;
    bool failed; /* out of memory */
};

/* Makes room for `more` rows in the columns that the index's ID type has, and in that of IDs' bytes for so many bytes.
 */
static bool reserve_rows(struct clusters *clusters, size_t more, size_t id_bytes) {
    struct column *columns = clusters->block->columns;
    size_t last = clusters->id_type == IDX_ID_U64 ? CLUSTERS_NUMBERS : CLUSTERS_REPRESENTATIVE;
    for (size_t i = 0; i <= last; i++) {
        if (!column_reserve(&columns[i], more)) return false;
    }
    return clusters->id_type != IDX_ID_TEXT || (column_reserve(&columns[CLUSTERS_ID_OFFSETS], more + 1) &&
                                                column_reserve(&columns[CLUSTERS_ID_BYTES], id_bytes));
}

static void append_text_id(struct clusters *clusters, const struct idx_document *document) {
    struct column *offsets = &clusters->block->columns[CLUSTERS_ID_OFFSETS];
    struct column *bytes = &clusters->block->columns[CLUSTERS_ID_BYTES];
    if (document->id_length > 0) memcpy((uint8_t *)bytes->items + bytes->count, document->id, document->id_length);
    bytes->count += document->id_length;
    ((int64_t *)offsets->items)[offsets->count++] = (int64_t)bytes->count;
}

/* The idx_cluster_visitor that appends a row. Returns false if memory runs out. */
static bool append_member(void *context, const struct idx_cluster_member *member) {
    struct clusters *clusters = context;
    struct column *columns = clusters->block->columns;
    clusters->failed = !reserve_rows(clusters, 1, member->document.id_length);
    if (clusters->failed) return false;
    if (clusters->id_type == IDX_ID_TEXT) append_text_id(clusters, &member->document);
    ((int64_t *)columns[CLUSTERS_CLUSTERS].items)[columns[CLUSTERS_CLUSTERS].count++] = (int64_t)member->cluster;
    ((uint64_t *)columns[CLUSTERS_FINGERPRINTS].items)[columns[CLUSTERS_FINGERPRINTS].count++] = member->fingerprint;
    ((uint8_t *)columns[CLUSTERS_DISTANCES].items)[columns[CLUSTERS_DISTANCES].count++] = (uint8_t)member->distance;
    ((uint8_t *)columns[CLUSTERS_REPRESENTATIVE].items)[columns[CLUSTERS_REPRESENTATIVE].count++] =
        member->is_representative;
    if (clusters->id_type == IDX_ID_U64)
        ((uint64_t *)columns[CLUSTERS_NUMBERS].items)[columns[CLUSTERS_NUMBERS].count++] = member->document.number;
    return true;
}

/* Makes the columns that the index's ID type has, without rows. Returns false if memory runs out. */
static bool make_columns(struct clusters *clusters) {
    if (!reserve_rows(clusters, 0, 0)) return false;
    struct column *offsets = &clusters->block->columns[CLUSTERS_ID_OFFSETS];
    if (clusters->id_type == IDX_ID_TEXT) ((int64_t *)offsets->items)[offsets->count++] = 0;
    return true;
}

/* Returns the Clusters of an index. The context of the options is a struct watch. The GIL is released meanwhile. */
static PyObject *run_clusters(struct view *view, const struct idx_cluster_options *options) {
    struct clusters clusters = {.block = block_new(CLUSTERS_KINDS), .id_type = view->id_type};
    struct idx_error error;
    if (clusters.block == NULL || !make_columns(&clusters)) {
        block_release(clusters.block);
        return PyErr_NoMemory();
    }
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_clusters(view->index, options, append_member, &clusters, NULL, &error);
    block_trim(clusters.block);
    PyEval_RestoreThread(thread);
    return result_end(RESULT_CLUSTERS, clusters.block, status, &error, options->context, clusters.failed);
}

/* Takes (k, method, representative, alone, threads, memory, tmpdir, progress), the second and third as the numbers that
 * idx.h gives them. Returns Clusters. */
PyObject *index_clusters(PyObject *self, PyObject *arguments) {
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
    struct watch watch = {Py_None, false};
    PyObject *k, *folder, *bytes = NULL, *answer = NULL;
    struct natural memory = {"memory", UINT64_MAX, 0};
    int method, representative, alone, threads;
    if (!PyArg_ParseTuple(arguments, "OiipiO&OO", &k, &method, &representative, &alone, &threads, natural_take, &memory,
                          &folder, &watch.progress) ||
        !check_range("threads", threads, 1, IDX_MAX_THREADS) || !check_range("method", method, 0, 1) ||
        !check_range("representative", representative, 0, 2))
        return NULL;
    struct view *view = view_hold(self);
    if (view == NULL) return NULL;
    options.method = (enum idx_cluster_method)method;
    options.representative = (enum idx_representative)representative;
    options.alone = alone;
    options.threads = (unsigned)threads;
    options.memory_bytes = memory.value;
    options.progress = watch_visit;
    options.context = &watch;
    if (any_distance_take(k, view, &options.distance) && folder_take(folder, &bytes, &options.temporary_folder))
        answer = run_clusters(view, &options);
    Py_XDECREF(bytes);
    view_release(view);
    return answer;
}
