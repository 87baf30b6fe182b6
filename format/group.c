/* group.c: encodes and decodes groups of documents (SPEC.md, chapter 8): a header, the fingerprints as a delta block,
 * the values as differences from the least of them. */
#include "format/group.h"

#include <stdbool.h>

#include "format/block.h"
#include "format/bytes.h"

#define AT_BASE 1 /* after the width of values */
#define AT_BLOCK IDXF_GROUP_HEADER_BYTES
#define BLOCK_HEADER_BITS (IDXF_BLOCK_HEADER_BYTES * 8)

/* ---- Encoding ---- */

static unsigned bit_length(uint64_t number) { return number == 0 ? 0 : 64 - (unsigned)__builtin_clzll(number); }

/* The width of low parts with which `differences` differences, the last of which is `last`, take the fewest bits, of
 * several the smallest: one bit more for each low part saves half of what the last high part is, rounded up. */
static unsigned choose_width(uint64_t last, size_t differences) {
    unsigned more = bit_length(last), less = bit_length(2 * differences);
    unsigned width = more > less ? more - less : 0;
    if (last >> width > 2 * differences) width++;
    return width < IDXF_MAX_LOW_BITS ? width : IDXF_MAX_LOW_BITS;
}

/* How a group is laid out. */
struct layout {
    unsigned width, value_width;
    size_t block_size, values_size;
};

static inline struct layout lay_out(uint64_t last, size_t count, uint64_t spread) {
    unsigned width = choose_width(last, count - 1), value_width = bit_length(spread);
    size_t bits = BLOCK_HEADER_BITS + (count - 1) * (width + 1) + (size_t)(last >> width), size = (bits + 7) / 8;
    return (struct layout){width, value_width, size < IDXF_MIN_BLOCK_SIZE ? IDXF_MIN_BLOCK_SIZE : size,
                           (count * value_width + 7) / 8};
}

/* Packs what the values are above the base. Writes whole words, up to 8 bytes behind them. */
static void put_values(const uint64_t *values, size_t count, uint64_t base, unsigned width, uint8_t *bytes) {
    uint64_t word = 0;
    unsigned filled = 0;
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

/* Entries that are taken at a time, at first: a power of two. */
#define STRIDE 32

/* What the values of some entries lie between. */
struct range {
    uint64_t least, most;
};

static struct range widen(struct range range, const uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (values[i] < range.least) range.least = values[i];
        if (values[i] > range.most) range.most = values[i];
    }
    return range;
}

/* How many entries fit; the layout of them, and the least value. More entries never take less. */
static size_t fit(const uint64_t *fingerprints, const uint64_t *values, size_t count, size_t max_bytes,
                  struct layout *layout, uint64_t *base) {
    size_t made = 1, limit = count < IDXF_MAX_GROUP ? count : IDXF_MAX_GROUP;
    struct range range = {values == NULL ? 0 : values[0], values == NULL ? 0 : values[0]};
    *layout = lay_out(0, 1, 0);
    for (size_t stride = STRIDE; stride > 0;) {
        size_t more = made + stride;
        if (more > limit) {
            stride /= 2;
            continue;
        }
        struct range wider = values == NULL ? range : widen(range, values + made, stride);
        struct layout next = lay_out(fingerprints[more - 1] - fingerprints[0], more, wider.most - wider.least);
        if (AT_BLOCK + next.block_size + next.values_size > max_bytes) {
            stride /= 2;
            continue;
        }
        *layout = next;
        range = wider;
        made = more;
    }
    *base = range.least;
    return made;
}

size_t idxf_group_encode(const uint64_t *fingerprints, const uint64_t *values, size_t count, size_t max_bytes,
                         uint8_t *bytes, size_t *size) {
    uint8_t group[IDXF_MAX_GROUP_BYTES + 16]; /* whole words are written */
    struct layout layout;
    uint64_t base;
    size_t made = fit(fingerprints, values, count, max_bytes, &layout, &base);
    *size = AT_BLOCK + layout.block_size + layout.values_size;
    memset(group, 0, *size + 16);
    group[0] = (uint8_t)layout.value_width;
    idxf_store64(group + AT_BASE, base);
    idxf_delta_put(fingerprints, made, layout.width, 0, group + AT_BLOCK, layout.block_size);
    if (values != NULL) put_values(values, made, base, layout.value_width, group + AT_BLOCK + layout.block_size);
    memcpy(bytes, group, *size);
    return made;
}

/* ---- Decoding ---- */

/* A block of plain 64-bit numbers, of any size. */
static void begin_block(struct idxf_block_cursor *cursor, struct idxf_decoder *decoder,
                        const struct idxf_group *group) {
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    decoder->way = ways[idxf_delta_ways(ways) - 1];
    decoder->codec = IDXF_CODEC_DELTA;
    decoder->bits = 64;
    decoder->block_size = (uint32_t)group->block_size;
    idxf_block_begin(cursor, decoder, group->bytes + AT_BLOCK);
}

enum idxf_fault idxf_group_open(struct idxf_group *group, const uint8_t *bytes, size_t size) {
    struct idxf_block_cursor cursor;
    struct idxf_decoder decoder;
    if (size < AT_BLOCK + IDXF_MIN_BLOCK_SIZE || size > IDXF_MAX_GROUP_BYTES) return IDXF_FAULT_SIZE;
    size_t count = ((size_t)bytes[AT_BLOCK] | (size_t)bytes[AT_BLOCK + 1] << 8) & IDXF_MAX_DELTA_FINGERPRINTS;
    size_t values_size = (count * bytes[0] + 7) / 8;
    if (bytes[0] > 64 || values_size > size - AT_BLOCK - IDXF_MIN_BLOCK_SIZE) return IDXF_FAULT_OVERRUN;
    *group =
        (struct idxf_group){bytes, size, size - AT_BLOCK - values_size, count, idxf_load64(bytes + AT_BASE), bytes[0]};
    begin_block(&cursor, &decoder, group);
    return cursor.fault;
}

enum idxf_fault idxf_group_fingerprints(const struct idxf_group *group, uint64_t fingerprints[IDXF_MAX_GROUP]) {
    struct idxf_block_cursor cursor;
    struct idxf_decoder decoder;
    uint64_t chunk[IDXF_CHUNK];
    size_t made = 0, count;
    begin_block(&cursor, &decoder, group);
    while ((count = idxf_block_next(&cursor, chunk)) > 0 && count <= group->count - made) {
        memcpy(fingerprints + made, chunk, count * sizeof *chunk);
        made += count;
    }
    return cursor.fault != IDXF_OK ? cursor.fault : made == group->count ? IDXF_OK : IDXF_FAULT_COUNT;
}

/* The bit of the group at which value `i` stands. */
static inline size_t at_value(const struct idxf_group *group, size_t i) {
    return (AT_BLOCK + group->block_size) * 8 + i * group->width;
}

void idxf_group_values(const struct idxf_group *group, size_t from, size_t count, uint64_t *values) {
    for (size_t i = 0; i < count; i++)
        values[i] = group->base + idxf_get_bits(group->bytes, group->size, at_value(group, from + i), group->width);
}

/* A sum that wraps is below the base. */
static bool has_wrapped(const struct idxf_group *group, const uint64_t *values) {
    bool wrapped = false;
    for (size_t i = 0; i < group->count; i++) wrapped |= values[i] < group->base;
    return wrapped;
}

static enum idxf_fault check_block_end(const struct idxf_group *group) {
    struct idxf_block_cursor cursor;
    struct idxf_decoder decoder;
    uint64_t chunk[IDXF_CHUNK];
    begin_block(&cursor, &decoder, group);
    while (idxf_block_next(&cursor, chunk) > 0) continue;
    return cursor.fault != IDXF_OK ? cursor.fault : idxf_block_check_end(&cursor);
}

enum idxf_fault idxf_group_check(const struct idxf_group *group, const uint64_t *fingerprints, const uint64_t *values) {
    for (size_t i = 1; i < group->count; i++) {
        bool ascends = fingerprints[i - 1] < fingerprints[i] ||
                       (fingerprints[i - 1] == fingerprints[i] && values[i - 1] < values[i]);
        if (!ascends) return IDXF_FAULT_ORDER;
    }
    if (has_wrapped(group, values)) return IDXF_FAULT_ORDER;
    enum idxf_fault fault = check_block_end(group);
    if (fault != IDXF_OK) return fault;
    unsigned used = (unsigned)(group->count * group->width % 8);
    return used != 0 && group->bytes[group->size - 1] >> used != 0 ? IDXF_FAULT_PADDING : IDXF_OK;
}
