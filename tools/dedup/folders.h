/* folders.h: `idx dedup --write` and `--dropped`: the folders that get the records of documents to keep, and of
 * documents to drop with a table of what these are like. */
#ifndef IDX_TOOLS_FOLDERS_H
#define IDX_TOOLS_FOLDERS_H

#include "tools/dedup/intake.h"
#include "tools/dedup/tree.h"

struct folders {
    struct tree kept, dropped;               /* their paths are NULL where they are not asked for */
    const struct idx_properties *properties; /* of the index that is clustered, once that is known */

    /* Within. */
    uint64_t *bits;      /* of each document that was compared: whether it is dropped */
    struct output table; /* beside the documents to drop */
};

bool folders_are_asked_for(const struct folders *folders);

/* Whether they can be made of these inputs. False after a complaint. */
bool folders_check(const struct folders *folders, const struct texts *paths);

/* Begins them, for as many documents as were compared. False after a complaint. */
bool folders_open(struct folders *folders, uint64_t compared);

/* What listing.h calls for each document of a cluster; the context is the folders. */
void folders_note(void *context, const struct idx_cluster_member *member);

/* Writes and publishes them. False after a complaint, or where a signal was noted. */
bool folders_write(struct folders *folders, struct intake *intake);

/* Accepts folders that were not opened. */
void folders_close(struct folders *folders);

#endif
