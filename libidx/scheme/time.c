/* time.c: see time.h. A query's time is a sum: what its tables, probes, blocks and candidates take with everything in
 * the first caches, and for each line of a directory and each block how long the processor waits for it, which depends
 * on how many bytes of that kind an index has. bench/plan.c measures how good that is. */
#include "libidx/scheme/time.h"

#include <math.h>

#include "libidx/base/check.h"
#include "libidx/base/error.h"

#define LINE_BYTES 64

/* The share of a wait that remains for a line or block beside one that was asked for; among how many bytes at most, for
 * lines of one block, whose page is known; and after how many lines of a probe nothing remains, since processors then
 * fetch ahead. */
#define NEXT_LINE 0.5
#define NEXT_LINE_BYTES 0x1p26
#define MAX_NEXT_LINES 32

/* A virtual server with AVX-512 (EPYC, Zen 4): medians of idx_calibrate. */
static const struct idx_calibration typical = {
    .size = sizeof typical,
    .table = 10,
    .probe = 33.5,
    .byte = 0.183,
    .block = 12.6,
    .candidate = 1.355,
    .single = 50,
    .loaded_waits = {0.15, 0.2, 1.4, 2.8, 3.6, 4.3, 7, 18, 28, 38},
    .loaded_latencies = {1.6, 2.6, 8.5, 63, 116, 144, 165, 205, 260, 300},
    .mapped_waits = {0.15, 0.2, 1.6, 2.8, 4.4, 9.5, 19, 37, 55, 73},
    .mapped_latencies = {1.6, 2.6, 10, 66, 126, 175, 245, 350, 460, 565},
};

/* ---- Checking ---- */

static bool are_sound(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] >= 0 && values[i] <= 1e9)) return false;
    }
    return true;
}

enum idx_status idxi_calibration_check(const struct idx_calibration *given, struct idx_error *error) {
    struct idx_calibration own = typical;
    if (given == NULL) return IDX_OK;
    idxi_copy_options(&own, given);
    const double work[] = {own.table, own.probe, own.byte, own.block, own.candidate, own.single};
    if (are_sound(work, sizeof work / sizeof *work) && own.probe > 0 &&
        are_sound(own.loaded_waits, IDX_CALIBRATION_SIZES) && are_sound(own.loaded_latencies, IDX_CALIBRATION_SIZES) &&
        are_sound(own.mapped_waits, IDX_CALIBRATION_SIZES) && are_sound(own.mapped_latencies, IDX_CALIBRATION_SIZES))
        return IDX_OK;
    return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                     "a number of the calibration is not from 0 to 1e9, or a probe takes no time: measure it again");
}

/* ---- Time ---- */

/* For so many bytes, between those of the table. */
static double look_up(const double *waits, double bytes) {
    double at = (log2(fmax(bytes, IDX_CALIBRATION_LEAST)) - log2(IDX_CALIBRATION_LEAST)) / 2;
    size_t below = at < IDX_CALIBRATION_SIZES - 2 ? (size_t)at : IDX_CALIBRATION_SIZES - 2;
    return fmax(waits[below] + (waits[below + 1] - waits[below]) * (at - (double)below), 0);
}

/* The waits for directories and for blocks, by where they are. */
struct kind {
    const double *waits, *latencies;
};

static struct kind choose(const struct idx_calibration *calibration, bool loaded) {
    return loaded ? (struct kind){calibration->loaded_waits, calibration->loaded_latencies}
                  : (struct kind){calibration->mapped_waits, calibration->mapped_latencies};
}

struct idxi_time idxi_time_of(const struct idx_calibration *given, enum idx_residence residence,
                              const struct idxi_extent *extent, const struct idxi_work *work) {
    struct idx_calibration own = typical;
    idxi_copy_options(&own, given);
    struct kind lines = choose(&own, residence != IDX_RESIDENCE_NONE);
    struct kind blocks = choose(&own, residence == IDX_RESIDENCE_ALL);
    double further = work->blocks - work->probes; /* blocks of a probe after the first */
    double line_wait = look_up(lines.waits, extent->directory_bytes);
    double next_block = NEXT_LINE * look_up(own.loaded_waits, extent->block_bytes);
    double next_line = NEXT_LINE * look_up(own.loaded_waits, fmin(extent->block_bytes, NEXT_LINE_BYTES));
    double lines_of_block = extent->block_size / (double)LINE_BYTES;
    double waited = work->probes * fmin(work->blocks / work->probes, fmax(MAX_NEXT_LINES / lines_of_block, 1));
    struct idxi_time time;
    time.many = work->tables * own.table + work->probes * own.probe + fmax(further, 0) * own.block +
                work->candidates * own.candidate + work->probes * (extent->block_size - IDX_MIN_BLOCK_SIZE) * own.byte;
    time.many += work->far * (line_wait + look_up(blocks.waits, extent->block_bytes));
    time.many += (waited - work->far) * next_block + waited * (lines_of_block - 1) * next_line;
    time.single = time.many + own.single + look_up(lines.latencies, extent->directory_bytes) +
                  look_up(blocks.latencies, extent->block_bytes);
    return time;
}
