/* processor.h: instructions that only some processors have, chosen at run time, and portable substitutes. A function
 * marked IDXF_INLINE is compiled into each of its callers with that caller's instructions. */
#ifndef IDX_FORMAT_PROCESSOR_H
#define IDX_FORMAT_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

#define IDXF_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define IDXF_X86
#define IDXF_BMI2 __attribute__((target("bmi,bmi2,lzcnt,popcnt")))
#define IDXF_AVX2 __attribute__((target("bmi,bmi2,lzcnt,popcnt,avx2")))
#define IDXF_AVX512                                                                                                    \
    __attribute__((target("bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,"           \
                          "avx512vpopcntdq")))

/* Instructions, as bits of a set. */
enum {
    IDXF_HAS_POPCNT = 1 << 0,
    IDXF_HAS_LZCNT = 1 << 1,
    IDXF_HAS_BMI1 = 1 << 2,
    IDXF_HAS_BMI2 = 1 << 3,
    IDXF_HAS_AVX2 = 1 << 4,
    IDXF_HAS_AVX512F = 1 << 5,
    IDXF_HAS_AVX512BW = 1 << 6,
    IDXF_HAS_AVX512DQ = 1 << 7,
    IDXF_HAS_AVX512VL = 1 << 8,
    IDXF_HAS_AVX512VBMI = 1 << 9,
    IDXF_HAS_AVX512VBMI2 = 1 << 10,
    IDXF_HAS_AVX512VPOPCNTDQ = 1 << 11,

    /* What functions marked IDXF_BMI2 and IDXF_AVX512 need. Compilers take AVX-512 to include AVX2. */
    IDXF_BMI2_SET = IDXF_HAS_POPCNT | IDXF_HAS_LZCNT | IDXF_HAS_BMI1 | IDXF_HAS_BMI2,
    IDXF_AVX512_SET = IDXF_BMI2_SET | IDXF_HAS_AVX2 | IDXF_HAS_AVX512F | IDXF_HAS_AVX512BW | IDXF_HAS_AVX512DQ |
                      IDXF_HAS_AVX512VL | IDXF_HAS_AVX512VBMI | IDXF_HAS_AVX512VBMI2 | IDXF_HAS_AVX512VPOPCNTDQ,
};

/* These are the registers that CPUID and XGETBV return. A leaf that the processor lacks is 0. */
struct idxf_cpuid {
    uint32_t leaf_1_ecx;
    uint32_t leaf_7_ebx;
    uint32_t leaf_7_ecx;
    uint32_t leaf_80000001_ecx;
    uint64_t xcr0; /* 0 where the system does not enable XGETBV */
};

/* Returns the set of instructions that programs can use if the processor returns these registers. */
unsigned idxf_decode_cpuid(const struct idxf_cpuid *cpuid);

/* Returns the set of instructions that programs can use on this processor. The first call takes microseconds, in a
 * virtual machine tens of them. Later calls read a variable. Any thread may call it. */
unsigned idxf_get_instructions(void);

/* Whether functions marked IDXF_BMI2 can run here, as on Haswell, Excavator and later processors. */
static inline bool idxf_has_bmi2(void) { return (~idxf_get_instructions() & IDXF_BMI2_SET) == 0; }

/* Whether functions marked IDXF_AVX2 can run here, provided that idxf_has_bmi2 is true, too: on the same processors. */
static inline bool idxf_has_avx2(void) { return (~idxf_get_instructions() & IDXF_HAS_AVX2) == 0; }

/* Whether functions marked IDXF_AVX512 can run here, as on Ice Lake, Zen 4 and later processors. */
static inline bool idxf_has_avx512(void) { return (~idxf_get_instructions() & IDXF_AVX512_SET) == 0; }
#endif

/* Returns the name of the widest instructions that are used on this processor: "avx512", "bmi2" or "portable". */
const char *idxf_get_instructions_name(void);

/* Returns how many bits of a word are 1. */
IDXF_INLINE unsigned idxf_count_bits(uint64_t bits) { return (unsigned)__builtin_popcountll(bits); }

#endif
