/* list.h: lists of words that other programs made, with their document frequencies or with idf, as a table. */
#ifndef IDX_TEXT_LIST_H
#define IDX_TEXT_LIST_H

#include "libidx/text/table.h"

/* Reads the bytes of a list (idx_text.h has its form) into an empty table. `path` is for messages.
 * Errors: IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY, IDX_UNSUPPORTED (ICU fails). */
enum idx_status idxt_list_read(struct idx_text_table *table, const char *bytes, size_t length, const char *path,
                               struct idx_error *error);

#endif
