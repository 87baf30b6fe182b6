/* document.h: a document of several fields, and its fingerprints. */
#ifndef IDX_LIBIDX_TEXT_DOCUMENT_H
#define IDX_LIBIDX_TEXT_DOCUMENT_H

#include "libidx/text/features.h"
#include "libidx/text/resemblance.h"

/* The bytes that represent a text in recipes that hash them: terms, sentences or a description. It starts as {0}, and
 * keeps its buffers from text to text. */
struct idxt_signature {
    char *bytes;
    size_t length;
    size_t capacity;
    UBreakIterator *sentence_iterator;     /* NULL until a text is cut into sentences */
    struct idxt_collapsed normal_sentence; /* the sentence that is being appended, normalised */
};

/* Frees the buffers and the iterator, and leaves the signature as {0}. */
void idxt_signature_free(struct idxt_signature *signature);

struct idx_text {
    struct idxt_features features; /* including the recipe */
    struct idxt_signature signature;
    struct idxt_hashes shingles;           /* for minhash */
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* the recipe as text, with the version of ICU */
};

struct idxt_result {
    unsigned bits;          /* how many bits a fingerprint is to have: the caller sets it */
    uint64_t *fingerprints; /* the caller's array, for idxt_recipe_max_fingerprints */
    size_t fingerprint_count;
    struct idx_text_counts counts;
};

/* Checks that the names of fields are known, that no text is missing, and that all texts together are below 2^30 bytes.
 * Errors, here and below: those of idx_text_fingerprints. */
enum idx_status idxt_check_fields(const struct idx_text_field *fields, size_t count, struct idx_error *error);

/* Finds the features of a document, whose fields idxt_check_fields has accepted, and leaves them in
 * text->features.words, each with its weight. Their counts are 0 then. */
enum idx_status idxt_count_document(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                                    struct idx_error *error);

/* Makes the fingerprints of a document, whose fields idxt_check_fields has accepted. The caller has set `bits` and
 * `fingerprints` of the result; this sets the others. After an error its counts and fingerprints are undefined. */
enum idx_status idxt_fingerprint_document(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                                          struct idxt_result *result, struct idx_error *error);

#endif
