/* processor.h: instructions that some processors have, chosen at run time, and their portable stand-ins. A function
 * marked IDXF_INLINE is compiled into each of its callers with that caller's instructions. */
#ifndef IDX_FORMAT_PROCESSOR_H
#define IDX_FORMAT_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

#define IDXF_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define IDXF_X86
#define IDXF_BMI2 __attribute__((target("bmi,bmi2,popcnt")))
#define IDXF_AVX512                                                                                                    \
    __attribute__((target("bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,"                 \
                          "avx512vpopcntdq")))

/* Haswell, Excavator and later. */
static inline bool idxf_has_bmi2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

/* Ice Lake, Zen 4 and later. */
static inline bool idxf_has_avx512(void) {
    return idxf_has_bmi2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512vpopcntdq");
}
#endif

/* The number of bits set. */
IDXF_INLINE unsigned idxf_count_bits(uint64_t bits) { return (unsigned)__builtin_popcountll(bits); }

#endif
