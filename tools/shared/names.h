/* names.h: has the names of idx.h's enums on the command line and in output. */
#ifndef IDX_TOOLS_NAMES_H
#define IDX_TOOLS_NAMES_H

#include <idx.h>

#include <stdint.h>

/* The names are in the order of enum idx_id_type, and end with NULL. */
extern const char *const id_type_names[];

/* The names are in the order of enum idx_cluster_method and of enum idx_representative, and end with NULL. */
extern const char *const cluster_method_names[];
extern const char *const representative_names[];

/* Returns what an index keeps, as a word: document or documents, or fingerprint or fingerprints if it keeps no
 * documents. */
const char *names_of_documents(enum idx_id_type id_type, uint64_t count);

#endif
