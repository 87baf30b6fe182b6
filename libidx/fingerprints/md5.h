/* md5.h: MD5 (RFC 1321), which other programs make SimHashes of features with. It protects against nobody. */
#ifndef IDX_LIBIDX_MD5_H
#define IDX_LIBIDX_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { IDXI_MD5_BYTES = 16 };

void idxi_md5(const void *bytes, size_t length, uint8_t digest[IDXI_MD5_BYTES]);

#endif
