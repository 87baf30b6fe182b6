/* folders.c: see folders.h. */
#include "tools/dedup/folders.h"

#include "tools/answers/cluster_listing.h"
#include "tools/dedup/kept.h"
#include "tools/shared/message.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char table_name[] = "dropped.tsv";

bool folders_are_asked_for(const struct folders *folders) {
    return folders->kept.path != NULL || folders->dropped.path != NULL;
}

/* ---- Before ---- */

bool folders_check(const struct folders *folders, const struct texts *paths) {
    return (folders->kept.path == NULL || tree_check(&folders->kept)) &&
           (folders->dropped.path == NULL || tree_check(&folders->dropped)) && tree_check_inputs(paths);
}

/* ---- The table ---- */

static bool say_table_failed(const struct folders *folders) {
    complain("%s/%s: %s", folders->dropped.path, table_name, strerror(folders->table.error));
    return false;
}

void folders_note(struct folders *folders, const struct idx_cluster_member *member) {
    if (folders->table.descriptor < 0) return;
    listing_put_id(&folders->table, folders->properties, &member->document, member->fingerprint);
    output_byte(&folders->table, '\t');
    listing_put_id(&folders->table, folders->properties, &member->representative, member->representative_fingerprint);
    output_format(&folders->table, "\t%u\n", member->distance);
}

/* ---- All ---- */

bool folders_open(struct folders *folders) {
    folders->table = (struct output)OUTPUT_KEPT;
    if (folders->kept.path != NULL && !tree_open(&folders->kept)) return false;
    if (folders->dropped.path == NULL) return true;
    if (!tree_open(&folders->dropped)) return false;
    folders->table.descriptor = tree_create(&folders->dropped, table_name);
    return folders->table.descriptor >= 0;
}

bool folders_write(struct folders *folders, struct intake *intake, const uint64_t *dropped) {
    const struct tree *trees[2] = {folders->kept.path == NULL ? NULL : &folders->kept,
                                   folders->dropped.path == NULL ? NULL : &folders->dropped};
    if (trees[1] != NULL && !intake_put_known(intake, &folders->table, "\t")) return false;
    if (trees[1] != NULL && !output_flush(&folders->table)) return say_table_failed(folders);
    return kept_write(intake->journal, trees, dropped) && (trees[0] == NULL || tree_sync(&folders->kept)) &&
           (trees[1] == NULL || tree_sync(&folders->dropped));
}

bool folders_publish(struct folders *folders) {
    return (folders->kept.path == NULL || tree_publish(&folders->kept)) &&
           (folders->dropped.path == NULL || tree_publish(&folders->dropped));
}

void folders_close(struct folders *folders) {
    if (folders->table.descriptor > 0) close(folders->table.descriptor);
    free(folders->table.bytes);
    tree_close(&folders->kept);
    tree_close(&folders->dropped);
}
