/* names.c: has the names of idx.h's enums on the command line and in output. */
#include "tools/shared/names.h"

#include <stddef.h>

const char *const id_type_names[] = {[IDX_ID_TEXT] = "text", [IDX_ID_U64] = "u64", [IDX_ID_NONE] = "none", NULL};

const char *const cluster_method_names[] = {[IDX_CLUSTER_COMPONENTS] = "components", [IDX_CLUSTER_STAR] = "star", NULL};

const char *const representative_names[] = {[IDX_REPRESENTATIVE_FIRST] = "first",
                                            [IDX_REPRESENTATIVE_MOST_DOCUMENTS] = "most-documents",
                                            [IDX_REPRESENTATIVE_SMALLEST_ID] = "smallest-id",
                                            NULL};

const char *names_of_documents(enum idx_id_type id_type, uint64_t count) {
    if (id_type == IDX_ID_NONE) return count == 1 ? "fingerprint" : "fingerprints";
    return count == 1 ? "document" : "documents";
}
