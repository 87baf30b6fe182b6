/* folder_texts.h: the documents in a folder and below it, one after the other, as `idx lookup --text` wants them. */
#ifndef IDX_TOOLS_TEXT_FOLDER_TEXTS_H
#define IDX_TOOLS_TEXT_FOLDER_TEXTS_H

#include "tools/text/text_reader.h"

struct folder_texts;

enum folder_texts_status {
    FOLDER_TEXTS_ONE, /* There is a fingerprint. */
    FOLDER_TEXTS_END,
    FOLDER_TEXTS_PARTLY, /* The end; a file or folder could not be read, as a complaint said. */
    FOLDER_TEXTS_FAILED, /* Memory ran out, as a complaint said. */
};

/* Lists the files in the folder at `path` and below it that `globs` admits. `reader` and `path` must stay valid until
 * folder_texts_close, which frees the result. */
struct folder_texts *folder_texts_open(struct text_reader *reader, const char *path, const struct globs *globs);

/* Sets the next fingerprint, the ID of its document, and the bytes of the hashes of its shingles unless `shingles` is
 * NULL, which it must be in all calls or in none; both are valid until the next call. Bad records are left out, as by
 * `idx fingerprint`, and a message at the end counts them. */
enum folder_texts_status folder_texts_next(struct folder_texts *texts, uint64_t *fingerprint, struct span *id,
                                           struct span *shingles);

/* Accepts NULL. */
void folder_texts_close(struct folder_texts *texts);

#endif
