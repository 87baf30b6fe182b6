/* bytes.h: little-endian integers in bytes, and bit fields in bit streams (SPEC.md, chapter 1). Bit i of a stream is
 * bit i mod 8 of byte i div 8; bit 0 is the least significant. */
#ifndef IDX_FORMAT_BYTES_H
#define IDX_FORMAT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the little-endian number in 8 bytes, at any alignment. */
static inline uint64_t idxf_load64(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* Returns the little-endian number in 4 bytes, at any alignment. */
static inline uint32_t idxf_load32(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    return value;
}

/* Writes a number as 8 little-endian bytes, at any alignment. */
static inline void idxf_store64(uint8_t *bytes, uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(bytes, &value, sizeof value);
}

/* Writes a number as 4 little-endian bytes, at any alignment. */
static inline void idxf_store32(uint8_t *bytes, uint32_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    memcpy(bytes, &value, sizeof value);
}

/* Returns a mask of the `count` lowest bits, all 64 where `count` is 64 or more. */
static inline uint64_t idxf_low_bits(unsigned count) { return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1; }

/* Returns the first `count` bits, 0 to 63, of a left-aligned value. C does not define a shift by 64, so it is two. */
static inline uint64_t idxf_get_first_bits(uint64_t value, unsigned count) { return value >> 1 >> (63 - count); }

/* Returns how many bits a number has from its leading 1 down, such as 3 for 5, and 0 for 0. */
static inline unsigned idxf_bit_length(uint64_t number) {
    return number == 0 ? 0 : 64 - (unsigned)__builtin_clzll(number);
}

/* Returns the bits of a stream of `size` (8 or more) bytes from bit `begin_bit` (0 to size * 8) on, that one lowest. At
 * least the lowest 57 bits of the result are valid, since the word that is loaded may begin up to 7 bits before
 * `begin_bit`. Reads nothing behind the stream; bits there are 0. */
static inline uint64_t idxf_peek_bits(const uint8_t *bytes, size_t size, size_t begin_bit) {
    size_t byte = begin_bit / 8;
    if (byte <= size - 8) return idxf_load64(bytes + byte) >> begin_bit % 8;
    size_t shift = begin_bit - (size - 8) * 8;
    return shift >= 64 ? 0 : idxf_load64(bytes + size - 8) >> shift;
}

/* Returns the `length` (0 to 64) bits of a stream from bit `begin_bit` on, all within its `size` (8 or more) bytes. */
static inline uint64_t idxf_get_bits(const uint8_t *bytes, size_t size, size_t begin_bit, unsigned length) {
    if (length <= 57) return idxf_peek_bits(bytes, size, begin_bit) & idxf_low_bits(length);
    return (idxf_peek_bits(bytes, size, begin_bit) & idxf_low_bits(32)) |
           (idxf_peek_bits(bytes, size, begin_bit + 32) & idxf_low_bits(length - 32)) << 32;
}

/* Writes a number as a varint (LEB128): 7 bits a byte, the lowest first, and bit 7 set in all bytes but the last.
 * Returns how many bytes it wrote, 1 to 10. */
static inline size_t idxf_write_varint(uint8_t *bytes, uint64_t number) {
    size_t size = 0;
    for (; number > 127; number >>= 7) bytes[size++] = (uint8_t)(number | 128);
    bytes[size++] = (uint8_t)number;
    return size;
}

/* Whether the bits of a stream from `begin_bit` to before `end_bit` are all 0; true where there are none. */
static inline bool idxf_are_bits_zero(const uint8_t *bytes, size_t begin_bit, size_t end_bit) {
    while (begin_bit < end_bit && (bytes[begin_bit / 8] >> begin_bit % 8 & 1) == 0) begin_bit++;
    return begin_bit >= end_bit;
}

#endif
