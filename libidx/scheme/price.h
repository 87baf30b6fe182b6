/* price.h: the cost of a scheme. */
#ifndef IDX_LIBIDX_PRICE_H
#define IDX_LIBIDX_PRICE_H

#include <idx.h>

/* What is the same for all tables of an index. */
struct idxi_table_model {
    double block_fingerprints, blocks;
    double directory_bytes; /* lines alone */
    double file_bytes, resident_bytes;
};

struct idxi_table_model idxi_table_model_make(const struct idx_plan_options *options);

/* What a scheme costs, all of it but `chosen`. The options must be right; the model is theirs. */
void idxi_price_scheme(const struct idx_plan_options *options, const struct idxi_table_model *model,
                       const struct idx_scheme *scheme, struct idx_plan *plan);

/* The same of a single scheme. */
void idxi_plan_scheme(const struct idx_plan_options *options, const struct idx_scheme *scheme, struct idx_plan *plan);

/* Nanoseconds that probing a table takes, for each radius and prefix, on uniform fingerprints. */
struct idxi_times {
    double of[IDX_MAX_RADIUS + 1][IDX_MAX_BITS + 1];
};

void idxi_price_tables(const struct idx_plan_options *options, const struct idxi_table_model *model,
                       struct idxi_times *times);

#endif
