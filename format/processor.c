/* processor.c: which instructions the processor has and the operating system lets programs use. This file queries CPUID
 * and XGETBV directly (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, sections 14.3 and 15.2).
 * __builtin_cpu_supports needs a constructor of the compiler's run-time library, which some clang toolchains lack. The
 * builtin then returns 0 for everything, and the portable code would run without any warning. */
#include "format/processor.h"

#ifdef IDXF_X86
#include <cpuid.h>
#include <stdatomic.h>

/* Bits of XCR0: the registers that the system saves. Without them the instructions fault, or lose their registers. */
enum {
    XCR0_AVX = 1 << 1 | 1 << 2,                        /* xmm and ymm */
    XCR0_AVX512 = XCR0_AVX | 1 << 5 | 1 << 6 | 1 << 7, /* masks, the upper halves of zmm0 to 15, and zmm16 to 31 */
};

enum { OSXSAVE = 27 }; /* bit of leaf 1, ECX: the system has enabled XGETBV */

/* Whether the bit at `position`, from 0 at the lowest, is set. */
static bool has_bit(uint32_t word, unsigned position) { return (word >> position & 1) != 0; }

/* Whether the system saves these registers, bits of XCR0, when it switches threads. */
static bool saves_registers(const struct idxf_cpuid *cpuid, uint64_t registers) {
    return (cpuid->xcr0 & registers) == registers;
}

unsigned idxf_decode_cpuid(const struct idxf_cpuid *cpuid) {
    unsigned set = 0; /* The positions of the bits are those of the manual. */
    if (has_bit(cpuid->leaf_1_ecx, 23)) set |= IDXF_HAS_POPCNT;
    if (has_bit(cpuid->leaf_80000001_ecx, 5)) set |= IDXF_HAS_LZCNT;
    if (has_bit(cpuid->leaf_7_ebx, 3)) set |= IDXF_HAS_BMI1;
    if (has_bit(cpuid->leaf_7_ebx, 8)) set |= IDXF_HAS_BMI2;
    if (!saves_registers(cpuid, XCR0_AVX)) return set;
    if (has_bit(cpuid->leaf_7_ebx, 5)) set |= IDXF_HAS_AVX2;
    if (!saves_registers(cpuid, XCR0_AVX512)) return set;
    if (has_bit(cpuid->leaf_7_ebx, 16)) set |= IDXF_HAS_AVX512F;
    if (has_bit(cpuid->leaf_7_ebx, 17)) set |= IDXF_HAS_AVX512DQ;
    if (has_bit(cpuid->leaf_7_ebx, 30)) set |= IDXF_HAS_AVX512BW;
    if (has_bit(cpuid->leaf_7_ebx, 31)) set |= IDXF_HAS_AVX512VL;
    if (has_bit(cpuid->leaf_7_ecx, 1)) set |= IDXF_HAS_AVX512VBMI;
    if (has_bit(cpuid->leaf_7_ecx, 6)) set |= IDXF_HAS_AVX512VBMI2;
    if (has_bit(cpuid->leaf_7_ecx, 14)) set |= IDXF_HAS_AVX512VPOPCNTDQ;
    return set;
}

/* Executes XGETBV, an illegal instruction unless CPUID says OSXSAVE. */
static uint64_t read_xcr0(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* Returns what CPUID and XGETBV say of this processor. A leaf that the processor lacks stays 0; XCR0 is read only where
 * XGETBV is enabled. */
static struct idxf_cpuid read_cpuid(void) {
    struct idxf_cpuid cpuid = {0};
    unsigned eax, ebx, ecx, edx;
    if (__get_cpuid_count(1, 0, &eax, &ebx, &ecx, &edx)) cpuid.leaf_1_ecx = ecx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
        cpuid.leaf_7_ebx = ebx;
        cpuid.leaf_7_ecx = ecx;
    }
    if (__get_cpuid_count(0x80000001u, 0, &eax, &ebx, &ecx, &edx)) cpuid.leaf_80000001_ecx = ecx;
    if (has_bit(cpuid.leaf_1_ecx, OSXSAVE)) cpuid.xcr0 = read_xcr0();
    return cpuid;
}

/* The set is computed once, because virtual machines trap CPUID, and callers ask for each block or document. Threads
 * that call this for the first time at once all compute the same set. */
unsigned idxf_get_instructions(void) {
    enum { COMPUTED = 1 << 16 }; /* a bit that no instruction has, so that an empty set is not stored as 0 */
    static atomic_uint cached_set;
    unsigned set = atomic_load_explicit(&cached_set, memory_order_relaxed);
    if (set == 0) {
        struct idxf_cpuid cpuid = read_cpuid();
        set = idxf_decode_cpuid(&cpuid) | COMPUTED;
        atomic_store_explicit(&cached_set, set, memory_order_relaxed);
    }
    return set & ~(unsigned)COMPUTED;
}
#endif

const char *idxf_get_instructions_name(void) {
#ifdef IDXF_X86
    if (idxf_has_avx512()) return "avx512";
    if (idxf_has_bmi2()) return "bmi2";
#endif
    return "portable";
}
