/* list.h: lists of words that other programs made. */
#ifndef IDX_LIBIDX_TEXT_LIST_H
#define IDX_LIBIDX_TEXT_LIST_H

#include "libidx/text/table.h"

/* Reads a list of words with their document frequencies or idf, as idx_text_table_read describes it, into an empty
 * table. `path` is for messages. Errors: IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY, IDX_UNSUPPORTED (ICU fails), IDX_LIMIT (a
 * word becomes too long by normalisation). After an error the table can only be closed. */
enum idx_status idxt_list_read(struct idx_text_table *table, const char *bytes, size_t length, const char *path,
                               struct idx_error *error);

#endif
