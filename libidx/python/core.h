/* core.h: what the files of the extension module _core share. */
#ifndef IDX_PYTHON_CORE_H
#define IDX_PYTHON_CORE_H

#include "libidx/python/module.h"
#include "libidx/python/results.h"

/* ---- Index (index.c) ---- */

/* One view of an index, held by an Index object and by the calls under way. Holders are counted with the GIL held. */
struct view {
    struct idx_index *index;
    size_t holders;
    unsigned k;            /* of the index */
    unsigned max_distance; /* the largest distance of look-ups: k, or what the index was unpacked for */
    unsigned bits;
    enum idx_id_type id_type;
    bool has_sets; /* of texts, which look-ups take in place of fingerprints */
};

/* Returns the view of an Index, which stays open until the caller passes it to view_release. Returns NULL with an
 * exception set if the object is closed, or is no Index. */
struct view *view_hold(PyObject *index);

/* Ends one hold of a view, which may be NULL. The last one closes the index, for which it releases the GIL, and frees
 * the view. */
void view_release(struct view *view);

/* Set *distance to the distance, in bits, that an argument asks for; NULL or None stands for the index's k. Both return
 * false with an exception set if the argument is no integer. parse_distance also raises if the distance is above
 * view->max_distance. parse_any_distance leaves that to the library, which refuses it by a sentence of its own. */
bool parse_distance(PyObject *argument, const struct view *view, unsigned *distance);
bool parse_any_distance(PyObject *argument, const struct view *view, unsigned *distance);

/* This is the method `lookup` of Index (lookup.c): returns a list of Match for one query, and Matches for an array. */
PyObject *index_lookup(PyObject *self, PyObject *const *arguments, Py_ssize_t nargs, PyObject *kwnames);
/* This is the method `exists`: returns a bool for one query, and an array of them for an array. */
PyObject *index_exists(PyObject *self, PyObject *const *arguments, Py_ssize_t nargs, PyObject *kwnames);
/* This is the method `count`: returns an int for one query, and an array of them for an array. */
PyObject *index_count(PyObject *self, PyObject *const *arguments, Py_ssize_t nargs, PyObject *kwnames);

/* Methods of Index, which take a tuple (lookup_many.c, pairs.c, documents.c, resembling.c). */
PyObject *index_batch(PyObject *self, PyObject *arguments);
PyObject *index_pairs(PyObject *self, PyObject *arguments);
PyObject *index_clusters(PyObject *self, PyObject *arguments);
PyObject *index_part(PyObject *self, PyObject *arguments);
PyObject *index_documents(PyObject *self, PyObject *arguments);
PyObject *index_resembling(PyObject *self, PyObject *arguments);
/* These take one argument. */
PyObject *index_find(PyObject *self, PyObject *ids_arg);
PyObject *index_visit_sets(PyObject *self, PyObject *visitor);

/* ---- Types (index.c, lookup.c, builder.c, writer.c, stream.c) ---- */

/* Returns the items of libidx.BuildSummary for a build or a merge, a tuple, for the caller to release. */
PyObject *make_summary_tuple(const struct idx_build_summary *summary);

/* Each of these makes one type, as its name says, and adds it to the module libidx._core. It is called once, while that
 * module is made, and before any object of the type is. The type is never freed. Returns false with an exception set if
 * memory runs out or the module refuses the type; then the caller releases the module. */
bool add_index_type(PyObject *module);
bool add_match_type(PyObject *module);
bool add_builder_type(PyObject *module);
bool add_writer_type(PyObject *module);
bool add_stream_type(PyObject *module);
bool add_simhash_type(PyObject *module);

/* Sets *residence to the residence with this name. Raises ValueError for any other name or object (index.c). */
bool parse_residence(PyObject *name, enum idx_residence *residence);

/* ---- Functions of the module (functions.c) ---- */

/* These are the module's functions of the same names. */
PyObject *core_merge(PyObject *module, PyObject *arguments);
PyObject *core_compact(PyObject *module, PyObject *arguments);
PyObject *core_verify(PyObject *module, PyObject *arguments);
PyObject *core_plan(PyObject *module, PyObject *arguments);
PyObject *core_plan_unpacked(PyObject *module, PyObject *arguments);
PyObject *core_calibrate(PyObject *module, PyObject *arguments);
PyObject *core_scheme(PyObject *module, PyObject *arguments);
PyObject *core_sketch_values(PyObject *module, PyObject *threshold_arg);

#endif
