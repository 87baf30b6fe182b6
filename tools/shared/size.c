/* size.c: prints sizes. */
#include "tools/shared/size.h"

#include <idx.h>

#include <stdio.h>

void size_print(char text[SIZE_LENGTH], double bytes) {
    static const char units[] = "BKMGTPE";
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 2 < sizeof units; unit++) bytes /= 1024;
    snprintf(text, SIZE_LENGTH, unit == 0 || bytes >= 99.95 ? "%.0f %c%s" : "%.1f %c%s", bytes, units[unit],
             unit == 0 ? "" : "iB");
}

struct density density_of(double bytes, uint64_t fingerprints, unsigned bits) {
    struct density density = {0, idx_information_limit(fingerprints, bits), 0};
    if (fingerprints == 0) return density;
    density.bits = 8 * bytes / (double)fingerprints;
    if (density.limit > 0) density.ratio = density.bits / density.limit;
    return density;
}
