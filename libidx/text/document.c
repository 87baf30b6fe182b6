/* document.c: makes the features and fingerprints of a document from its fields, as the method of the recipe says. A
 * signature is the bytes that represent a text in recipes that hash them. If it has several items, these are joined by
 * line feeds, which occur neither in words nor in collapsed text. Functions that append or make something return false
 * or NULL if memory runs out. */
#include "libidx/text/document.h"

#include "libidx/text/base.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <unicode/ustring.h>

#include <stdlib.h>
#include <string.h>

/* ---- Signatures ---- */

enum { MAX_SENTENCES = 64, DESCRIPTION_BYTES = 512 };

/* Begins an item: appends a line feed unless the signature is empty. Returns room for `size` bytes, where the caller
 * writes the item. The caller then adds the length of the item to signature->length. Returns NULL if memory runs out.
 */
static char *reserve_item(struct idxt_signature *signature, size_t size) {
    char *grown = idxt_buffer_grow(signature->bytes, &signature->capacity, signature->length + size + 1, 1);
    if (grown == NULL) return NULL;
    signature->bytes = grown;
    if (signature->length > 0) grown[signature->length++] = '\n';
    return grown + signature->length;
}

/* Appends a span of the text, in UTF-8, as an item. Returns false if memory runs out. */
static bool append_span(struct idxt_signature *signature, struct idxt_span span) {
    char *bytes = reserve_item(signature, span.length * IDXT_UTF8_PER_UNIT);
    if (bytes == NULL) return false;
    signature->length += idxt_span_write_utf8(span, bytes);
    return true;
}

struct term {
    const char *bytes;
    size_t length;
};

/* Orders terms by their bytes, for qsort: a, ab, b. */
static int compare_terms(const void *first, const void *second) {
    const struct term *a = first, *b = second;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* Appends the bytes of a term as an item. Returns false if memory runs out. */
static bool append_term(struct idxt_signature *signature, struct term term) {
    char *bytes = reserve_item(signature, term.length);
    if (bytes == NULL) return false;
    memcpy(bytes, term.bytes, term.length);
    signature->length += term.length;
    return true;
}

/* Makes the signature of the `count` heaviest terms, the first ones of features->ranked, which idxt_features_rank has
 * set. They are in that order, or in the order of their bytes if the recipe has order=sorted. Returns false if memory
 * runs out. */
static bool sign_ranked_terms(struct idxt_signature *signature, const struct idxt_features *features, size_t count) {
    signature->length = 0;
    struct term *terms = malloc((count + 1) * sizeof *terms);
    if (terms == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        const struct idxt_word *word = &features->words.words[features->ranked[i].number];
        terms[i] = (struct term){.bytes = features->words.bytes + word->start, .length = word->length};
    }
    if (features->recipe.sorted) qsort(terms, count, sizeof *terms, compare_terms);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) ok = append_term(signature, terms[i]);
    free(terms);
    return ok;
}

struct sentence {
    struct idxt_span span;
    int32_t length; /* in code points */
};

/* Adds the next sentence of the text to the `max_count` longest ones so far. `longest` has room for `max_count`
 * sentences, and has `count`, in the order of the text. If it is full, a longer sentence replaces the shortest one (of
 * several, the last), and any other sentence is left out. Returns the new count. */
static size_t keep_longest(struct sentence *longest, size_t count, size_t max_count, struct sentence sentence) {
    if (count == max_count) {
        size_t shortest = 0;
        for (size_t i = 1; i < count; i++) {
            if (longest[i].length <= longest[shortest].length) shortest = i;
        }
        if (sentence.length <= longest[shortest].length) return count; /* of equal ones, the first stays */
        count--;
        memmove(longest + shortest, longest + shortest + 1, (count - shortest) * sizeof *longest);
    }
    longest[count] = sentence;
    return count + 1;
}

/* Makes signature->sentence_iterator, which is opened if it is NULL, cut a text. The text must stay valid while it
 * does. Errors are those of ICU. */
static UErrorCode set_sentence_text(struct idxt_signature *signature, const struct idxt_collapsed *text) {
    UErrorCode code = U_ZERO_ERROR;
    /* "" is the root locale; NULL would be the user's. */
    if (signature->sentence_iterator == NULL)
        signature->sentence_iterator = ubrk_open(UBRK_SENTENCE, "", NULL, 0, &code);
    if (U_SUCCESS(code)) ubrk_setText(signature->sentence_iterator, text->units, (int32_t)text->length, &code);
    return U_FAILURE(code) ? code : U_ZERO_ERROR;
}

/* Normalises a sentence, collapses its white space, and appends it to the signature as an item. The segmenter needs it
 * in UTF-8: for that it is first written to the end of the signature, where the result then overwrites it. Errors are
 * those of ICU. */
static UErrorCode append_sentence(struct idxt_signature *signature, struct idxt_segmenter *segmenter,
                                  struct idxt_span sentence) {
    size_t old_length = signature->length, start = old_length + (old_length > 0);
    if (!append_span(signature, sentence)) return U_MEMORY_ALLOCATION_ERROR;
    UErrorCode code = idxt_segmenter_normalize(segmenter, signature->bytes + start, signature->length - start);
    if (U_FAILURE(code)) return code;
    signature->length = old_length;
    idxt_collapsed_begin(&signature->normal_sentence);
    if (!idxt_collapsed_add(&signature->normal_sentence, segmenter->units, segmenter->unit_length))
        return U_MEMORY_ALLOCATION_ERROR;
    struct idxt_span normal = {.units = signature->normal_sentence.units, .length = signature->normal_sentence.length};
    return append_span(signature, normal) ? U_ZERO_ERROR : U_MEMORY_ALLOCATION_ERROR;
}

/* Makes the signature of the `max_count` (1 to MAX_SENTENCES) longest sentences of a text that is collapsed but not
 * normalised, each normalised on its own, in the order of the text. Sets *sentence_count to how many sentences the text
 * has in all. Errors are those of ICU. */
static UErrorCode sign_longest_sentences(struct idxt_signature *signature, struct idxt_segmenter *segmenter,
                                         const struct idxt_collapsed *text, size_t max_count,
                                         uint64_t *sentence_count) {
    struct sentence longest[MAX_SENTENCES];
    size_t chosen_count = 0;
    signature->length = 0;
    *sentence_count = 0;
    if (text->length == 0) return U_ZERO_ERROR;
    UErrorCode code = set_sentence_text(signature, text);
    if (U_FAILURE(code)) return code;
    for (int32_t start = 0, end; (end = ubrk_next(signature->sentence_iterator)) != UBRK_DONE; start = end) {
        struct idxt_span span = {.units = text->units + start, .length = (size_t)(end - start)};
        if (span.units[span.length - 1] == u' ') span.length--;
        struct sentence sentence = {.span = span, .length = u_countChar32(span.units, (int32_t)span.length)};
        chosen_count = keep_longest(longest, chosen_count, max_count, sentence);
        ++*sentence_count;
    }
    for (size_t i = 0; i < chosen_count && U_SUCCESS(code); i++)
        code = append_sentence(signature, segmenter, longest[i].span);
    return code;
}

/* Makes the signature of the first DESCRIPTION_BYTES bytes of a normalised and collapsed text, without the last
 * character if it is cut. As many UTF-16 units are enough, since each becomes at least one byte. Returns false if
 * memory ran out. */
static bool sign_description(struct idxt_signature *signature, const struct idxt_collapsed *text) {
    signature->length = 0;
    size_t unit_count = text->length < DESCRIPTION_BYTES ? text->length : DESCRIPTION_BYTES;
    if (unit_count < text->length && U16_IS_LEAD(text->units[unit_count - 1])) unit_count--;
    if (!append_span(signature, (struct idxt_span){.units = text->units, .length = unit_count})) return false;
    if (signature->length <= DESCRIPTION_BYTES) return true;
    size_t length = DESCRIPTION_BYTES;
    while (((unsigned char)signature->bytes[length] & 0xC0) == 0x80) length--; /* to where a character begins */
    signature->length = length;
    return true;
}

void idxt_signature_free(struct idxt_signature *signature) {
    if (signature->sentence_iterator != NULL) ubrk_close(signature->sentence_iterator);
    idxt_collapsed_free(&signature->normal_sentence);
    free(signature->bytes);
    *signature = (struct idxt_signature){0};
}

/* ---- Documents ---- */

/* A text has fewer bytes than this: ICU counts in int32_t, and UTF-16 takes up to two bytes for each byte of a text. */
#define TEXT_LIMIT ((size_t)1 << 30)

enum idx_status idxt_check_fields(const struct idx_text_field *fields, size_t field_count, struct idx_error *error) {
    size_t left_bytes = TEXT_LIMIT - 1;
    for (size_t i = 0; i < field_count; i++) {
        if (fields[i].utf8 == NULL && fields[i].length > 0)
            return idxt_fail(error, IDX_INVALID_ARGUMENT, "a field of %zu bytes has no text", fields[i].length);
        const char *name = fields[i].name;
        if (name != NULL && strcmp(name, "body") != 0 && strcmp(name, "title") != 0 && strcmp(name, "description") != 0)
            return idxt_fail(error, IDX_INVALID_ARGUMENT,
                             "unknown field '%.100s': the fields are body, title and description", name);
        if (fields[i].length > left_bytes)
            return idxt_fail(error, IDX_LIMIT, "a text of %zu bytes is too long: texts must have fewer than %zu bytes",
                             fields[i].length, TEXT_LIMIT);
        left_bytes -= fields[i].length;
    }
    return IDX_OK;
}

/* Returns whether the name of a field is `name`; a field without a name is a body. */
static bool is_named(const struct idx_text_field *field, const char *name) {
    return strcmp(field->name == NULL ? "body" : field->name, name) == 0;
}

/* Counts the features of all fields whose name is `name`. Errors are those of ICU. */
static UErrorCode count_fields_named(struct idxt_features *features, const struct idx_text_field *fields,
                                     size_t field_count, const char *name) {
    UErrorCode code = U_ZERO_ERROR;
    for (size_t i = 0; i < field_count && U_SUCCESS(code); i++) {
        if (is_named(&fields[i], name)) code = idxt_features_count_text(features, fields[i].utf8, fields[i].length);
    }
    return code;
}

enum idx_status idxt_find_document_features(struct idx_text *text, const struct idx_text_field *fields,
                                            size_t field_count, struct idx_error *error) {
    struct idxt_features *features = &text->features;
    UErrorCode code = idxt_features_begin(features);
    if (U_SUCCESS(code)) code = count_fields_named(features, fields, field_count, "body");
    if (U_FAILURE(code)) return idxt_fail_icu(error, code);
    idxt_features_add_weights(features, 1);
    if (features->recipe.title_weight == 0) return IDX_OK;
    code = count_fields_named(features, fields, field_count, "title");
    if (U_FAILURE(code)) return idxt_fail_icu(error, code);
    idxt_features_add_weights(features, features->recipe.title_weight);
    return IDX_OK;
}

/* Appends a fingerprint to those of the result, whose array is large enough for all that the recipe makes. */
static void append_fingerprint(struct idxt_result *result, uint64_t fingerprint) {
    result->fingerprints[result->fingerprint_count++] = fingerprint;
}

/* Returns the fingerprint of `bits` bits that the sums of a SimHash make. A bit whose sum is 0, a tie, is 1 if
 * recipe.ties, and else 0. */
static uint64_t make_fingerprint(const struct idx_text *text, const struct idx_simhash *sums, unsigned bits) {
    uint64_t ties = text->features.recipe.ties ? idx_simhash_ties(sums, bits) : 0;
    return idx_simhash_finish(sums, bits) | ties;
}

/* How many features are added to a SimHash at a time, which takes a tenth of the time of adding them one by one. */
enum { BATCH_FEATURES = 256 };

/* Appends one fingerprint to the result: the SimHash of all features, or of the recipe.max_features heaviest ones; 0 if
 * there are none. Sets counts.features to the number of all features, and adds the weights of those used to
 * counts.weight. Returns false if memory runs out. */
static bool append_simhash(struct idx_text *text, struct idxt_result *result) {
    struct idxt_features *features = &text->features;
    size_t count = features->words.count, max_features = features->recipe.max_features;
    bool is_ranked = max_features > 0 && max_features < count;
    size_t used_count = is_ranked ? max_features : count;
    if (is_ranked && !idxt_features_rank(features)) return false;
    struct idx_simhash sums;
    idx_simhash_init(&sums);
    struct idx_feature batch[BATCH_FEATURES];
    size_t batch_count = 0;
    for (size_t i = 0; i < used_count; i++) {
        size_t word_number = is_ranked ? features->ranked[i].number : i;
        int64_t weight = features->words.words[word_number].weight;
        batch[batch_count++] = (struct idx_feature){idxt_features_get_hash(features, word_number), weight};
        result->counts.weight += weight;
        if (batch_count < BATCH_FEATURES) continue;
        idx_simhash_add_features(&sums, batch, batch_count);
        batch_count = 0;
    }
    idx_simhash_add_features(&sums, batch, batch_count);
    result->counts.features = count;
    append_fingerprint(result, count == 0 ? 0 : make_fingerprint(text, &sums, result->bits));
    return true;
}

/* Cuts the sequence of words into recipe.number parts, and appends the SimHash of each part that has words to the
 * result. Sets counts.features, and adds the weights to counts.weight. Word i is in part floor(i * part_count /
 * word_count), so a part ends before word ceil((part + 1) * word_count / part_count). */
static void append_segment_simhashes(struct idx_text *text, struct idxt_result *result) {
    struct idxt_features *features = &text->features;
    uint64_t part_count = features->recipe.number, word_count = features->sequence_length;
    size_t begin = 0;
    for (uint64_t part = 0; part < part_count; part++) {
        size_t end = (size_t)(((part + 1) * word_count + part_count - 1) / part_count);
        if (end == begin) continue;
        struct idx_simhash sums;
        idx_simhash_init(&sums);
        result->counts.weight += idxt_features_add_range(features, begin, end, &sums);
        append_fingerprint(result, make_fingerprint(text, &sums, result->bits));
        begin = end;
    }
    result->counts.features = features->words.count;
}

/* Appends a fingerprint to the result: the low result->bits bits of the XXH3 hash of the signature, or 0 if the
 * signature is empty. */
static void append_signature_hash(const struct idx_text *text, struct idxt_result *result) {
    uint64_t hash = text->signature.length == 0 ? 0 : XXH3_64bits(text->signature.bytes, text->signature.length);
    append_fingerprint(result, result->bits < 64 ? hash & ((UINT64_C(1) << result->bits) - 1) : hash);
}

/* Makes the signature of the heaviest terms: of recipe.number terms, or for idf:P of P percent of all, rounded up. Sets
 * counts.features of the result to the number of all terms, and adds the weights of the heaviest ones to counts.weight.
 * Errors are those of ICU. */
static UErrorCode rank_and_sign_terms(struct idx_text *text, struct idxt_result *result) {
    struct idxt_features *features = &text->features;
    size_t term_count = features->words.count, wanted_count = features->recipe.number;
    if (features->recipe.method == IDXT_IDF) wanted_count = (term_count * wanted_count + 99) / 100;
    if (wanted_count > term_count) wanted_count = term_count;
    if (!idxt_features_rank(features)) return U_MEMORY_ALLOCATION_ERROR;
    for (size_t i = 0; i < wanted_count; i++) result->counts.weight += features->ranked[i].weight;
    result->counts.features = term_count;
    return sign_ranked_terms(&text->signature, features, wanted_count) ? U_ZERO_ERROR : U_MEMORY_ALLOCATION_ERROR;
}

enum form { AS_WRITTEN, NORMALIZED };

/* Appends a field to text->features.collapsed, normalised or as it is written, and white space after it. Goes piece by
 * piece, and stops once the collapsed text has at least `enough_units` UTF-16 units. Errors are those of ICU. */
static UErrorCode collapse_field(struct idx_text *text, const struct idx_text_field *field, enum form form,
                                 size_t enough_units) {
    struct idxt_segmenter *segmenter = &text->features.segmenter;
    struct idxt_collapsed *collapsed = &text->features.collapsed;
    const char *utf8 = field->utf8;
    for (size_t left_bytes = field->length; left_bytes > 0 && collapsed->length < enough_units;) {
        size_t piece_length = idxt_find_piece_length(utf8, left_bytes);
        UErrorCode code = form == NORMALIZED ? idxt_segmenter_normalize(segmenter, utf8, piece_length)
                                             : idxt_segmenter_convert_to_utf16(segmenter, utf8, piece_length);
        if (U_FAILURE(code)) return code;
        bool ok = form == NORMALIZED ? idxt_collapsed_add(collapsed, segmenter->units, segmenter->unit_length)
                                     : idxt_collapsed_add(collapsed, segmenter->source, segmenter->source_length);
        if (!ok) return U_MEMORY_ALLOCATION_ERROR;
        utf8 += piece_length;
        left_bytes -= piece_length;
    }
    return idxt_collapsed_add(collapsed, u"\n", 1) ? U_ZERO_ERROR : U_MEMORY_ALLOCATION_ERROR;
}

/* Collapses all fields `body`, and makes the signature of their longest sentences. They are collapsed as they are
 * written, since sentences begin with capitals, which normalisation makes small. Sets counts.features of the result to
 * the number of sentences. Errors are those of ICU. */
static UErrorCode collapse_and_sign_sentences(struct idx_text *text, const struct idx_text_field *fields,
                                              size_t field_count, struct idxt_result *result) {
    UErrorCode code = U_ZERO_ERROR;
    struct idxt_features *features = &text->features;
    idxt_collapsed_begin(&features->collapsed);
    for (size_t i = 0; i < field_count && U_SUCCESS(code); i++) {
        if (is_named(&fields[i], "body")) code = collapse_field(text, &fields[i], AS_WRITTEN, SIZE_MAX);
    }
    if (U_FAILURE(code)) return code;
    return sign_longest_sentences(&text->signature, &features->segmenter, &features->collapsed, features->recipe.number,
                                  &result->counts.features);
}

/* Normalises and collapses the first field `description`, or all fields `body` if there is none, and makes the
 * signature of the beginning. Sets counts.features of the result to 1, or to 0 if the signature is empty. Errors are
 * those of ICU. */
static UErrorCode collapse_and_sign_description(struct idx_text *text, const struct idx_text_field *fields,
                                                size_t field_count, struct idxt_result *result) {
    UErrorCode code = U_ZERO_ERROR;
    size_t description = 0;
    while (description < field_count && !is_named(&fields[description], "description")) description++;
    idxt_collapsed_begin(&text->features.collapsed);
    /* One unit more than DESCRIPTION_BYTES suffices for sign_description to see that the text goes on. */
    if (description < field_count) code = collapse_field(text, &fields[description], NORMALIZED, DESCRIPTION_BYTES + 1);
    for (size_t i = 0; i < field_count && description == field_count && U_SUCCESS(code); i++) {
        if (is_named(&fields[i], "body")) code = collapse_field(text, &fields[i], NORMALIZED, DESCRIPTION_BYTES + 1);
    }
    if (U_FAILURE(code)) return code;
    if (!sign_description(&text->signature, &text->features.collapsed)) return U_MEMORY_ALLOCATION_ERROR;
    result->counts.features = text->signature.length > 0;
    return U_ZERO_ERROR;
}

/* Makes the sketch of a document of `field_count` fields: appends the recipe.number smallest hashes of the shingles of
 * all fields `body` to the result as fingerprints. Sets counts.features to the number of different shingles. Errors:
 * those of idxt_append_shingles. */
static enum idx_status append_sketch(struct idx_text *text, const struct idx_text_field *fields, size_t field_count,
                                     struct idxt_result *result, struct idx_error *error) {
    struct idx_text_shingle_options options = IDX_TEXT_SHINGLE_OPTIONS_INIT;
    const struct idxt_recipe *recipe = &text->features.recipe;
    struct idxt_hashes *shingles = &text->shingles;
    options.unit = recipe->unit;
    options.width = recipe->width;
    options.in_text_order = true;
    shingles->count = 0;
    for (size_t i = 0; i < field_count; i++) {
        if (!is_named(&fields[i], "body")) continue;
        enum idx_status status = idxt_append_shingles(shingles, fields[i].utf8, fields[i].length, &options, error);
        if (status != IDX_OK) return status;
    }
    shingles->count = idxt_make_set(shingles->hashes, shingles->count);
    for (size_t i = 0; i < shingles->count && i < recipe->number; i++) append_fingerprint(result, shingles->hashes[i]);
    result->counts.features = shingles->count;
    return IDX_OK;
}

/* Makes the signature for the method sentences, description, terms or idf, and appends the fingerprint of its hash to
 * the result. For terms and idf, text->features has the features of the document. Errors: those of idxt_fail_icu. */
static enum idx_status sign_and_hash_text(struct idx_text *text, const struct idx_text_field *fields,
                                          size_t field_count, struct idxt_result *result, struct idx_error *error) {
    UErrorCode code;
    switch (text->features.recipe.method) {
        case IDXT_SENTENCES: code = collapse_and_sign_sentences(text, fields, field_count, result); break;
        case IDXT_DESCRIPTION: code = collapse_and_sign_description(text, fields, field_count, result); break;
        default: code = rank_and_sign_terms(text, result);
    }
    if (U_FAILURE(code)) return idxt_fail_icu(error, code);
    append_signature_hash(text, result);
    return IDX_OK;
}

enum idx_status idxt_fingerprint_document(struct idx_text *text, const struct idx_text_field *fields,
                                          size_t field_count, struct idxt_result *result, struct idx_error *error) {
    enum idxt_method method = text->features.recipe.method;
    result->fingerprint_count = 0;
    result->counts = (struct idx_text_counts){0};
    text->signature.length = 0;
    if (method == IDXT_MINHASH) return append_sketch(text, fields, field_count, result, error);
    if (idxt_recipe_has_features(&text->features.recipe)) {
        enum idx_status status = idxt_find_document_features(text, fields, field_count, error);
        if (status != IDX_OK) return status;
    }
    if (method == IDXT_SEGMENTS) {
        append_segment_simhashes(text, result);
        return IDX_OK;
    }
    if (method == IDXT_WORDS || method == IDXT_CHARS)
        return append_simhash(text, result) ? IDX_OK : idxt_fail_memory(error);
    return sign_and_hash_text(text, fields, field_count, result, error);
}
