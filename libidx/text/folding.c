/* folding.c: folds white space, so that line breaks do not matter. */
#include "libidx/text/folding.h"

#include "libidx/text/buffer.h"

#include <stdlib.h>

bool idxt_is_space(UChar unit) {
    if (unit <= 0x20) return unit == 0x20 || (unit >= 0x9 && unit <= 0xD);
    if (unit < 0x1680) return unit == 0x85 || unit == 0xA0;
    return unit == 0x1680 || (unit >= 0x2000 && unit <= 0x200A) || unit == 0x2028 || unit == 0x2029 || unit == 0x202F ||
           unit == 0x205F || unit == 0x3000;
}

void idxt_folding_begin(struct idxt_folding *folding) {
    folding->length = 0;
    folding->begun = folding->space = false;
}

bool idxt_folding_add(struct idxt_folding *folding, const UChar *units, size_t length) {
    UChar *grown = idxt_buffer_grow(folding->units, &folding->capacity, folding->length + length + 1, sizeof *grown);
    if (grown == NULL) return false;
    folding->units = grown;
    for (size_t i = 0; i < length; i++) {
        if (idxt_is_space(units[i])) {
            folding->space = folding->begun;
            continue;
        }
        if (folding->space) grown[folding->length++] = u' ';
        grown[folding->length++] = units[i];
        folding->begun = true;
        folding->space = false;
    }
    return true;
}

void idxt_folding_free(struct idxt_folding *folding) {
    free(folding->units);
    *folding = (struct idxt_folding){0};
}
