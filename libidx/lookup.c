/* lookup.c: finds the fingerprints within a distance (SPEC.md, chapter 10). The probes of a query go through their
 * stages together, so that one's wait for memory overlaps the others'. A match that several tables find belongs to the
 * first of them: nothing is remembered, allocated or locked. */
#include <string.h>

#include "libidx/error.h"
#include "libidx/index.h"

/* Probes that are staged together. */
#define STAGED_PROBES 64
/* Lines of a block that are asked for ahead; the processor's own prefetcher follows with the rest. */
#define PREFETCHED_LINES 6
#define LINE_BYTES 64

/* One prefix looked for in one table: the permuted fingerprints from low to high. */
struct probe {
    uint32_t table;
    uint64_t query; /* permuted */
    uint64_t low, high;
    uint64_t first, last; /* blocks; first alone once it is found */
};

struct search {
    const struct idx_index *index;
    size_t segment;
    uint64_t query;
    unsigned distance;
    idx_match_visitor visit;
    void *context;
    struct idx_error *error;
    bool stopped;

    struct probe probes[STAGED_PROBES];
    size_t probe_count;
    /* The blocks of `current_table` below `next_block` were decoded. */
    size_t current_table;
    uint64_t next_block;
};

static const struct idxi_table *get_table(const struct search *search, size_t table) {
    return &search->index->segments[search->segment].tables[table];
}

/* ---- Matches ---- */

/* Whether the table lets the error pattern through. Few bits are cleared faster than counted. */
static inline bool lets_through(const struct idx_table *table, uint64_t errors) {
    errors &= table->mask;
    for (unsigned i = 0; i < table->radius; i++) errors &= errors - 1;
    return errors == 0;
}

/* Whether the table is the first that lets the error pattern through, and so the one to report the match. */
static bool owns(const struct search *search, size_t table, uint64_t errors) {
    const struct idx_table *tables = search->index->scheme.tables;
    for (size_t i = 0; i < table; i++) {
        if (lets_through(&tables[i], errors)) return false;
    }
    return lets_through(&tables[table], errors);
}

static enum idx_status has_earlier_segment(const struct search *search, uint64_t fingerprint, bool *earlier) {
    *earlier = false;
    for (size_t i = 0; i < search->segment && !*earlier; i++)
        IDXI_TRY(idxi_segment_contains(search->index, i, fingerprint, earlier, search->error));
    return IDX_OK;
}

static enum idx_status report(struct search *search, size_t table, uint64_t permuted) {
    uint64_t fingerprint = idxf_unpermute(&get_table(search, table)->permutation, permuted);
    uint64_t errors = fingerprint ^ search->query;
    bool earlier;
    if (!owns(search, table, errors)) return IDX_OK;
    IDXI_TRY(has_earlier_segment(search, fingerprint, &earlier));
    if (earlier) return IDX_OK;
    struct idx_match match = {fingerprint, (unsigned)__builtin_popcountll(errors)};
    search->stopped = !search->visit(search->context, &match);
    return IDX_OK;
}

/* Compares a block's fingerprints from `low` to `high` with the permuted query. */
static enum idx_status scan_block(struct search *search, size_t table_number, uint64_t block, uint64_t query,
                                  uint64_t low, uint64_t high) {
    const struct idxi_table *table = get_table(search, table_number);
    struct idxf_block_cursor cursor;
    uint64_t fingerprints[IDXF_CHUNK];
    uint8_t near[IDXF_CHUNK];
    size_t count;
    IDXI_TRY(idxi_table_check(table, idxi_table_block_offset(table, block), search->error));
    idxf_block_begin(&cursor, table->decoder, idxi_table_block(table, block));
    cursor.high = high;
    while ((count = idxf_block_next(&cursor, fingerprints)) > 0) {
        size_t first = count;
        while (first > 0 && fingerprints[first - 1] >= low) first--;
        size_t found = search->index->compare(fingerprints + first, count - first, query, search->distance, near);
        for (size_t i = 0; i < found && !search->stopped; i++)
            IDXI_TRY(report(search, table_number, fingerprints[first + near[i]]));
        if (search->stopped) return IDX_OK;
    }
    if (cursor.fault == IDXF_OK) return IDX_OK;
    return idxi_fail_fault(search->error, cursor.fault, table->path, idxi_table_block_offset(table, block));
}

/* ---- Stages ---- */

static inline void prefetch(const uint8_t *address) { __builtin_prefetch(address, 0, 3); }

static void prefetch_directory(const struct search *search, const struct probe *probe) {
    const struct idxi_table *table = get_table(search, probe->table);
    unsigned bits = table->header.directory_bits;
    if (bits > 0) prefetch(table->directory + (probe->low >> (64 - bits)) * 4);
}

static enum idx_status find_range(const struct search *search, struct probe *probe) {
    const struct idxi_table *table = get_table(search, probe->table);
    IDXI_TRY(idxi_table_get_range(table, probe->low, &probe->first, &probe->last, search->error));
    prefetch(table->keys + probe->first * 8);
    return IDX_OK;
}

static enum idx_status find_block(const struct search *search, struct probe *probe) {
    const struct idxi_table *table = get_table(search, probe->table);
    IDXI_TRY(idxi_table_find_block(table, probe->low, probe->first, probe->last, &probe->first, search->error));
    if (probe->first == table->header.blocks) return IDX_OK;
    const uint8_t *block = idxi_table_block(table, probe->first);
    for (size_t line = 0; line < PREFETCHED_LINES && line * LINE_BYTES < table->header.block_size; line++)
        prefetch(block + line * LINE_BYTES);
    return IDX_OK;
}

/* Scans the probe's blocks that were not scanned for the one before it in the same table. */
static enum idx_status scan_blocks(struct search *search, const struct probe *probe) {
    const struct idxi_table *table = get_table(search, probe->table);
    /* A block that other probes of the same table fall into is scanned for all of them. */
    bool is_shared = search->index->scheme.tables[probe->table].radius > 0;
    uint64_t low = is_shared ? 0 : probe->low, high = is_shared ? UINT64_MAX : probe->high;
    uint64_t block = probe->first;
    if (search->current_table != probe->table) {
        search->current_table = probe->table;
        search->next_block = 0;
    }
    for (; block < table->header.blocks && !search->stopped; block++) {
        uint64_t key;
        if (block >= search->next_block) {
            IDXI_TRY(scan_block(search, probe->table, block, probe->query, low, high));
            search->next_block = block + 1;
        }
        IDXI_TRY(idxi_table_get_key(table, block, &key, search->error));
        if (key >= probe->high) break;
    }
    return IDX_OK;
}

static enum idx_status run_probes(struct search *search) {
    size_t count = search->probe_count;
    search->probe_count = 0;
    for (size_t i = 0; i < count; i++) IDXI_TRY(find_range(search, &search->probes[i]));
    for (size_t i = 0; i < count; i++) IDXI_TRY(find_block(search, &search->probes[i]));
    for (size_t i = 0; i < count && !search->stopped; i++) IDXI_TRY(scan_blocks(search, &search->probes[i]));
    return IDX_OK;
}

static enum idx_status add_probe(struct search *search, size_t table, uint64_t query, uint64_t low, unsigned prefix) {
    struct probe *probe = &search->probes[search->probe_count++];
    *probe = (struct probe){(uint32_t)table, query, low, low | idxf_low_bits(64 - prefix), 0, 0};
    prefetch_directory(search, probe);
    return search->probe_count == STAGED_PROBES ? run_probes(search) : IDX_OK;
}

/* Adds a probe for each prefix within `radius` of the query's, ascending: the `prefix` bits of `low` are settled down
 * to bit `bit`; of the bits below, the query's are taken, each or its opposite, 0 before 1. */
static enum idx_status add_probes(struct search *search, size_t table, unsigned prefix, uint64_t query, uint64_t low,
                                  unsigned bit, unsigned radius) {
    unsigned end = 64 - prefix;
    if (radius == 0 || bit == end)
        return add_probe(search, table, query, low | (query & idxf_low_bits(bit) & ~idxf_low_bits(end)), prefix);
    bit--;
    uint64_t one = UINT64_C(1) << bit;
    bool is_one = (query & one) != 0;
    IDXI_TRY(add_probes(search, table, prefix, query, low, bit, is_one ? radius - 1 : radius));
    return add_probes(search, table, prefix, query, low | one, bit, is_one ? radius : radius - 1);
}

static enum idx_status search_segment(struct search *search) {
    const struct idx_scheme *scheme = &search->index->scheme;
    search->current_table = SIZE_MAX;
    for (size_t table = 0; table < scheme->table_count && !search->stopped; table++) {
        const struct idxi_table *reader = get_table(search, table);
        unsigned radius = scheme->tables[table].radius;
        if (reader->header.blocks == 0) continue;
        IDXI_TRY(add_probes(search, table, reader->prefix, idxf_permute(&reader->permutation, search->query), 0, 64,
                            radius < search->distance ? radius : search->distance));
    }
    return search->stopped ? IDX_OK : run_probes(search);
}

/* ---- Public ---- */

enum idx_status idx_visit_matches(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                                  idx_match_visitor visit, void *context, struct idx_error *error) {
    struct search search;
    if ((fingerprint & ~idxf_low_bits(index->manifest->bits)) != 0)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "fingerprint %016llx has more than the index's %u bits",
                         (unsigned long long)fingerprint, index->manifest->bits);
    if (distance > index->manifest->k)
        return idxi_fail(error, IDX_BAD_DISTANCE, index->path,
                         "answers distances up to %u, not %u: ask for less, or build an index with -k %u",
                         index->manifest->k, distance, distance);
    search.index = index;
    search.query = fingerprint;
    search.distance = distance;
    search.visit = visit;
    search.context = context;
    search.error = error;
    search.stopped = false;
    search.probe_count = 0;
    for (search.segment = 0; search.segment < index->manifest->segment_count && !search.stopped; search.segment++)
        IDXI_TRY(search_segment(&search));
    return IDX_OK;
}

static bool stop_at_first(void *context, const struct idx_match *match) {
    (void)match;
    *(bool *)context = true;
    return false;
}

enum idx_status idx_exists(const struct idx_index *index, uint64_t fingerprint, unsigned distance, bool *exists,
                           struct idx_error *error) {
    bool found = false;
    IDXI_TRY(idx_visit_matches(index, fingerprint, distance, stop_at_first, &found, error));
    *exists = found;
    return IDX_OK;
}

enum idx_status idxi_segment_contains(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                      bool *contains, struct idx_error *error) {
    const struct idxi_table *table = &index->segments[segment].tables[0];
    uint64_t permuted = idxf_permute(&table->permutation, fingerprint), first, last, block;
    uint64_t fingerprints[IDXF_CHUNK];
    struct idxf_block_cursor cursor;
    size_t count;
    *contains = false;
    IDXI_TRY(idxi_table_get_range(table, permuted, &first, &last, error));
    IDXI_TRY(idxi_table_find_block(table, permuted, first, last, &block, error));
    if (block == table->header.blocks) return IDX_OK;
    IDXI_TRY(idxi_table_check(table, idxi_table_block_offset(table, block), error));
    idxf_block_begin(&cursor, table->decoder, idxi_table_block(table, block));
    while ((count = idxf_block_next(&cursor, fingerprints)) > 0) {
        for (size_t i = 0; i < count; i++) *contains |= fingerprints[i] == permuted;
    }
    if (cursor.fault == IDXF_OK) return IDX_OK;
    return idxi_fail_fault(error, cursor.fault, table->path, idxi_table_block_offset(table, block));
}

/* ---- The nearest matches ---- */

/* A heap of the nearest matches so far, the farthest of them on top. */
struct nearest {
    struct idx_match *matches;
    size_t capacity;
    size_t count; /* found, in the heap or not */
};

static bool is_farther(const struct idx_match *a, const struct idx_match *b) {
    return a->distance != b->distance ? a->distance > b->distance : a->fingerprint > b->fingerprint;
}

static void swap(struct idx_match *a, struct idx_match *b) {
    struct idx_match other = *a;
    *a = *b;
    *b = other;
}

static void sift_down(struct idx_match *matches, size_t count, size_t at) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && is_farther(&matches[child + 1], &matches[child])) child++;
        if (!is_farther(&matches[child], &matches[at])) return;
        swap(&matches[child], &matches[at]);
        at = child;
    }
}

static bool keep_nearest(void *context, const struct idx_match *match) {
    struct nearest *nearest = context;
    size_t at = nearest->count++;
    if (at < nearest->capacity) {
        nearest->matches[at] = *match;
        for (; at > 0 && is_farther(&nearest->matches[at], &nearest->matches[(at - 1) / 2]); at = (at - 1) / 2)
            swap(&nearest->matches[at], &nearest->matches[(at - 1) / 2]);
    } else if (nearest->capacity > 0 && is_farther(&nearest->matches[0], match)) {
        nearest->matches[0] = *match;
        sift_down(nearest->matches, nearest->capacity, 0);
    }
    return true;
}

enum idx_status idx_lookup(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                           struct idx_match *matches, size_t capacity, size_t *match_count, struct idx_error *error) {
    struct nearest nearest = {matches, capacity, 0};
    IDXI_TRY(idx_visit_matches(index, fingerprint, distance, keep_nearest, &nearest, error));
    for (size_t left = nearest.count < capacity ? nearest.count : capacity; left > 1; left--) {
        swap(&matches[0], &matches[left - 1]);
        sift_down(matches, left - 1, 0);
    }
    *match_count = nearest.count;
    return IDX_OK;
}

/* ---- All fingerprints ---- */

static enum idx_status visit_block(struct search *search, uint64_t block) {
    const struct idxi_table *table = get_table(search, 0);
    struct idxf_block_cursor cursor;
    uint64_t fingerprints[IDXF_CHUNK];
    size_t count;
    IDXI_TRY(idxi_table_check(table, idxi_table_block_offset(table, block), search->error));
    idxf_block_begin(&cursor, table->decoder, idxi_table_block(table, block));
    while ((count = idxf_block_next(&cursor, fingerprints)) > 0) {
        for (size_t i = 0; i < count && !search->stopped; i++) {
            struct idx_match match = {idxf_unpermute(&table->permutation, fingerprints[i]), 0};
            bool earlier;
            IDXI_TRY(has_earlier_segment(search, match.fingerprint, &earlier));
            if (!earlier) search->stopped = !search->visit(search->context, &match);
        }
    }
    if (cursor.fault == IDXF_OK) return IDX_OK;
    return idxi_fail_fault(search->error, cursor.fault, table->path, idxi_table_block_offset(table, block));
}

enum idx_status idx_visit_all(const struct idx_index *index, idx_match_visitor visit, void *context,
                              struct idx_error *error) {
    struct search search = {.index = index, .visit = visit, .context = context, .error = error};
    for (search.segment = 0; search.segment < index->manifest->segment_count; search.segment++) {
        uint64_t blocks = get_table(&search, 0)->header.blocks;
        for (uint64_t block = 0; block < blocks && !search.stopped; block++) IDXI_TRY(visit_block(&search, block));
    }
    return IDX_OK;
}
