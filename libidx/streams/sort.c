/* sort.c: radix sorts from the most significant digit down. A range is scattered into buckets by the highest bits that
 * vary in it, from one array to its spare. Buckets of few elements are then sorted by insertion, and larger ones in the
 * same way as the range. After one pass over all, a bucket mostly fits the second cache, and its own digit is so wide
 * that little is left to insertion. Widths and thresholds are the fastest measured at 1e7 and 5e7 uniform pairs. */
#include "libidx/streams/sort.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "format/bytes.h"

#define MAX_DIGIT_BITS 12
#define MAX_DIGITS ((size_t)1 << MAX_DIGIT_BITS)
#define MIN_BY_DIGITS 256    /* the fewest elements that sort_by_digits sorts */
#define MAX_ONE_DIGIT_BITS 6 /* the most bits that it sorts by one digit */
#define MAX_TWO_DIGIT_BITS 22
#define MAX_INSERTED 16                /* elements that are sorted by insertion */
#define MIN_BY_LINES ((size_t)1 << 18) /* elements that are gathered by cache line before they are written */
#define LINE (64 / sizeof(uint64_t))   /* elements in a cache line */

/* Keys with their values; `values` is NULL if there are none. */
struct elements {
    uint64_t *keys;
    uint64_t *values;
};

/* What a range is sorted by: these bits of the keys, since the range is in order by the other bits already; and then,
 * with `by_value`, by value. */
struct order {
    uint64_t mask;
    bool by_value;
};

/* The bits of a key that choose its bucket: key >> shift & mask. */
struct digit {
    unsigned shift;
    uint64_t mask;
};

/* Returns the elements from number `index`, from 0, on. */
static struct elements get_elements_from(struct elements elements, size_t index) {
    return (struct elements){elements.keys + index, elements.values == NULL ? NULL : elements.values + index};
}

uint64_t idxi_find_varying_bits(const uint64_t *keys, size_t count) {
    uint64_t ones = 0, zeros = 0;
    for (size_t i = 0; i < count; i++) {
        ones |= keys[i];
        zeros |= ~keys[i];
    }
    return ones & zeros;
}

/* Returns how many bits there are from the highest set bit down to the lowest, both included. `bits` is not 0. */
static unsigned get_bit_span(uint64_t bits) {
    return 64 - (unsigned)__builtin_clzll(bits) - (unsigned)__builtin_ctzll(bits);
}

/* Returns the digit for a pass over `count` elements: the highest bits of `varying`, which is not 0. It has as many
 * bits as leave one or two elements in a bucket, and at most MAX_DIGIT_BITS. */
static struct digit choose_digit(uint64_t varying, size_t count) {
    unsigned bits = get_bit_span(varying), useful_bits = 63 - (unsigned)__builtin_clzll(count);
    if (bits > useful_bits) bits = useful_bits;
    if (bits > MAX_DIGIT_BITS) bits = MAX_DIGIT_BITS;
    return (struct digit){64 - (unsigned)__builtin_clzll(varying) - bits, (UINT64_C(1) << bits) - 1};
}

/* ---- Scattering ---- */

/* One pass: what it moves, where to, and by which digit. */
struct scatter {
    const uint64_t *keys;
    const uint64_t *values; /* or NULL */
    struct elements to;
    size_t count;
    struct digit digit;
};

/* Sets starts[i] to the number of elements before the bucket of digit value i, for all values of the digit. */
static void find_bucket_starts(const struct scatter *scatter, size_t *starts) {
    struct digit digit = scatter->digit;
    memset(starts, 0, (digit.mask + 1) * sizeof *starts);
    for (size_t i = 0; i < scatter->count; i++) starts[scatter->keys[i] >> digit.shift & digit.mask]++;
    size_t start = 0;
    for (size_t i = 0; i <= digit.mask; i++) { /* starts[i] has the count of bucket i before */
        size_t count = starts[i];
        starts[i] = start;
        start += count;
    }
}

/* Moves each element to its bucket. Each of `starts` becomes the end of its bucket. */
static void scatter_one_by_one(const struct scatter *scatter, size_t *starts) {
    const uint64_t *values = scatter->values;
    struct elements to = scatter->to;
    struct digit digit = scatter->digit;
    for (size_t i = 0; i < scatter->count; i++) {
        uint64_t key = scatter->keys[i];
        size_t place = starts[key >> digit.shift & digit.mask]++;
        to.keys[place] = key;
        if (values != NULL) to.values[place] = values[i];
    }
}

/* Writes a cache line without first reading it into the caches. */
static void write_cache_line(uint64_t *to, const uint64_t *line) {
#ifdef __SSE2__
    for (size_t i = 0; i < LINE; i += 2)
        _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(const void *)(line + i)));
#else
    memcpy(to, line, LINE * sizeof *to);
#endif
}

/* Writes what is left in the lines: the last elements of each bucket, which did not fill a line. ends[i] is where
 * bucket i ends; there are `bucket_count` buckets. */
static void write_line_ends(uint64_t *to, const uint64_t *lines, const size_t *ends, size_t bucket_count) {
    for (size_t digit = 0; digit < bucket_count; digit++) {
        size_t begin = digit == 0 ? 0 : ends[digit - 1], end = ends[digit], line_begin = end - end % LINE;
        for (size_t i = begin > line_begin ? begin : line_begin; i < end; i++) to[i] = lines[digit * LINE + i % LINE];
    }
}

/* Does what scatter_one_by_one does, by whole cache lines. `lines` has room for a line of keys for each bucket, which
 * is gathered there, and then for as many lines of values. Where a line has the end of one bucket and the beginning of
 * the next, the next bucket writes all of it, and the end is written over it at last. */
static void scatter_by_lines(const struct scatter *scatter, size_t *starts, uint64_t *lines) {
    const uint64_t *values = scatter->values;
    struct elements to = scatter->to;
    struct digit digit = scatter->digit;
    size_t bucket_count = digit.mask + 1;
    uint64_t *value_lines = lines + bucket_count * LINE;
    for (size_t i = 0; i < scatter->count; i++) {
        uint64_t key = scatter->keys[i];
        size_t bucket = key >> digit.shift & digit.mask, place = starts[bucket]++;
        lines[bucket * LINE + place % LINE] = key;
        if (values != NULL) value_lines[bucket * LINE + place % LINE] = values[i];
        if (place % LINE != LINE - 1) continue;
        write_cache_line(to.keys + place - (LINE - 1), lines + bucket * LINE);
        if (values != NULL) write_cache_line(to.values + place - (LINE - 1), value_lines + bucket * LINE);
    }
#ifdef __SSE2__
    _mm_sfence();
#endif
    write_line_ends(to.keys, lines, starts, bucket_count);
    if (values != NULL) write_line_ends(to.values, value_lines, starts, bucket_count);
}

/* Whether an array begins with a cache line; NULL, for no values, counts as such an array. */
static bool is_aligned(const uint64_t *array) { return (uintptr_t)array % (LINE * sizeof *array) == 0; }

/* Runs one pass, which is stable: by cache lines if there are many elements and there is memory for the lines. */
static void run_scatter_pass(const struct scatter *scatter) {
    size_t starts[MAX_DIGITS];
    bool by_lines = scatter->count >= MIN_BY_LINES && is_aligned(scatter->to.keys) && is_aligned(scatter->to.values);
    size_t line_bytes = (scatter->digit.mask + 1) * LINE * sizeof(uint64_t);
    uint64_t *lines = by_lines ? aligned_alloc(LINE * sizeof *lines, 2 * line_bytes) : NULL;
    find_bucket_starts(scatter, starts);
    if (lines != NULL)
        scatter_by_lines(scatter, starts, lines);
    else
        scatter_one_by_one(scatter, starts);
    free(lines);
}

/* ---- Buckets ---- */

/* Sorts keys without values by insertion. */
static void insertion_sort_keys(uint64_t *keys, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        size_t place = i;
        for (; place > 0 && keys[place - 1] > key; place--) keys[place] = keys[place - 1];
        keys[place] = key;
    }
}

/* Sorts pairs by insertion, which is stable, or with `by_value` those with equal keys by their values. */
static void insertion_sort_pairs(struct elements elements, size_t count, bool by_value) {
    for (size_t i = 1; i < count; i++) {
        uint64_t key = elements.keys[i], value = elements.values[i];
        size_t place = i;
        for (; place > 0 && (elements.keys[place - 1] > key ||
                             (by_value && elements.keys[place - 1] == key && elements.values[place - 1] > value));
             place--) {
            elements.keys[place] = elements.keys[place - 1];
            elements.values[place] = elements.values[place - 1];
        }
        elements.keys[place] = key;
        elements.values[place] = value;
    }
}

/* Sorts elements by insertion, with or without values, which is fast where each is near its place. Compares whole keys,
 * whatever the order's mask: by the other bits they are in order already. `by_value` as in struct order. */
static void insertion_sort_elements(struct elements elements, size_t count, bool by_value) {
    if (elements.values == NULL)
        insertion_sort_keys(elements.keys, count);
    else
        insertion_sort_pairs(elements, count, by_value);
}

/* Copies keys, and values if there are any. */
static void copy_elements(struct elements from, struct elements to, size_t count) {
    memcpy(to.keys, from.keys, count * sizeof *to.keys);
    if (to.values != NULL) memcpy(to.values, from.values, count * sizeof *to.values);
}

/* Returns where the next bucket of more than MAX_INSERTED elements begins, from `begin` on, or `count` if there is
 * none. Keys of one bucket have the same bits from `shift` on. */
static size_t find_large_bucket(const uint64_t *keys, size_t begin, size_t count, unsigned shift) {
    for (; count - begin > MAX_INSERTED; begin++) {
        if (keys[begin] >> shift == keys[begin + MAX_INSERTED] >> shift) return begin;
    }
    return count;
}

/* Returns the end of the bucket that begins at `begin`, by a binary search. It must have more than MAX_INSERTED
 * elements. There are `count` keys; those of one bucket have the same bits from `shift` on. */
static size_t find_bucket_end(const uint64_t *keys, size_t begin, size_t count, unsigned shift) {
    size_t inside = begin + MAX_INSERTED, end = count;
    while (end - inside > 1) {
        size_t middle = inside + (end - inside) / 2;
        if (keys[middle] >> shift == keys[begin] >> shift)
            inside = middle;
        else
            end = middle;
    }
    return end;
}

static void sort_range(struct elements here, struct elements there, size_t count, struct order order, bool stays);

/* Sorts each bucket of a range of `count` elements alone. Keys of one bucket have the same bits from `shift` on, and
 * the buckets ascend. The result is here if it `stays`, else there. */
static void sort_buckets(struct elements here, struct elements there, size_t count, unsigned shift, struct order order,
                         bool stays) {
    for (size_t done = 0; done < count;) {
        size_t large = find_large_bucket(here.keys, done, count, shift);
        if (!stays) copy_elements(get_elements_from(here, done), get_elements_from(there, done), large - done);
        insertion_sort_elements(get_elements_from(stays ? here : there, done), large - done, order.by_value);
        done = large;
        if (large == count) continue;
        done = find_bucket_end(here.keys, large, count, shift);
        sort_range(get_elements_from(here, large), get_elements_from(there, large), done - large, order, stays);
    }
}

/* Sorts from the least significant digit up, if one or two digits hold all bits that vary: within the cache this is
 * faster than a wide digit and insertion. The result is here if it `stays`, else there. */
static void sort_by_digits(struct elements here, struct elements there, size_t count, uint64_t varying, bool stays) {
    unsigned shift = (unsigned)__builtin_ctzll(varying), bits = get_bit_span(varying);
    unsigned low_bits = bits <= MAX_ONE_DIGIT_BITS ? bits : bits / 2;
    struct digit low = {shift, (UINT64_C(1) << low_bits) - 1};
    struct digit high = {shift + low_bits, (UINT64_C(1) << (bits - low_bits)) - 1};
    struct scatter low_pass = {here.keys, here.values, there, count, low};
    struct scatter high_pass = {there.keys, there.values, here, count, high};
    bool is_here = high.mask != 0;
    run_scatter_pass(&low_pass);
    if (is_here) run_scatter_pass(&high_pass);
    if (is_here && !stays) copy_elements(here, there, count);
    if (!is_here && stays) copy_elements(there, here, count);
}

/* Sorts what is `here`. The result is here if it `stays`, else there; the other array is overwritten. Each pass takes
 * at least the highest bit that varies, of the 64 bits of keys and then of the 64 of values, which limits the depth of
 * the recursion; mostly it is two. */
static void sort_range(struct elements here, struct elements there, size_t count, struct order order, bool stays) {
    uint64_t varying = idxi_find_varying_bits(here.keys, count) & order.mask;
    if (varying != 0 && !order.by_value && count >= MIN_BY_DIGITS && get_bit_span(varying) <= MAX_TWO_DIGIT_BITS) {
        sort_by_digits(here, there, count, varying, stays);
    } else if (varying != 0) {
        struct scatter scatter = {here.keys, here.values, there, count, choose_digit(varying, count)};
        run_scatter_pass(&scatter);
        sort_buckets(there, here, count, scatter.digit.shift, order, !stays);
    } else if (order.by_value) {
        /* All keys are equal, so the values are sorted, as if they were the keys. */
        struct order by_whole_key = {.mask = UINT64_MAX, .by_value = false};
        sort_range((struct elements){here.values, here.keys}, (struct elements){there.values, there.keys}, count,
                   by_whole_key, stays);
    } else if (!stays) {
        copy_elements(here, there, count);
    }
}

void idxi_sort_pairs(uint64_t *fingerprints, uint64_t *values, size_t count, bool by_value, uint64_t *spare,
                     uint64_t *spare_values) {
    struct elements here = {fingerprints, values}, there = {spare, values == NULL ? NULL : spare_values};
    struct order order = {.mask = UINT64_MAX, .by_value = by_value && values != NULL};
    sort_range(here, there, count, order, true);
}

/* ---- Tables ---- */

void idxi_sort_prefixes(uint64_t *fingerprints, size_t count, unsigned prefix_bits, uint64_t *spare) {
    struct elements here = {fingerprints, NULL}, there = {spare, NULL};
    struct order order = {.mask = prefix_bits == 0 ? 0 : UINT64_MAX << (64 - prefix_bits), .by_value = false};
    sort_range(here, there, count, order, true);
}

/* ---- Evenly spread keys ---- */

/* The first digit, of up to EVEN_DIGIT_BITS, gives buckets of about 2^BUCKET_BITS keys if these are spread evenly, and
 * a second one gives cells of a key or fewer. Buckets with more than MAX_BUCKET_KEYS keys, or MAX_CELL_KEYS in a cell,
 * are sorted by idxi_sort_pairs instead, whose time does not depend on how keys are spread. */
#define BUCKET_BITS 9
#define MAX_BUCKET_KEYS ((size_t)8 << BUCKET_BITS)
#define MAX_CELL_KEYS 16
#define EVEN_DIGIT_BITS 11

#define SCATTER_AHEAD 16 /* a bucket's memory is prefetched so many places before it is written */

/* Replaces the counts of `bucket_count` buckets by where the buckets begin. Before, starts[i + 1] is the count of
 * bucket i; then it is where bucket i + 1 begins. starts[0] stays 0. Returns the highest count. */
static uint32_t turn_counts_into_starts(uint32_t *starts, size_t bucket_count) {
    uint32_t max_count = 0, sum = 0;
    for (size_t i = 1; i <= bucket_count; i++) {
        max_count = starts[i] > max_count ? starts[i] : max_count;
        sum += starts[i];
        starts[i] = sum;
    }
    return max_count;
}

/* Sorts `count` keys, whose first `shared_bits` bits are equal, from one array into another: by the next bits and then
 * by insertion, or if they are unevenly spread by idxi_sort_pairs. May overwrite `from`. */
static void sort_even_bucket(uint64_t *from, uint64_t *to, size_t count, unsigned shared_bits) {
    uint32_t starts[((size_t)1 << (BUCKET_BITS + 1)) + 1] = {0};
    unsigned shift = 64 - (BUCKET_BITS + 1);
    bool is_uneven = count > MAX_BUCKET_KEYS;
    for (size_t i = 0; i < count && !is_uneven; i++) starts[(from[i] << shared_bits >> shift) + 1]++;
    if (is_uneven || turn_counts_into_starts(starts, (size_t)1 << (BUCKET_BITS + 1)) > MAX_CELL_KEYS) {
        idxi_sort_pairs(from, NULL, count, false, to, NULL);
        memcpy(to, from, count * sizeof *to);
        return;
    }
    for (size_t i = 0; i < count; i++) to[starts[from[i] << shared_bits >> shift]++] = from[i];
    insertion_sort_keys(to, count);
}

void idxi_sort_even_keys(uint64_t *keys, size_t count, uint64_t *spare) {
    uint32_t starts[((size_t)1 << EVEN_DIGIT_BITS) + 1] = {0};
    unsigned digit_bits = 1;
    while (digit_bits < EVEN_DIGIT_BITS && count >> digit_bits > (size_t)1 << BUCKET_BITS) digit_bits++;
    for (size_t i = 0; i < count; i++) starts[idxf_get_first_bits(keys[i], digit_bits) + 1]++;
    turn_counts_into_starts(starts, (size_t)1 << digit_bits);
    for (size_t i = 0; i < count; i++) {
        size_t place = starts[idxf_get_first_bits(keys[i], digit_bits)]++;
        __builtin_prefetch(spare + place + SCATTER_AHEAD, 1, 3);
        spare[place] = keys[i];
    }
    for (size_t i = 0, begin = 0; i < (size_t)1 << digit_bits; i++) {
        size_t end = starts[i]; /* By now, this is where the next bucket begins. */
        sort_even_bucket(spare + begin, keys + begin, end - begin, digit_bits);
        begin = end;
    }
}
