/* dictionaries.c: see dictionaries.h. Data from which dictionaries were left out is no error to ICU: Chinese and
 * Japanese fall into characters then, and a run of Thai, Lao, Khmer or Burmese is one word. */
#include "libidx/text/dictionaries.h"

#include <unicode/ustring.h>

#include <stdbool.h>
#include <stddef.h>

/* Two words or more each. The first one ends at `end`, in any release of ICU, and has no end before. */
static const struct {
    const char *language;
    const UChar *text;
    int32_t end;
} samples[] = {
    {"Chinese", u"\u6211\u4eec\u4eca\u5929", 2},
    {"Japanese", u"\u3042\u308a\u304c\u3068\u3046\u65e5\u672c", 5},
    {"Thai", u"\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22", 4},
    {"Lao", u"\u0e9e\u0eb2\u0eaa\u0eb2\u0ea5\u0eb2\u0ea7", 4},
    {"Khmer", u"\u1798\u1793\u17bb\u179f\u17d2\u179f\u1791\u17b6\u17c6\u1784\u17a2\u179f\u17cb", 6},
    {"Burmese", u"\u1019\u103c\u1014\u103a\u1019\u102c\u1005\u102c", 6},
};

static bool is_cut_well(UBreakIterator *iterator, const UChar *text, int32_t end, UErrorCode *code) {
    ubrk_setText(iterator, text, -1, code);
    return U_SUCCESS(*code) && ubrk_first(iterator) == 0 && ubrk_next(iterator) == end;
}

const char *idxt_missing_dictionary(UBreakIterator *iterator, UErrorCode *code) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        bool well = is_cut_well(iterator, samples[i].text, samples[i].end, code);
        if (U_FAILURE(*code)) return NULL;
        if (!well) return samples[i].language;
    }
    return NULL;
}
