/* without_text.c: what a build without libidxtext has in place of kept.c. Nothing gets that far there: no text is
 * read. */
#include "tools/dedup/kept.h"

bool kept_write(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped) {
    (void)journal, (void)trees, (void)dropped;
    return false;
}
