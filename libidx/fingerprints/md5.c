/* md5.c: MD5, as RFC 1321 defines it. A library of cryptography instead of these 80 lines would be one more that every
 * service with idx has to load and keep up to date. */
#include "libidx/fingerprints/simhash.h"

#include "format/bytes.h"

#include <string.h>

enum { BLOCK_BYTES = 64, LENGTH_BYTES = 8 };

/* sines[i] is floor(2^32 |sin(i + 1)|). */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

/* Returns a value whose bits are rotated to the left by `bits`, 1 to 31. */
static uint32_t rotate_left(uint32_t value, unsigned bits) { return value << bits | value >> (32 - bits); }

/* Updates the state by the 64 steps that RFC 1321 has for a block of 64 bytes. The four rounds differ in three things:
 * how they mix b, c and d; in which order they take the words of the block, whose numbers count modulo 16; and how far
 * they rotate, by turns[round][step % 4] bits. */
static void update_state(uint32_t state[4], const uint8_t *block) {
    static const uint8_t word_factors[4] = {1, 5, 3, 7}, first_words[4] = {0, 1, 5, 0};
    static const uint8_t turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (unsigned i = 0; i < 64; i++) {
        unsigned round = i / 16, word = first_words[round] + word_factors[round] * i;
        uint32_t mixed;
        switch (round) {
            case 0: mixed = (b & c) | (~b & d); break;
            case 1: mixed = (b & d) | (c & ~d); break;
            case 2: mixed = b ^ c ^ d; break;
            default: mixed = c ^ (b | ~d);
        }
        mixed += a + sines[i] + idxf_load32(block + 4 * (word % 16));
        a = d;
        d = c;
        c = b;
        b += rotate_left(mixed, turns[round][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

/* The bytes are followed by a 1 bit, 0 bits, and in the last block's last eight bytes their length in bits. If these do
 * not fit behind the rest of the bytes, there is one more block. */
void idxi_hash_md5(const void *bytes, size_t length, uint8_t digest[IDXI_MD5_BYTES]) {
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const uint8_t *next_block = bytes;
    size_t left = length;
    for (; left >= BLOCK_BYTES; left -= BLOCK_BYTES, next_block += BLOCK_BYTES) update_state(state, next_block);
    uint8_t last_blocks[2 * BLOCK_BYTES] = {0};
    size_t size = left + 1 + LENGTH_BYTES <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    if (left > 0) memcpy(last_blocks, next_block, left);
    last_blocks[left] = 0x80;
    idxf_store64(last_blocks + size - LENGTH_BYTES, (uint64_t)length * 8);
    for (size_t i = 0; i < size; i += BLOCK_BYTES) update_state(state, last_blocks + i);
    for (unsigned i = 0; i < 4; i++) idxf_store32(digest + 4 * i, state[i]);
}
