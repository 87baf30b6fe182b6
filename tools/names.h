/* names.h: what the enums of idx.h are called on the command line and in output. */
#ifndef IDX_TOOLS_NAMES_H
#define IDX_TOOLS_NAMES_H

/* In the order of enum idx_codec; ends with NULL. */
extern const char *const codec_names[];

/* In the order of enum idx_id_type; ends with NULL. */
extern const char *const id_type_names[];

#endif
