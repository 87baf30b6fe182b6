/* library.h: calls of the library as commands make them: checked, and with room for any number of results. */
#ifndef IDX_TOOLS_SHARED_LIBRARY_H
#define IDX_TOOLS_SHARED_LIBRARY_H

#include "tools/shared/wording.h"

#include <idx.h>

/* Returns whether a call of the library succeeded, by the status and the error that it gave. Complains of the error if
 * it failed, except for IDX_CANCELLED: a signal that ended the call needs no words. */
bool succeeded(enum idx_status status, const struct idx_error *error);

/* Opens the index at a path with IDX_RESIDENCE_NONE: nothing of it is loaded, since it is read through only once.
 * Complains and returns false if that fails; otherwise the caller closes *index. */
bool open_index_unloaded(struct idx_index **index, const char *path);

/* A document ID, of either type. */
struct document_id {
    const char *bytes; /* The ID, if the index has text IDs: `length` bytes. */
    size_t length;
    uint64_t number; /* The ID, if the index has integer IDs. */
};

/* Sets *fingerprints to the *count fingerprints, perhaps none, that have a document of this ID. The index must have a
 * map from IDs to fingerprints. If idx_find_id fails or memory ran out, returns the status and sets *error, without a
 * complaint; then *count is unspecified. The caller frees *fingerprints in any case. */
enum idx_status find_fingerprints_of_id(const struct idx_index *index, const struct document_id *id,
                                        uint64_t **fingerprints, size_t *count, struct idx_error *error);

#endif
