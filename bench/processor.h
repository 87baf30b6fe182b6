/* processor.h: which wide instructions systems may use, found at run time. */
#ifndef BENCH_PROCESSOR_H
#define BENCH_PROCESSOR_H

enum instructions {
    INSTRUCTIONS_PLAIN,
    INSTRUCTIONS_AVX2,   /* with BMI2 and POPCNT */
    INSTRUCTIONS_AVX512, /* AVX-512 F, BW and VL */
    INSTRUCTIONS_VPOPCNTDQ,
};

/* The widest that the processor has, and no more than `most`. */
enum instructions find_instructions(enum instructions most);

#endif
