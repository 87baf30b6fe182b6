/* instructions.c: idx_instructions: which of the processor's instructions the library uses. */
#include <idx.h>

#include "format/processor.h"

const char *idx_instructions(void) { return idxf_instructions_name(); }
