/* calibrate.c: measures what look-ups take on this machine: their work by small indexes that stay in the caches, their
 * waits by reading memory (waits.c). */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/base/check.h"
#include "libidx/base/error.h"
#include "libidx/base/file.h"
#include "libidx/base/hash.h"
#include "libidx/building/waits.h"

/* Few enough for ten tables to stay in a second cache. */
#define FINGERPRINTS 8192
#define QUERIES 4096

/* Each index is measured up to so often, in turns, and the shortest time counts. Where others leave little of the
 * processor, these seconds by the clock are enough. */
#define ROUNDS 160
#define LEAST_ROUNDS (QUERIES / BATCH)
#define MAX_SECONDS 0.8
#define BATCH 512 /* queries asked together */
#define SINGLES 64

/* What is to be found out, and as many indexes of which each makes a query do something else. */
enum { TABLE, PROBE, BYTE, BLOCK, CANDIDATE, UNKNOWNS };

static const struct shape {
    const char *scheme;
    unsigned k;
    uint32_t block_size;
} shapes[UNKNOWNS] = {
    {"5:2", 3, 64},
    {"1:1:2", 2, 64},                               /* 56 probes of one table */
    {"@f000000000000000,@0f00000000000000", 1, 64}, /* 512 candidates a probe */
    {"5:2", 3, 512},
    {"@f000000000000000,@0f00000000000000", 1, 512},
};

struct small_index {
    const struct shape *shape;
    struct idx_index *index;
    uint64_t queries[QUERIES];
    double together, alone; /* nanoseconds per query */
};

struct measuring {
    struct small_index indexes[UNKNOWNS];
    struct idx_match matches[BATCH];
    size_t counts[BATCH];
};

/* ---- Small indexes ---- */

static uint64_t get_fingerprint(uint64_t i) { return idxi_hash(i); }

/* Half of the queries are a fingerprint with 0 to k + 2 bits flipped. */
static void make_queries(struct small_index *small) {
    for (uint64_t i = 0; i < QUERIES; i++) {
        uint64_t random = idxi_hash(FINGERPRINTS + i);
        small->queries[i] = i % 2 == 0 ? random : get_fingerprint(random % FINGERPRINTS);
        for (uint64_t flips = i % 2 == 0 ? 0 : i / 2 % (small->shape->k + 3); flips > 0; flips--)
            small->queries[i] ^= UINT64_C(1) << (random >> 8 * flips) % 64;
    }
}

static enum idx_status fill(struct idx_builder *builder, struct idx_error *error) {
    for (uint64_t i = 0; i < FINGERPRINTS; i++) IDXI_TRY(idx_builder_add_u64(builder, get_fingerprint(i), 0, error));
    return idx_builder_finish(builder, NULL, error);
}

/* Builds an index at `path`, and opens and removes it. */
static enum idx_status open_small(struct small_index *small, const struct shape *shape, const char *path,
                                  struct idx_error *error) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_open_options opening = IDX_OPEN_OPTIONS_INIT;
    struct idx_builder *builder;
    small->shape = shape;
    make_queries(small);
    options.scheme = shape->scheme;
    options.k = shape->k;
    options.block_size = shape->block_size;
    options.id_type = IDX_ID_NONE;
    options.memory_bytes = (uint64_t)64 << 20;
    opening.residence = IDX_RESIDENCE_ALL;
    IDXI_TRY(idx_builder_open(&builder, path, &options, error));
    enum idx_status status = fill(builder, error);
    idx_builder_close(builder);
    if (status == IDX_OK) status = idx_open(&small->index, path, &opening, error);
    idxi_remove_tree(AT_FDCWD, path);
    return status;
}

/* ---- Look-ups ---- */

static enum idx_status look_up(struct measuring *measuring, struct small_index *small, unsigned round,
                               struct idx_error *error) {
    const uint64_t *queries = small->queries + round * BATCH % QUERIES;
    struct idx_lookup_options options = IDX_LOOKUP_OPTIONS_INIT;
    unsigned k = options.distance = small->shape->k;
    double begin = idxi_processor_time();
    IDXI_TRY(idx_lookup_many(small->index, queries, BATCH, &options, measuring->matches, 1, measuring->counts, error));
    double middle = idxi_processor_time();
    for (size_t i = 0; i < SINGLES; i++)
        IDXI_TRY(idx_lookup(small->index, queries[i], k, measuring->matches, 1, measuring->counts, error));
    small->together = fmin(small->together, (middle - begin) / BATCH * 1e9);
    small->alone = fmin(small->alone, (idxi_processor_time() - middle) / SINGLES * 1e9);
    return IDX_OK;
}

static enum idx_status measure(struct measuring *measuring, struct idx_error *error) {
    for (size_t i = 0; i < UNKNOWNS; i++) measuring->indexes[i].together = measuring->indexes[i].alone = INFINITY;
    double end = idxi_clock_time() + MAX_SECONDS;
    for (unsigned round = 0; round < ROUNDS && (round < LEAST_ROUNDS || idxi_clock_time() < end); round++) {
        for (size_t i = 0; i < UNKNOWNS; i++) IDXI_TRY(look_up(measuring, &measuring->indexes[i], round, error));
    }
    return IDX_OK;
}

/* ---- Solving ---- */

/* An equation: what a query of the index does, and how long that takes. */
static enum idx_status set_equation(const struct small_index *small, double equation[UNKNOWNS + 1],
                                    struct idx_error *error) {
    struct idx_plan_options options = IDX_PLAN_OPTIONS_INIT;
    struct idx_properties properties;
    struct idx_plan plan;
    options.count = FINGERPRINTS;
    options.k = small->shape->k;
    options.block_size = small->shape->block_size;
    idx_get_properties(small->index, &properties);
    IDXI_TRY(idx_plan_scheme(&options, properties.scheme, &plan, error));
    equation[TABLE] = (double)plan.tables;
    equation[PROBE] = plan.probes;
    equation[BYTE] = plan.probes * (options.block_size - IDX_MIN_BLOCK_SIZE);
    equation[BLOCK] = plan.blocks - plan.probes;
    equation[CANDIDATE] = plan.candidates;
    equation[UNKNOWNS] = small->together;
    return IDX_OK;
}

/* Gauss and Jordan. The equations are independent. */
static void solve(double equations[UNKNOWNS][UNKNOWNS + 1], double solution[UNKNOWNS]) {
    for (size_t column = 0; column < UNKNOWNS; column++) {
        size_t best = column;
        for (size_t row = column; row < UNKNOWNS; row++) {
            if (fabs(equations[row][column]) > fabs(equations[best][column])) best = row;
        }
        for (size_t i = 0; i <= UNKNOWNS; i++) {
            double other = equations[column][i];
            equations[column][i] = equations[best][i];
            equations[best][i] = other;
        }
        for (size_t row = 0; row < UNKNOWNS; row++) {
            double factor = row == column ? 0 : equations[row][column] / equations[column][column];
            for (size_t i = 0; i <= UNKNOWNS; i++) equations[row][i] -= factor * equations[column][i];
        }
    }
    for (size_t i = 0; i < UNKNOWNS; i++) solution[i] = fmax(equations[i][UNKNOWNS] / equations[i][i], 0);
}

static enum idx_status measure_work(struct measuring *measuring, struct idx_calibration *calibration,
                                    struct idx_error *error) {
    double equations[UNKNOWNS][UNKNOWNS + 1], solution[UNKNOWNS];
    IDXI_TRY(measure(measuring, error));
    for (size_t i = 0; i < UNKNOWNS; i++) IDXI_TRY(set_equation(&measuring->indexes[i], equations[i], error));
    solve(equations, solution);
    calibration->table = solution[TABLE];
    calibration->probe = solution[PROBE];
    calibration->byte = solution[BYTE];
    calibration->block = solution[BLOCK];
    calibration->candidate = solution[CANDIDATE];
    calibration->single = fmax(measuring->indexes[0].alone - measuring->indexes[0].together, 0);
    return IDX_OK;
}

/* ---- The call ---- */

static enum idx_status open_all(struct measuring *measuring, const char *folder, struct idx_error *error) {
    char path[4096];
    uint8_t uuid[16];
    IDXI_TRY(idxi_make_uuid(uuid, error)); /* of these, enough for a name */
    int length = snprintf(path, sizeof path, "%s/idx-calibrate-%02x%02x%02x%02x%02x%02x", folder, uuid[0], uuid[1],
                          uuid[2], uuid[3], uuid[4], uuid[5]);
    if (length < 0 || (size_t)length >= sizeof path)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, folder, "is too long a path for a temporary folder");
    for (size_t i = 0; i < UNKNOWNS; i++) IDXI_TRY(open_small(&measuring->indexes[i], &shapes[i], path, error));
    return IDX_OK;
}

enum idx_status idx_calibrate(struct idx_calibration *calibration, const char *temporary_folder,
                              struct idx_error *error) {
    struct idx_calibration found = IDX_CALIBRATION_INIT;
    struct measuring *measuring = calloc(1, sizeof *measuring);
    if (measuring == NULL) return idxi_fail_memory(error);
    enum idx_status status =
        open_all(measuring, temporary_folder == NULL ? idxi_system_folder() : temporary_folder, error);
    if (status == IDX_OK) status = measure_work(measuring, &found, error);
    for (size_t i = 0; i < UNKNOWNS; i++) {
        if (measuring->indexes[i].index != NULL) idx_close(measuring->indexes[i].index);
    }
    free(measuring);
    if (status == IDX_OK) status = idxi_measure_waits(&found, error);
    if (status == IDX_OK) idxi_copy_options(calibration, &found);
    return status;
}
