/* document.h: a document and its fingerprints, for the public functions. */
#ifndef IDX_TEXT_DOCUMENT_H
#define IDX_TEXT_DOCUMENT_H

#include "libidx/text/features.h"

#include <idx_text.h>

/* The bytes that represent a text in recipes that hash them: terms, sentences or a description. It starts as {0}, and
 * keeps its buffers from text to text. */
struct idxt_signature {
    char *bytes;
    size_t length;
    size_t capacity;
    UBreakIterator *sentences;
    struct idxt_folding sentence;
};

void idxt_signature_free(struct idxt_signature *signature);

struct idx_text {
    struct idxt_features features; /* the recipe too */
    struct idxt_signature signature;
    struct idx_feature *listed; /* by idx_text_features */
    size_t listed_capacity;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* printed, with ICU's version */
};

struct idxt_result {
    unsigned bits;          /* wanted */
    uint64_t *fingerprints; /* with room for what the recipe can make */
    size_t count;
    struct idx_text_counts counts;
};

/* Errors of these: as idx_text_fingerprints. */
enum idx_status idxt_check_fields(const struct idx_text_field *fields, size_t count, struct idx_error *error);

/* Makes the document's features and weighs them. Fields are checked before. */
enum idx_status idxt_count_document(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                                    struct idx_error *error);

/* Lists its features. */
enum idx_status idxt_list_document(struct idx_text *text, const struct idx_text_field *fields, size_t field_count,
                                   size_t *count, struct idx_error *error);

/* Makes its fingerprints. */
enum idx_status idxt_fingerprint_document(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                                          struct idxt_result *result, struct idx_error *error);

#endif
