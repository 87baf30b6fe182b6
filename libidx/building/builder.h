/* builder.h: checks of the recipe and the options of a build. */
#ifndef IDX_LIBIDX_BUILDER_H
#define IDX_LIBIDX_BUILDER_H

#include <idx.h>

/* Checks that `recipe` is short enough and has no control characters, and that its fingerprints may have an index with
 * this k: those that are hashes need k = 0. Errors: IDX_INVALID_ARGUMENT. */
enum idx_status idxi_recipe_check(const char *recipe, unsigned k, struct idx_error *error);

/* Checks all options of a build but memory_bytes and temporary_folder. Errors: IDX_INVALID_ARGUMENT, IDX_BAD_SCHEME,
 * IDX_WEAK_SCHEME. */
enum idx_status idxi_build_options_check(const struct idx_build_options *options, struct idx_error *error);

#endif
