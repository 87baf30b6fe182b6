/* chain.c: decodes and searches chains of differences (SPEC.md, chapter 6), one after the other, portably or with BMI2.
 * chain_avx512.c takes eight side by side. */
#include "format/chain.h"

/* This is the state of following a chain, from its last fingerprint downwards. */
struct walk {
    const uint8_t *block;
    uint64_t codes;   /* those to come, of a small block */
    uint64_t current; /* the fingerprint that was reached */
    size_t next_code; /* the bit of the block at which the next code begins */
    size_t tail_end;  /* the bit before which the next tail ends */
    size_t codes_end; /* the bit before which all codes end in a sound block */
    size_t size;      /* of the block, bytes */
};

/* Begins a walk at the key of a chain, whose codes begin at bit `begin` of the block and whose tails end before bit
 * `end`. Here and below, `small` is decoder->is_small, as a constant: each function is compiled once for either. */
IDXF_INLINE struct walk begin_walk(const struct idxf_decoder *decoder, const uint8_t *block, uint64_t key, size_t begin,
                                   size_t end, bool small) {
    struct walk walk = {.block = block,
                        .current = key,
                        .next_code = begin,
                        .tail_end = end,
                        .codes_end = end,
                        .size = decoder->block_size};
    if (!small) return walk;
    walk.codes = idxf_get_small_codes(block, begin);
    if (end > begin + IDXF_MAX_CODES_BITS) walk.codes_end = begin + IDXF_MAX_CODES_BITS;
    return walk;
}

/* Goes down to the next fingerprint. Returns false if there is none: the difference is 0, or its code and its tail
 * would overlap. `check_codes_end`: also where codes end behind walk->codes_end. Searches do without that: behind the
 * word of a small block's codes they read 0 bits, with which the chain of a sound block ends all the same. */
IDXF_INLINE bool step_down(const struct idxf_decoder *decoder, struct walk *walk, bool small, bool check_codes_end) {
    uint64_t codes = small ? walk->codes : idxf_peek_bits(walk->block, walk->size, walk->next_code);
    size_t next_bits = codes % IDXF_CLASSES, tail = decoder->tails[next_bits], end_byte = (walk->tail_end + 7) / 8;
    size_t code_end = walk->next_code + decoder->lengths[next_bits];
    if (code_end + tail > walk->tail_end || (check_codes_end && code_end > walk->codes_end)) return false;
    if (__builtin_expect(end_byte < 8, 0)) end_byte = 8; /* so that no byte before the block is loaded */
    /* The word that ends with the tail, which then has the highest bits. */
    uint64_t word = idxf_load64(walk->block + end_byte - 8) << (end_byte * 8 - walk->tail_end);
    uint64_t difference = idxf_get_first_bits(word, (unsigned)tail) | decoder->leads[next_bits];
    if (difference == 0) return false;
    walk->codes = codes >> decoder->lengths[next_bits];
    walk->next_code = code_end;
    walk->tail_end -= tail;
    walk->current -= difference;
    return true;
}

/* Searches one chain as idxf_search does. The first loop skips the fingerprints above `high`. Returns false where
 * hits->take ends the whole search. */
IDXF_INLINE bool search_lane(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned lane,
                             unsigned distance, struct idxf_hits *hits, bool small) {
    struct walk walk =
        begin_walk(decoder, lanes->blocks[lane], lanes->keys[lane], lanes->begins[lane], lanes->ends[lane], small);
    uint64_t low = lanes->low[lane], high = lanes->high[lane], query = lanes->queries[lane];
    unsigned steps_left = IDXF_MAX_BLOCK_FINGERPRINTS; /* for damaged blocks; a small one ends before it has as many */
    while (walk.current > high) {
        if (!step_down(decoder, &walk, small, false) || (!small && steps_left-- == 0)) return true;
    }
    while (walk.current >= low) {
        if (walk.current <= high && idxf_count_bits(walk.current ^ query) <= distance) {
            hits->fingerprints[hits->count] = walk.current;
            hits->lanes[hits->count++] = (uint8_t)lane;
            if (hits->count == IDXF_HITS && !hits->take(hits)) return false;
        }
        if (!step_down(decoder, &walk, small, false) || (!small && steps_left-- == 0)) return true;
    }
    return true;
}

/* Does what idxf_search says: searches one lane after the other, and stops where hits->take ends the search. */
IDXF_INLINE void search_lanes(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                              unsigned distance, struct idxf_hits *hits) {
    bool goes_on = true;
    for (unsigned lane = 0; lane < count && goes_on; lane++) {
        if (decoder->is_small)
            goes_on = search_lane(decoder, lanes, lane, distance, hits, true);
        else
            goes_on = search_lane(decoder, lanes, lane, distance, hits, false);
    }
}

#define COPY_STEP 4 /* fingerprints that are copied at a time */

/* Decodes the fingerprints of a chain, left-aligned and ascending. Returns their number, or 0 if the chain is faulty:
 * one is below the floor or, by wrapping, not below the one before. Up to COPY_STEP words behind are overwritten. */
IDXF_INLINE size_t decode_chain(const struct idxf_decoder *decoder, const struct idxf_chain *chain,
                                uint64_t *fingerprints, bool small) {
    struct walk walk = begin_walk(decoder, chain->block, chain->key, chain->begin, chain->end, small);
    uint64_t descending[IDXF_MAX_BLOCK_FINGERPRINTS + 1 + COPY_STEP],
        *descending_end = descending + idxf_get_max_decoded(small), *next = descending_end;
    unsigned align_bits = 64 - decoder->bits;
    uint64_t above = walk.current;
    do {
        bool has_wrapped = walk.current > above;
        if (walk.current < chain->floor || has_wrapped) return 0;
        above = walk.current;
        *--next = walk.current << align_bits;
    } while (next > descending && step_down(decoder, &walk, small, true));
    size_t count = (size_t)(descending_end - next);
    for (size_t i = 0; i < count; i += COPY_STEP) memcpy(fingerprints + i, next + i, COPY_STEP * sizeof *next);
    return count;
}

/* Decodes one chain after the other. The fingerprints of each follow those of the chain before. */
IDXF_INLINE void decode_chains(const struct idxf_decoder *decoder, const struct idxf_chain *chains, unsigned count,
                               uint64_t *fingerprints, size_t counts[IDXF_LANES]) {
    for (unsigned i = 0; i < count; i++) {
        if (decoder->is_small)
            counts[i] = decode_chain(decoder, &chains[i], fingerprints, true);
        else
            counts[i] = decode_chain(decoder, &chains[i], fingerprints, false);
        fingerprints += counts[i];
    }
}

/* Does what search_lanes does, with instructions that every processor has. */
static void search_lanes_portable(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes, unsigned count,
                                  unsigned distance, struct idxf_hits *hits) {
    search_lanes(decoder, lanes, count, distance, hits);
}

/* Does what decode_chains does, with instructions that every processor has. */
static void decode_chains_portable(const struct idxf_decoder *decoder, const struct idxf_chain *chains, unsigned count,
                                   uint64_t *fingerprints, size_t counts[IDXF_LANES]) {
    decode_chains(decoder, chains, count, fingerprints, counts);
}

static const struct idxf_decoder_way portable_way = {"portable", search_lanes_portable, decode_chains_portable};

enum idxf_fault idxf_block_check_padding(const struct idxf_decoder *decoder, const uint8_t *block,
                                         struct idxf_bounds bounds) {
    struct idxf_chain chains[IDXF_MAX_CHAINS];
    enum idxf_fault fault = IDXF_OK;
    unsigned count = idxf_block_list_chains(decoder, block, bounds, chains, &fault);
    if (count > 0 && !idxf_are_unused_entries_zero(decoder, block, count)) return IDXF_FAULT_PADDING;
    for (unsigned i = 0; i < count; i++) {
        struct walk walk = begin_walk(decoder, block, chains[i].key, chains[i].begin, chains[i].end, decoder->is_small);
        while (step_down(decoder, &walk, decoder->is_small, true)) continue;
        if (!idxf_are_bits_zero(block, walk.next_code, walk.tail_end)) return IDXF_FAULT_PADDING;
    }
    return fault;
}

#ifdef IDXF_X86
/* Does what search_lanes does, with BMI2. */
IDXF_BMI2 static void search_lanes_bmi2(const struct idxf_decoder *decoder, const struct idxf_lanes *lanes,
                                        unsigned count, unsigned distance, struct idxf_hits *hits) {
    search_lanes(decoder, lanes, count, distance, hits);
}

/* Does what decode_chains does, with BMI2. */
IDXF_BMI2 static void decode_chains_bmi2(const struct idxf_decoder *decoder, const struct idxf_chain *chains,
                                         unsigned count, uint64_t *fingerprints, size_t counts[IDXF_LANES]) {
    decode_chains(decoder, chains, count, fingerprints, counts);
}

static const struct idxf_decoder_way bmi2_way = {"bmi2", search_lanes_bmi2, decode_chains_bmi2};
#endif

size_t idxf_list_decoder_ways(const struct idxf_decoder_way *ways[IDXF_MAX_WAYS]) {
    size_t count = 0;
    ways[count++] = &portable_way;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) ways[count++] = &bmi2_way;
    if (idxf_has_avx512()) ways[count++] = &idxf_avx512_way;
#endif
    return count;
}
