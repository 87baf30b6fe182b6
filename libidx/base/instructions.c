/* instructions.c: which of the processor's instructions the library uses, for programs that show it. */
#include <idx.h>

#include "format/processor.h"

const char *idx_instructions(void) { return idxf_instructions_name(); }
