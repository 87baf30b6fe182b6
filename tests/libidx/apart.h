/* apart.h: a part of a test in a process of its own, with mounts of its own: read-only folders, small file systems; or
 * without the rights of root. */
#ifndef IDX_TESTS_LIBIDX_APART_H
#define IDX_TESTS_LIBIDX_APART_H

#include <stdbool.h>

/* Returns 0 where all was right, else a status to exit with; CANNOT where the system does not let it be tried. It must
 * not use cmocka's assertions, since it does not run in cmocka's process. */
typedef int (*scene)(const char *folder);

#define CANNOT 77

/* Plays a scene; fails, or skips, the test accordingly. */
void play_apart(scene play, const char *folder);

/* In a scene. */
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) return report_unexpected(#condition, __FILE__, __LINE__);                                    \
    } while (0)

int report_unexpected(const char *condition, const char *file, int line);

/* In a scene: makes a folder read-only; false where that can't be done. */
bool mount_read_only(const char *folder);

/* In a scene: mounts an empty file system of `bytes` on a folder. */
bool mount_small(const char *folder, unsigned bytes);

/* In a scene: becomes a user who may read and write only what all may; false where that can't be done. */
bool drop_rights(void);

#endif
