/* lookup_many.c: look-ups of an array of queries, on threads: the columns of their matches, or how many there are. Each
 * thread takes the next few queries until there are none, and gathers their matches in columns of its own, which are
 * joined at the end. */
#include "libidx/python/lookup.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Queries that a thread takes at a time, and how many matches of each are at first expected. */
#define PIECE ((size_t)256)
#define EXPECTED ((size_t)4)
#define MOST_EXPECTED ((size_t)64)
#define STRIDE ((size_t)2)

struct worker {
    struct search *search;
    uint64_t queries[PIECE];   /* the caller may change its own meanwhile */
    struct idx_match *matches; /* `capacity` of each query of a piece */
    size_t capacity, counts[PIECE];
    struct column fingerprints, distances; /* of the pieces that it took */
    size_t fingerprints_room, distances_room;
    pthread_t thread;
};

/* This says where the matches of a piece are. */
struct place {
    struct worker *worker;
    size_t begin;
};

struct search {
    const struct view *view;
    const uint64_t *queries;
    size_t count, limit, pieces;
    unsigned distance;
    int64_t *totals;      /* of each query, how many matches it has, or are kept; NULL where that is not asked */
    uint8_t *truths;      /* of each query, whether it has any; NULL where that is not asked */
    struct place *places; /* of each piece; NULL where matches are not kept */
    atomic_size_t next;
    atomic_bool stop;
    pthread_mutex_t mutex; /* for what follows */
    enum idx_status status;
    struct idx_error error;
};

static enum idx_status out_of_memory(struct idx_error *error) {
    *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
    return IDX_OUT_OF_MEMORY;
}

enum idx_status look_up_all(const struct view *view, uint64_t query, unsigned distance, size_t capacity,
                            struct idx_match **matches, size_t *count, struct idx_error *error) {
    *matches = malloc(capacity * sizeof **matches);
    if (*matches == NULL) return out_of_memory(error);
    return idx_lookup(view->index, query, distance, *matches, capacity, count, error);
}

/* ---- A piece, by one of the threads ---- */

/* Appends STRIDE at a time, whatever `count` is, so that the processor need not guess it; `matches` and the columns
 * have room for that. */
static void append(struct worker *worker, const struct idx_match *matches, size_t count) {
    uint64_t *fingerprints = (uint64_t *)worker->fingerprints.items + worker->fingerprints.count;
    uint8_t *distances = (uint8_t *)worker->distances.items + worker->distances.count;
    size_t done = 0;
    do {
        for (size_t i = done; i < done + STRIDE; i++) {
            fingerprints[i] = matches[i].fingerprint;
            distances[i] = (uint8_t)matches[i].distance;
        }
        done += STRIDE;
    } while (done < count);
    worker->fingerprints.count += count;
    worker->distances.count += count;
}

/* Keeps the matches of a query of a piece, looking it up again where there are more than were expected. */
static enum idx_status keep_query(struct worker *worker, uint64_t query, size_t at, size_t kept,
                                  struct idx_error *error) {
    struct idx_match *more = NULL;
    size_t found;
    if (kept <= worker->capacity) {
        append(worker, worker->matches + at * worker->capacity, kept);
        return IDX_OK;
    }
    enum idx_status status =
        look_up_all(worker->search->view, query, worker->search->distance, kept + STRIDE, &more, &found, error);
    if (status == IDX_OK) append(worker, more, kept);
    free(more);
    return status;
}

/* Expects more of each query where an eighth of them have more. */
static void expect_more(struct worker *worker, size_t overfull, size_t queries) {
    if (overfull <= queries / 8 || worker->capacity == MOST_EXPECTED || worker->capacity >= worker->search->limit)
        return;
    struct idx_match *grown = calloc(2 * worker->capacity * PIECE + STRIDE, sizeof *grown);
    if (grown == NULL) return;
    free(worker->matches);
    worker->matches = grown;
    worker->capacity *= 2;
}

static enum idx_status keep_matches(struct worker *worker, size_t begin, size_t count, struct idx_error *error) {
    struct search *search = worker->search;
    int64_t *totals = search->totals + begin;
    size_t sum = 0, overfull = 0;
    for (size_t i = 0; i < count; i++) {
        size_t kept = worker->counts[i] < search->limit ? worker->counts[i] : search->limit;
        totals[i] = (int64_t)kept;
        sum += kept;
        overfull += kept > worker->capacity;
    }
    search->places[begin / PIECE] = (struct place){worker, worker->fingerprints.count};
    if (!column_reserve(&worker->fingerprints, &worker->fingerprints_room, sum + STRIDE) ||
        !column_reserve(&worker->distances, &worker->distances_room, sum + STRIDE))
        return out_of_memory(error);
    for (size_t i = 0; i < count; i++) {
        enum idx_status status = keep_query(worker, worker->queries[i], i, (size_t)totals[i], error);
        if (status != IDX_OK) return status;
    }
    expect_more(worker, overfull, count);
    return IDX_OK;
}

static enum idx_status look_up_piece(struct worker *worker, size_t begin, struct idx_error *error) {
    struct search *search = worker->search;
    size_t count = search->count - begin < PIECE ? search->count - begin : PIECE;
    memcpy(worker->queries, search->queries + begin, count * sizeof *worker->queries);
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    options.distance = search->distance;
    enum idx_status status = idx_lookup_many(search->view->index, worker->queries, count, &options, worker->matches,
                                             worker->capacity, worker->counts, error);
    if (status != IDX_OK) return status;
    if (search->places != NULL) return keep_matches(worker, begin, count, error);
    for (size_t i = 0; i < count; i++) {
        if (search->truths != NULL) search->truths[begin + i] = worker->counts[i] > 0;
        if (search->totals != NULL) search->totals[begin + i] = (int64_t)worker->counts[i];
    }
    return IDX_OK;
}

/* ---- Threads ---- */

/* False when there are no more pieces, or the search is to stop. */
static bool take_piece(struct worker *worker) {
    struct search *search = worker->search;
    struct idx_error error;
    size_t piece = search->stop ? search->pieces : atomic_fetch_add(&search->next, 1);
    if (piece >= search->pieces) return false;
    enum idx_status status = look_up_piece(worker, piece * PIECE, &error);
    if (status == IDX_OK) return true;
    search->stop = true;
    pthread_mutex_lock(&search->mutex);
    if (search->status == IDX_OK) {
        search->status = status;
        search->error = error;
    }
    pthread_mutex_unlock(&search->mutex);
    return false;
}

static void *run_worker(void *context) {
    while (take_piece(context)) {
    }
    return NULL;
}

/* False where a signal's handler raised. Others help where they can be started. */
static bool run_workers(struct worker *workers, size_t count, PyThreadState **thread) {
    int64_t last = 0;
    size_t started = 1;
    bool fine = true;
    while (started < count && pthread_create(&workers[started].thread, NULL, run_worker, &workers[started]) == 0)
        started++;
    while (fine && take_piece(&workers[0])) fine = check_signals(thread, &last);
    if (!fine) workers[0].search->stop = true;
    while (started > 1) pthread_join(workers[--started].thread, NULL);
    return fine;
}

static void free_workers(struct worker *workers, size_t count) {
    for (size_t i = 0; i < count && workers != NULL; i++) {
        free(workers[i].matches);
        free(workers[i].fingerprints.items);
        free(workers[i].distances.items);
    }
    free(workers);
}

static struct worker *make_workers(struct search *search, size_t count) {
    struct worker *workers = calloc(count, sizeof *workers);
    bool fine = workers != NULL;
    for (size_t i = 0; i < count && fine; i++) {
        workers[i].search = search;
        workers[i].fingerprints.kind = 'Q';
        workers[i].distances.kind = 'B';
        if (search->places == NULL) continue;
        workers[i].capacity = search->limit < EXPECTED ? search->limit : EXPECTED;
        workers[i].matches = calloc(workers[i].capacity * PIECE + STRIDE, sizeof *workers[i].matches);
        fine = workers[i].matches != NULL;
    }
    if (fine) return workers;
    free_workers(workers, count);
    return NULL;
}

/* ---- The columns of all ---- */

/* If there is one worker, its columns become those of the block. */
static bool move_columns(struct worker *worker, struct column *fingerprints, struct column *distances) {
    if (!column_reserve(&worker->fingerprints, &worker->fingerprints_room, 0) ||
        !column_reserve(&worker->distances, &worker->distances_room, 0))
        return false;
    *fingerprints = worker->fingerprints;
    *distances = worker->distances;
    worker->fingerprints.items = worker->distances.items = NULL;
    column_trim(fingerprints);
    column_trim(distances);
    return true;
}

static bool join_columns(const struct search *search, const int64_t *offsets, struct column *fingerprints,
                         struct column *distances) {
    size_t rooms[2] = {0, 0}, total = (size_t)offsets[search->count];
    if (!column_reserve(fingerprints, &rooms[0], total) || !column_reserve(distances, &rooms[1], total)) return false;
    for (size_t i = 0; i < search->pieces; i++) {
        size_t end = search->count / PIECE > i ? (i + 1) * PIECE : search->count;
        size_t begin = (size_t)offsets[i * PIECE], count = (size_t)offsets[end] - begin;
        const struct worker *worker = search->places[i].worker;
        size_t place = search->places[i].begin;
        memcpy((uint64_t *)fingerprints->items + begin, (const uint64_t *)worker->fingerprints.items + place,
               count * sizeof(uint64_t));
        memcpy((uint8_t *)distances->items + begin, (const uint8_t *)worker->distances.items + place, count);
    }
    fingerprints->count = distances->count = total;
    return true;
}

/* Turns how many matches each query has into offsets, and gathers the matches of all workers. */
static bool fill_block(const struct search *search, struct worker *workers, size_t worker_count, struct block *block) {
    int64_t *offsets = block->columns[MATCHES_OFFSETS].items;
    offsets[0] = 0;
    for (size_t i = 0; i < search->count; i++) offsets[i + 1] += offsets[i];
    struct column *fingerprints = &block->columns[MATCHES_FINGERPRINTS];
    struct column *distances = &block->columns[MATCHES_DISTANCES];
    return worker_count == 1 ? move_columns(workers, fingerprints, distances)
                             : join_columns(search, offsets, fingerprints, distances);
}

/* ---- The call ---- */

/* Searches on up to `threads` threads, and fills the block. Without an exception set, false means out of memory. */
static bool search_all(struct search *search, size_t threads, struct block *block) {
    size_t count = threads < search->pieces ? threads : search->pieces > 0 ? search->pieces : 1;
    struct worker *workers = make_workers(search, count);
    if (workers == NULL) return false;
    PyThreadState *thread = PyEval_SaveThread();
    bool fine = run_workers(workers, count, &thread), room = true;
    if (fine && search->status == IDX_OK && search->places != NULL) room = fill_block(search, workers, count, block);
    free_workers(workers, count);
    PyEval_RestoreThread(thread);
    return fine && room && check_call(search->status, &search->error, NULL);
}

/* Makes what the search writes into: the block's first column, and where the matches of each piece are. */
static struct block *make_block(struct search *search, enum answer answer) {
    static const char *const kinds[] = {MATCHES_KINDS, "q", "?"};
    struct block *block = block_new(kinds[answer]);
    size_t room = 0, count = search->count + (answer == ANSWER_MATCHES);
    bool fine = block != NULL && column_reserve(block->columns, &room, count);
    if (fine && answer == ANSWER_MATCHES) {
        search->places = malloc(search->pieces * sizeof *search->places + 1);
        fine = search->places != NULL;
    }
    if (!fine) {
        block_release(block);
        return NULL;
    }
    block->columns[0].count = count;
    if (answer == ANSWER_TRUTHS) {
        search->truths = block->columns[0].items;
    } else {
        search->totals = (int64_t *)block->columns[0].items + (answer == ANSWER_MATCHES);
    }
    return block;
}

PyObject *look_up_array(const struct view *view, PyObject *queries, unsigned distance, size_t limit, size_t threads,
                        enum answer answer) {
    struct array array;
    if (!array_take(queries, "queries", &array)) return NULL;
    struct search search = {.view = view,
                            .queries = array.items,
                            .count = array.count,
                            .limit = limit,
                            .pieces = array.count / PIECE + (array.count % PIECE > 0),
                            .distance = distance,
                            .mutex = PTHREAD_MUTEX_INITIALIZER};
    struct block *block = make_block(&search, answer);
    bool fine = block != NULL && search_all(&search, threads, block);
    array_release(&array);
    free(search.places);
    pthread_mutex_destroy(&search.mutex);
    if (fine) return answer == ANSWER_MATCHES ? result_new(RESULT_MATCHES, block) : result_array(block);
    block_release(block);
    return PyErr_Occurred() ? NULL : raise_status(IDX_OUT_OF_MEMORY, "out of memory");
}
