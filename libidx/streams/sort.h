/* sort.h: radix sorts of fingerprints and keys, all stable. Each runs in the calling thread alone; any number of
 * threads may sort arrays of their own. Arrays in huge pages, aligned to 64 bytes, are sorted fastest. From 2^18
 * elements on, up to 512 KiB more are allocated; if that fails, sorting is only slower. */
#ifndef IDX_LIBIDX_SORT_H
#define IDX_LIBIDX_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the set of bits in which any two of `count` keys differ; 0 for no keys. */
uint64_t idxi_find_varying_bits(const uint64_t *keys, size_t count);

/* Sorts `count` fingerprints ascending, each with its value; `values` may be NULL. Equal fingerprints stay in their
 * order, or with `by_value` are sorted by value. `spare` and `spare_values` are scratch arrays of `count` elements
 * each, which are overwritten; `spare_values` is not used if `values` is NULL. */
void idxi_sort_pairs(uint64_t *fingerprints, uint64_t *values, size_t count, bool by_value, uint64_t *spare,
                     uint64_t *spare_values);

/* Sorts `count` keys, fewer than 2^32, ascending: faster than idxi_sort_pairs if they are spread evenly over 64 bits.
 * `spare` is a scratch array of `count` elements, which are overwritten. */
void idxi_sort_even_keys(uint64_t *keys, size_t count, uint64_t *spare);

/* Sorts `count` permuted, left-aligned fingerprints by their first `prefix_bits` (0 to 64) bits (SPEC.md, chapter 2);
 * those with the same prefix must be in order already. `spare` is a scratch array of `count` elements, which are
 * overwritten. */
void idxi_sort_prefixes(uint64_t *fingerprints, size_t count, unsigned prefix_bits, uint64_t *spare);

/* Returns how many of `count` ascending keys are below `key`, by binary search. */
static inline size_t idxi_count_below(const uint64_t *keys, size_t count, uint64_t key) {
    size_t begin = 0, end = count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (keys[middle] < key)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

#endif
