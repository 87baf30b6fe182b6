/* real.h: fingerprints of real text: the project's own, whose pages overlap, so that many are near each other. */
#ifndef IDX_TESTS_LIBIDX_REAL_H
#define IDX_TESTS_LIBIDX_REAL_H

#include "tests/libidx/sets.h"

/* The fingerprints of every page of so many lines, from every `step`th line on, of the sources and SPEC.md. */
struct set make_real_set(size_t lines, size_t step);

#endif
