/* body.h: the bytes of a document's body, in UTF-8. */
#ifndef IDX_TOOLS_FORMATS_BODY_H
#define IDX_TOOLS_FORMATS_BODY_H

#include "tools/formats/extract.h"

/* Sets *body to the document's bytes in UTF-8: joins the chunks of HTTP, in place, decompresses the bytes, and decodes
 * them. Sets raw->cut if the bytes end too soon. The body is valid until `raw` or the extractor is used again. Sets
 * *bad and returns false if a step fails, or if there are more than max_text bytes. */
bool body_decode(struct extractor *extractor, struct raw_document *raw, struct span *body, struct bad *bad);

#endif
