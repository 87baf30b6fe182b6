/* price.h: what a scheme costs in bytes and time, and the search for fast schemes of parts. */
#ifndef IDX_LIBIDX_PRICE_H
#define IDX_LIBIDX_PRICE_H

#include <idx.h>
#include <idx_planning.h>

/* ---- The time of look-ups ---- */

/* What one query does, on average. What that takes depends on the machine. */
struct idxi_work {
    double tables;
    double probes;
    double far; /* probes with a line and a block that are not beside those of the probe before */
    double blocks, candidates;
};

/* The size of a block, and the bytes of the blocks and directories of all tables. */
struct idxi_extent {
    uint32_t block_size;
    double block_bytes, directory_bytes;
};

/* Checks that all numbers of a calibration are possible; NULL is valid. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_calibration_check(const struct idx_calibration *calibration, struct idx_error *error);

/* The nanoseconds of a query, among many that are looked up together, and alone. */
struct idxi_time {
    double many, single;
};

/* Returns the time of a query by what it does, which is at least one probe. The calibration must be valid; NULL stands
 * for a typical server. */
struct idxi_time idxi_compute_time(const struct idx_calibration *calibration, enum idx_residence residence,
                                   const struct idxi_extent *extent, const struct idxi_work *work);

/* ---- The cost of a scheme ---- */

/* What is the same for all tables of an index: fingerprints of a block, blocks of a table, and bytes. */
struct idxi_table_model {
    double block_fingerprints, blocks;
    double directory_bytes; /* lines alone */
    double file_bytes, resident_bytes;
};

/* Returns the model of the tables that the options describe. */
struct idxi_table_model idxi_make_table_model(const struct idx_plan_options *options);

/* Sets all of *plan but `chosen` to what a scheme costs. The options must be valid, and the model be made from them. */
void idxi_price_scheme(const struct idx_plan_options *options, const struct idxi_table_model *model,
                       const struct idx_scheme *scheme, struct idx_plan *plan);

/* Makes the model for one scheme, and does the same as idxi_price_scheme. */
void idxi_price_single(const struct idx_plan_options *options, const struct idx_scheme *scheme, struct idx_plan *plan);

/* The nanoseconds that a query of a table takes, for each radius and prefix, with uniform fingerprints. */
struct idxi_times {
    double of[IDX_MAX_RADIUS + 1][IDX_MAX_BITS + 1];
};

/* Fills `times`, for as many fingerprints, and blocks of the size, as the options say. The model must be made from
 * them. */
void idxi_price_tables(const struct idx_plan_options *options, const struct idxi_table_model *model,
                       struct idxi_times *times);

/* ---- Schemes of parts ---- */

/* The bits are cut into parts, which share the k errors. Tables of part i cover e_i errors in it. If the sum of all
 * e_i + 1 is above k, some part has no more errors than its tables cover. A part is cut like a scheme B:C:R. For
 * example, two halves, each 3:2, make 6 tables for k = 3. Parts may differ in width and radius, to suit the number of
 * fingerprints. */

/* The most tables of a scheme of parts. With more tables, B:C is as fast for 64 bits, and its text is shorter. */
#define IDXI_MAX_PARTS_TABLES 40

/* Returns the most errors that a scheme B:C:R covers, on any number of bits. */
unsigned idxi_count_covered_errors(unsigned blocks, unsigned front, unsigned radius);

/* Called for each scheme that is found, which is valid only during the call. */
typedef void (*idxi_scheme_visitor)(void *context, const struct idx_scheme *scheme);

/* Finds schemes of parts that cover k on fingerprints of `bits` bits, with masks of bits of `live` alone, which must
 * not be 0. For each number of tables that such a scheme may have, calls `visit` with the fastest one. Errors:
 * IDX_OUT_OF_MEMORY. */
enum idx_status idxi_parts_find(unsigned bits, uint64_t live, unsigned k, const struct idxi_times *times,
                                idxi_scheme_visitor visit, void *context, struct idx_error *error);

#endif
