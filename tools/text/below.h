/* below.h: the fingerprints of the documents in a folder and below it, one after the other, as `idx lookup --text`
 * wants them. */
#ifndef IDX_TOOLS_BELOW_H
#define IDX_TOOLS_BELOW_H

#include "tools/text/text.h"

struct below;

enum below_status {
    BELOW_ONE,
    BELOW_END,
    BELOW_PARTLY, /* the end, but a file or a folder could not be read, after a complaint */
    BELOW_FAILED, /* memory ran out, after a complaint */
};

/* Lists the files in the folder at `path` and below it that `globs` admits. `text` is used until below_free. NULL after
 * a complaint. */
struct below *below_new(struct text *text, const char *path, const struct globs *globs);

/* Gives a fingerprint and the ID of its document, which is valid until the next call. Bad records are left out, as by
 * `idx fingerprint`, and counted at the end on standard error. */
enum below_status below_next(struct below *below, uint64_t *fingerprint, struct span *id);

/* NULL is none. */
void below_free(struct below *below);

#endif
