/* list.h: lists of words that other programs made. */
#ifndef IDX_LIBIDX_TEXT_LIST_H
#define IDX_LIBIDX_TEXT_LIST_H

#include "libidx/text/table.h"

/* Reads a list of words with their document frequencies or idf (idx_text.h) into an empty table. Messages use `path`.
 * Errors: IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY, IDX_UNSUPPORTED (ICU fails). */
enum idx_status idxt_list_read(struct idx_text_table *table, const char *bytes, size_t length, const char *path,
                               struct idx_error *error);

#endif
