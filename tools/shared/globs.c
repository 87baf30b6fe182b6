/* globs.c: decides by patterns which files of a folder are read. */
#include "tools/shared/globs.h"

#include <fnmatch.h>
#include <stdlib.h>

bool globs_append(struct globs *globs, const char *pattern, bool includes) {
    struct glob *values = realloc(globs->values, (globs->count + 1) * sizeof *values);
    if (values == NULL) return false;
    globs->values = values;
    globs->values[globs->count++] = (struct glob){pattern, includes};
    return true;
}

bool globs_admit(const struct globs *globs, const char *path, bool is_folder) {
    for (size_t i = globs->count; i > 0; i--)
        if (fnmatch(globs->values[i - 1].pattern, path, 0) == 0) return globs->values[i - 1].includes;
    return is_folder || globs->count == 0 || !globs->values[0].includes;
}

void globs_free(struct globs *globs) {
    free(globs->values);
    *globs = (struct globs){NULL, 0};
}
