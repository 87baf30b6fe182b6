/* body.h: the bytes of a document's body, in UTF-8. */
#ifndef IDX_TOOLS_FORMATS_BODY_H
#define IDX_TOOLS_FORMATS_BODY_H

#include "tools/formats/extract.h"

/* Sets *body to the document's bytes in UTF-8, and raw->cut if they end too soon: their chunks are joined in place, and
 * they are decompressed and decoded. The body is valid until `raw` or the extractor is used again. Sets *bad and
 * returns false if that fails. */
bool body_decode(struct extractor *extractor, struct raw_document *raw, struct span *body, struct bad *bad);

#endif
