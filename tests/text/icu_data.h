/* icu_data.h: hides files of the data of ICU from this process, as if the system lacked them. */
#ifndef IDX_TESTS_TEXT_ICU_DATA_H
#define IDX_TESTS_TEXT_ICU_DATA_H

#include <stdbool.h>

enum { ICU_DICTIONARIES = 5 };

/* The names of the dictionaries. */
extern const char *const icu_dictionaries[ICU_DICTIONARIES];

/* Returns whether the data is linked with this process. Otherwise ICU reads it from a file, and nothing is hidden. */
bool icu_data_is_linked(void);

/* Gives a file of the data another name. Returns false where there is none of that name. What is open stays open. */
bool icu_data_hide(const char *name);

#endif
