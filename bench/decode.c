/* decode.c: how long each way of decoding takes per fingerprint, by block size. The blocks are those of a
 * part of a table of uniform fingerprints that fits into the caches: what is measured is decoding, not memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "bench/random.h"
#include "format/block.h"

#define PASSES 21
#define MEASURED 65536 /* fingerprints */

static const char help[] = "Usage: decode [--count N]\n"
                           "\n"
                           "Prints, separated by tabs under a header line: block_size, way, bits_per_fingerprint (of "
                           "blocks), ns_per_fingerprint\n"
                           "(decoding all blocks; median of 21 passes), for uniform fingerprints as dense as in a "
                           "table of N (default 1e7).\n";

struct blocks {
    uint8_t *bytes;
    size_t count;
    struct idxf_decoder decoder;
};

static int compare_numbers(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Fingerprints of the part of all values that holds MEASURED of `count`. */
static void make_fingerprints(uint64_t *fingerprints, double count) {
    uint64_t state = 88172645463325252u;
    double share = MEASURED / count < 1 ? MEASURED / count : 1;
    for (size_t i = 0; i < MEASURED; i++) {
        uint64_t random = next_xorshift(&state);
        fingerprints[i] = (uint64_t)((double)(random >> 1) * share) << 1 | (state >> 7 & 1);
    }
    qsort(fingerprints, MEASURED, sizeof *fingerprints, compare_numbers);
}

static void encode(struct blocks *blocks, const uint64_t *fingerprints, double count, uint32_t block_size) {
    static struct idxf_encoder encoder;
    struct idxf_difference_counts counts = {{0}};
    struct idxf_block_form form = {
        64, idxf_choose_anchor_bits((uint64_t)count, 64, block_size), block_size, {0, {0}}, false};
    idxf_count_differences(&counts, fingerprints[0], fingerprints + 1, MEASURED - 1, 64);
    idxf_code_choose(&form.code, &counts, 64);
    idxf_encoder_init(&encoder, &form);
    idxf_decoder_init(&blocks->decoder, &form);
    blocks->count = 0;
    for (size_t done = 0; done < MEASURED; blocks->count++)
        done += idxf_block_encode(&encoder, fingerprints + done, MEASURED - done,
                                  blocks->bytes + blocks->count * block_size);
}

/* Returns the sum of some fingerprints. */
static uint64_t decode(const struct blocks *blocks) {
    static uint64_t fingerprints[IDXF_DECODED_ROOM];
    struct idxf_bounds bounds = {0, 0};
    uint64_t sum = 0;
    for (size_t i = 0, most = idxf_blocks_at_once(&blocks->decoder); i < blocks->count; i += most) {
        size_t faulty, some = blocks->count - i < most ? blocks->count - i : most;
        enum idxf_fault fault;
        size_t count = idxf_blocks_decode(&blocks->decoder, blocks->bytes + i * blocks->decoder.block_size, some,
                                          &bounds, fingerprints, &faulty, &fault);
        if (count > 0) sum += fingerprints[0] + fingerprints[count - 1];
    }
    return sum;
}

static void measure(struct blocks *blocks, const struct idxf_way *way) {
    double seconds[PASSES];
    uint64_t sum = 0;
    blocks->decoder.way = way;
    for (size_t pass = 0; pass < PASSES; pass++) {
        double begin = now();
        sum += decode(blocks);
        seconds[pass] = now() - begin;
    }
    sort_doubles(seconds, PASSES);
    printf("%u\t%s\t%.2f\t%.3f\n", blocks->decoder.block_size, way->name,
           (double)blocks->count * blocks->decoder.block_size * 8 / MEASURED, seconds[PASSES / 2] / MEASURED * 1e9);
    if (sum == 0) printf("\n"); /* so that decoding has a use */
}

int main(int argc, char **argv) {
    double count = argc == 3 && strcmp(argv[1], "--count") == 0 ? strtod(argv[2], NULL) : 1e7;
    struct blocks blocks = {.bytes = malloc(MEASURED * 16 + IDXF_MAX_BLOCK_SIZE)};
    uint64_t *fingerprints = malloc(MEASURED * sizeof *fingerprints);
    if ((argc != 1 && argc != 3) || count < 1 || blocks.bytes == NULL || fingerprints == NULL) {
        fputs(help, argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
        return argc == 2 ? 0 : 2;
    }
    make_fingerprints(fingerprints, count);
    printf("block_size\tway\tbits_per_fingerprint\tns_per_fingerprint\n");
    for (uint32_t size = IDXF_MIN_BLOCK_SIZE; size <= IDXF_MAX_BLOCK_SIZE; size *= 2) {
        const struct idxf_way *ways[IDXF_MAX_WAYS];
        size_t way_count = idxf_decoder_ways(ways);
        encode(&blocks, fingerprints, count, size);
        for (size_t i = 0; i < way_count; i++) measure(&blocks, ways[i]);
    }
    free(fingerprints);
    free(blocks.bytes);
    return 0;
}
