/* checksum.c: chooses the instructions that checksums of many bytes are computed with. */
#include "format/checksum.h"

#include <xxhash.h>

#include "format/processor.h"

#ifdef IDXF_X86
/* From so many bytes on, AVX2 is used where the processor has it. */
#define LONG_BYTES 1024

uint64_t idxf_checksum_avx2(const void *bytes, size_t size); /* of checksum_avx2.c */

uint64_t idxf_checksum(const void *bytes, size_t size) {
    return size >= LONG_BYTES && idxf_has_avx2() ? idxf_checksum_avx2(bytes, size) : XXH3_64bits(bytes, size);
}
#else
uint64_t idxf_checksum(const void *bytes, size_t size) { return XXH3_64bits(bytes, size); }
#endif
