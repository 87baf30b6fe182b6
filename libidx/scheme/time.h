/* time.h: the time of look-ups, by what they do and what that takes on a machine. */
#ifndef IDX_LIBIDX_TIME_H
#define IDX_LIBIDX_TIME_H

#include <idx.h>

/* What one query does. */
struct idxi_work {
    double tables;
    double probes;
    double far; /* probes with a line and a block that are not beside those of the probe before */
    double blocks, candidates;
};

/* What the tables of an index take, all of them. */
struct idxi_extent {
    uint32_t block_size;
    double block_bytes, directory_bytes;
};

/* Checks a calibration; NULL is none. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_calibration_check(const struct idx_calibration *calibration, struct idx_error *error);

/* The nanoseconds of the query, among many that are asked for together, and alone. `calibration` NULL: those of a
 * typical server. */
struct idxi_time {
    double many, single;
};

struct idxi_time idxi_time_of(const struct idx_calibration *calibration, enum idx_residence residence,
                              const struct idxi_extent *extent, const struct idxi_work *work);

#endif
