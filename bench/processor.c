/* processor.c: which wide instructions systems may use, found at run time. */
#include "bench/processor.h"

enum instructions find_instructions(enum instructions most) {
    enum instructions found = INSTRUCTIONS_PLAIN;
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
        found = INSTRUCTIONS_AVX2;
    if (found == INSTRUCTIONS_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        found = INSTRUCTIONS_AVX512;
    if (found == INSTRUCTIONS_AVX512 && __builtin_cpu_supports("avx512vpopcntdq")) found = INSTRUCTIONS_VPOPCNTDQ;
#endif
    return found < most ? found : most;
}
