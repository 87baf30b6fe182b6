/* core.c: the extension module libidx._core. */
#include "libidx/python/core.h"

#include <string.h>

/* Takes (fingerprints, shards), where `shards` is how many shards there are. Returns the number of the shard of each
 * fingerprint, int64[n], by idx_shard, so that the driver and the workers of a job agree on it. */
static PyObject *core_shard(PyObject *module, PyObject *arguments) {
    PyObject *fingerprints;
    struct natural shard_count = {"shards", UINT64_MAX, 0};
    struct array array;
    if (!PyArg_ParseTuple(arguments, "OO&", &fingerprints, parse_natural, &shard_count) ||
        !parse_array(fingerprints, "fingerprints", &array))
        return NULL;
    struct columns columns;
    bool ok = columns_begin_sized(&columns, "q", array.count);
    for (size_t i = 0; i < array.count && ok; i++)
        ((int64_t *)columns.list[0].items)[i] = (int64_t)idx_shard(array.items[i], shard_count.value);
    array_release(&array);
    return columns_end_as_array(&columns, ok);
}

/* Takes (fingerprints), in any form that parse_array reads. Returns a copy of them, uint64[n]. */
static PyObject *core_numbers(PyObject *module, PyObject *fingerprints) {
    struct array array;
    if (!parse_array(fingerprints, "fingerprints", &array)) return NULL;
    struct columns columns;
    bool ok = columns_begin_sized(&columns, "Q", array.count);
    if (array.count > 0 && ok) memcpy(columns.list[0].items, array.items, array.count * sizeof *array.items);
    array_release(&array);
    return columns_end_as_array(&columns, ok);
}

/* Takes (texts). Returns how many bytes each has in UTF-8, int64[n]. */
static PyObject *core_lengths(PyObject *module, PyObject *texts_arg) {
    struct strings texts;
    if (!parse_strings(texts_arg, "texts", &texts)) return NULL;
    struct columns columns;
    bool ok = columns_begin_sized(&columns, "q", texts.count);
    for (size_t i = 0; i < texts.count && ok; i++) ((int64_t *)columns.list[0].items)[i] = (int64_t)texts.lengths[i];
    strings_release(&texts);
    return columns_end_as_array(&columns, ok);
}

/* Takes (recipe). Returns the largest k that indexes with this recipe may have. */
static PyObject *core_recipe_max_k(PyObject *module, PyObject *arguments) {
    struct idx_recipe_properties properties;
    const char *recipe;
    if (!PyArg_ParseTuple(arguments, "s", &recipe)) return NULL;
    idx_recipe_read(recipe, &properties);
    return PyLong_FromUnsignedLong(properties.max_k);
}

/* Takes (recipe, recipe). Returns whether fingerprints of the one can be compared with those of the other, a bool. */
static PyObject *core_recipes_match(PyObject *module, PyObject *arguments) {
    const char *a, *b;
    return PyArg_ParseTuple(arguments, "ss", &a, &b) ? PyBool_FromLong(idx_recipe_matches(a, b, NULL)) : NULL;
}

static PyMethodDef functions[] = {
    {"merge", core_merge, METH_VARARGS, NULL},
    {"compact", core_compact, METH_VARARGS, NULL},
    {"verify", core_verify, METH_VARARGS, NULL},
    {"plan", core_plan, METH_VARARGS, NULL},
    {"plan_unpacked", core_plan_unpacked, METH_VARARGS, NULL},
    {"shard", core_shard, METH_VARARGS, NULL},
    {"calibrate", core_calibrate, METH_VARARGS, NULL},
    {"scheme", core_scheme, METH_VARARGS, NULL},
    {"lengths", core_lengths, METH_O, NULL},
    {"numbers", core_numbers, METH_O, NULL},
    {"texts", core_texts, METH_VARARGS, NULL},
    {"lists", core_lists, METH_VARARGS, NULL},
    {"rows", core_rows, METH_O, NULL},
    {"arrow_stream", core_arrow_stream, METH_VARARGS, NULL},
    {"recipe_max_k", core_recipe_max_k, METH_VARARGS, NULL},
    {"sketch_values", core_sketch_values, METH_O, NULL},
    {"recipes_match", core_recipes_match, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "libidx._core", "The C part of libidx.", -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void);

/* Makes the module libidx._core. Python calls this when it imports the module. Returns NULL with an exception set on
 * failure. */
PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    if (import_make_error() && make_column_type() && add_index_type(module) && add_match_type(module) &&
        add_builder_type(module) && add_writer_type(module) && add_stream_type(module) && add_simhash_type(module) &&
        PyModule_AddStringConstant(module, "VERSION", idx_version()) == 0 &&
        PyModule_AddStringConstant(module, "INSTRUCTIONS", idx_instructions()) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
