/* chain.h: what the decoders of chains share. block.h has their interface. */
#ifndef IDX_FORMAT_CHAIN_H
#define IDX_FORMAT_CHAIN_H

#include "format/block.h"
#include "format/processor.h"

/* Returns 64 bits of a small block from bit `begin` on, at which its chain begins: they have all of its codes. Reads
 * the 16 bytes from that of bit `begin` on. The shift by 1 avoids one by 64, which C leaves undefined. */
IDXF_INLINE uint64_t idxf_get_small_codes(const uint8_t *block, size_t begin) {
    uint64_t first = idxf_load64(block + begin / 8), second = idxf_load64(block + begin / 8 + 8);
    return first >> begin % 8 | second << 1 << (63 - begin % 8);
}

/* Returns how many fingerprints of a chain are decoded at most: one more than a sound chain can have, so that a longer
 * one is noticed. `small` is whether its block is small. */
IDXF_INLINE size_t idxf_get_max_decoded(bool small) {
    return small ? IDXF_MAX_CODES_BITS + 2 : IDXF_MAX_BLOCK_FINGERPRINTS + 1;
}

#ifdef IDXF_X86
extern const struct idxf_decoder_way idxf_avx512_way;
#endif

#endif
