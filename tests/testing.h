/* testing.h: cmocka, and what it needs to be included before it. */
#ifndef IDX_TESTS_TESTING_H
#define IDX_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#endif
