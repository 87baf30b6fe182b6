/* folder_texts.h: the documents in a folder and below it, one after the other, as `idx lookup --text` wants them. */
#ifndef IDX_TOOLS_TEXT_FOLDER_TEXTS_H
#define IDX_TOOLS_TEXT_FOLDER_TEXTS_H

#include "tools/text/text_reader.h"

struct below;

enum below_status {
    BELOW_ONE,
    BELOW_END,
    BELOW_PARTLY, /* The end; a file or folder could not be read, as a complaint said. */
    BELOW_FAILED, /* Memory ran out, as a complaint said. */
};

/* Lists the files in the folder at `path` and below it that `globs` admits. `reader` and `path` are used until
 * below_free. */
struct below *below_new(struct text_reader *reader, const char *path, const struct globs *globs);

/* Sets the next fingerprint, the ID of its document, and the bytes of the hashes of its shingles unless `shingles` is
 * NULL, as it then is in all calls; both are valid until the next call. Bad records are left out, as by `idx
 * fingerprint`, and a message at the end counts them. */
enum below_status below_next(struct below *below, uint64_t *fingerprint, struct span *id, struct span *shingles);

/* Accepts NULL. */
void below_free(struct below *below);

#endif
