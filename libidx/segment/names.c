/* names.c: see names.h. */
#include "libidx/segment/names.h"

#include <stdio.h>

void idxi_segment_name(uint32_t number, char name[IDXI_NAME_BYTES]) {
    snprintf(name, IDXI_NAME_BYTES, "%06u", (unsigned)number);
}

void idxi_table_name(size_t number, char name[IDXI_NAME_BYTES]) {
    snprintf(name, IDXI_NAME_BYTES, "table-%02zu.tbl", number);
}
