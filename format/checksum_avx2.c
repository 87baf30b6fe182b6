/* checksum_avx2.c: checksums with AVX2, in a third of the time. xxHash chooses instructions by the options of the
 * compiler, so that this file alone is compiled with -mavx2: everything in it is static but one function. */
#include "format/processor.h"

#ifdef IDXF_X86
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Returns what idxf_checksum returns. The processor must have AVX2. */
uint64_t idxf_checksum_avx2(const void *bytes, size_t size);
uint64_t idxf_checksum_avx2(const void *bytes, size_t size) { return XXH3_64bits(bytes, size); }
#endif
