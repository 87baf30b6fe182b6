/* kept.h: writes the records of documents, as they are in their inputs, into the folders of those to keep and to drop.
 */
#ifndef IDX_TOOLS_KEPT_H
#define IDX_TOOLS_KEPT_H

#include "tools/dedup/journal.h"
#include "tools/dedup/tree.h"

/* Goes through the journal once more. `trees` are that of what is kept and that of what is dropped, NULL where it isn't
 * asked for. `dropped` has a bit for each document that was compared. False after a complaint, or where a signal was
 * noted. */
bool kept_write(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped);

#endif
