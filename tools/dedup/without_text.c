/* without_text.c: what a build without libidxtext has in place of kept.c and regroup.c. Nothing gets that far there: no
 * text is read. */
#include "tools/dedup/kept.h"
#include "tools/dedup/regroup.h"

bool kept_write(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped) {
    (void)journal, (void)trees, (void)dropped;
    return false;
}

bool regroup_all(struct regroup *regroup) {
    (void)regroup;
    return false;
}
