/* pairs.c: pairs of one index, joins of two, and clusters. */
#include "libidx/python/core.h"

/* ---- Pairs ---- */

/* This is the idx_pairs_visitor that appends pairs to the columns of Pairs, which are `context`. Called without the
 * GIL. Returns false if memory runs out. */
static bool append_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct columns *columns = context;
    uint64_t *a = columns_add(columns, PAIRS_A, count), *b = columns_add(columns, PAIRS_B, count);
    uint8_t *distances = columns_add(columns, PAIRS_DISTANCES, count);
    if (columns->failed) return false;
    for (size_t i = 0; i < count; i++) {
        a[i] = pairs[i].a;
        b[i] = pairs[i].b;
        distances[i] = (uint8_t)pairs[i].distance;
    }
    return true;
}

/* Takes (other or None, k, call). Returns the Pairs of fingerprints within k bits: two of the index, or if another
 * index is given, one of each. */
PyObject *index_pairs(PyObject *self, PyObject *arguments) {
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    struct columns columns;
    struct call call;
    PyObject *other_arg, *k, *answer = NULL;
    if (!PyArg_ParseTuple(arguments, "OOO&", &other_arg, &k, parse_call, &call)) return NULL;
    SET_OPTIONS(options, call);
    const bool is_join = other_arg != Py_None;
    struct view *view = view_hold(self);
    struct view *other = view != NULL && is_join ? view_hold(other_arg) : NULL;
    if (view != NULL && (other != NULL || !is_join) && parse_any_distance(k, view, &options.distance) &&
        columns_begin_sized(&columns, PAIRS_KINDS, 0)) {
        call_begin(&call);
        enum idx_status status =
            other == NULL ? idx_pairs(view->index, &options, append_pairs, &columns, &call.error)
                          : idx_join(view->index, other->index, &options, append_pairs, &columns, &call.error);
        answer = columns_end_result(&columns, call_end(&call, status), "Pairs");
    }
    view_release(other);
    view_release(view);
    call_release(&call);
    return answer;
}

/* ---- Clusters ---- */

/* The numbers of the columns of Clusters. IDS is the first one of IDs. */
enum { CLUSTERS, FINGERPRINTS, DISTANCES, IS_REPRESENTATIVE, IDS };

/* This is the idx_cluster_visitor that appends a member as a row of Clusters, whose columns are `context`. Called
 * without the GIL. Returns false if memory runs out. */
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
    append_id(columns, IDS, document->number, document->id, document->id_length);
    return !columns->failed;
}

/* Takes (k, method, representative, alone, call). `method` and `representative` are the numbers of enum
 * idx_cluster_method and enum idx_representative; `alone` says whether fingerprints without near ones are listed.
 * Returns Clusters. */
PyObject *index_clusters(PyObject *self, PyObject *arguments) {
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
    struct columns columns;
    struct call call;
    PyObject *k, *answer = NULL;
    int method, representative, alone;
    if (!PyArg_ParseTuple(arguments, "OiipO&", &k, &method, &representative, &alone, parse_call, &call)) return NULL;
    SET_OPTIONS(options, call);
    options.temporary_folder = call.folder.text;
    options.method = (enum idx_cluster_method)method;
    options.representative = (enum idx_representative)representative;
    options.alone = alone;
    struct view *view = check_range("method", method, 0, 1) && check_range("representative", representative, 0, 2)
                            ? view_hold(self)
                            : NULL;
    if (view != NULL && parse_any_distance(k, view, &options.distance)) {
        columns_begin(&columns, "qQB?" ID_KINDS);
        for (size_t i = 0; i < IDS; i++) columns_add(&columns, i, 0); /* empty arrays, and not None */
        allocate_id_columns(&columns, IDS, view->id_type);
        bool ok = call_begin(&call) &&
                  call_end(&call, idx_clusters(view->index, &options, append_member, &columns, NULL, &call.error));
        answer = columns_end_result(&columns, ok, "Clusters");
    }
    view_release(view);
    call_release(&call);
    return answer;
}
