/* without_text.c: replaces excerpt.c in a build without libidxtext. Nothing calls these functions there, since the
 * report has no texts. */
#include "tools/report/page.h"

bool excerpt_compare(const struct shown two[2], double *resemblance) {
    (void)two, (void)resemblance;
    return false;
}

bool excerpt_make(struct excerpt *excerpt, const struct shown two[2]) {
    (void)excerpt, (void)two;
    return false;
}

void excerpt_put(struct output *output, const struct excerpt *excerpt, size_t which) {
    (void)output, (void)excerpt, (void)which;
}

void excerpt_free(struct excerpt *excerpt) { (void)excerpt; }
