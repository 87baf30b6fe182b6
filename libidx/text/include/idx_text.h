/* idx_text.h: the public header of libidxtext: from a text to its fingerprint, by recipe. Optional, over ICU.
 *
 * A recipe is a versioned string that names every step, so that fingerprints made by different definitions can't be
 * mixed unseen. Known recipes:
 *
 *   words:1;nfkc-cf;w=logtf;v1
 *       The text is read as UTF-8, each ill-formed sequence as U+FFFD, and normalised by NFKC_Casefold (a run without
 *       a normalisation boundary is cut before the first character that begins 256 or more UTF-16 units after its
 *       start, and so on). `:` and `@` become spaces, since releases of ICU differ in how they cut at them. ICU's word
 *       segmentation for the root locale cuts the text into words; segments that are neither letters, numbers, kana
 *       nor ideographs are dropped. Each distinct word is one feature, its bytes in UTF-8, of weight 1 + log2(tf),
 *       where tf is how often it occurs, in fixed point with 16 fraction bits, rounded down, by integer arithmetic
 *       alone. Words of scripts without spaces come from ICU's dictionaries, which may change with its release.
 *
 * Conventions are those of idx.h. A struct idx_text belongs to one thread at a time.
 */
#ifndef IDX_TEXT_H
#define IDX_TEXT_H

#include <idx.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IDX_TEXT_DEFAULT_RECIPE "words:1;nfkc-cf;w=logtf;v1"

struct idx_text;

/* Makes a fingerprinter for a recipe; NULL is the default one. The caller closes *text.
 * Errors: IDX_BAD_RECIPE (the sentence lists the known ones), IDX_OUT_OF_MEMORY, IDX_UNSUPPORTED (ICU lacks its
 * data). */
IDX_API enum idx_status idx_text_open(struct idx_text **text, const char *recipe, struct idx_error *error);

/* The fingerprint of `bits` bits (1 to 64) of a text of `length` bytes (below 2^30). *features (may be NULL) is set to
 * the number of distinct features; a text without any has fingerprint 0.
 * Errors: IDX_INVALID_ARGUMENT, IDX_LIMIT (too long, also once normalised: 2^31 UTF-16 units), IDX_OUT_OF_MEMORY,
 * IDX_UNSUPPORTED (ICU fails; the sentence says how). */
IDX_API enum idx_status idx_text_fingerprint(struct idx_text *text, const void *utf8, size_t length, unsigned bits,
                                             uint64_t *fingerprint, uint64_t *features, struct idx_error *error);

IDX_API void idx_text_close(struct idx_text *text);

#ifdef __cplusplus
}
#endif

#endif
