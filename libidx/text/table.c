/* table.c: a document-frequency table in memory and as bytes, and the weights of features by it. The table's size is
 * bounded: when there are too many terms, it drops those with the fewest documents, at least a quarter of all (lossy
 * counting, Manku and Motwani 2002). A dropped rare term is wrong only by the few documents that it had, while a count
 * sketch of the same size would blur the frequencies of all terms, and those of common terms matter most. */
#include "libidx/text/table.h"

#include "libidx/text/recipe.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ---- Weights: 1 + log2 of a count, in integers alone, so that it is the same on every machine ---- */

/* Returns floor(value * value / 2^64), computed from the two halves of `value`, for compilers without 128-bit integers.
 */
static uint64_t compute_high_half_of_square(uint64_t value) {
    uint64_t high = value >> 32, low = value & UINT32_MAX;
    uint64_t cross = high * low;
    uint64_t middle = (low * low >> 32) + 2 * (cross & UINT32_MAX);
    return high * high + 2 * (cross >> 32) + (middle >> 32);
}

/* Returns what idxt_log_weight does, for any count. The integer part of the logarithm is the number of bits less one.
 * The fraction's bits come by squaring: with 1 <= x < 2, log2(x^2) = 2 log2(x), so its next bit is 1 when x^2 >= 2, and
 * then x^2 / 2 goes on.
 *
 * x has 63 fraction bits and is rounded down, by less than 2^-62 a step; a step doubles the error that it is given. So
 * after 16 steps x is less than 2^-45 too small, and only a count whose 65536th power lies that close above a power of
 * two could get a wrong bit. None below 2^32 does: with x rounded up instead, every one of them gets the same bits.
 * For powers of two x is 1 all the way, which is exact. */
static int64_t compute_log_weight(uint64_t count) {
    unsigned exponent = 63 - (unsigned)__builtin_clzll(count | 1);
    uint64_t x = count << (63 - exponent);
    uint64_t logarithm = exponent;
    for (int bit = 0; bit < 16; bit++) {
        x = compute_high_half_of_square(x);
        uint64_t carry = x >> 63;
        x <<= 1 - carry;
        logarithm = logarithm << 1 | carry;
    }
    return IDX_WEIGHT_ONE + (int64_t)logarithm;
}

/* The weights of counts below 64, which most words of a text have, made by Python's integers (tests/text/weight.c). */
static const int32_t small_weights[64] = {
    0,      65536,  131072, 169408, 196608, 217705, 234944, 249518, 262144, 273280, 283241, 292253, 300480,
    308048, 315054, 321577, 327680, 333411, 338816, 343928, 348777, 353390, 357789, 361992, 366016, 369875,
    373584, 377152, 380590, 383908, 387113, 390214, 393216, 396125, 398947, 401688, 404352, 406942, 409464,
    411920, 414313, 416648, 418926, 421151, 423325, 425450, 427528, 429561, 431552, 433501, 435411, 437284,
    439120, 440920, 442688, 444423, 446126, 447800, 449444, 451060, 452649, 454212, 455750, 457263};

int64_t idxt_log_weight(uint64_t count) {
    return count < sizeof small_weights / sizeof *small_weights ? small_weights[count] : compute_log_weight(count);
}

/* ---- The table in memory ---- */

enum { FIRST_SLOTS = 1024 };

struct idx_text_table *idxt_table_new(void) {
    struct idx_text_table *table = calloc(1, sizeof *table);
    if (table == NULL) return NULL;
    table->slots = calloc(FIRST_SLOTS, sizeof *table->slots);
    if (table->slots == NULL) {
        free(table);
        return NULL;
    }
    table->slot_mask = FIRST_SLOTS - 1;
    if (getentropy(&table->seed, sizeof table->seed) != 0) table->seed = (uintptr_t)table;
    table->max_terms = IDXT_MAX_TERMS;
    return table;
}

/* Returns the slot of a term, by its hash, or the empty one where it belongs: `document_count` of that is 0. There
 * always is one, since at least half of the slots are empty. */
static struct idxt_term *find_term_slot(const struct idx_text_table *table, uint64_t hash) {
    size_t slot = (size_t)((hash ^ table->seed) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & table->slot_mask;
    while (table->slots[slot].document_count != 0 && table->slots[slot].hash != hash)
        slot = (slot + 1) & table->slot_mask;
    return &table->slots[slot];
}

/* Moves the terms to `slot_count` new slots, a power of two, and drops those of at most `max_dropped` documents.
 * Returns false, and leaves the table as it is, if memory runs out. */
static bool rebuild_slots(struct idx_text_table *table, size_t slot_count, uint32_t max_dropped) {
    struct idxt_term *old_slots = table->slots, *slots = calloc(slot_count, sizeof *slots);
    size_t old_count = table->slot_mask + 1;
    if (slots == NULL) return false;
    table->slots = slots;
    table->slot_mask = slot_count - 1;
    table->term_count = 0;
    for (size_t i = 0; i < old_count; i++) {
        if (old_slots[i].document_count <= max_dropped) continue; /* also empty slots, whose count is 0 */
        *find_term_slot(table, old_slots[i].hash) = old_slots[i];
        table->term_count++;
    }
    free(old_slots);
    return true;
}

/* Orders uint32_t ascending, for qsort. */
static int compare_counts(const void *a, const void *b) {
    uint32_t count_a = *(const uint32_t *)a, count_b = *(const uint32_t *)b;
    return (count_a > count_b) - (count_a < count_b);
}

bool idxt_table_get_quantile(const struct idx_text_table *table, size_t divisor, uint32_t *document_count) {
    uint32_t *counts = malloc((table->term_count + 1) * sizeof *counts);
    if (counts == NULL) return false;
    size_t term_count = 0;
    for (size_t i = 0; i <= table->slot_mask; i++) {
        if (table->slots[i].document_count != 0) counts[term_count++] = table->slots[i].document_count;
    }
    qsort(counts, term_count, sizeof *counts, compare_counts);
    *document_count = counts[term_count / divisor];
    free(counts);
    return true;
}

/* Drops the rarest terms, at least a quarter of all, and adds the most documents that one of them had to
 * table->dropped. Returns false if memory runs out. */
static bool drop_rare_terms(struct idx_text_table *table) {
    uint32_t max_dropped;
    if (!idxt_table_get_quantile(table, 4, &max_dropped)) return false;
    if (!rebuild_slots(table, table->slot_mask + 1, max_dropped)) return false;
    table->dropped += max_dropped;
    return true;
}

/* Prepares the table for one more term: drops rare terms if there are max_terms already, and doubles the slots if half
 * of them are used. Terms may move. Returns false if memory runs out. */
static bool make_room_for_term(struct idx_text_table *table) {
    if (table->term_count >= table->max_terms && !drop_rare_terms(table)) return false;
    return table->term_count * 2 <= table->slot_mask || rebuild_slots(table, (table->slot_mask + 1) * 2, 0);
}

/* Returns the slot of a term, by its hash. If the table lacks the term, adds it first, with a document_count of 0,
 * which the caller must set. Sets table->hash_is_valid to false, since the caller changes the table. Returns NULL if
 * memory runs out. */
static struct idxt_term *find_or_add_term(struct idx_text_table *table, uint64_t hash) {
    struct idxt_term *term = find_term_slot(table, hash);
    table->hash_is_valid = false;
    if (term->document_count != 0) return term;
    if (!make_room_for_term(table)) return NULL;
    term = find_term_slot(table, hash); /* once more, since terms may have moved */
    term->hash = hash;
    table->term_count++;
    return term;
}

bool idxt_table_add_documents(struct idx_text_table *table, uint64_t hash, uint32_t document_count) {
    struct idxt_term *term = find_or_add_term(table, hash);
    if (term != NULL) term->document_count += document_count;
    return term != NULL;
}

bool idxt_table_set_term(struct idx_text_table *table, uint64_t hash, uint32_t document_count) {
    struct idxt_term *term = find_or_add_term(table, hash);
    if (term == NULL) return false;
    /* A larger number of documents, or a smaller idf. Equal ones may be set again. */
    bool is_more_frequent = (table->kind == IDXT_IDF_LIST) == (document_count < term->document_count);
    if (term->document_count == 0 || is_more_frequent) term->document_count = document_count;
    return true;
}

int64_t idxt_table_get_idf(const struct idx_text_table *table, uint64_t hash) {
    uint64_t document_count = find_term_slot(table, hash)->document_count;
    if (table->kind != IDXT_IDF_LIST)
        return idxt_log_weight(table->document_count + 1) - idxt_log_weight(document_count + 1);
    return document_count == 0 ? table->unknown_idf : (int64_t)document_count - 1;
}

/* Orders terms by ascending hash, for qsort. */
static int compare_hashes_of_terms(const void *a, const void *b) {
    uint64_t hash_a = ((const struct idxt_term *)a)->hash, hash_b = ((const struct idxt_term *)b)->hash;
    return (hash_a > hash_b) - (hash_a < hash_b);
}

struct idxt_term *idxt_table_sort_terms(const struct idx_text_table *table) {
    struct idxt_term *sorted = malloc((table->term_count + 1) * sizeof *sorted);
    if (sorted == NULL) return NULL;
    size_t sorted_count = 0;
    for (size_t i = 0; i <= table->slot_mask; i++) {
        if (table->slots[i].document_count != 0) sorted[sorted_count++] = table->slots[i];
    }
    qsort(sorted, sorted_count, sizeof *sorted, compare_hashes_of_terms);
    return sorted;
}

/* ---- Bytes ---- */

/* The bytes of a document-frequency table. All numbers are little-endian:
 *
 *   offset  bytes  content
 *   0       8      "idxterms"
 *   8       4      version: 1, or 2 for a list of words that another program made
 *   12      4      n, bytes of the features' name, 1 to 255
 *   16      8      documents, below 2^32; 0 in a list of idf
 *   24      8      dropped: the most by which a term's document frequency may be too low; in a list of idf, the
 *                  idf of words that it lacks, in units of 1/65536
 *   32      8      t, the number of terms
 *   40      n      the features' name: a recipe in canonical form, with w=tf
 *   40 + n  12 t   for each term: 8 bytes XXH3 (64 bits, seed 0) of the feature, and 4 bytes the number of documents
 *                  that have it, from 1 to all, or in a list of idf the idf in units of 1/65536, plus 1; in
 *                  strictly ascending order of hash
 *   then    8      XXH3 (64 bits, seed 0) of all bytes before: the hash of the table, as recipes name it */
static const char magic[8] = {'i', 'd', 'x', 't', 'e', 'r', 'm', 's'};
enum { VERSION = 1, LIST_VERSION = 2, HEADER_BYTES = 40, TERM_BYTES = 12, SUM_BYTES = 8 };
enum { AT_VERSION = 8, AT_NAME_LENGTH = 12, AT_DOCUMENTS = 16, AT_DROPPED = 24, AT_TERMS = 32 };

/* Writes the low `byte_count` bytes of a number, the lowest first. */
static void write_number(unsigned char *bytes, uint64_t number, unsigned byte_count) {
    for (unsigned i = 0; i < byte_count; i++) bytes[i] = (unsigned char)(number >> 8 * i);
}

/* Returns the number in `byte_count` bytes, at most 8, the lowest first. */
static uint64_t read_number(const unsigned char *bytes, unsigned byte_count) {
    uint64_t number = 0;
    for (unsigned i = 0; i < byte_count; i++) number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

unsigned char *idxt_table_encode(const struct idx_text_table *table, size_t *length) {
    size_t name_length = strlen(table->features);
    size_t summed_length = HEADER_BYTES + name_length + table->term_count * TERM_BYTES;
    unsigned char *bytes = malloc(summed_length + SUM_BYTES);
    struct idxt_term *terms = idxt_table_sort_terms(table);
    if (bytes == NULL || terms == NULL) {
        free(bytes);
        free(terms);
        return NULL;
    }
    memcpy(bytes, magic, sizeof magic);
    write_number(bytes + AT_VERSION, table->kind == IDXT_COUNTED ? VERSION : LIST_VERSION, 4);
    write_number(bytes + AT_NAME_LENGTH, name_length, 4);
    write_number(bytes + AT_DOCUMENTS, table->document_count, 8);
    write_number(bytes + AT_DROPPED, table->kind == IDXT_IDF_LIST ? table->unknown_idf : table->dropped, 8);
    write_number(bytes + AT_TERMS, table->term_count, 8);
    memcpy(bytes + HEADER_BYTES, table->features, name_length);
    unsigned char *next_bytes = bytes + HEADER_BYTES + name_length;
    for (size_t i = 0; i < table->term_count; i++, next_bytes += TERM_BYTES) {
        write_number(next_bytes, terms[i].hash, 8);
        write_number(next_bytes + 8, terms[i].document_count, 4);
    }
    write_number(next_bytes, XXH3_64bits(bytes, summed_length), SUM_BYTES);
    *length = summed_length + SUM_BYTES;
    free(terms);
    return bytes;
}

bool idxt_table_has_magic(const unsigned char *bytes, size_t length) {
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* Checks the magic, the version, and that the sizes in the header add up to `length`. Returns NULL, or the end of a
 * sentence about what is wrong. */
static const char *check_version_and_sizes(const unsigned char *bytes, size_t length) {
    if (length < HEADER_BYTES + SUM_BYTES || !idxt_table_has_magic(bytes, length))
        return "is not a table of document frequencies";
    if (read_number(bytes + AT_VERSION, 4) != VERSION && read_number(bytes + AT_VERSION, 4) != LIST_VERSION)
        return "is a table of document frequencies with an unknown version";
    uint64_t name_length = read_number(bytes + AT_NAME_LENGTH, 4), term_count = read_number(bytes + AT_TERMS, 8),
             rest_length = length - HEADER_BYTES - SUM_BYTES;
    if (name_length < 1 || name_length > IDX_MAX_RECIPE_BYTES || name_length > rest_length)
        return "is damaged: the name of its features is too long";
    if ((rest_length - name_length) % TERM_BYTES != 0 || term_count != (rest_length - name_length) / TERM_BYTES)
        return "is damaged: its size does not match its terms";
    if (term_count > IDXT_MAX_TERMS) return "is damaged: it has too many terms";
    return NULL;
}

/* Returns whether a table can be made for the features with this name: a string that idxt_recipe_format makes of an
 * idxt_recipe_of_features. */
static bool is_name_of_features(const char *name) {
    struct idxt_recipe recipe;
    char canonical[IDX_MAX_RECIPE_BYTES + 1];
    if (idxt_recipe_parse(&recipe, name) != NULL) return false;
    recipe = idxt_recipe_of_features(&recipe);
    idxt_recipe_format(&recipe, canonical);
    return strcmp(canonical, name) == 0;
}

/* Checks the sizes and the hash of the bytes of a table's file, and reads all but the terms into the table. Returns
 * NULL, or the end of a sentence about what is wrong. */
static const char *check_hash_and_read_header(struct idx_text_table *table, const unsigned char *bytes, size_t length) {
    const char *fault = check_version_and_sizes(bytes, length);
    if (fault != NULL) return fault;
    table->hash = read_number(bytes + length - SUM_BYTES, SUM_BYTES);
    if (table->hash != XXH3_64bits(bytes, length - SUM_BYTES)) return "is damaged: its checksum differs";
    size_t name_length = read_number(bytes + AT_NAME_LENGTH, 4);
    memcpy(table->features, bytes + HEADER_BYTES, name_length);
    if (strlen(table->features) != name_length || !is_name_of_features(table->features))
        return "is damaged: the name of its features is unknown";
    table->document_count = read_number(bytes + AT_DOCUMENTS, 8);
    if (table->document_count > UINT32_MAX) return "is damaged: it has too many documents";
    uint64_t dropped_or_idf = read_number(bytes + AT_DROPPED, 8); /* the idf of unknown words, in a list of idf */
    if (read_number(bytes + AT_VERSION, 4) == VERSION) {
        table->dropped = dropped_or_idf;
        return NULL;
    }
    if (dropped_or_idf > IDXT_MAX_IDF) return "is damaged: its idf is too large";
    table->unknown_idf = (uint32_t)dropped_or_idf;
    table->kind = table->document_count == 0 ? IDXT_IDF_LIST : IDXT_COUNT_LIST;
    table->has_unspaced = true; /* The file has only the hashes of the list's words, so they may be of any script. */
    return NULL;
}

enum idx_status idxt_table_decode(struct idx_text_table *table, const unsigned char *bytes, size_t length,
                                  const char **fault) {
    *fault = check_hash_and_read_header(table, bytes, length);
    if (*fault != NULL) return IDX_BAD_CONTENT;
    const unsigned char *next_bytes = bytes + HEADER_BYTES + strlen(table->features);
    uint64_t term_count = read_number(bytes + AT_TERMS, 8), previous_hash = 0;
    /* A term of a list of idf has its idf plus 1. */
    uint64_t max_documents = table->kind == IDXT_IDF_LIST ? (uint64_t)IDXT_MAX_IDF + 1 : table->document_count;
    for (uint64_t i = 0; i < term_count; i++, next_bytes += TERM_BYTES) {
        uint64_t hash = read_number(next_bytes, 8), document_count = read_number(next_bytes + 8, 4);
        if (i > 0 && hash <= previous_hash) *fault = "is damaged: its terms are not in order";
        if (document_count < 1 || document_count > max_documents)
            *fault = "is damaged: a term has no documents, or too many";
        if (*fault != NULL) return IDX_BAD_CONTENT;
        if (!idxt_table_add_documents(table, hash, (uint32_t)document_count)) return IDX_OUT_OF_MEMORY;
        previous_hash = hash;
    }
    table->hash_is_valid = true;
    return IDX_OK;
}

bool idxt_table_get_hash(const struct idx_text_table *table, uint64_t *hash) {
    if (table->hash_is_valid) {
        *hash = table->hash;
        return true;
    }
    size_t length;
    unsigned char *bytes = idxt_table_encode(table, &length);
    if (bytes == NULL) return false;
    *hash = read_number(bytes + length - SUM_BYTES, SUM_BYTES);
    free(bytes);
    return true;
}
