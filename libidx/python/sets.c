/* sets.c: the shingles of many texts in a file, and the representatives among these sets: the functions write_sets and
 * lead. */
#include "libidx/python/text.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Writing sets ---- */

enum { BUFFERED = 1 << 17 }; /* hashes */

/* This is a file, and what is still to be written to it. */
struct sink {
    int descriptor;
    struct hashes buffer;
    size_t used;
};

/* Returns false if writing fails; errno then says why. */
static bool write_out(struct sink *sink) {
    const char *bytes = (const char *)sink->buffer.items;
    size_t size = sink->used * sizeof *sink->buffer.items;
    while (size > 0) {
        ssize_t put = write(sink->descriptor, bytes, size);
        if (put < 0 && errno != EINTR) return false;
        if (put < 0) continue;
        bytes += put;
        size -= (size_t)put;
    }
    sink->used = 0;
    return true;
}

static bool put_set(struct sink *sink, const struct hashes *set) {
    for (size_t i = 0; i < set->count; i++) {
        if (sink->used == BUFFERED && !write_out(sink)) return false;
        sink->buffer.items[sink->used++] = set->items[i];
    }
    return true;
}

/* Without the GIL. False where errno says why, or a signal's handler raised. */
static bool write_all(struct sink *sink, const struct texts *texts, const struct array *rows, struct column *counts,
                      enum idx_status *status, struct idx_error *error, PyThreadState **thread) {
    static const struct idx_text_shingle_options options = IDX_TEXT_SHINGLE_OPTIONS_INIT;
    struct hashes set = {NULL, 0, 0};
    uint64_t *items = counts->items;
    int64_t last = 0;
    bool good = true;
    errno = 0;
    for (size_t i = 0; i < counts->count && good && *status == IDX_OK; i++) {
        size_t row = rows != NULL ? (size_t)rows->items[i] : i;
        *status = hashes_make(&set, texts->items[row], texts->lengths[row], &options, error);
        items[i] = set.count;
        good = *status != IDX_OK || (put_set(sink, &set) && check_signals(thread, &last));
    }
    free(set.items);
    return good && (*status != IDX_OK || write_out(sink));
}

static PyObject *write_sets(struct sink *sink, const struct texts *texts, const struct array *rows) {
    struct block *block = block_new("Q");
    struct idx_error error;
    enum idx_status status = IDX_OK;
    size_t room = 0, count = rows != NULL ? rows->count : texts->count;
    PyObject *answer = NULL;
    sink->buffer.items = malloc(BUFFERED * sizeof *sink->buffer.items);
    if (sink->buffer.items != NULL && block != NULL && column_reserve(&block->columns[0], &room, count)) {
        block->columns[0].count = count;
        PyThreadState *thread = PyEval_SaveThread();
        bool good = write_all(sink, texts, rows, &block->columns[0], &status, &error, &thread);
        int number = errno;
        PyEval_RestoreThread(thread);
        errno = number;
        if (!good && !PyErr_Occurred()) PyErr_SetFromErrno(PyExc_OSError);
        if (good && check_call(status, &error, NULL)) answer = column_view(block, 0);
    } else {
        PyErr_NoMemory();
    }
    free(sink->buffer.items);
    block_release(block);
    return answer;
}

static bool check_rows(const struct array *rows, size_t count, const char *what) {
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i] >= count)
            return PyErr_Format(PyExc_ValueError, "rows: %llu is not below the %zu %s",
                                (unsigned long long)rows->items[i], count, what) != NULL;
    }
    return true;
}

/* (texts, rows or None, descriptor) → how many shingles each has, uint64[n] */
PyObject *sets_write(PyObject *module, PyObject *arguments) {
    PyObject *texts, *rows, *answer = NULL;
    struct sink sink = {.descriptor = -1};
    struct array given_rows;
    struct texts given;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOi", &texts, &rows, &sink.descriptor) || !texts_take(texts, "texts", &given))
        return NULL;
    bool has_rows = rows != Py_None && array_take(rows, "rows", &given_rows);
    if (!PyErr_Occurred() && (!has_rows || check_rows(&given_rows, given.count, "texts")))
        answer = write_sets(&sink, &given, has_rows ? &given_rows : NULL);
    if (has_rows) array_release(&given_rows);
    texts_release(&given);
    return answer;
}

/* ---- Representatives ---- */

/* Mapped pages that were looked at count as memory until they are given back. */
enum { MOST_TOUCHED = 32 << 20, TOUCHED_BESIDES = 16 << 10 };

/* These are the sets that are offered: set rows[i] belongs to group groups[i]. Those of a group are together. */
struct offered {
    struct array hashes, ends, rows, groups; /* the set of a row ends before ends[row + 1], and begins at ends[row] */
    struct idx_text_leaders *leaders;
    uint64_t *found; /* of each its representative's place */
    double *resemblances;
    bool mapped; /* the hashes are pages of a file */
    size_t touched;
};

#define NONE UINT64_MAX

/* From so many sets of a group on, representatives are listed by what several sets share alone. */
enum { MANY = 1024 };

static struct hashes get_set(const struct offered *offered, size_t place) {
    const uint64_t *ends = &offered->ends.items[offered->rows.items[place]];
    return (struct hashes){(uint64_t *)(uintptr_t)(offered->hashes.items + ends[0]), (size_t)(ends[1] - ends[0]), 0};
}

static void give_back(struct offered *offered, size_t count) {
    offered->touched += count * sizeof(uint64_t) + TOUCHED_BESIDES;
    if (!offered->mapped || offered->touched < MOST_TOUCHED) return;
#ifdef __linux__
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)offered->hashes.items;
    const uintptr_t first = (begin + page - 1) / page * page, end = begin + 8 * offered->hashes.count;
    if (end > first) madvise((void *)first, end - first, MADV_DONTNEED);
#endif
    offered->touched = 0;
}

static enum idx_status join(struct offered *offered, size_t place, struct idx_error *error) {
    const struct hashes set = get_set(offered, place);
    uint64_t leader;
    enum idx_status status = idx_text_leaders_join(offered->leaders, place, set.items, set.count, &leader, error);
    if (status != IDX_OK || leader == IDX_TEXT_NO_LEADER) return status;
    const struct hashes other = get_set(offered, (size_t)leader);
    offered->found[place] = leader;
    offered->resemblances[place] = idx_text_jaccard(set.items, set.count, other.items, other.count);
    give_back(offered, set.count);
    return status;
}

/* One group: several rounds where its representatives take more memory than they may. */
static bool join_group(struct offered *offered, size_t begin, size_t end, enum idx_status *status,
                       struct idx_error *error, PyThreadState **thread, int64_t *last) {
    size_t left = end - begin;
    bool good = true;
    for (size_t i = begin; i < end; i++) offered->found[i] = NONE;
    while (left > 0 && good && *status == IDX_OK) {
        idx_text_leaders_clear(offered->leaders);
        for (size_t i = begin; i < end && left >= MANY && *status == IDX_OK; i++) {
            const struct hashes set = get_set(offered, i);
            if (offered->found[i] == NONE)
                *status = idx_text_leaders_expect(offered->leaders, set.items, set.count, error);
        }
        left = 0;
        for (size_t i = begin; i < end && good && *status == IDX_OK; i++) {
            if (offered->found[i] != NONE) continue;
            *status = join(offered, i, error);
            left += offered->found[i] == NONE;
            good = check_signals(thread, last);
        }
    }
    return good;
}

/* Without the GIL. False where a signal's handler raised. */
static bool lead_all(struct offered *offered, enum idx_status *status, struct idx_error *error,
                     PyThreadState **thread) {
    const uint64_t *groups = offered->groups.items;
    int64_t last = 0;
    bool good = true;
    for (size_t i = 0, end; i < offered->rows.count && good && *status == IDX_OK; i = end) {
        for (end = i + 1; end < offered->rows.count && groups[end] == groups[i];) end++;
        good = join_group(offered, i, end, status, error, thread, &last);
    }
    return good;
}

static PyObject *lead(struct offered *offered, int64_t threshold, uint64_t memory) {
    struct block *block = block_new("Qd");
    struct idx_error error;
    enum idx_status status = IDX_OK;
    size_t room[2] = {0, 0}, count = offered->rows.count;
    PyObject *answer = NULL;
    if (block == NULL || !column_reserve(&block->columns[0], &room[0], count) ||
        !column_reserve(&block->columns[1], &room[1], count)) {
        PyErr_NoMemory();
    } else if (check_call(idx_text_leaders_make(&offered->leaders, threshold, &error), &error, NULL)) {
        block->columns[0].count = block->columns[1].count = count;
        offered->found = block->columns[0].items;
        offered->resemblances = block->columns[1].items;
        idx_text_leaders_limit(offered->leaders, memory);
        PyThreadState *thread = PyEval_SaveThread();
        bool good = lead_all(offered, &status, &error, &thread);
        PyEval_RestoreThread(thread);
        if (good && check_call(status, &error, NULL))
            answer = Py_BuildValue("NN", column_view(block, 0), column_view(block, 1));
    }
    idx_text_leaders_free(offered->leaders);
    block_release(block);
    return answer;
}

static bool check_offered(const struct offered *offered) {
    const uint64_t *ends = offered->ends.items;
    const size_t sets = offered->ends.count == 0 ? 0 : offered->ends.count - 1;
    bool good = offered->ends.count == 0 || ends[sets] <= offered->hashes.count;
    for (size_t i = 0; i < sets && good; i++) good = ends[i] <= ends[i + 1];
    if (!good) return PyErr_Format(PyExc_ValueError, "ends: they don't ascend up to the hashes") != NULL;
    if (offered->rows.count != offered->groups.count)
        return PyErr_Format(PyExc_ValueError, "%zu rows and %zu groups: give as many", offered->rows.count,
                            offered->groups.count) != NULL;
    return check_rows(&offered->rows, sets, "sets");
}

/* (hashes, ends, rows, groups, resemblance, memory, mapped) → leaders uint64[n], resemblances float64[n] */
PyObject *sets_lead(PyObject *module, PyObject *arguments) {
    static const char *const names[] = {"hashes", "ends", "rows", "groups"};
    struct offered offered = {.leaders = NULL};
    struct array *const arrays[] = {&offered.hashes, &offered.ends, &offered.rows, &offered.groups};
    PyObject *given[4], *answer = NULL;
    unsigned long long memory;
    int mapped, taken = 0;
    double least;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOdKp", &given[0], &given[1], &given[2], &given[3], &least, &memory, &mapped))
        return NULL;
    while (taken < 4 && array_take(given[taken], names[taken], arrays[taken])) taken++;
    offered.mapped = mapped != 0;
    int64_t threshold = taken == 4 && check_offered(&offered) ? threshold_of(least) : 0;
    if (threshold > 0) answer = lead(&offered, threshold, memory);
    while (taken > 0) array_release(arrays[--taken]);
    return answer;
}
