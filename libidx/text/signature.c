/* signature.c: the bytes that represent a text in recipes that hash them. If they have several items, these are joined
 * by line feeds, which occur neither in words nor in folded text. */
#include "libidx/text/signature.h"

#include "libidx/text/buffer.h"

#include <unicode/ustring.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_SENTENCES = 64 };

/* Makes room for `size` more bytes and a line feed, which is written unless the signature is empty. */
static char *next(struct idxt_signature *signature, size_t size) {
    char *grown = idxt_buffer_grow(signature->bytes, &signature->capacity, signature->length + size + 1, 1);
    if (grown == NULL) return NULL;
    signature->bytes = grown;
    if (signature->length > 0) grown[signature->length++] = '\n';
    return grown + signature->length;
}

static bool append_span(struct idxt_signature *signature, struct idxt_span span) {
    char *bytes = next(signature, span.length * IDXT_UTF8_PER_UNIT);
    if (bytes == NULL) return false;
    signature->length += idxt_span_utf8(span, bytes);
    return true;
}

/* A term's bytes: like the words that qsort is to put in order, it says where they are. */
struct term {
    const char *bytes;
    size_t length;
};

static int compare_terms(const void *first, const void *second) {
    const struct term *a = first, *b = second;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    if (order != 0) return order;
    return (a->length > b->length) - (a->length < b->length);
}

bool idxt_sign_terms(struct idxt_signature *signature, struct idxt_features *features, size_t count, bool sorted) {
    signature->length = 0;
    struct term *terms = malloc((count + 1) * sizeof *terms);
    bool well = terms != NULL;
    for (size_t i = 0; well && i < count; i++) {
        const struct idxt_word *word = &features->words.words[features->ranked[i].number];
        terms[i] = (struct term){features->words.bytes + word->start, word->length};
    }
    if (well && sorted) qsort(terms, count, sizeof *terms, compare_terms);
    for (size_t i = 0; well && i < count; i++) {
        char *bytes = next(signature, terms[i].length);
        if (bytes != NULL) memcpy(bytes, terms[i].bytes, terms[i].length);
        signature->length += terms[i].length;
        well = bytes != NULL;
    }
    free(terms);
    return well;
}

struct sentence {
    struct idxt_span span;
    int32_t length; /* code points */
};

/* Keeps the longest sentences, in the order of the text. `kept` of at most `number` are there; a new one puts out the
 * shortest, of equal ones the last. */
static size_t keep_longest(struct sentence *longest, size_t kept, size_t number, struct sentence sentence) {
    if (kept == number) {
        size_t shortest = 0;
        for (size_t i = 1; i < kept; i++) {
            if (longest[i].length <= longest[shortest].length) shortest = i;
        }
        if (sentence.length <= longest[shortest].length) return kept;
        kept--;
        memmove(longest + shortest, longest + shortest + 1, (kept - shortest) * sizeof *longest);
    }
    longest[kept] = sentence;
    return kept + 1;
}

static UErrorCode set_text(struct idxt_signature *signature, const struct idxt_folding *text) {
    UErrorCode code = U_ZERO_ERROR;
    /* "" is the root locale; NULL would be the user's. */
    if (signature->sentences == NULL) signature->sentences = ubrk_open(UBRK_SENTENCE, "", NULL, 0, &code);
    if (U_SUCCESS(code)) ubrk_setText(signature->sentences, text->units, (int32_t)text->length, &code);
    return U_FAILURE(code) ? code : U_ZERO_ERROR;
}

/* Appends a sentence. Its bytes are first put at the end of the signature, and normalised there. */
static UErrorCode append_sentence(struct idxt_signature *signature, struct idxt_segmenter *segmenter,
                                  struct idxt_span sentence) {
    size_t before = signature->length, start = before + (before > 0);
    if (!append_span(signature, sentence)) return U_MEMORY_ALLOCATION_ERROR;
    UErrorCode code = idxt_segmenter_normalize(segmenter, signature->bytes + start, signature->length - start);
    if (U_FAILURE(code)) return code;
    signature->length = before;
    idxt_folding_begin(&signature->sentence);
    if (!idxt_folding_add(&signature->sentence, segmenter->units, segmenter->unit_length))
        return U_MEMORY_ALLOCATION_ERROR;
    struct idxt_span normal = {signature->sentence.units, signature->sentence.length, NULL};
    return append_span(signature, normal) ? U_ZERO_ERROR : U_MEMORY_ALLOCATION_ERROR;
}

UErrorCode idxt_sign_sentences(struct idxt_signature *signature, struct idxt_segmenter *segmenter,
                               const struct idxt_folding *text, size_t number, uint64_t *count) {
    struct sentence longest[MOST_SENTENCES];
    size_t kept = 0;
    signature->length = 0;
    *count = 0;
    if (text->length == 0) return U_ZERO_ERROR;
    UErrorCode code = set_text(signature, text);
    if (U_FAILURE(code)) return code;
    for (int32_t start = 0, end; (end = ubrk_next(signature->sentences)) != UBRK_DONE; start = end) {
        struct idxt_span span = {text->units + start, (size_t)(end - start), NULL};
        if (span.units[span.length - 1] == u' ') span.length--;
        struct sentence sentence = {span, u_countChar32(span.units, (int32_t)span.length)};
        kept = keep_longest(longest, kept, number, sentence);
        ++*count;
    }
    for (size_t i = 0; i < kept && U_SUCCESS(code); i++) {
        code = append_sentence(signature, segmenter, longest[i].span);
    }
    return code;
}

bool idxt_sign_description(struct idxt_signature *signature, const struct idxt_folding *text) {
    signature->length = 0;
    size_t units = text->length < IDXT_DESCRIPTION_BYTES ? text->length : IDXT_DESCRIPTION_BYTES;
    if (units < text->length && U16_IS_LEAD(text->units[units - 1])) units--;
    if (!append_span(signature, (struct idxt_span){text->units, units, NULL})) return false;
    if (signature->length <= IDXT_DESCRIPTION_BYTES) return true;
    size_t length = IDXT_DESCRIPTION_BYTES;
    while (((unsigned char)signature->bytes[length] & 0xC0) == 0x80) length--; /* not within a character */
    signature->length = length;
    return true;
}

void idxt_signature_free(struct idxt_signature *signature) {
    if (signature->sentences != NULL) ubrk_close(signature->sentences);
    idxt_folding_free(&signature->sentence);
    free(signature->bytes);
    *signature = (struct idxt_signature){0};
}
