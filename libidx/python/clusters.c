/* clusters.c: the clusters of an index. */
#include "libidx/python/core.h"

/* The columns of Clusters. Those of IDs follow. */
enum { CLUSTERS, FINGERPRINTS, DISTANCES, IS_REPRESENTATIVE, IDS };

/* The idx_cluster_visitor that appends a row. Returns false if memory runs out. */
static bool append_member(void *context, const struct idx_cluster_member *member) {
    struct columns *columns = context;
    const struct idx_document *document = &member->document;
    int64_t *cluster = columns_add(columns, CLUSTERS, 1);
    uint64_t *fingerprint = columns_add(columns, FINGERPRINTS, 1);
    uint8_t *distance = columns_add(columns, DISTANCES, 1),
            *is_representative = columns_add(columns, IS_REPRESENTATIVE, 1);
    if (columns->failed) return false;
    *cluster = (int64_t)member->cluster;
    *fingerprint = member->fingerprint;
    *distance = (uint8_t)member->distance;
    *is_representative = member->is_representative;
    ids_add(columns, IDS, document->number, document->id, document->id_length);
    return !columns->failed;
}

/* Returns the Clusters of an index. The context of the options is a struct watch. The call releases the GIL. */
static PyObject *run_clusters(struct view *view, const struct idx_cluster_options *options) {
    struct columns columns;
    struct idx_error error;
    columns_begin(&columns, "qQB?" ID_KINDS);
    for (size_t i = 0; i < IDS; i++) columns_add(&columns, i, 0);
    ids_begin(&columns, IDS, view->id_type);
    PyThreadState *thread = PyEval_SaveThread();
    enum idx_status status = idx_clusters(view->index, options, append_member, &columns, NULL, &error);
    PyEval_RestoreThread(thread);
    return columns_end_result(&columns, check_call(status, &error, options->context), "Clusters");
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
