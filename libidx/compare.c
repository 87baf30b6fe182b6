/* compare.c: the comparison, portable and with the processor's own count of bits. */
#include "libidx/compare.h"

static inline unsigned count_bits(uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555;
    bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (unsigned)(bits * 0x0101010101010101 >> 56);
}

size_t idxi_compare_portable(const uint64_t *fingerprints, size_t count, uint64_t query, unsigned distance,
                             uint8_t *near) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (count_bits(fingerprints[i] ^ query) <= distance) near[found++] = (uint8_t)i;
    }
    return found;
}

#ifdef __x86_64__
__attribute__((target("popcnt"))) static size_t compare_popcnt(const uint64_t *fingerprints, size_t count,
                                                               uint64_t query, unsigned distance, uint8_t *near) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if ((unsigned)__builtin_popcountll(fingerprints[i] ^ query) <= distance) near[found++] = (uint8_t)i;
    }
    return found;
}

idxi_compare idxi_choose_compare(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("popcnt") ? compare_popcnt : idxi_compare_portable;
}
#else
idxi_compare idxi_choose_compare(void) { return idxi_compare_portable; }
#endif
