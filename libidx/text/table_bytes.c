/* table_bytes.c: a document-frequency table as bytes, and back. All numbers are little-endian:
 *
 *   offset  bytes  content
 *   0       8      "idxterms"
 *   8       4      version: 1, or 2 for a list of words that another program made
 *   12      4      n, bytes of the features' name, 1 to 255
 *   16      8      documents, below 2^32; 0 in a list of idf
 *   24      8      dropped: the most by which a term's document frequency may be too low; in a list of idf, that of
 *                  words that it lacks, in units of 1/65536
 *   32      8      t, the number of terms
 *   40      n      the features' name: a recipe in canonical form, with w=tf
 *   40 + n  12 t   for each term: 8 bytes XXH3 (64 bits, seed 0) of the feature, and 4 bytes the number of documents
 *                  that have it, from 1 to all, or in a list of idf that in units of 1/65536, plus 1; in strictly
 *                  ascending order of hash
 *   then    8      XXH3 (64 bits, seed 0) of all bytes before: the hash of the table, as recipes name it
 */
#include "libidx/text/table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'i', 'd', 'x', 't', 'e', 'r', 'm', 's'};
enum { VERSION = 1, LIST_VERSION = 2, HEADER_BYTES = 40, TERM_BYTES = 12, SUM_BYTES = 8 };

static void put(unsigned char *to, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *from, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)from[i] << 8 * i;
    return value;
}

unsigned char *idxt_table_encode(const struct idx_text_table *table, size_t *length) {
    size_t name_length = strlen(table->features);
    size_t summed = HEADER_BYTES + name_length + table->terms * TERM_BYTES;
    unsigned char *bytes = malloc(summed + SUM_BYTES);
    struct idxt_term *terms = idxt_table_sorted(table);
    if (bytes == NULL || terms == NULL) {
        free(bytes);
        free(terms);
        return NULL;
    }
    memcpy(bytes, magic, sizeof magic);
    put(bytes + 8, table->kind == IDXT_COUNTED ? VERSION : LIST_VERSION, 4);
    put(bytes + 12, name_length, 4);
    put(bytes + 16, table->documents, 8);
    put(bytes + 24, table->kind == IDXT_IDF_LIST ? table->unknown_idf : table->dropped, 8);
    put(bytes + 32, table->terms, 8);
    memcpy(bytes + HEADER_BYTES, table->features, name_length);
    unsigned char *to = bytes + HEADER_BYTES + name_length;
    for (size_t i = 0; i < table->terms; i++, to += TERM_BYTES) {
        put(to, terms[i].hash, 8);
        put(to + 8, terms[i].documents, 4);
    }
    put(to, XXH3_64bits(bytes, summed), SUM_BYTES);
    *length = summed + SUM_BYTES;
    free(terms);
    return bytes;
}

bool idxt_table_is_encoded(const unsigned char *bytes, size_t length) {
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static const char *check_sizes(const unsigned char *bytes, size_t length) {
    if (length < HEADER_BYTES + SUM_BYTES || !idxt_table_is_encoded(bytes, length))
        return "is not a table of document frequencies";
    if (get(bytes + 8, 4) != VERSION && get(bytes + 8, 4) != LIST_VERSION)
        return "is a table of document frequencies with an unknown version";
    uint64_t name_length = get(bytes + 12, 4), terms = get(bytes + 32, 8), rest = length - HEADER_BYTES - SUM_BYTES;
    if (name_length < 1 || name_length > IDX_MAX_RECIPE_BYTES || name_length > rest)
        return "is damaged: the name of its features is too long";
    if ((rest - name_length) % TERM_BYTES != 0 || terms != (rest - name_length) / TERM_BYTES)
        return "is damaged: its size does not match its terms";
    if (terms > IDXT_MAX_TERMS) return "is damaged: it has too many terms";
    return NULL;
}

static const char *read_header(struct idx_text_table *table, const unsigned char *bytes, size_t length) {
    const char *fault = check_sizes(bytes, length);
    if (fault != NULL) return fault;
    table->hash = get(bytes + length - SUM_BYTES, SUM_BYTES);
    if (table->hash != XXH3_64bits(bytes, length - SUM_BYTES)) return "is damaged: its checksum differs";
    memcpy(table->features, bytes + HEADER_BYTES, get(bytes + 12, 4));
    struct idxt_recipe recipe;
    char canonical[IDX_MAX_RECIPE_BYTES + 1];
    if (memchr(table->features, '\0', get(bytes + 12, 4)) != NULL ||
        idxt_recipe_parse(&recipe, table->features) != NULL)
        return "is damaged: the name of its features is unknown";
    recipe = idxt_recipe_features(&recipe);
    idxt_recipe_print(&recipe, canonical);
    if (strcmp(canonical, table->features) != 0) return "is damaged: the name of its features is unknown";
    table->documents = get(bytes + 16, 8);
    if (table->documents > UINT32_MAX) return "is damaged: it has too many documents";
    table->dropped = get(bytes + 24, 8);
    if (get(bytes + 8, 4) == VERSION) return NULL;
    table->kind = table->documents == 0 ? IDXT_IDF_LIST : IDXT_COUNT_LIST;
    if (table->dropped > IDXT_MOST_IDF) return "is damaged: its idf is too large";
    table->unknown_idf = (uint32_t)table->dropped;
    table->dropped = 0;
    return NULL;
}

enum idx_status idxt_table_decode(struct idx_text_table *table, const unsigned char *bytes, size_t length,
                                  const char **fault) {
    *fault = read_header(table, bytes, length);
    if (*fault != NULL) return IDX_BAD_CONTENT;
    const unsigned char *from = bytes + HEADER_BYTES + strlen(table->features);
    uint64_t terms = get(bytes + 32, 8), before = 0;
    uint64_t most = table->kind == IDXT_IDF_LIST ? (uint64_t)IDXT_MOST_IDF + 1 : table->documents;
    for (uint64_t i = 0; i < terms; i++, from += TERM_BYTES) {
        uint64_t hash = get(from, 8), documents = get(from + 8, 4);
        if (i > 0 && hash <= before) *fault = "is damaged: its terms are not in order";
        if (documents < 1 || documents > most) *fault = "is damaged: a term has no documents, or too many";
        if (*fault != NULL) return IDX_BAD_CONTENT;
        if (!idxt_table_add(table, hash, (uint32_t)documents)) return IDX_OUT_OF_MEMORY;
        before = hash;
    }
    table->hashed = true;
    return IDX_OK;
}

bool idxt_table_hash(const struct idx_text_table *table, uint64_t *hash) {
    size_t length;
    unsigned char *bytes = table->hashed ? NULL : idxt_table_encode(table, &length);
    if (!table->hashed && bytes == NULL) return false;
    *hash = table->hashed ? table->hash : get(bytes + length - SUM_BYTES, SUM_BYTES);
    free(bytes);
    return true;
}
