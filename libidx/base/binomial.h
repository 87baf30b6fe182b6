/* binomial.h: in how many ways bits can be chosen. */
#ifndef IDX_LIBIDX_BINOMIAL_H
#define IDX_LIBIDX_BINOMIAL_H

/* The ways to choose r of n. */
static inline double idxi_choose(unsigned n, unsigned r) {
    double product = 1;
    for (unsigned i = 0; i < r; i++) product = product * (n - i) / (i + 1);
    return r > n ? 0 : product;
}

/* The ways to flip at most `radius` of some bits. */
static inline double idxi_count_patterns(unsigned bits, unsigned radius) {
    double sum = 0;
    for (unsigned i = 0; i <= radius && i <= bits; i++) sum += idxi_choose(bits, i);
    return sum;
}

#endif
