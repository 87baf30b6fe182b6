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
    char *normalized; /* the term of the line, normalised */
    size_t normalized_capacity;
    const char *path;
    size_t line; /* counted from 1 */
    bool begun;  /* whether the first line that is not empty was read */
    bool headed; /* whether that line says what the numbers are */
    struct idx_error *error;
};

/* Some of the list's bytes, such as a line or a column of it. */
struct slice {
    const char *bytes;
    size_t length;
};

/* Fails because of the line that is being read. */
static enum idx_status fail_at_line(const struct list *list, const char *fault) {
    return idxt_fail(list->error, IDX_BAD_CONTENT, "%s:%zu: %s", list->path, list->line, fault);
}

/* Returns how many digits follow one another in a slice from position `from` on. */
static size_t count_digits_from(struct slice slice, size_t from) {
    size_t count = 0;
    while (from + count < slice.length && slice.bytes[from + count] >= '0' && slice.bytes[from + count] <= '9') count++;
    return count;
}

/* Returns whether a slice is one or more digits, or digits, a point, and any further digits. */
static bool is_number(struct slice slice) {
    size_t whole = count_digits_from(slice, 0);
    if (whole == 0 || whole == slice.length) return whole > 0;
    return slice.bytes[whole] == '.' && whole + 1 + count_digits_from(slice, whole + 1) == slice.length;
}

/* Reads a number without a point, from 1 to `max`. Returns false if it is not one. */
static bool read_count(struct slice number, uint64_t max, uint64_t *count) {
    if (number.length == 0 || count_digits_from(number, 0) < number.length) return false;
    *count = 0;
    for (size_t i = 0; i < number.length; i++) {
        *count = *count * 10 + (uint64_t)(number.bytes[i] - '0');
        if (*count > max) return false;
    }
    return *count > 0;
}

/* Reads what is_number accepts as an idf in units of 1/65536, rounded down; digits after the ninth of the fraction are
 * ignored. Returns false if it is above IDXT_MOST_IDF. */
static bool read_idf(struct slice number, uint32_t *idf) {
    uint64_t whole = 0, fraction = 0, fraction_units = 1;
    size_t i = 0;
    for (; i < number.length && number.bytes[i] != '.'; i++) {
        whole = whole * 10 + (uint64_t)(number.bytes[i] - '0');
        if (whole > IDXT_MOST_IDF >> 16) return false;
    }
    for (i++; i < number.length && fraction_units < FRACTION_UNITS; i++) {
        fraction = fraction * 10 + (uint64_t)(number.bytes[i] - '0');
        fraction_units *= 10;
    }
    *idf = (uint32_t)(whole << 16 | fraction * 65536 / fraction_units);
    return *idf <= IDXT_MOST_IDF;
}

/* Splits a line at its last tab, or at its only space, into a term and a number. Returns false if there is neither, or
 * no term before it. */
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

/* Normalises a term as recipes of one version do, and puts it into the table, unless nothing of it is left. `stored` is
 * what the table stores for it: its documents, or its idf plus 1. */
static enum idx_status put_normalized_term(struct list *list, struct slice term, unsigned version, uint32_t stored) {
    struct idxt_segmenter *segmenter = &list->segmenter;
    segmenter->cut.unifies_forms = version == 2;
    UErrorCode code = idxt_segmenter_normalize_words(segmenter, term.bytes, term.length);
    if (U_FAILURE(code)) return idxt_fail_icu(list->error, code);
    struct idxt_span span = {segmenter->units, segmenter->unit_length, NULL, 0};
    if (idxt_find_unspaced(span.units, span.length) < span.length) list->table->has_unspaced = true;
    char *normalized =
        idxt_buffer_grow(list->normalized, &list->normalized_capacity, span.length * IDXT_UTF8_PER_UNIT + 1, 1);
    if (normalized == NULL) return idxt_fail_memory(list->error);
    list->normalized = normalized;
    size_t length = idxt_span_write_utf8(span, normalized);
    if (length == 0) return IDX_OK;
    if (list->table->term_count >= list->table->most_terms) return fail_at_line(list, "the list has too many terms");
    bool ok = idxt_table_put(list->table, XXH3_64bits(normalized, length), stored);
    return ok ? IDX_OK : idxt_fail_memory(list->error);
}

/* Puts a term into the table as both versions of recipes normalise it, which is the same for most terms. `stored` is as
 * for put_normalized_term. */
static enum idx_status put_term_of_versions(struct list *list, struct slice term, uint32_t stored) {
    enum idx_status status = put_normalized_term(list, term, 1, stored);
    if (status != IDX_OK || !idxt_has_forms(list->segmenter.source, list->segmenter.source_length)) return status;
    return put_normalized_term(list, term, 2, stored);
}

/* Puts a term into the table with the number of documents that have it, which `number` says. */
static enum idx_status put_counted_term(struct list *list, struct slice term, struct slice number) {
    uint64_t count;
    if (!read_count(number, list->table->documents, &count))
        return fail_at_line(list, "the second column must be the number of documents with this term, from 1 to all");
    return put_term_of_versions(list, term, (uint32_t)count);
}

/* Puts a term into the table with its idf, which `number` says. In a list without a header, whole numbers may be counts
 * as well, and are refused. */
static enum idx_status put_idf_term(struct list *list, struct slice term, struct slice number) {
    uint32_t idf;
    if (!list->headed && memchr(number.bytes, '.', number.length) == NULL)
        return fail_at_line(list,
                            "is this a count or an idf? Begin a list of counts with the line #documents, tab, number "
                            "of documents, and a list of idf with the line #idf");
    if (!is_number(number) || !read_idf(number, &idf))
        return fail_at_line(list, "the second column must be an idf, a number from 0 to 1000");
    return put_term_of_versions(list, term, idf + 1);
}

/* Reads the first line that is not empty. Sets *is_header to whether it says what the numbers are; else it has a term,
 * and they are taken for idf. */
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
                        &list->table->documents))
            return fail_at_line(list, "after #documents and a tab there must be the number of documents, below 2^32");
    }
    list->begun = true;
    list->headed = *is_header;
    if (*is_header || (split_line(line, &term, &number) && is_number(number))) return IDX_OK;
    return idxt_fail(list->error, IDX_BAD_CONTENT, "%s is not a table of document frequencies", list->path);
}

/* Reads a line: the header or a term, unless it is empty. */
static enum idx_status read_line(struct list *list, struct slice line) {
    struct slice term, number;
    bool is_header = false;
    if (line.length > 0 && line.bytes[line.length - 1] == '\r') line.length--;
    if (line.length == 0) return IDX_OK;
    enum idx_status status = list->begun ? IDX_OK : read_header(list, line, &is_header);
    if (status != IDX_OK || is_header) return status;
    if (!split_line(line, &term, &number))
        return fail_at_line(list,
                            "there must be a term, a tab and a number, or a term without spaces, a space and a number");
    if (list->table->kind == IDXT_IDF_LIST) return put_idf_term(list, term, number);
    return put_counted_term(list, term, number);
}

/* Sets the idf of words that the list lacks to the upper median of all, as jieba does; terms have their idf plus 1.
 * Returns false if memory runs out. */
static bool set_unknown_idf(struct idx_text_table *table) {
    uint32_t median;
    if (!idxt_table_quantile(table, 2, &median)) return false;
    table->unknown_idf = median - 1;
    return true;
}

/* Reads all lines into the table, after a byte order mark if there is one, and completes it. */
static enum idx_status read_lines(struct list *list, struct slice rest) {
    enum idx_status status = IDX_OK;
    if (rest.length >= 3 && memcmp(rest.bytes, "\xEF\xBB\xBF", 3) == 0)
        rest = (struct slice){rest.bytes + 3, rest.length - 3};
    while (rest.length > 0 && status == IDX_OK) {
        const char *newline = memchr(rest.bytes, '\n', rest.length);
        struct slice line = {rest.bytes, newline == NULL ? rest.length : (size_t)(newline - rest.bytes)};
        size_t line_length = line.length + (newline != NULL);
        rest = (struct slice){rest.bytes + line_length, rest.length - line_length};
        list->line++;
        status = read_line(list, line);
    }
    if (status != IDX_OK) return status;
    if (list->table->term_count == 0)
        return idxt_fail(list->error, IDX_BAD_CONTENT, "%s is %s", list->path,
                         list->begun ? "a list without terms" : "not a table of document frequencies");
    bool ok = list->table->kind != IDXT_IDF_LIST || set_unknown_idf(list->table);
    return ok ? IDX_OK : idxt_fail_memory(list->error);
}

enum idx_status idxt_list_read(struct idx_text_table *table, const char *bytes, size_t length, const char *path,
                               struct idx_error *error) {
    struct list list = {.table = table, .path = path, .error = error};
    struct idxt_recipe words = {.method = IDXT_WORDS, .number = 1, .weighing = IDXT_WEIGHT_TF, .version = 1};
    idxt_recipe_print(&words, table->features);
    UErrorCode code = idxt_segmenter_open(&list.segmenter);
    enum idx_status status =
        U_FAILURE(code) ? idxt_fail_icu(error, code) : read_lines(&list, (struct slice){bytes, length});
    idxt_segmenter_close(&list.segmenter);
    free(list.normalized);
    return status;
}
