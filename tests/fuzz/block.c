/* block.c: fuzzes the decoding and the search of blocks. An input is: bits, block size, bits of short anchors, bits of
 * near differences, 64 code lengths, `above` and `floor` (8 bytes each), then the block, filled up with zeros to its
 * size, then searches of SEARCH bytes each: low, high, query and distance. Lengths that make no code are taken as
 * counts of differences to make one from. All ways must agree; what decodes must be within the rules, and encode to a
 * block that decodes to the same; and a search must find what going through all fingerprints finds. */
#include "format/block.h"

#include "tests/format/hits.h"
#include "tests/fuzz/fuzz.h"

enum { SETTINGS = 4 + IDXF_CLASSES + 16, SEARCH = 25 };

struct decoded {
    size_t count, faulty;
    enum idxf_fault fault, padding;
    struct idxf_bounds next;
    uint64_t *fingerprints; /* of exactly the room that there must be */
};

struct wanted {
    uint64_t low, high, query;
    unsigned distance;
};

/* ---- Decoding ---- */

static void decode(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds bounds,
                   struct decoded *decoded) {
    decoded->fingerprints = calloc(idxf_get_decoded_capacity(decoder), sizeof *decoded->fingerprints);
    CHECK(decoded->fingerprints != NULL);
    decoded->next = bounds;
    decoded->count =
        idxf_blocks_decode(decoder, block, 1, &decoded->next, decoded->fingerprints, &decoded->faulty, &decoded->fault);
    decoded->padding = decoded->fault == IDXF_OK ? idxf_block_check_padding(decoder, block, bounds) : IDXF_OK;
}

/* What decodes ascends, from the floor on, up to the key, which is where it was looked for. */
static void check_rules(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds bounds,
                        const struct decoded *decoded) {
    CHECK(decoded->faulty == (decoded->fault == IDXF_OK));
    if (decoded->fault != IDXF_OK) CHECK(decoded->count == 0);
    if (decoded->fault != IDXF_OK) return;
    unsigned align = 64 - decoder->bits;
    CHECK(decoded->count >= 1 && decoded->count <= IDXF_MAX_BLOCK_FINGERPRINTS);
    CHECK(decoded->fingerprints[0] >> align >= bounds.floor);
    for (size_t i = 0; i < decoded->count; i++) {
        CHECK((decoded->fingerprints[i] & idxf_low_bits(align)) == 0);
        CHECK(i == 0 || decoded->fingerprints[i] > decoded->fingerprints[i - 1]);
    }
    uint64_t key = decoded->fingerprints[decoded->count - 1] >> align;
    CHECK(key >= bounds.above && key == idxf_block_read_anchor(decoder, block, bounds.above).key);
    CHECK(key == UINT64_MAX || (decoded->next.above == key + 1 && decoded->next.floor == key + 1));
    CHECK(decoded->padding == IDXF_OK || decoded->padding == IDXF_FAULT_PADDING);
}

static void check_same(const struct decoded *a, const struct decoded *b) {
    CHECK(a->fault == b->fault && a->count == b->count && a->faulty == b->faulty && a->padding == b->padding);
    CHECK(memcmp(a->fingerprints, b->fingerprints, a->count * sizeof *a->fingerprints) == 0);
}

/* ---- Encoding ---- */

/* Encodes all that decoded, in blocks one after the other; they decode to the same, and have no padding. */
static void check_encoding(const struct idxf_decoder *decoder, const struct idxf_block_form *form,
                           const struct decoded *decoded) {
    static struct idxf_encoder encoder;
    struct idxf_bounds bounds = {0, 0};
    idxf_encoder_init(&encoder, form);
    for (size_t done = 0; done < decoded->count;) {
        uint8_t *block = malloc(form->block_size);
        struct decoded again;
        CHECK(block != NULL);
        size_t made = idxf_block_encode(&encoder, decoded->fingerprints + done, decoded->count - done, block);
        CHECK(made >= 1 && made <= decoded->count - done);
        decode(decoder, block, bounds, &again);
        CHECK(again.fault == IDXF_OK && again.padding == IDXF_OK && again.count == made);
        CHECK(memcmp(again.fingerprints, decoded->fingerprints + done, made * sizeof *again.fingerprints) == 0);
        bounds = again.next;
        done += made;
        free(again.fingerprints);
        free(block);
    }
}

/* ---- Searching ---- */

/* Searches some of the chains of a block, with `distance`, in one way. */
static struct hits *search(struct idxf_decoder *decoder, const struct idxf_decoder_way *way,
                           const struct idxf_chain *chains, const struct wanted *wanted, unsigned count) {
    struct hits *hits = malloc(sizeof *hits);
    struct idxf_lanes lanes;
    CHECK(hits != NULL);
    memset(&lanes, 0xFF, sizeof lanes);
    for (unsigned i = 0; i < count; i++) {
        lanes.blocks[i] = chains[i].block;
        lanes.keys[i] = chains[i].key;
        lanes.begins[i] = chains[i].begin;
        lanes.ends[i] = chains[i].end;
        lanes.low[i] = wanted->low;
        lanes.high[i] = wanted->high;
        lanes.queries[i] = wanted->query;
    }
    decoder->way = way;
    search_all(decoder, &lanes, count, wanted->distance, hits);
    return hits;
}

/* Whether two searches found the same in each lane, in the same order. */
static void check_same_hits(const struct hits *a, const struct hits *b) {
    CHECK(a->count == b->count);
    for (unsigned lane = 0; lane < IDXF_LANES; lane++) {
        size_t at = 0;
        for (size_t i = 0; i < a->count; i++) {
            if (a->lanes[i] != lane) continue;
            while (at < b->count && b->lanes[at] != lane) at++;
            CHECK(at < b->count && a->fingerprints[i] == b->fingerprints[at]);
            at++;
        }
    }
}

/* A valid block's hits, padding included, are those that a look at all its fingerprints finds; each chain stands in one
 * lane of `copies`.
 */
static void check_hits(const struct hits *hits, const struct decoded *decoded, unsigned align, unsigned copies,
                       const struct wanted *wanted) {
    size_t expected = 0;
    for (size_t i = 0; i < decoded->count; i++) {
        uint64_t x = decoded->fingerprints[i] >> align;
        if (x < wanted->low || x > wanted->high) continue;
        if ((unsigned)__builtin_popcountll(x ^ wanted->query) > wanted->distance) continue;
        size_t found = 0;
        for (size_t hit = 0; hit < hits->count; hit++) found += hits->fingerprints[hit] == x;
        CHECK(found == copies);
        expected += copies;
    }
    CHECK(hits->count == expected);
}

static void check_search(struct idxf_decoder *decoder, const struct idxf_chain *chains, unsigned chain_count,
                         const struct decoded *decoded, const struct wanted *wanted) {
    struct idxf_chain lanes[IDXF_LANES];
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_list_decoder_ways(ways);
    unsigned copies = IDXF_LANES / chain_count, count = copies * chain_count;
    if (wanted->low > wanted->high) return;
    for (unsigned i = 0; i < count; i++) lanes[i] = chains[i % chain_count];
    struct hits *first = search(decoder, ways[0], lanes, wanted, count);
    for (size_t way = 1; way < way_count; way++) {
        struct hits *hits = search(decoder, ways[way], lanes, wanted, count);
        check_same_hits(first, hits);
        free(hits);
    }
    if (decoded->fault == IDXF_OK && decoded->padding == IDXF_OK)
        check_hits(first, decoded, 64 - decoder->bits, copies, wanted);
    free(first);
}

/* The searches of an input, and some for what the block has. */
static void check_searches(struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds bounds,
                           const struct decoded *decoded, const uint8_t *searches, size_t size) {
    struct idxf_chain chains[IDXF_MAX_CHAINS];
    enum idxf_fault fault = IDXF_OK;
    unsigned count = idxf_block_list_chains(decoder, block, bounds, chains, &fault);
    CHECK((count == 0) == (fault != IDXF_OK));
    if (count == 0) return;
    uint64_t most = idxf_low_bits(decoder->bits), key = chains[count - 1].key, half = key / 2;
    const struct wanted known[] = {
        {0, most, 0, 64}, {key, key, key, 0}, {half, most, key, decoder->bits / 2}, {0, half, ~key & most, 3}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) check_search(decoder, chains, count, decoded, &known[i]);
    for (; size >= SEARCH; searches += SEARCH, size -= SEARCH) {
        struct wanted wanted = {idxf_load64(searches) & most, idxf_load64(searches + 8) & most,
                                idxf_load64(searches + 16) & most, searches[24]};
        check_search(decoder, chains, count, decoded, &wanted);
    }
}

/* ---- The target ---- */

static void check_block(const struct idxf_block_form *form, const uint8_t *block, struct idxf_bounds bounds,
                        const uint8_t *searches, size_t searches_size) {
    static struct idxf_decoder decoder;
    struct decoded decoded, other;
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    size_t way_count = idxf_list_decoder_ways(ways);
    idxf_decoder_init(&decoder, form);
    decoder.way = ways[0];
    decode(&decoder, block, bounds, &decoded);
    check_rules(&decoder, block, bounds, &decoded);
    for (size_t i = 1; i < way_count; i++) {
        decoder.way = ways[i];
        decode(&decoder, block, bounds, &other);
        check_same(&decoded, &other);
        free(other.fingerprints);
    }
    if (decoded.fault == IDXF_OK) check_encoding(&decoder, form, &decoded);
    check_searches(&decoder, block, bounds, &decoded, searches, searches_size);
    free(decoded.fingerprints);
}

/* The code of an input, or one made from it. */
static void make_code(const uint8_t *data, unsigned bits, struct idxf_code *code) {
    struct idxf_difference_counts counts = {{0}};
    code->near_bits = data[3];
    memcpy(code->lengths, data + 4, IDXF_CLASSES);
    if (idxf_code_check(code, bits) == IDXF_OK) return;
    for (unsigned i = 1; i < IDXF_CLASSES; i++) counts.of[i] = data[3 + i];
    idxf_code_choose(code, &counts, bits);
    CHECK(idxf_code_check(code, bits) == IDXF_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t whole[IDXF_MAX_BLOCK_SIZE] = {0};
    struct idxf_block_form form;
    if (size < SETTINGS) return 0;
    form.bits = 1 + data[0] % 64;
    form.block_size = (uint32_t)IDXF_MIN_BLOCK_SIZE << data[1] % 7;
    form.long_codes = form.block_size == IDXF_MIN_BLOCK_SIZE && data[1] / 7 % 2;
    form.anchor_bits = 1 + data[2] % (form.bits < IDXF_MAX_ANCHOR_BITS ? form.bits : IDXF_MAX_ANCHOR_BITS);
    make_code(data, form.bits, &form.code);
    uint64_t most = idxf_low_bits(form.bits), floor = idxf_load64(data + SETTINGS - 8) & most;
    struct idxf_bounds bounds = {idxf_load64(data + SETTINGS - 16) & most, floor};
    if (floor > bounds.above) bounds.floor = 0;
    size_t given = size - SETTINGS < form.block_size ? size - SETTINGS : form.block_size;
    memcpy(whole, data + SETTINGS, given);
    uint8_t *block = copy_exactly(whole, form.block_size);
    check_block(&form, block, bounds, data + SETTINGS + given, size - SETTINGS - given);
    free(block);
    return 0;
}
