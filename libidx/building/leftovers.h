/* leftovers.h: the temporary folders that killed builds left beside an index. */
#ifndef IDX_LIBIDX_LEFTOVERS_H
#define IDX_LIBIDX_LEFTOVERS_H

#include <stddef.h>

/* Hexadecimal digits, drawn at random, at the end of a temporary folder's name. */
#define IDXI_LEFTOVER_DIGITS 8
void idxi_leftover_digits(char digits[IDXI_LEFTOVER_DIGITS + 1], int attempt);

/* Removes the folders whose names are `prefix` and digits, if nobody has locked them and they hold nothing but files of
 * an index: others are not of a build. They are in a folder (a descriptor, and its path; below 0: one that may not be
 * read). `path` is where each is moved first; its end is `digits`, which change. Returns how many were removed. */
size_t idxi_leftovers_remove(int folder, const char *folder_path, const char *prefix, const char *path, char *digits);

#endif
