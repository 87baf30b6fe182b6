/* group.c: encodes and decodes groups of documents (SPEC.md, chapter 8): a header, the fingerprints as differences from
 * the first one in Elias-Fano form, and the values as differences from the smallest one. */
#include "format/group.h"

#include <stdbool.h>

#include "format/bytes.h"
#include "format/processor.h"

/* Where the parts of a group are. */
#define AT_HEAD 0 /* the number of entries, and the width of low parts */
#define AT_VALUE_WIDTH 2
#define AT_BASE 3
#define AT_FIRST 11
#define AT_HIGHS IDXF_GROUP_HEADER_BYTES
#define COUNT_BITS 10

/* ---- Encoding ---- */

/* Returns the least width of low parts with which differences up to `largest_difference` take the fewest bits. High
 * parts take a 1 bit for each difference, and as many 0 bits as the last high part's value, largest_difference >>
 * low_width. One bit more of width costs a bit for each difference and halves that value: it pays while that is above 2
 * * difference_count. */
static unsigned choose_low_width(uint64_t largest_difference, size_t difference_count) {
    unsigned largest_bits = idxf_bit_length(largest_difference), count_bits = idxf_bit_length(2 * difference_count);
    unsigned low_width = largest_bits > count_bits ? largest_bits - count_bits : 0;
    if (largest_difference >> low_width > 2 * difference_count) low_width++;
    return low_width < IDXF_MAX_LOW_BITS ? low_width : IDXF_MAX_LOW_BITS;
}

struct layout {
    unsigned low_width, value_width;       /* of low parts, and of values; bits */
    size_t fingerprints_size, values_size; /* bytes */
};

/* Returns the layout of a group of `count` entries. `largest_difference` is the last fingerprint less the first one,
 * and `spread` the greatest value less the least. */
static inline struct layout lay_out_group(uint64_t largest_difference, size_t count, uint64_t spread) {
    unsigned low_width = choose_low_width(largest_difference, count - 1), value_width = idxf_bit_length(spread);
    size_t bits = (count - 1) * (low_width + 1) + (size_t)(largest_difference >> low_width);
    return (struct layout){low_width, value_width, (bits + 7) / 8, (count * value_width + 7) / 8};
}

/* Packs values[i] - base, `width` bits each, from the lowest bit up. Writes whole words, and so up to 8 bytes more. */
static void write_values(const uint64_t *values, size_t count, uint64_t base, unsigned width, uint8_t *bytes) {
    uint64_t word = 0;
    unsigned filled = 0; /* bits of `word` */
    for (size_t i = 0; i < count && width > 0; i++) {
        uint64_t value = values[i] - base;
        word |= value << filled;
        filled += width;
        if (filled < 64) continue;
        idxf_store64(bytes, word);
        bytes += 8;
        filled -= 64;
        word = filled == 0 ? 0 : value >> (width - filled);
    }
    idxf_store64(bytes, word);
}

#define STRIDE 32 /* entries that are first added at a time, then half as many, and so on; a power of two */

struct range {
    uint64_t least, most;
};

/* Returns `range`, widened so that it includes all `count` values. */
static struct range widen_range(struct range range, const uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (values[i] < range.least) range.least = values[i];
        if (values[i] > range.most) range.most = values[i];
    }
    return range;
}

/* Returns how many entries fit into `max_bytes`, and sets *layout to their layout and *base to their least value. Adds
 * a stride of entries at a time, and halves the stride once they do not fit: more entries never take fewer bytes. */
static size_t choose_entry_count(const uint64_t *fingerprints, const uint64_t *values, size_t count, size_t max_bytes,
                                 struct layout *layout, uint64_t *base) {
    size_t fit_count = 1, max_count = count < IDXF_MAX_GROUP_ENTRIES ? count : IDXF_MAX_GROUP_ENTRIES;
    struct range range = {values == NULL ? 0 : values[0], values == NULL ? 0 : values[0]};
    *layout = lay_out_group(0, 1, 0);
    for (size_t stride = STRIDE; stride > 0;) {
        size_t tried = fit_count + stride;
        if (tried > max_count) {
            stride /= 2;
            continue;
        }
        struct range wider = values == NULL ? range : widen_range(range, values + fit_count, stride);
        struct layout next = lay_out_group(fingerprints[tried - 1] - fingerprints[0], tried, wider.most - wider.least);
        if (AT_HIGHS + next.fingerprints_size + next.values_size > max_bytes) {
            stride /= 2;
            continue;
        }
        *layout = next;
        range = wider;
        fit_count = tried;
    }
    *base = range.least;
    return fit_count;
}

/* Writes the low parts, `low_width` bits each, of all but the first fingerprint, from before `end` down. Up to 8 bytes
 * below them become 0. */
static void write_low_parts(const uint64_t *fingerprints, size_t count, unsigned low_width, uint8_t *end) {
    uint64_t first_fingerprint = fingerprints[0], bits = 0;
    unsigned used_bits = 0; /* of `bits`, the highest; less than 8 */
    for (size_t i = 1; i < count && low_width > 0; i++) {
        bits |= (fingerprints[i] - first_fingerprint) << (64 - low_width) >> used_bits;
        idxf_store64(end - 8, bits);
        used_bits += low_width;
        end -= used_bits / 8;
        bits <<= used_bits & ~7u;
        used_bits %= 8;
    }
}

size_t idxf_group_encode(const uint64_t *fingerprints, const uint64_t *values, size_t count, size_t max_bytes,
                         uint8_t *bytes, size_t *size) {
    uint8_t group[IDXF_MAX_GROUP_BYTES + 16]; /* whole words are written */
    struct layout layout;
    uint64_t base, first = fingerprints[0];
    size_t encoded_count = choose_entry_count(fingerprints, values, count, max_bytes, &layout, &base);
    size_t values_at = AT_HIGHS + layout.fingerprints_size;
    *size = values_at + layout.values_size;
    memset(group, 0, *size + 16);
    write_low_parts(fingerprints, encoded_count, layout.low_width, group + values_at);
    for (size_t i = 1; i < encoded_count; i++) { /* high parts ascend: each is a 1 bit behind as many 0 bits as it is */
        size_t one_bit = i - 1 + (size_t)((fingerprints[i] - first) >> layout.low_width);
        group[AT_HIGHS + one_bit / 8] |= (uint8_t)(1u << one_bit % 8);
    }
    group[AT_HEAD] = (uint8_t)encoded_count;
    group[AT_HEAD + 1] = (uint8_t)(encoded_count >> 8 | layout.low_width << (COUNT_BITS - 8));
    group[AT_VALUE_WIDTH] = (uint8_t)layout.value_width;
    idxf_store64(group + AT_BASE, base);
    idxf_store64(group + AT_FIRST, first);
    if (values != NULL) write_values(values, encoded_count, base, layout.value_width, group + values_at);
    memcpy(bytes, group, *size);
    return encoded_count;
}

/* ---- Decoding ---- */

enum idxf_fault idxf_group_open(struct idxf_group *group, const uint8_t *bytes, size_t size) {
    if (size < AT_HIGHS || size > IDXF_MAX_GROUP_BYTES) return IDXF_FAULT_SIZE;
    unsigned head = (unsigned)bytes[AT_HEAD] | (unsigned)bytes[AT_HEAD + 1] << 8;
    size_t count = head & (unsigned)idxf_low_bits(COUNT_BITS), parts_size = size - AT_HIGHS;
    unsigned low_width = head >> COUNT_BITS, value_width = bytes[AT_VALUE_WIDTH];
    size_t values_size = (count * value_width + 7) / 8;
    if (count == 0) return IDXF_FAULT_COUNT;
    if (low_width > IDXF_MAX_LOW_BITS || value_width > 64 || values_size > parts_size) return IDXF_FAULT_OVERRUN;
    if ((count - 1) * (low_width + 1) > (parts_size - values_size) * 8) return IDXF_FAULT_OVERRUN;
    *group = (struct idxf_group){.bytes = bytes,
                                 .size = size,
                                 .values_at = size - values_size,
                                 .count = count,
                                 .base = idxf_load64(bytes + AT_BASE),
                                 .value_width = value_width,
                                 .low_width = low_width};
    return IDXF_OK;
}

/* Returns 64 bits from a byte on. Those above the last high part are of low parts and values, and mean nothing here. */
IDXF_INLINE uint64_t peek_high_parts(const struct idxf_group *group, size_t byte) {
    return idxf_peek_bits(group->bytes, group->size, byte * 8);
}

/* Returns the low part that ends before bit `end` of the group. Loads the 8 bytes that end there, some of which may be
 * the header's, and shifts the bits from `end` on out. */
IDXF_INLINE uint64_t get_low_part(const struct idxf_group *group, size_t end) {
    uint64_t bits = idxf_load64(group->bytes + (end + 7) / 8 - 8) << (-end & 7);
    return bits >> 1 >> (63 - group->low_width);
}

/* Decodes all fingerprints, and sets *high_end to the bit behind the last high part. Each high part has a 1 bit, and
 * its value is the number of 0 bits before that: the place of the 1 bit, less the number of 1 bits before. Low parts go
 * down from the values. Returns IDXF_FAULT_OVERRUN if there are too few high parts, or they don't end before the low
 * parts. */
IDXF_INLINE enum idxf_fault decode_group(const struct idxf_group *group, uint64_t *fingerprints, size_t *high_end) {
    uint64_t first = idxf_load64(group->bytes + AT_FIRST), ones = 0;
    size_t low_end = group->values_at * 8, byte = AT_HIGHS, one_bit = 0;
    *high_end = AT_HIGHS * 8;
    fingerprints[0] = first;
    for (size_t i = 1; i < group->count; i++, low_end -= group->low_width) {
        for (; ones == 0; byte += 8) {
            if (byte >= group->values_at) return IDXF_FAULT_OVERRUN;
            ones = peek_high_parts(group, byte);
        }
        one_bit = (byte - 8) * 8 + (unsigned)__builtin_ctzll(ones);
        ones &= ones - 1;
        uint64_t low = get_low_part(group, low_end);
        fingerprints[i] = first + ((uint64_t)(one_bit - AT_HIGHS * 8 - (i - 1)) << group->low_width | low);
        *high_end = one_bit + 1;
    }
    return *high_end <= low_end ? IDXF_OK : IDXF_FAULT_OVERRUN;
}

#ifdef IDXF_X86
/* Does what decode_group does, with BMI2. */
IDXF_BMI2 static enum idxf_fault decode_bmi2(const struct idxf_group *group, uint64_t *fingerprints, size_t *high_end) {
    return decode_group(group, fingerprints, high_end);
}
#endif

/* Does what decode_group does, with the fastest instructions that this processor has. */
static enum idxf_fault decode_fastest(const struct idxf_group *group, uint64_t *fingerprints, size_t *high_end) {
#ifdef IDXF_X86
    if (idxf_has_bmi2()) return decode_bmi2(group, fingerprints, high_end);
#endif
    return decode_group(group, fingerprints, high_end);
}

enum idxf_fault idxf_decode_fingerprints(const struct idxf_group *group,
                                         uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES]) {
    size_t high_end;
    return decode_fastest(group, fingerprints, &high_end);
}

void idxf_decode_values(const struct idxf_group *group, size_t from, size_t count, uint64_t *values) {
    for (size_t i = 0; i < count; i++) {
        size_t value_bit = group->values_at * 8 + (from + i) * group->value_width;
        values[i] = group->base + idxf_get_bits(group->bytes, group->size, value_bit, group->value_width);
    }
}

/* Whether entries ascend strictly, by fingerprint and then by value. */
static bool entries_ascend(const struct idxf_group *group, const uint64_t *fingerprints, const uint64_t *values) {
    for (size_t i = 1; i < group->count; i++) {
        bool ascends = fingerprints[i - 1] < fingerprints[i] ||
                       (fingerprints[i - 1] == fingerprints[i] && values[i - 1] < values[i]);
        if (!ascends) return false;
    }
    return true;
}

/* Whether a value or a fingerprint is 2^64 or more, so that its sum has wrapped. Fingerprints ascend, so only the last
 * one needs to be checked: its high part is the number of 0 bits before `high_end`. */
static bool has_wrapped(const struct idxf_group *group, uint64_t first, size_t high_end, const uint64_t *values) {
    bool wrapped = false;
    for (size_t i = 0; i < group->count; i++) wrapped |= values[i] < group->base;
    if (group->count == 1) return wrapped;
    uint64_t high = high_end - AT_HIGHS * 8 - (group->count - 1);
    return wrapped || high > (UINT64_MAX - first) >> group->low_width;
}

enum idxf_fault idxf_group_check(const struct idxf_group *group, const uint64_t *fingerprints, const uint64_t *values) {
    uint64_t decoded[IDXF_MAX_GROUP_ENTRIES];
    size_t high_end, low_parts_begin = group->values_at * 8 - (group->count - 1) * group->low_width;
    enum idxf_fault fault = decode_fastest(group, decoded, &high_end); /* again, for high_end alone */
    if (fault != IDXF_OK) return fault;
    if (!entries_ascend(group, fingerprints, values) || has_wrapped(group, fingerprints[0], high_end, values))
        return IDXF_FAULT_ORDER;
    size_t values_end = group->values_at * 8 + group->count * group->value_width;
    bool is_clear = idxf_are_bits_zero(group->bytes, high_end, low_parts_begin) &&
                    idxf_are_bits_zero(group->bytes, values_end, group->size * 8);
    return is_clear ? IDXF_OK : IDXF_FAULT_PADDING;
}
