/* idx_system.c: look-ups by idx itself, by its public header. */
#include "bench/systems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many queries are in one call. On several threads there are more of them, so that starting the threads takes no
 * noticeable part of the time. */
#define BATCH 1024
#define THREADS_BATCH 65536
/* There is room for so many matches of a query; a query that has more is asked again. */
#define CAPACITY 16

struct opened {
    struct idx_index *index;
    unsigned k;
    unsigned threads;
    struct idx_match *matches; /* CAPACITY for each query of a batch */
    size_t *match_counts;
};

/* ---- Look-ups ---- */

struct visit {
    struct answers *answers;
    size_t query;
};

static bool visit_match(void *context, const struct idx_match *match) {
    struct visit *visit = context;
    add_match(visit->answers, visit->query, match->fingerprint);
    return true;
}

static void add_matches(const struct opened *opened, const struct idx_match *matches, size_t match_count,
                        uint64_t fingerprint, size_t query, struct answers *answers) {
    struct idx_error error;
    if (match_count > CAPACITY) {
        struct visit visit = {answers, query};
        try(idx_visit_matches(opened->index, fingerprint, opened->k, visit_match, &visit, &error), &error);
        return;
    }
    for (size_t i = 0; i < match_count; i++) add_match(answers, query, matches[i].fingerprint);
}

static void look_up_each(const struct opened *opened, const uint64_t *queries, size_t count, struct answers *answers) {
    struct idx_error error;
    for (size_t query = 0; query < count; query++) {
        size_t found;
        try(idx_lookup(opened->index, queries[query], opened->k, opened->matches, CAPACITY, &found, &error), &error);
        add_matches(opened, opened->matches, found, queries[query], query, answers);
    }
}

static void look_up_many(const struct opened *opened, unsigned threads, const uint64_t *queries, size_t count,
                         struct answers *answers) {
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    struct idx_error error;
    size_t batch = threads == 1 ? BATCH : THREADS_BATCH;
    options.distance = opened->k;
    options.threads = threads;
    for (size_t begin = 0; begin < count; begin += batch) {
        size_t here = count - begin < batch ? count - begin : batch;
        try(idx_lookup_many(opened->index, queries + begin, here, &options, opened->matches, CAPACITY,
                            opened->match_counts, &error),
            &error);
        for (size_t i = 0; i < here; i++)
            add_matches(opened, opened->matches + i * CAPACITY, opened->match_counts[i], queries[begin + i], begin + i,
                        answers);
    }
}

static void answer(const struct system *system, enum mode mode, const uint64_t *queries, size_t count,
                   struct answers *answers) {
    const struct opened *opened = system->state;
    if (mode == MODE_SINGLE)
        look_up_each(opened, queries, count, answers);
    else
        look_up_many(opened, mode == MODE_STAGED ? 1 : opened->threads, queries, count, answers);
}

/* ---- Opening ---- */

static void close_index(struct system *system) {
    struct opened *opened = system->state;
    idx_close(opened->index);
    free(opened->matches);
    free(opened->match_counts);
    free(opened);
}

/* Names the scheme as the user did, and after `auto` also the scheme that was chosen. */
static void name_scheme(struct system *system, const char *asked, const char *name) {
    bool is_auto = strcmp(asked, "auto") == 0;
    snprintf(system->scheme, sizeof system->scheme, "%.50s%s%.10s", asked, is_auto ? "=" : "", is_auto ? name : "");
}

static const char *name_residence(enum idx_residence residence) {
    if (residence == IDX_RESIDENCE_UNPACKED) return "idx-unpacked";
    return residence == IDX_RESIDENCE_ALL ? "idx-memory" : "idx";
}

void idx_system(struct system *system, const struct data *data, const struct index_choice *choice, const char *path,
                enum idx_residence residence, unsigned threads) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_properties properties;
    struct idx_error error;
    struct opened *opened = calloc(1, sizeof *opened);
    size_t batch = threads > 1 ? THREADS_BATCH : BATCH;
    if (opened == NULL) die("out of memory");
    opened->k = data->k;
    opened->threads = threads;
    opened->matches = malloc(batch * CAPACITY * sizeof *opened->matches);
    opened->match_counts = malloc(batch * sizeof *opened->match_counts);
    if (opened->matches == NULL || opened->match_counts == NULL) die("out of memory");
    options.residence = residence;
    if (residence == IDX_RESIDENCE_UNPACKED) {
        options.distance = data->k;
        /* Each fingerprint takes another eight bytes while the tables are made. */
        options.memory_bytes = (choice->unpacked_bytes + sizeof(uint64_t)) * data->count;
        if (options.memory_bytes < IDX_MIN_MEMORY_BYTES) options.memory_bytes = IDX_MIN_MEMORY_BYTES;
        if (choice->unpacked_bytes == 0) options.memory_bytes = 0;
    }
    try(idx_open(&opened->index, path, &options, &error), &error);
    idx_get_properties(opened->index, &properties);
    *system = (struct system){.name = name_residence(residence),
                              .block_size = choice->block_size,
                              .table_bytes = (double)properties.table_bytes,
                              .resident_bytes = (double)properties.resident_bytes,
                              .state = opened,
                              .answer = answer,
                              .free = close_index};
    if (residence == IDX_RESIDENCE_UNPACKED)
        snprintf(system->scheme, sizeof system->scheme, "-");
    else
        name_scheme(system, choice->scheme, properties.scheme->name);
}

void warm_idx_system(const struct system *system, const struct data *data) {
    struct answers ignored = {0};
    answer(system, MODE_STAGED, data->queries, data->query_count, &ignored);
}
