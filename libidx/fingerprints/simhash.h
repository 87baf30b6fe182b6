/* simhash.h: the ways to add features to a SimHash, and MD5. */
#ifndef IDX_LIBIDX_SIMHASH_H
#define IDX_LIBIDX_SIMHASH_H

#include <idx_simhash.h>
#include <stddef.h>
#include <stdint.h>

#define IDXI_SIMHASH_WAYS 3

/* An implementation of idx_simhash_add_features. */
typedef void idxi_simhash_way(struct idx_simhash *simhash, const struct idx_feature *features, size_t count);

/* Sets `ways` to the implementations that this processor can run, the plain one first, the fastest last, and returns
 * their number, 1 or more. */
size_t idxi_list_simhash_ways(idxi_simhash_way *ways[IDXI_SIMHASH_WAYS]);

enum { IDXI_MD5_BYTES = 16 };

/* Sets `digest` to the MD5 (RFC 1321) of `length` bytes. Other programs hash features with it; it protects nothing
 * here. */
void idxi_hash_md5(const void *bytes, size_t length, uint8_t digest[IDXI_MD5_BYTES]);

#endif
