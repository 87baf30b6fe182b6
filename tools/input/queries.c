/* queries.c: reads the queries of `idx lookup`. */
#include "tools/input/queries.h"

#include "tools/shared/library.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool queries_open(struct queries *queries) {
    queries->rules.ids = TSV_ID_OPTIONAL;
    queries->line_reader = (struct reader)READER_INIT;
    if (queries->ids.count > 0) return true;
    if (queries->texts.count == 0) return queries->fingerprints.count > 0 || reader_open(&queries->line_reader, "-");
    if (*queries->recipe != '\0') return queries_open_fingerprinter(queries);
    return complain(
        "the index does not record the recipe of its fingerprints, so texts can't be compared with them; build it "
        "with --recipe, or from the output of idx fingerprint");
}

/* Parses the next fingerprint of the command line into *query. Returns QUERIES_END behind the last one. Sets `problem`
 * and returns QUERIES_BAD if the argument is not a fingerprint. */
static enum queries_status parse_next_argument(struct queries *queries, struct query *query) {
    if (queries->begun_count == queries->fingerprints.count) return QUERIES_END;
    const char *text = queries->fingerprints.values[queries->begun_count++];
    *query = (struct query){0, NULL, 0, {NULL, 0}};
    bool is_good = notation_parse_fingerprint(queries->rules.notation, queries->rules.bits, text, strlen(text),
                                              &query->fingerprint, &queries->problem);
    return is_good ? QUERIES_ONE : QUERIES_BAD;
}

/* Sets *query to the next fingerprint of the current ID, or to the first of the next ID that the index has. Complains
 * of IDs that the index does not have, and skips them. Returns QUERIES_END behind the last ID, QUERIES_FAILED after a
 * complaint if the library fails, and QUERIES_BAD, with `problem` set, if the ID can't be one of the index. */
static enum queries_status find_next_fingerprint_by_id(struct queries *queries, struct query *query) {
    while (queries->returned_count == queries->found_count) {
        struct idx_error error;
        if (queries->begun_count == queries->ids.count) return QUERIES_END;
        const char *id = queries->ids.values[queries->begun_count++];
        struct document_id wanted = {id, strlen(id), 0};
        if (queries->id_type == IDX_ID_U64 && !number_parse_digits(id, wanted.length, &wanted.number)) {
            problem_set(&queries->problem, "the IDs of this index are decimal numbers below 2^64");
            return QUERIES_BAD;
        }
        queries->returned_count = queries->found_count = 0;
        free(queries->found_fingerprints);
        if (!succeeded(find_fingerprints_of_id(queries->index, &wanted, &queries->found_fingerprints,
                                               &queries->found_count, &error),
                       &error))
            return QUERIES_FAILED;
        if (queries->found_count == 0) complain("'%s': the index has no document with this ID", id);
    }
    const char *id = queries->ids.values[queries->begun_count - 1];
    *query = (struct query){queries->found_fingerprints[queries->returned_count++], id, strlen(id), {NULL, 0}};
    return QUERIES_ONE;
}

/* Returns whether the recipe of a line #recipe matches that of the index; any does if the index has none. Sets
 * `problem` if it returns false. */
static bool matches_index_recipe(struct queries *queries, const struct tsv_record *record) {
    if (*queries->recipe == '\0' ||
        recipes_match(queries->recipe, record->id, record->id_length, &queries->warned_of_icu))
        return true;
    recipes_explain_difference(&queries->problem, RECIPE_OF_INDEX, queries->recipe, record->id, record->id_length);
    return false;
}

/* Reads lines of standard input up to the next one that is a query, and sets *query to it. `wait` and the status are
 * those of queries_read_next. Sets `problem` if it returns QUERIES_BAD. */
static enum queries_status read_next_query_line(struct queries *queries, bool wait, struct query *query) {
    struct tsv_record record;
    const char *line;
    size_t length;
    for (;;) {
        enum reader_status status = reader_read_line(&queries->line_reader, wait, &line, &length);
        if (status == READER_END)
            return queries->partial || totals_are_whole(&queries->totals, queries->line_reader.name) ? QUERIES_END
                                                                                                     : QUERIES_FAILED;
        if (status != READER_OK) return status == READER_PENDING ? QUERIES_PENDING : QUERIES_FAILED;
        enum tsv_kind kind = tsv_parse_line(&queries->rules, line, length, &record, &queries->problem);
        if (kind == TSV_BAD) return QUERIES_BAD;
        totals_count_line(&queries->totals, kind, &record);
        if (kind == TSV_RECIPE && !matches_index_recipe(queries, &record)) return QUERIES_BAD;
        if (kind != TSV_RECORD) continue;
        if (record.escaped) reader_unescape_id(&queries->line_reader, &record);
        *query = (struct query){record.fingerprint, record.id, record.id_length, {NULL, 0}};
        return QUERIES_ONE;
    }
}

enum queries_status queries_read_next(struct queries *queries, bool wait, struct query *query) {
    if (queries->fingerprints.count > 0) return parse_next_argument(queries, query);
    if (queries->texts.count > 0) return queries_next_fingerprint_of_text(queries, query);
    if (queries->ids.count > 0) return find_next_fingerprint_by_id(queries, query);
    return read_next_query_line(queries, wait, query);
}

void queries_complain_of_bad_query(const struct queries *queries) {
    if (queries->fingerprints.count > 0)
        complain("'%s': %s", queries->fingerprints.values[queries->begun_count - 1], queries->problem.sentence);
    else if (queries->texts.count > 0)
        complain("%s: %s", queries->texts.values[queries->begun_count - 1], queries->problem.sentence);
    else if (queries->ids.count > 0)
        complain("'%s': %s", queries->ids.values[queries->begun_count - 1], queries->problem.sentence);
    else
        complain("%s:%" PRIu64 ": %s", queries->line_reader.name, queries->line_reader.line, queries->problem.sentence);
}

void queries_close(struct queries *queries) {
    queries_close_texts(queries);
    reader_free(&queries->line_reader);
    free(queries->found_fingerprints);
}
