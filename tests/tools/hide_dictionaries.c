/* hide_dictionaries.c: a library that is loaded before a command, and hides ICU's dictionaries from it, which the
 * wheels of the Python package lack. */
#include "tests/text/icu_data.h"

__attribute__((constructor)) static void hide_dictionaries(void) {
    for (int i = 0; i < ICU_DICTIONARIES; i++) icu_data_hide(icu_dictionaries[i]);
}
