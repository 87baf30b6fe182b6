/* passing_compare.c: compares fingerprints with the queries of a table that have the same key, with the widest
 * instructions that the processor has. It compares the XOR of both halves first, which rejects most. */
#include "libidx/batch/passing.h"

/* Whether no table before has all of its bits the same: then this one reports the match. */
static bool owns(const struct idxi_meeting *meeting, uint64_t errors) {
    const struct idxi_query_table *tables = meeting->tables->tables;
    for (size_t i = 0; i < meeting->number; i++) {
        if ((errors & tables[i].mask) == 0) return false;
    }
    return (errors & meeting->table->mask) == 0;
}

/* Compares the candidates with their queries, all bits of them. */
static void check_candidates(struct idxi_meeting *meeting) {
    const struct idxi_query_tables *tables = meeting->tables;
    size_t count = 0;
    for (size_t i = 0; i < meeting->candidate_count; i++) {
        struct idxi_candidate candidate = meeting->candidates[i];
        uint64_t errors = meeting->table->values[candidate.at] ^ candidate.fingerprint;
        if ((unsigned)__builtin_popcountll(errors) > tables->distance || !owns(meeting, errors)) continue;
        candidate.at = meeting->table->queries[candidate.at];
        __builtin_prefetch(&tables->queries.firsts[candidate.at], 0, 3);
        meeting->candidates[count++] = candidate;
    }
    meeting->candidate_count = 0;
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&tables->queries.numbers[tables->queries.firsts[meeting->candidates[i].at]]);
    for (size_t i = 0; i < count && meeting->status == IDX_OK; i++) {
        struct idxi_candidate found = meeting->candidates[i];
        size_t end = tables->queries.firsts[found.at + 1];
        for (size_t j = tables->queries.firsts[found.at]; j < end && meeting->status == IDX_OK; j++)
            meeting->status =
                idxi_results_find(meeting->finds, tables->queries.numbers[j], found.fingerprint, meeting->error);
    }
}

static inline void add_candidate(struct idxi_meeting *meeting, uint64_t fingerprint, size_t at) {
    __builtin_prefetch(&meeting->table->values[at], 0, 3);
    __builtin_prefetch(&meeting->table->queries[at], 0, 3);
    meeting->candidates[meeting->candidate_count++] = (struct idxi_candidate){fingerprint, (uint32_t)at};
    if (meeting->candidate_count == IDXI_CANDIDATES) check_candidates(meeting);
}

IDXF_INLINE void meet(struct idxi_meeting *meeting, const uint64_t *fingerprints, size_t count) {
    const struct idxi_query_table *table = meeting->table;
    unsigned distance = meeting->tables->distance;
    for (size_t i = 0; i < count && meeting->status == IDX_OK; i++) {
        size_t key = idxi_query_key(table, fingerprints[i]);
        uint32_t folded = idxi_fold(fingerprints[i]);
        for (size_t at = table->starts[key], end = table->starts[key + 1]; at < end; at++) {
            if (idxf_count_bits(table->folds[at] ^ folded) <= distance) add_candidate(meeting, fingerprints[i], at);
        }
    }
    check_candidates(meeting);
}

static void meet_portably(struct idxi_meeting *meeting, const uint64_t *fingerprints, size_t count) {
    meet(meeting, fingerprints, count);
}

#ifdef IDXF_X86
#include <immintrin.h>

IDXF_BMI2 static void meet_bmi2(struct idxi_meeting *meeting, const uint64_t *fingerprints, size_t count) {
    meet(meeting, fingerprints, count);
}

IDXF_AVX512 static inline __m512i count_errors(const uint32_t *folds, __m512i folded) {
    return _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_loadu_si512(folds), folded));
}

/* A fingerprint that is near to a query, or has more of them to meet than were compared at once. */
IDXF_AVX512 static void meet_all(struct idxi_meeting *meeting, uint64_t fingerprint, size_t begin, size_t end) {
    __m512i most = _mm512_set1_epi32((int)meeting->tables->distance);
    __m512i folded = _mm512_set1_epi32((int)idxi_fold(fingerprint));
    for (size_t at = begin; at < end; at += 16) {
        unsigned near = _mm512_cmple_epu32_mask(count_errors(meeting->table->folds + at, folded), most);
        /* What is beyond the end, or not near, is not taken at the mask's word; see range_search.c. */
        for (; near != 0; near &= near - 1) {
            size_t seems_near = at + (size_t)__builtin_ctz(near);
            if (seems_near < end) add_candidate(meeting, fingerprint, seems_near);
        }
    }
}

/* Reads two vectors of queries without asking how many there are: seldom more, and others don't matter. */
IDXF_AVX512 static inline __attribute__((always_inline)) void meet_wide(struct idxi_meeting *meeting,
                                                                        const uint64_t *fingerprints, size_t count,
                                                                        const struct idxf_move *moves,
                                                                        unsigned move_count) {
    const uint32_t *starts = meeting->table->starts, *folds = meeting->table->folds;
    unsigned key_bits = meeting->table->key_bits;
    __m512i most = _mm512_set1_epi32((int)meeting->tables->distance);
    for (size_t i = 0; i < count; i++) {
        size_t key = idxf_first_bits(idxi_permute_key(moves, move_count, fingerprints[i]), key_bits);
        size_t begin = starts[key], end = starts[key + 1];
        __m512i folded = _mm512_set1_epi32((int)idxi_fold(fingerprints[i]));
        __m512i errors =
            _mm512_min_epu32(count_errors(folds + begin, folded), count_errors(folds + begin + 16, folded));
        unsigned near = _mm512_cmple_epu32_mask(errors, most);
        if (__builtin_expect(near != 0 || end - begin > 32, 0)) meet_all(meeting, fingerprints[i], begin, end);
        if (__builtin_expect(meeting->status != IDX_OK, 0)) return;
    }
}

IDXF_AVX512 static void meet_avx512(struct idxi_meeting *meeting, const uint64_t *fingerprints, size_t count) {
    const struct idxi_query_table *table = meeting->table;
    struct idxf_move moves[2] = {table->moves[0], table->moves[1]};
    if (table->move_count == 1)
        meet_wide(meeting, fingerprints, count, moves, 1);
    else if (table->move_count == 2)
        meet_wide(meeting, fingerprints, count, moves, 2);
    else
        meet_wide(meeting, fingerprints, count, table->moves, table->move_count);
    check_candidates(meeting);
}
#endif

size_t idxi_meets(idxi_meet meets[IDXI_MAX_MEETS]) {
    size_t count = 0;
    meets[count++] = meet_portably;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) meets[count++] = meet_bmi2;
    if (idxf_has_avx512()) meets[count++] = meet_avx512;
#endif
    return count;
}
