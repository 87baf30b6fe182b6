/* codes.c: block codes compared on the same data: the paper's interleaved code, Elias-Fano, and the project's own. The
 * first two are written out here, plain and portable, since the project does not use them. */
#include "bench/data.h"
#include "format/block.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define PASSES 5
#define HEADER_BYTES 10 /* of the codes written out here: 2 with a count, 8 with the first fingerprint */
#define HEADER_BITS (HEADER_BYTES * 8)
#define MAX_BLOCK_BYTES 4096
#define MAX_BLOCK_FINGERPRINTS (MAX_BLOCK_BYTES * 8) /* one bit per fingerprint is the least */
#define PADDING 8                                    /* bytes behind the last block that may be read and rewritten */

static const char help[] =
    "Usage: codes [--count N]... [--fingerprints FILE]\n"
    "Encodes sorted fingerprints in blocks by several codes, checks that they decode to the same, and measures.\n"
    "\n"
    "  --count N            synthetic fingerprints; may be repeated (default 1e6 and 1e7)\n"
    "  --fingerprints FILE  those of a file in place of synthetic ones: 8 bytes each, little-endian\n"
    "  --ways               also own by each way of decoding that the processor has, as many blocks at a time as the\n"
    "                       library decodes\n"
    "\n"
    "Columns, separated by tabs: code; data: uniform, copies-30 and copies-70 (that percentage are copies of other\n"
    "fingerprints with 1 to 3 bits flipped), or file; n (distinct); block_size; bits_per_fingerprint (whole blocks);\n"
    "ns_per_fingerprint (decoding all; median of 5 passes); fingerprints_per_block (mean).\n"
    "\n"
    "interleaved: for each fingerprint the Huffman code of the highest bit of its XOR with the one before, then the\n"
    "bits below that one. elias-fano: differences from the block's first fingerprint, low parts whole, high parts in\n"
    "unary. own: what the index files have. All of them decode by plain C, a block at a time.\n";

/* `encode` puts as many fingerprints as fit into a block of zeros, and returns how many. `decode` returns how many the
 * block has. Both may read and rewrite the 8 bytes behind the block. */
struct code {
    const char *name;
    void (*prepare)(const uint64_t *fingerprints, size_t count, size_t block_size); /* before encoding; may be NULL */
    size_t (*encode)(const uint64_t *fingerprints, size_t count, uint8_t *block, size_t block_size);
    void (*begin)(void); /* before decoding from the first block on; may be NULL */
    size_t (*decode)(const uint8_t *block, size_t block_size, uint64_t *fingerprints);
};

/* ---- Bits: bit i is bit i mod 8 of byte i div 8 ---- */

static inline uint64_t load_word(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return le64toh(word);
}

static inline void store_word(uint8_t *bytes, uint64_t word) {
    word = htole64(word);
    memcpy(bytes, &word, sizeof word);
}

/* `length` is 0 to 63, as everywhere here. */
static inline uint64_t keep_bits(uint64_t value, unsigned length) { return value & ((UINT64_C(1) << length) - 1); }

static inline uint64_t get_bits(const uint8_t *bytes, size_t place, unsigned length) {
    uint64_t bits = load_word(bytes + place / 8) >> place % 8;
    if (place % 8 + length > 64) bits |= (uint64_t)bytes[place / 8 + 8] << (64 - place % 8);
    return keep_bits(bits, length);
}

/* The bits were 0 before. */
static void put_bits(uint8_t *bytes, size_t place, uint64_t value, unsigned length) {
    for (unsigned done = 0; done < length; done += 32) {
        unsigned here = length - done < 32 ? length - done : 32;
        uint8_t *at = bytes + (place + done) / 8;
        store_word(at, load_word(at) | keep_bits(value >> done, here) << (place + done) % 8);
    }
}

static void put_header(uint8_t *block, unsigned count, uint64_t first) {
    block[0] = (uint8_t)(count & 255);
    block[1] = (uint8_t)(count >> 8);
    store_word(block + 2, first);
}

static inline unsigned get_count(const uint8_t *block) { return block[0] | (unsigned)block[1] << 8; }

/* ---- A Huffman code of positions ---- */

#define POSITIONS 64
#define MAX_CODE_LENGTH 12

struct huffman {
    uint8_t lengths[POSITIONS]; /* 0: no code */
    uint16_t codes[POSITIONS];  /* the first bit lowest */
    struct {
        uint8_t length, position;
    } entries[1 << MAX_CODE_LENGTH]; /* by the next bits of the stream */
};

static struct huffman huffman;

/* Takes the rarest node that is left. Weight 0 means that there is no such node, or none any more. */
static unsigned take_rarest(uint64_t *weights, unsigned node_count, uint64_t *weight) {
    unsigned rarest = node_count;
    for (unsigned node = 0; node < node_count; node++) {
        if (weights[node] > 0 && (rarest == node_count || weights[node] < weights[rarest])) rarest = node;
    }
    *weight = rarest < node_count ? weights[rarest] : 0;
    if (rarest < node_count) weights[rarest] = 0;
    return rarest;
}

/* Joins the two rarest nodes until one is left; a code is as long as its leaf is deep. Returns the longest. */
static unsigned make_lengths(const uint64_t counts[POSITIONS], uint8_t lengths[POSITIONS]) {
    uint64_t weights[2 * POSITIONS], one, other;
    unsigned parents[2 * POSITIONS], node_count = POSITIONS, longest = 0;
    memcpy(weights, counts, POSITIONS * sizeof *weights);
    for (;;) {
        unsigned first = take_rarest(weights, node_count, &one), second = take_rarest(weights, node_count, &other);
        if (other == 0) break;
        parents[first] = parents[second] = node_count;
        weights[node_count++] = one + other;
    }
    for (unsigned position = 0; position < POSITIONS; position++) {
        unsigned length = 0;
        if (counts[position] > 0 && node_count == POSITIONS) length = 1; /* it is alone */
        if (counts[position] > 0 && node_count > POSITIONS)
            for (unsigned node = position; node != node_count - 1; node = parents[node]) length++;
        lengths[position] = (uint8_t)length;
        if (length > longest) longest = length;
    }
    return longest;
}

/* The canonical codes, and the entries of the decoder. */
static void make_codes(void) {
    unsigned next = 0;
    memset(huffman.entries, 0, sizeof huffman.entries);
    for (unsigned length = 1; length <= MAX_CODE_LENGTH; length++, next *= 2) {
        for (unsigned position = 0; position < POSITIONS; position++) {
            unsigned code = 0;
            if (huffman.lengths[position] != length) continue;
            for (unsigned bit = 0; bit < length; bit++) code |= (next >> bit & 1) << (length - 1 - bit);
            next++;
            huffman.codes[position] = (uint16_t)code;
            for (unsigned bits = code; bits < 1 << MAX_CODE_LENGTH; bits += 1u << length) {
                huffman.entries[bits].length = (uint8_t)length;
                huffman.entries[bits].position = (uint8_t)position;
            }
        }
    }
}

static unsigned get_position(uint64_t one, uint64_t other) { return (unsigned)__builtin_clzll(one ^ other); }

/* Makes the code of these fingerprints. Where a length is beyond the limit, the counts are made more alike. */
static void make_huffman(const uint64_t *fingerprints, size_t count) {
    uint64_t counts[POSITIONS] = {0};
    for (size_t i = 1; i < count; i++) counts[get_position(fingerprints[i - 1], fingerprints[i])]++;
    while (make_lengths(counts, huffman.lengths) > MAX_CODE_LENGTH) {
        for (unsigned position = 0; position < POSITIONS; position++)
            counts[position] = counts[position] / 2 | (counts[position] > 0);
    }
    make_codes();
}

/* ---- The interleaved code: header; for each fingerprint the code of its position, then its tail ---- */

static void interleaved_prepare(const uint64_t *fingerprints, size_t count, size_t block_size) {
    (void)block_size;
    make_huffman(fingerprints, count);
}

static size_t interleaved_encode(const uint64_t *fingerprints, size_t count, uint8_t *block, size_t block_size) {
    size_t place = HEADER_BITS, made = 1;
    for (; made < count; made++) {
        unsigned position = get_position(fingerprints[made - 1], fingerprints[made]), tail = 63 - position;
        unsigned length = huffman.lengths[position];
        if (place + length + tail > block_size * 8) break;
        put_bits(block, place, huffman.codes[position], length);
        put_bits(block, place + length, keep_bits(fingerprints[made], tail), tail);
        place += length + tail;
    }
    put_header(block, (unsigned)made, fingerprints[0]);
    return made;
}

static size_t interleaved_decode(const uint8_t *block, size_t block_size, uint64_t *fingerprints) {
    size_t count = get_count(block), place = HEADER_BITS;
    uint64_t fingerprint = load_word(block + 2);
    (void)block_size;
    fingerprints[0] = fingerprint;
    for (size_t i = 1; i < count; i++) {
        size_t entry = get_bits(block, place, MAX_CODE_LENGTH);
        unsigned tail = 63 - huffman.entries[entry].position;
        place += huffman.entries[entry].length;
        /* The bit at the position was 0 and is 1. */
        fingerprint = (fingerprint >> tail | 1) << tail | get_bits(block, place, tail);
        place += tail;
        fingerprints[i] = fingerprint;
    }
    return count;
}

/* ---- Elias-Fano: header; high parts in unary from there on; low parts from the block's end down ---- */

#define COUNT_BITS 10 /* of the header's 16; the others have the width */
#define MAX_COUNT ((1u << COUNT_BITS) - 1)
#define MAX_WIDTH 63

static unsigned get_length(uint64_t number) { return 64 - (unsigned)__builtin_clzll(number | 1); }

/* The width of low parts with which `count` differences up to `last` take the fewest bits. One bit more adds `count`
 * bits, and halves the last high part: that saves no more than it adds once it is at most 2 count. */
static unsigned choose_width(size_t count, uint64_t last) {
    unsigned bits = get_length(last), high_bits = get_length(2 * count);
    unsigned width = bits > high_bits ? bits - high_bits : 0;
    if (last >> width > 2 * count) width++;
    return width < MAX_WIDTH ? width : MAX_WIDTH;
}

static bool fits(const uint64_t *fingerprints, size_t differences, size_t room) {
    uint64_t last = fingerprints[differences] - fingerprints[0];
    unsigned width = choose_width(differences, last);
    return differences * (width + 1) + (last >> width) <= room;
}

/* The greatest number of differences, up to `most`, that fit; if some number fits, so do all below. */
static size_t choose_count(const uint64_t *fingerprints, size_t most, size_t room) {
    size_t good = 0, bad = most + 1;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        if (fits(fingerprints, middle, room))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

static size_t elias_fano_encode(const uint64_t *fingerprints, size_t count, uint8_t *block, size_t block_size) {
    size_t most = (count < MAX_COUNT ? count : MAX_COUNT) - 1;
    size_t differences = choose_count(fingerprints, most, block_size * 8 - HEADER_BITS);
    unsigned width = choose_width(differences, fingerprints[differences] - fingerprints[0]);
    put_header(block, width << COUNT_BITS | (unsigned)(differences + 1), fingerprints[0]);
    for (size_t i = 0; i < differences; i++) {
        uint64_t difference = fingerprints[i + 1] - fingerprints[0];
        put_bits(block, HEADER_BITS + i + (difference >> width), 1, 1);
        put_bits(block, block_size * 8 - (i + 1) * width, keep_bits(difference, width), width);
    }
    return differences + 1;
}

static size_t elias_fano_decode(const uint8_t *block, size_t block_size, uint64_t *fingerprints) {
    size_t count = get_count(block) & MAX_COUNT, word = 0, low = block_size * 8;
    unsigned width = get_count(block) >> COUNT_BITS;
    uint64_t first = load_word(block + 2), ones = load_word(block + HEADER_BYTES);
    fingerprints[0] = first;
    for (size_t i = 0; i + 1 < count; i++, ones &= ones - 1) {
        while (ones == 0) ones = load_word(block + HEADER_BYTES + ++word * 8);
        uint64_t high = word * 64 + (unsigned)__builtin_ctzll(ones) - i;
        low -= width;
        fingerprints[i + 1] = first + (high << width | get_bits(block, low, width));
    }
    return count;
}

/* ---- The project's own code, by format/block.h, portably ---- */

static struct {
    struct idxf_encoder encoder;
    struct idxf_decoder decoder;
    struct idxf_bounds bounds; /* of the next block */
} own;

static void own_prepare(const uint64_t *fingerprints, size_t count, size_t block_size) {
    struct idxf_difference_counts counts = {{0}};
    struct idxf_block_form form = {
        64, idxf_choose_anchor_bits(count, 64, (uint32_t)block_size), (uint32_t)block_size, {0, {0}}, false};
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    idxf_count_differences(&counts, fingerprints[0], fingerprints + 1, count - 1, 64);
    idxf_code_choose(&form.code, &counts, 64);
    idxf_encoder_init(&own.encoder, &form);
    idxf_decoder_init(&own.decoder, &form);
    idxf_decoder_ways(ways);
    own.decoder.way = ways[0];
}

static size_t own_encode(const uint64_t *fingerprints, size_t count, uint8_t *block, size_t block_size) {
    (void)block_size;
    return idxf_block_encode(&own.encoder, fingerprints, count, block);
}

static void own_begin(void) { own.bounds = (struct idxf_bounds){0, 0}; }

static size_t own_decode(const uint8_t *block, size_t block_size, uint64_t *fingerprints) {
    size_t faulty;
    enum idxf_fault fault;
    (void)block_size;
    return idxf_blocks_decode(&own.decoder, block, 1, &own.bounds, fingerprints, &faulty, &fault);
}

/* ---- Measuring ---- */

static const struct code codes[] = {
    {"interleaved", interleaved_prepare, interleaved_encode, NULL, interleaved_decode},
    {"elias-fano", NULL, elias_fano_encode, NULL, elias_fano_decode},
    {"own", own_prepare, own_encode, own_begin, own_decode},
};

#define OWN 2

static const size_t block_sizes[] = {64, 1024, MAX_BLOCK_BYTES};

struct blocks {
    const struct code *code;
    const struct idxf_way *way; /* that decodes many blocks of the project's own code at once; or NULL */
    uint8_t *bytes;
    size_t size, count;
};

static uint64_t decode_at_once(const struct blocks *blocks, uint64_t *decoded) {
    uint64_t sum = 0;
    own.decoder.way = blocks->way;
    for (size_t i = 0, most = idxf_blocks_at_once(&own.decoder); i < blocks->count; i += most) {
        size_t faulty, some = blocks->count - i < most ? blocks->count - i : most;
        enum idxf_fault fault;
        size_t count = idxf_blocks_decode(&own.decoder, blocks->bytes + i * blocks->size, some, &own.bounds, decoded,
                                          &faulty, &fault);
        if (count > 0) sum += decoded[count - 1];
    }
    return sum;
}

/* Returns the sum of the last fingerprints of all blocks, so that decoding has a use. */
static uint64_t decode_all(const struct blocks *blocks, uint64_t *decoded) {
    uint64_t sum = 0;
    if (blocks->code->begin != NULL) blocks->code->begin();
    if (blocks->way != NULL) return decode_at_once(blocks, decoded);
    for (size_t i = 0; i < blocks->count; i++)
        sum += decoded[blocks->code->decode(blocks->bytes + i * blocks->size, blocks->size, decoded) - 1];
    return sum;
}

/* Ends the program where the blocks don't decode to the data. */
static void check(const struct blocks *blocks, const struct data *data, uint64_t *decoded) {
    size_t done = 0;
    if (blocks->code->begin != NULL) blocks->code->begin();
    for (size_t i = 0; i < blocks->count; i++) {
        size_t count = blocks->code->decode(blocks->bytes + i * blocks->size, blocks->size, decoded);
        if (count == 0 || count > data->count - done ||
            memcmp(decoded, data->fingerprints + done, count * sizeof *decoded) != 0)
            break;
        done += count;
    }
    if (done == data->count) return;
    fprintf(stderr, "codes: %s, blocks of %zu bytes: fingerprint %zu or one behind it is decoded wrongly\n",
            blocks->code->name, blocks->size, done);
    exit(1);
}

/* False where the code has no blocks of this size. */
static bool encode_all(struct blocks *blocks, const struct data *data) {
    size_t room = data->count * 16 + 2 * blocks->size; /* a block of 64 bytes holds 4 fingerprints at the very least */
    blocks->bytes = huge_new(room + PADDING);
    blocks->count = 0;
    if (blocks->code->prepare != NULL) blocks->code->prepare(data->fingerprints, data->count, blocks->size);
    for (size_t done = 0; done < data->count; blocks->count++) {
        if ((blocks->count + 1) * blocks->size > room) die("%s takes too much room", blocks->code->name);
        size_t made = blocks->code->encode(data->fingerprints + done, data->count - done,
                                           blocks->bytes + blocks->count * blocks->size, blocks->size);
        if (made == 0) break;
        done += made;
    }
    if (blocks->count == 0) huge_free(blocks->bytes, room + PADDING);
    return blocks->count > 0;
}

static void measure(const struct code *code, const struct idxf_way *way, const char *name, const struct data *data,
                    size_t block_size) {
    static uint64_t decoded[MAX_BLOCK_FINGERPRINTS + IDXF_DECODED_ROOM];
    struct blocks blocks = {.code = code, .way = way, .size = block_size};
    double seconds[PASSES], count = (double)data->count;
    uint64_t sum = 0;
    if (!encode_all(&blocks, data)) return;
    check(&blocks, data, decoded);
    for (size_t pass = 0; pass < PASSES; pass++) {
        double begin = now();
        sum += decode_all(&blocks, decoded);
        seconds[pass] = now() - begin;
    }
    sort_doubles(seconds, PASSES);
    printf("%s%s%s\t%s\t%zu\t%zu\t%.2f\t%.2f\t%.1f%s\n", code->name, way == NULL ? "" : " ",
           way == NULL ? "" : way->name, name, data->count, block_size, (double)(blocks.count * block_size) * 8 / count,
           seconds[PASSES / 2] / count * 1e9, count / (double)blocks.count, sum == 0 ? " " : "");
    fflush(stdout);
    huge_free(blocks.bytes, data->count * 16 + 2 * block_size + PADDING);
}

static bool ways_asked_for;

static void measure_data(const char *name, const struct data *data) {
    const struct idxf_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_decoder_ways(ways);
    for (size_t i = 0; i < sizeof block_sizes / sizeof *block_sizes; i++) {
        for (size_t code = 0; code < sizeof codes / sizeof *codes; code++)
            measure(&codes[code], NULL, name, data, block_sizes[i]);
        for (size_t way = 0; ways_asked_for && way < way_count; way++)
            measure(&codes[OWN], ways[way], name, data, block_sizes[i]);
    }
}

static void measure_synthetic(size_t count) {
    static const unsigned percentages[] = {0, 30, 70};
    for (size_t i = 0; i < sizeof percentages / sizeof *percentages; i++) {
        struct data data;
        char name[32] = "uniform";
        if (percentages[i] > 0) snprintf(name, sizeof name, "copies-%u", percentages[i]);
        make_copies(&data, count, percentages[i]);
        measure_data(name, &data);
        free_data(&data);
    }
}

/* ---- The command ---- */

static void measure_file(const char *path) {
    struct data data;
    read_fingerprints(&data, path);
    measure_data("file", &data);
    free_data(&data);
}

int main(int argc, char **argv) {
    struct list counts = {.count = 0};
    const char *path = NULL;
    const struct bench_option names[] = {{"count", OPTION_LIST, &counts, 0, 0},
                                         {"fingerprints", OPTION_TEXT, &path, 0, 0},
                                         {"ways", OPTION_FLAG, &ways_asked_for, 0, 0},
                                         {NULL, OPTION_FLAG, NULL, 0, 0}};
    if (read_options(argc, argv, help, names) > 0) die("%s is no option; see codes --help", argv[1]);
    if (counts.count == 0) counts = (struct list){{"1e6", "1e7"}, 2};
    printf("code\tdata\tn\tblock_size\tbits_per_fingerprint\tns_per_fingerprint\tfingerprints_per_block\n");
    if (path != NULL) measure_file(path);
    for (size_t i = 0; path == NULL && i < counts.count; i++)
        measure_synthetic((size_t)read_number(counts.values[i], 1, 1e12));
    return 0;
}
