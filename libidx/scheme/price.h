/* price.h: what a scheme costs in bytes and time, and the search for fast schemes of parts. */
#ifndef IDX_LIBIDX_PRICE_H
#define IDX_LIBIDX_PRICE_H

#include <idx.h>
#include <idx_planning.h>

/* ---- The time of look-ups ---- */

/* How much of each kind of work one query does on average. How long that takes depends on the machine. */
struct idxi_work {
    double tables; /* that are probed */
    double probes;
    double far;                /* probes with a line and a block that are not beside those of the probe before */
    double blocks, candidates; /* blocks that are decoded, and their fingerprints with the prefix of a probe */
};

/* The size of a block, and the bytes of the blocks and directories of all tables. */
struct idxi_extent {
    uint32_t block_size;
    double block_bytes, directory_bytes;
};

/* Checks that all numbers of a calibration are from 0 to 1e9, and that a probe takes some time. NULL is valid. Errors:
 * IDX_INVALID_ARGUMENT. */
enum idx_status idxi_calibration_check(const struct idx_calibration *calibration, struct idx_error *error);

/* The nanoseconds of a query: `many` among many that are looked up together, `single` alone. */
struct idxi_time {
    double many, single;
};

/* Returns the time of a query that does `work`, at least one probe, in an index of the size `extent`. The calibration
 * must be valid (idxi_calibration_check); NULL stands for a typical server. */
struct idxi_time idxi_compute_time(const struct idx_calibration *calibration, enum idx_residence residence,
                                   const struct idxi_extent *extent, const struct idxi_work *work);

/* ---- The cost of a scheme ---- */

/* The expected sizes of a table, the same for all tables of an index. */
struct idxi_table_model {
    double block_fingerprints, blocks; /* fingerprints of a block, and blocks */
    double directory_bytes;            /* lines alone */
    double file_bytes, resident_bytes; /* on disk, and in memory with IDX_RESIDENCE_DIRECTORY */
};

/* Returns the model of a table of an index as the options describe it: their count, bits and block_size, which must be
 * valid. */
struct idxi_table_model idxi_make_table_model(const struct idx_plan_options *options);

/* Sets *plan to what a scheme costs, with plan->chosen false. The options must be valid, and `model` made from them. */
void idxi_price_scheme(const struct idx_plan_options *options, const struct idxi_table_model *model,
                       const struct idx_scheme *scheme, struct idx_plan *plan);

/* Does the same as idxi_price_scheme, but makes the model itself: for a caller that prices only one scheme. */
void idxi_price_single_scheme(const struct idx_plan_options *options, const struct idx_scheme *scheme,
                              struct idx_plan *plan);

/* of[radius][prefix]: the nanoseconds that a query takes in a table with this radius and a prefix of so many bits, if
 * fingerprints are uniform. */
struct idxi_table_times {
    double of[IDX_MAX_RADIUS + 1][IDX_MAX_BITS + 1];
};

/* Sets times->of[radius][prefix] for all radii and all prefixes from 1 bit on. Uses the count, block_size, calibration
 * and residence of the options, which must be valid; `model` must be made from them. */
void idxi_price_tables(const struct idx_plan_options *options, const struct idxi_table_model *model,
                       struct idxi_table_times *times);

/* ---- Schemes of parts ---- */

/* The bits are cut into parts, which share the k errors. Tables of part i cover e_i errors in it. If the sum of all
 * e_i + 1 is above k, some part has no more errors than its tables cover. A part is cut like a scheme B:C:R. For
 * example, two halves, each 3:2, make 6 tables for k = 3. Parts may differ in width and radius, to suit the number of
 * fingerprints. */

/* The most tables of a scheme of parts. With more tables, B:C is as fast for 64 bits, and its text is shorter. */
#define IDXI_MAX_PARTS_TABLES 40

/* Returns the largest distance that the scheme blocks:front:radius covers, such as 3 for 4:1:0, whatever the number of
 * bits. `blocks` is at least 1, and `front` is 1 to `blocks`. */
unsigned idxi_count_covered_errors(unsigned blocks, unsigned front, unsigned radius);

/* Called with each scheme that is found. *scheme is valid only during the call. */
typedef void (*idxi_scheme_visitor)(void *context, const struct idx_scheme *scheme);

/* Finds schemes of parts that cover k on fingerprints of `bits` bits, with masks of bits of `live` alone, which must
 * not be 0. For each number of tables up to IDXI_MAX_PARTS_TABLES, calls `visit` with the fastest such scheme, if there
 * is one; `context` is passed to it. `times` are those of idxi_price_tables. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_parts_find(unsigned bits, uint64_t live, unsigned k, const struct idxi_table_times *times,
                                idxi_scheme_visitor visit, void *context, struct idx_error *error);

#endif
