/* without_text.c: replaces kept.c, known.c and regroup.c in a build without libidxtext, where no text is read, so that
 * none of these functions is called. */
#include "tools/dedup/dedup.h"

bool kept_write(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped) {
    (void)journal, (void)trees, (void)dropped;
    return false;
}

bool regroup_all(struct confirm *confirm, const struct idx_cluster_options *options, idx_cluster_visitor visit,
                 void *context, struct idx_cluster_summary *summary, uint64_t *missing) {
    (void)confirm, (void)options, (void)visit, (void)context, (void)summary, (void)missing;
    return false;
}

bool known_open(struct known *known, const struct scratch *scratch, const char *folder) {
    (void)known, (void)scratch, (void)folder;
    return false;
}

bool known_find(struct known *known, const struct idx_index *index) {
    (void)known, (void)index;
    return false;
}

bool known_decide(struct known *known, struct sets *sets, const struct pipeline_rules *rules, const char *recipe) {
    (void)known, (void)sets, (void)rules, (void)recipe;
    return false;
}

void known_close(struct known *known) { (void)known; }
