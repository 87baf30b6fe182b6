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

/* Checks the `field_count` fields of a document. Errors: IDX_INVALID_ARGUMENT (a name other than NULL, body, title and
 * description, or a text that is NULL but not empty), IDX_LIMIT (all texts together have 2^30 bytes or more). */
enum idx_status idxt_check_fields(const struct idx_text_field *fields, size_t field_count, struct idx_error *error);

/* Finds the features of a document of `field_count` fields, which idxt_check_fields has accepted. Leaves them in
 * text->features.words, each with its weight, and the count 0. Errors: those of idx_text_fingerprints. */
enum idx_status idxt_find_document_features(struct idx_text *text, const struct idx_text_field *fields,
                                            size_t field_count, struct idx_error *error);

/* Makes the fingerprints of a document of `field_count` fields, which idxt_check_fields has accepted. The caller has
 * set `bits` and `fingerprints` of the result; this sets the other members. After an error these and the fingerprints
 * are unspecified. Errors: those of idx_text_fingerprints. */
enum idx_status idxt_fingerprint_document(struct idx_text *text, const struct idx_text_field *fields,
                                          size_t field_count, struct idxt_result *result, struct idx_error *error);

#endif
