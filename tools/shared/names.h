/* names.h: what the enums of idx.h are called on the command line and in output. */
#ifndef IDX_TOOLS_NAMES_H
#define IDX_TOOLS_NAMES_H

/* In the order of enum idx_id_type; ends with NULL. */
extern const char *const id_type_names[];

/* In the order of enum idx_cluster_method, and of enum idx_representative; they end with NULL. */
extern const char *const cluster_method_names[];
extern const char *const representative_names[];

#endif
