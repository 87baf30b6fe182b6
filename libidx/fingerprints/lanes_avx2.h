/* lanes_avx2.h: counts bits with AVX2, which has no instruction for that. */
#ifndef IDX_LIBIDX_LANES_AVX2_H
#define IDX_LIBIDX_LANES_AVX2_H

#include "format/processor.h"

#ifdef IDXF_X86
#include <immintrin.h>

#define IDXI_LANES_AVX2 4

/* Returns how many bits are set in each of the four 64-bit lanes, by looking up the number for each half of a byte. */
IDXF_AVX2 static inline __m256i idxi_count_bits_avx2(__m256i lanes) {
    const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1,
                                            2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    __m256i of_low = _mm256_shuffle_epi8(counts, _mm256_and_si256(lanes, low));
    __m256i of_high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi64(lanes, 4), low));
    return _mm256_sad_epu8(_mm256_add_epi8(of_low, of_high), _mm256_setzero_si256());
}
#endif

#endif
