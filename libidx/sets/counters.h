/* counters.h: in how many sets hashes are, by counters that several hashes may share. A hash whose counter is 1 is in
 * one set alone; other counters may be too high. */
#ifndef IDX_LIBIDX_COUNTERS_H
#define IDX_LIBIDX_COUNTERS_H

#include "libidx/sets/store.h"

/* How counters count. */
enum idxi_counter_kind {
    /* Counters of 8 bits that count up to 255. */
    IDXI_COUNTERS_EXACT,
    /* Counters of 4 bits, of which the same memory holds twice as many. From 4 on a counter is a logarithm: an estimate
     * by chance (Morris, CACM 1978), the same in each run. So frequent hashes have an order, too. */
    IDXI_COUNTERS_SMALL,
};

/* The maximum value of a counter of each kind, at which it stays. */
#define IDXI_MAX_EXACT_COUNTER UINT8_MAX
#define IDXI_MAX_SMALL_COUNTER 15

struct idxi_counters {
    uint8_t *counts;
    enum idxi_counter_kind kind; /* it is also the binary logarithm of how many counters a byte holds */
    unsigned shift;              /* the bits of a mixed hash from this one on are the number of its counter */
    size_t size;                 /* how many counters there are, a power of two */
};

/* Makes counters in which each stored set counts once, on `threads` threads. The counters take up to `memory` bytes, or
 * 4 KiB if that is more. Call idxi_counters_free even if this fails. Errors: IDX_OUT_OF_MEMORY, IDX_CANCELLED, those of
 * files. */
enum idx_status idxi_counters_make(struct idxi_counters *counters, enum idxi_counter_kind kind,
                                   const struct idxi_set_store *store, uint64_t memory, unsigned threads,
                                   struct idxi_progress *progress, struct idx_error *error);

/* Adds the further copies of each stored set to counters of the kind IDXI_COUNTERS_EXACT. copies[i] is how many sets
 * equal set i, itself included, as idxi_set_store_count_copies sets it. Errors: IDX_OUT_OF_MEMORY, those of files. */
enum idx_status idxi_counters_add_copies(struct idxi_counters *counters, const struct idxi_set_store *store,
                                         const uint32_t *copies, struct idx_error *error);

/* Returns the byte with counter number `number`. A byte has two small counters. */
static inline uint8_t *idxi_find_counter_byte(const struct idxi_counters *counters, uint64_t number) {
    return &counters->counts[number >> counters->kind];
}

/* Returns at which bit of its byte counter number `number` begins: 0, or for every second small counter 4. */
static inline unsigned idxi_find_counter_bit(const struct idxi_counters *counters, uint64_t number) {
    return (unsigned)(number & counters->kind) * 4;
}

/* Returns the value of counter number `number`. */
static inline uint8_t idxi_read_counter(const struct idxi_counters *counters, uint64_t number) {
    const uint8_t max_value = counters->kind == IDXI_COUNTERS_SMALL ? IDXI_MAX_SMALL_COUNTER : IDXI_MAX_EXACT_COUNTER;
    return *idxi_find_counter_byte(counters, number) >> idxi_find_counter_bit(counters, number) & max_value;
}

/* Returns how many bytes the counters take: counters->size, or half of it if they are small. */
static inline size_t idxi_counters_bytes(const struct idxi_counters *counters) {
    return counters->size >> counters->kind;
}

/* Frees the counters, and leaves them zeroed. */
void idxi_counters_free(struct idxi_counters *counters);

#endif
