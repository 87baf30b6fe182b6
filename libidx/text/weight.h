/* weight.h: the weight of a feature. */
#ifndef IDX_TEXT_WEIGHT_H
#define IDX_TEXT_WEIGHT_H

#include <stdint.h>

/* 1 + log2(count) in units of 1/65536, rounded down: 65536 + floor(log2(count) * 65536). `count` is at least 1. Exact
 * for every count below 2^32, which no text reaches, and for every power of two. */
int64_t idxt_weight(uint64_t count);

#endif
