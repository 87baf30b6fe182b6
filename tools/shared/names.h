/* names.h: what the enums of idx.h are called on the command line and in output. */
#ifndef IDX_TOOLS_NAMES_H
#define IDX_TOOLS_NAMES_H

#include <idx.h>

#include <stdint.h>

/* In the order of enum idx_id_type; ends with NULL. */
extern const char *const id_type_names[];

/* In the order of enum idx_cluster_method, and of enum idx_representative; they end with NULL. */
extern const char *const cluster_method_names[];
extern const char *const representative_names[];

/* What so many of the things that an index keeps are called: documents, or fingerprints where it keeps no documents. */
const char *names_of_documents(enum idx_id_type id_type, uint64_t count);

#endif
