/* directory.c: writes the lines of a directory, and counts their cells. */
#include "format/directory.h"

#include "format/processor.h"

#define CELLS_AT 8

/* ---- Writing ---- */

static void begin_line(struct idxf_directory_writer *writer, uint64_t line, uint64_t first) {
    *writer = (struct idxf_directory_writer){.lines = writer->lines, .line = line, .first = first};
}

void idxf_directory_begin(struct idxf_directory_writer *writer, uint64_t lines) {
    writer->lines = lines;
    begin_line(writer, 0, 0);
}

bool idxf_directory_add(struct idxf_directory_writer *writer, uint64_t key) {
    struct idxf_cell cell = idxf_find_cell(key, writer->lines);
    if (cell.line > writer->line) return false;
    uint64_t bit = UINT64_C(1) << cell.cell % 64;
    if (writer->words[cell.cell / 64] & bit) writer->is_crowded = true;
    writer->words[cell.cell / 64] |= bit;
    writer->count++;
    return true;
}

void idxf_directory_take(struct idxf_directory_writer *writer, uint8_t bytes[IDXF_LINE_BYTES]) {
    idxf_store32(bytes, (uint32_t)writer->first);
    idxf_store32(bytes + 4, writer->is_crowded ? (uint32_t)writer->count : 0);
    for (size_t i = 0; i < IDXF_LINE_WORDS; i++) idxf_store64(bytes + CELLS_AT + i * 8, writer->words[i]);
    begin_line(writer, writer->line + 1, writer->first + writer->count);
}

/* ---- Counting ---- */

IDXF_INLINE unsigned rank(const uint8_t *bytes, unsigned cell) {
    unsigned count = 0;
    for (unsigned i = 0; i < IDXF_LINE_WORDS; i++) {
        unsigned before = cell > i * 64 ? cell - i * 64 : 0;
        count += idxf_count_bits(idxf_load64(bytes + CELLS_AT + i * 8) & idxf_low_bits(before));
    }
    return count;
}

static unsigned rank_portable(const uint8_t *bytes, unsigned cell) { return rank(bytes, cell); }

#ifdef IDXF_X86
#include <immintrin.h>

IDXF_BMI2 static unsigned rank_bmi2(const uint8_t *bytes, unsigned cell) { return rank(bytes, cell); }

IDXF_AVX512 static unsigned rank_avx512(const uint8_t *bytes, unsigned cell) {
    const __m512i begins = _mm512_set_epi64(384, 320, 256, 192, 128, 64, 0, 0);
    __m512i before = _mm512_sub_epi64(_mm512_set1_epi64(cell), begins);
    __m512i beyond = _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_max_epi64(before, _mm512_setzero_si512()));
    __m512i counts = _mm512_popcnt_epi64(_mm512_andnot_si512(beyond, _mm512_loadu_si512(bytes)));
    return (unsigned)_mm512_mask_reduce_add_epi64(0xfe, counts); /* the first eight bytes are no cells */
}
#endif

size_t idxf_line_ranks(idxf_rank ranks[IDXF_MAX_RANKS]) {
    size_t count = 0;
    ranks[count++] = rank_portable;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) ranks[count++] = rank_bmi2;
    if (idxf_has_avx512()) ranks[count++] = rank_avx512;
#endif
    return count;
}
