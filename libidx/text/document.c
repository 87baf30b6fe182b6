/* document.c: from the fields of a document to its features and fingerprints: what each method of a recipe does. */
#include "libidx/text/document.h"

#include "libidx/text/buffer.h"
#include "libidx/text/error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

/* ICU counts in int32_t, and a buffer of UTF-16 takes two bytes a byte. */
#define TEXT_LIMIT ((size_t)1 << 30)

enum idx_status idxt_check_fields(const struct idx_text_field *fields, size_t count, struct idx_error *error) {
    size_t room = TEXT_LIMIT - 1;
    for (size_t i = 0; i < count; i++) {
        if (fields[i].utf8 == NULL && fields[i].length > 0)
            return idxt_fail(error, IDX_INVALID_ARGUMENT, "a field of %zu bytes has no text", fields[i].length);
        const char *name = fields[i].name;
        if (name != NULL && strcmp(name, "body") != 0 && strcmp(name, "title") != 0 && strcmp(name, "description") != 0)
            return idxt_fail(error, IDX_INVALID_ARGUMENT,
                             "unknown field '%.100s': the fields are body, title and description", name);
        if (fields[i].length > room)
            return idxt_fail(error, IDX_LIMIT, "a text of %zu bytes is too long: texts must have fewer than %zu bytes",
                             fields[i].length, TEXT_LIMIT);
        room -= fields[i].length;
    }
    return IDX_OK;
}

static bool is_named(const struct idx_text_field *field, const char *name) {
    return strcmp(field->name == NULL ? "body" : field->name, name) == 0;
}

static UErrorCode count_fields(struct idxt_features *features, const struct idx_text_field *fields, size_t count,
                               const char *name) {
    UErrorCode code = U_ZERO_ERROR;
    for (size_t i = 0; i < count && U_SUCCESS(code); i++) {
        if (is_named(&fields[i], name)) code = idxt_features_count(features, fields[i].utf8, fields[i].length);
    }
    return code;
}

enum idx_status idxt_count_document(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                                    struct idx_error *error) {
    struct idxt_features *features = &text->features;
    UErrorCode code = idxt_features_begin(features);
    if (U_SUCCESS(code)) code = count_fields(features, fields, count, "body");
    if (U_FAILURE(code)) return idxt_fail_icu(error, code);
    idxt_features_weigh(features, 1);
    if (features->recipe.title == 0) return IDX_OK;
    code = count_fields(features, fields, count, "title");
    if (U_FAILURE(code)) return idxt_fail_icu(error, code);
    idxt_features_weigh(features, features->recipe.title);
    return IDX_OK;
}

enum idx_status idxt_list_document(struct idx_text *text, const struct idx_text_field *fields, size_t field_count,
                                   size_t *count, struct idx_error *error) {
    struct idxt_features *features = &text->features;
    enum idx_status status = idxt_count_document(text, fields, field_count, error);
    if (status != IDX_OK) return status;
    size_t top = features->recipe.top;
    bool ranked = top > 0 && top < features->words.count;
    *count = ranked ? top : features->words.count;
    struct idx_feature *listed =
        idxt_buffer_grow(text->listed, &text->listed_capacity, *count + 1, sizeof *text->listed);
    if (listed != NULL) text->listed = listed;
    if (listed == NULL || (ranked && !idxt_features_rank(features))) return idxt_out_of_memory(error);
    for (size_t i = 0; i < *count; i++) {
        const struct idxt_word *word = &features->words.words[ranked ? features->ranked[i].number : i];
        listed[i] = (struct idx_feature){word->hash, word->weight};
    }
    return IDX_OK;
}

static void put(struct idxt_result *result, uint64_t fingerprint) {
    result->fingerprints[result->count++] = fingerprint;
}

static uint64_t finish(const struct idx_text *text, const struct idx_simhash *sums, unsigned bits) {
    uint64_t ties = text->features.recipe.ties ? idx_simhash_ties(sums, bits) : 0;
    return idx_simhash_finish(sums, bits) | ties;
}

/* Features are added to a SimHash so many at a time, since that takes a tenth of the time. */
enum { BATCH = 256 };

/* SimHash of all features, or of the heaviest ones. */
static bool simhash(struct idx_text *text, struct idxt_result *result) {
    struct idxt_features *features = &text->features;
    size_t count = features->words.count, top = features->recipe.top;
    bool ranked = top > 0 && top < count;
    if (ranked && !idxt_features_rank(features)) return false;
    struct idx_simhash sums;
    idx_simhash_init(&sums);
    struct idx_feature batch[BATCH];
    size_t filled = 0;
    for (size_t i = 0; i < (ranked ? top : count); i++) {
        size_t number = ranked ? features->ranked[i].number : i;
        int64_t weight = features->words.words[number].weight;
        batch[filled++] = (struct idx_feature){idxt_features_hash(features, number), weight};
        result->counts.weight += weight;
        if (filled < BATCH) continue;
        idx_simhash_add_features(&sums, batch, filled);
        filled = 0;
    }
    idx_simhash_add_features(&sums, batch, filled);
    result->counts.features = count;
    put(result, count == 0 ? 0 : finish(text, &sums, result->bits));
    return true;
}

/* SimHash of each part of the sequence of words. */
static void segments(struct idx_text *text, struct idxt_result *result) {
    struct idxt_features *features = &text->features;
    uint64_t number = features->recipe.number, length = features->sequence_length;
    /* Word i is of part floor(i N / n), so part s ends before the first i with i N >= (s + 1) n. */
    size_t start = 0;
    for (uint64_t segment = 0; segment < number; segment++) {
        size_t end = (size_t)(((segment + 1) * length + number - 1) / number);
        if (end == start) continue;
        struct idx_simhash sums;
        idx_simhash_init(&sums);
        result->counts.weight += idxt_features_add_part(features, start, end, &sums);
        put(result, finish(text, &sums, result->bits));
        start = end;
    }
    result->counts.features = features->words.count;
}

static void put_digest(struct idx_text *text, struct idxt_result *result) {
    uint64_t hash = text->signature.length == 0 ? 0 : XXH3_64bits(text->signature.bytes, text->signature.length);
    put(result, result->bits < 64 ? hash & ((UINT64_C(1) << result->bits) - 1) : hash);
}

static UErrorCode terms(struct idx_text *text, struct idxt_result *result) {
    struct idxt_features *features = &text->features;
    size_t count = features->words.count, wanted = features->recipe.number;
    if (features->recipe.method == IDXT_IDF) wanted = (count * wanted + 99) / 100;
    if (wanted > count) wanted = count;
    if (!idxt_features_rank(features)) return U_MEMORY_ALLOCATION_ERROR;
    for (size_t i = 0; i < wanted; i++) result->counts.weight += features->ranked[i].weight;
    result->counts.features = count;
    if (!idxt_sign_terms(&text->signature, features, wanted, features->recipe.sorted)) return U_MEMORY_ALLOCATION_ERROR;
    return U_ZERO_ERROR;
}

/* Takes a field into the folding, normalised or not, until there are `enough` units or no more text. */
static UErrorCode fold(struct idx_text *text, const struct idx_text_field *field, bool normalized, size_t enough) {
    struct idxt_segmenter *segmenter = &text->features.segmenter;
    struct idxt_folding *folding = &text->features.folding;
    const char *utf8 = field->utf8;
    for (size_t rest = field->length; rest > 0 && folding->length < enough;) {
        size_t piece = idxt_piece_length(utf8, rest);
        UErrorCode code = normalized ? idxt_segmenter_normalize(segmenter, utf8, piece)
                                     : idxt_segmenter_convert(segmenter, utf8, piece);
        if (U_FAILURE(code)) return code;
        bool well = normalized ? idxt_folding_add(folding, segmenter->units, segmenter->unit_length)
                               : idxt_folding_add(folding, segmenter->source, segmenter->source_length);
        if (!well) return U_MEMORY_ALLOCATION_ERROR;
        utf8 += piece;
        rest -= piece;
    }
    return idxt_folding_add(folding, u"\n", 1) ? U_ZERO_ERROR : U_MEMORY_ALLOCATION_ERROR;
}

/* Sentences are found before normalisation, because they begin with capitals, which it makes small. */
static UErrorCode sentences(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                            struct idxt_result *result) {
    UErrorCode code = U_ZERO_ERROR;
    struct idxt_features *features = &text->features;
    idxt_folding_begin(&features->folding);
    for (size_t i = 0; i < count && U_SUCCESS(code); i++) {
        if (is_named(&fields[i], "body")) code = fold(text, &fields[i], false, SIZE_MAX);
    }
    if (U_FAILURE(code)) return code;
    return idxt_sign_sentences(&text->signature, &features->segmenter, &features->folding, features->recipe.number,
                               &result->counts.features);
}

static UErrorCode description(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                              struct idxt_result *result) {
    const char *name = "body";
    UErrorCode code = U_ZERO_ERROR;
    for (size_t i = 0; i < count; i++) {
        if (is_named(&fields[i], "description")) name = "description";
    }
    idxt_folding_begin(&text->features.folding);
    for (size_t i = 0; i < count && U_SUCCESS(code); i++) {
        if (is_named(&fields[i], name)) code = fold(text, &fields[i], true, IDXT_DESCRIPTION_BYTES + 1);
    }
    if (U_FAILURE(code)) return code;
    if (!idxt_sign_description(&text->signature, &text->features.folding)) return U_MEMORY_ALLOCATION_ERROR;
    result->counts.features = text->signature.length > 0;
    return U_ZERO_ERROR;
}

static enum idx_status hash_fields(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                                   struct idxt_result *result, struct idx_error *error) {
    UErrorCode code;
    switch (text->features.recipe.method) {
        case IDXT_SENTENCES: code = sentences(text, fields, count, result); break;
        case IDXT_DESCRIPTION: code = description(text, fields, count, result); break;
        default: code = terms(text, result);
    }
    if (U_FAILURE(code)) return idxt_fail_icu(error, code);
    put_digest(text, result);
    return IDX_OK;
}

enum idx_status idxt_fingerprint_document(struct idx_text *text, const struct idx_text_field *fields, size_t count,
                                          struct idxt_result *result, struct idx_error *error) {
    enum idxt_method method = text->features.recipe.method;
    result->count = 0;
    result->counts = (struct idx_text_counts){0};
    text->signature.length = 0;
    if (method != IDXT_SENTENCES && method != IDXT_DESCRIPTION) {
        enum idx_status status = idxt_count_document(text, fields, count, error);
        if (status != IDX_OK) return status;
    }
    if (method == IDXT_SEGMENTS) {
        segments(text, result);
        return IDX_OK;
    }
    if (method != IDXT_WORDS && method != IDXT_CHARS) return hash_fields(text, fields, count, result, error);
    return simhash(text, result) ? IDX_OK : idxt_out_of_memory(error);
}
