/* list.c: reads lists of words that other programs made, a word and a number per line. Words are normalised as those of
 * texts are, since they must match these. */
#include "libidx/text/list.h"

#include "libidx/text/base.h"
#include "libidx/text/forms.h"
#include "libidx/text/recipe.h"
#include "libidx/text/segmenter.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FRACTION_UNITS = 1000000000 };

struct list {
    struct idx_text_table *table;
    struct idxt_segmenter segmenter;
    char *normalized; /* the term of the line, normalised, in UTF-8 */
    size_t normalized_capacity;
    const char *path;
    size_t line_number; /* counted from 1 */
    bool has_begun;     /* whether the first line that is not empty was read */
    bool has_header;    /* whether that line says what the numbers are */
    struct idx_error *error;
};

/* Some of the list's bytes, such as a line or a column of it. */
struct slice {
    const char *bytes;
    size_t length;
};

/* Fills list->error with what is wrong with the line that is being read, and returns IDX_BAD_CONTENT. */
static enum idx_status fail_at_line(const struct list *list, const char *fault) {
    return idxt_fail(list->error, IDX_BAD_CONTENT, "%s:%zu: %s", list->path, list->line_number, fault);
}

/* Returns how many digits in a row a slice has from byte `begin` on. */
static size_t count_digits_from(struct slice slice, size_t begin) {
    size_t end = begin;
    while (end < slice.length && slice.bytes[end] >= '0' && slice.bytes[end] <= '9') end++;
    return end - begin;
}

/* Returns whether a slice is one or more digits, or digits, a point, and any further digits. */
static bool is_number(struct slice slice) {
    size_t point = count_digits_from(slice, 0); /* where the point is, if there is one */
    if (point == 0 || point == slice.length) return point > 0;
    return slice.bytes[point] == '.' && point + 1 + count_digits_from(slice, point + 1) == slice.length;
}

/* Reads decimal digits as a number from 1 to `max`, which is below 2^60. Returns false if the slice is anything else;
 * then *count is unspecified. */
static bool read_count(struct slice number, uint64_t max, uint64_t *count) {
    if (number.length == 0 || count_digits_from(number, 0) < number.length) return false;
    *count = 0;
    for (size_t i = 0; i < number.length; i++) {
        *count = *count * 10 + (uint64_t)(number.bytes[i] - '0');
        if (*count > max) return false;
    }
    return *count > 0;
}

/* Reads a number, which is_number has accepted, as an idf in units of 1/65536, rounded down. Digits of the fraction
 * after the ninth are ignored. Returns false if it is above IDXT_MAX_IDF; then *idf is undefined. */
static bool read_idf(struct slice number, uint32_t *idf) {
    uint64_t whole = 0, fraction = 0, fraction_units = 1;
    size_t i = 0;
    for (; i < number.length && number.bytes[i] != '.'; i++) {
        whole = whole * 10 + (uint64_t)(number.bytes[i] - '0');
        if (whole > IDXT_MAX_IDF >> 16) return false;
    }
    for (i++; i < number.length && fraction_units < FRACTION_UNITS; i++) { /* after the point */
        fraction = fraction * 10 + (uint64_t)(number.bytes[i] - '0');
        fraction_units *= 10;
    }
    *idf = (uint32_t)(whole << 16 | fraction * 65536 / fraction_units);
    return *idf <= IDXT_MAX_IDF;
}

/* Splits a line at its last tab, or without a tab at its only space, into a term and a number, which the caller checks.
 * Returns false if there is no such separator, or no term before it. */
static bool split_line(struct slice line, struct slice *term, struct slice *number) {
    const char *separator = memrchr(line.bytes, '\t', line.length);
    if (separator == NULL) {
        separator = memrchr(line.bytes, ' ', line.length);
        if (separator == NULL || memchr(line.bytes, ' ', line.length) != separator) return false;
    }
    *term = (struct slice){line.bytes, (size_t)(separator - line.bytes)};
    *number = (struct slice){separator + 1, line.length - term->length - 1};
    return term->length > 0;
}

/* Normalises a term as recipes of `version` do, and adds it to the table with `document_count`, as in struct idxt_term;
 * not if normalisation leaves nothing of it. Sets table->has_unspaced if the term has characters of scripts without
 * spaces. Leaves the term, in UTF-16, in list->segmenter.source. Errors: IDX_BAD_CONTENT (too many terms),
 * IDX_OUT_OF_MEMORY, and those of idxt_fail_icu. */
static enum idx_status normalize_and_add_term(struct list *list, struct slice term, unsigned version,
                                              uint32_t document_count) {
    struct idxt_segmenter *segmenter = &list->segmenter;
    segmenter->cut.unifies_forms = version == 2;
    UErrorCode code = idxt_segmenter_normalize_keeping_marks(segmenter, term.bytes, term.length);
    if (U_FAILURE(code)) return idxt_fail_icu(list->error, code);
    struct idxt_span span = {.units = segmenter->units, .length = segmenter->unit_length};
    if (idxt_find_unspaced(span.units, span.length) < span.length) list->table->has_unspaced = true;
    char *normalized =
        idxt_buffer_grow(list->normalized, &list->normalized_capacity, span.length * IDXT_UTF8_PER_UNIT + 1, 1);
    if (normalized == NULL) return idxt_fail_memory(list->error);
    list->normalized = normalized;
    size_t length = idxt_span_write_utf8(span, normalized);
    if (length == 0) return IDX_OK;
    if (list->table->term_count >= list->table->max_terms) return fail_at_line(list, "the list has too many terms");
    bool ok = idxt_table_set_term(list->table, XXH3_64bits(normalized, length), document_count);
    return ok ? IDX_OK : idxt_fail_memory(list->error);
}

/* Adds a term to the table as recipes of version 1 normalise it, and as those of version 2 do if that may differ.
 * `document_count` and errors are as for normalize_and_add_term. */
static enum idx_status add_term_of_both_versions(struct list *list, struct slice term, uint32_t document_count) {
    enum idx_status status = normalize_and_add_term(list, term, 1, document_count);
    if (status != IDX_OK || !idxt_must_unify(list->segmenter.source, list->segmenter.source_length)) return status;
    return normalize_and_add_term(list, term, 2, document_count);
}

/* Adds a term to the table with the number of documents that have it: the decimal digits `number`, from 1 to
 * table->document_count. */
static enum idx_status add_term_with_count(struct list *list, struct slice term, struct slice number) {
    uint64_t count;
    if (!read_count(number, list->table->document_count, &count))
        return fail_at_line(list, "the second column must be the number of documents with this term, from 1 to all");
    return add_term_of_both_versions(list, term, (uint32_t)count);
}

/* Adds a term to the table with its idf, the decimal digits `number`, such as 4.75. In a list without a header, numbers
 * without a point are refused, since they may be counts as well. */
static enum idx_status add_term_with_idf(struct list *list, struct slice term, struct slice number) {
    uint32_t idf;
    if (!list->has_header && memchr(number.bytes, '.', number.length) == NULL)
        return fail_at_line(list,
                            "is this a count or an idf? Begin a list of counts with the line #documents, tab, number "
                            "of documents, and a list of idf with the line #idf");
    if (!is_number(number) || !read_idf(number, &idf))
        return fail_at_line(list, "the second column must be an idf, a number from 0 to 1000");
    return add_term_of_both_versions(list, term, idf + 1);
}

/* Reads the first line that is not empty: a header, `#idf` or `#documents`, a tab and a number; or in a list of idf
 * without a header, the first term, which the caller reads again. Sets table->kind, and for `#documents`
 * table->document_count. Sets *is_header to whether the line is a header. Errors: IDX_BAD_CONTENT, for any other
 * line. */
static enum idx_status read_header(struct list *list, struct slice line, bool *is_header) {
    static const char idf[] = "#idf", documents[] = "#documents";
    const size_t name_length = sizeof documents - 1;
    struct slice term, number;
    list->table->kind = IDXT_IDF_LIST;
    *is_header = line.length == sizeof idf - 1 && memcmp(line.bytes, idf, line.length) == 0;
    if (!*is_header && line.length > name_length && memcmp(line.bytes, documents, name_length) == 0 &&
        (line.bytes[name_length] == '\t' || line.bytes[name_length] == ' ')) {
        *is_header = true;
        list->table->kind = IDXT_COUNT_LIST;
        if (!read_count((struct slice){line.bytes + name_length + 1, line.length - name_length - 1}, UINT32_MAX,
                        &list->table->document_count))
            return fail_at_line(list, "after #documents and a tab there must be the number of documents, below 2^32");
    }
    list->has_begun = true;
    list->has_header = *is_header;
    if (*is_header || (split_line(line, &term, &number) && is_number(number))) return IDX_OK;
    return idxt_fail(list->error, IDX_BAD_CONTENT, "%s is not a table of document frequencies", list->path);
}

/* Reads a line, without its line feed: the header or a term. An empty line is skipped. */
static enum idx_status read_header_or_term(struct list *list, struct slice line) {
    struct slice term, number;
    bool is_header = false;
    if (line.length > 0 && line.bytes[line.length - 1] == '\r') line.length--;
    if (line.length == 0) return IDX_OK;
    enum idx_status status = list->has_begun ? IDX_OK : read_header(list, line, &is_header);
    if (status != IDX_OK || is_header) return status;
    if (!split_line(line, &term, &number))
        return fail_at_line(list,
                            "there must be a term, a tab and a number, or a term without spaces, a space and a number");
    if (list->table->kind == IDXT_IDF_LIST) return add_term_with_idf(list, term, number);
    return add_term_with_count(list, term, number);
}

/* Sets the idf of words that a list of idf lacks to the upper median of all, as jieba does. Returns false if memory
 * runs out. */
static bool set_unknown_idf(struct idx_text_table *table) {
    uint32_t median;
    if (!idxt_table_get_quantile(table, 2, &median)) return false;
    table->unknown_idf = median - 1; /* terms have their idf plus 1 */
    return true;
}

/* Reads all lines of a list into the table, after a byte order mark if there is one, and sets its unknown_idf. */
static enum idx_status read_lines_into_table(struct list *list, struct slice rest) {
    enum idx_status status = IDX_OK;
    if (rest.length >= 3 && memcmp(rest.bytes, "\xEF\xBB\xBF", 3) == 0)
        rest = (struct slice){rest.bytes + 3, rest.length - 3};
    while (rest.length > 0 && status == IDX_OK) {
        const char *newline = memchr(rest.bytes, '\n', rest.length);
        struct slice line = {rest.bytes, newline == NULL ? rest.length : (size_t)(newline - rest.bytes)};
        size_t line_length = line.length + (newline != NULL);
        rest = (struct slice){rest.bytes + line_length, rest.length - line_length};
        list->line_number++;
        status = read_header_or_term(list, line);
    }
    if (status != IDX_OK) return status;
    if (list->table->term_count == 0)
        return idxt_fail(list->error, IDX_BAD_CONTENT, "%s is %s", list->path,
                         list->has_begun ? "a list without terms" : "not a table of document frequencies");
    if (list->table->kind != IDXT_IDF_LIST || set_unknown_idf(list->table)) return IDX_OK;
    return idxt_fail_memory(list->error);
}

enum idx_status idxt_list_read(struct idx_text_table *table, const char *bytes, size_t length, const char *path,
                               struct idx_error *error) {
    struct list list = {.table = table, .path = path, .error = error};
    struct idxt_recipe words = {.method = IDXT_WORDS, .number = 1, .weighing = IDXT_WEIGHT_TF, .version = 1};
    idxt_recipe_format(&words, table->features);
    UErrorCode code = idxt_segmenter_open(&list.segmenter);
    enum idx_status status =
        U_FAILURE(code) ? idxt_fail_icu(error, code) : read_lines_into_table(&list, (struct slice){bytes, length});
    idxt_segmenter_close(&list.segmenter);
    free(list.normalized);
    return status;
}
