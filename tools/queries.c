/* queries.c: what `idx lookup` is asked. */
#include "tools/queries.h"

#include <inttypes.h>
#include <string.h>

bool queries_open(struct queries *queries) {
    static const struct extract_rules rules = {0};
    queries->rules.ids = TSV_ID_OPTIONAL;
    queries->lines = (struct reader)READER_INIT;
    if (queries->texts.count == 0) return queries->fingerprints.count > 0 || reader_open(&queries->lines, "-");
    if (*queries->recipe != '\0') return text_open(&queries->text, queries->recipe, queries->rules.bits, &rules);
    complain("the index doesn't say by which recipe its fingerprints were made, so texts can't be compared with them; "
             "build it with --recipe, or from the output of idx fingerprint");
    return false;
}

static enum queries_status next_argument(struct queries *queries, struct query *query) {
    if (queries->next == queries->fingerprints.count) return QUERIES_END;
    const char *text = queries->fingerprints.values[queries->next++];
    *query = (struct query){0, NULL, 0};
    bool good = notation_parse(queries->rules.notation, queries->rules.bits, text, strlen(text), &query->fingerprint,
                               &queries->problem);
    return good ? QUERIES_ONE : QUERIES_BAD;
}

static enum queries_status next_text(struct queries *queries, struct query *query) {
    if (queries->next == queries->texts.count) return QUERIES_END;
    const char *path = queries->texts.values[queries->next++];
    *query = (struct query){0, path, strlen(path)};
    if (strpbrk(path, "\t\n") != NULL) {
        problem_set(&queries->problem, "its path has a tab or a newline, which would break the answers' lines");
        return QUERIES_BAD;
    }
    bool done = text_fingerprint_file(&queries->text, path, &query->fingerprint);
    return done ? QUERIES_ONE : QUERIES_FAILED;
}

/* Fingerprints of another recipe than the index's have nothing in common with its own. */
static bool check_recipe(struct queries *queries, const struct tsv_record *record) {
    size_t length = strlen(queries->recipe);
    if (length == 0 || (record->id_length == length && memcmp(record->id, queries->recipe, length) == 0)) return true;
    return problem_set(&queries->problem, "the recipe of these fingerprints is not that of the index (see idx info), "
                                          "so their distances would say nothing");
}

static enum queries_status next_line(struct queries *queries, bool wait, struct query *query) {
    struct tsv_record record;
    const char *line;
    size_t length;
    for (;;) {
        enum reader_status status = reader_line(&queries->lines, wait, &line, &length);
        if (status != READER_OK)
            return status == READER_END ? QUERIES_END : status == READER_PENDING ? QUERIES_PENDING : QUERIES_FAILED;
        switch (tsv_parse(&queries->rules, line, length, &record, &queries->problem)) {
            case TSV_BAD: return QUERIES_BAD;
            case TSV_COMMENT: break;
            case TSV_RECIPE:
                if (!check_recipe(queries, &record)) return QUERIES_BAD;
                break;
            case TSV_RECORD:
                *query = (struct query){record.fingerprint, record.id, record.id_length};
                return QUERIES_ONE;
        }
    }
}

enum queries_status queries_next(struct queries *queries, bool wait, struct query *query) {
    if (queries->fingerprints.count > 0) return next_argument(queries, query);
    if (queries->texts.count > 0) return next_text(queries, query);
    return next_line(queries, wait, query);
}

void queries_complain(const struct queries *queries) {
    if (queries->fingerprints.count > 0)
        complain("'%s': %s", queries->fingerprints.values[queries->next - 1], queries->problem.sentence);
    else if (queries->texts.count > 0)
        complain("%s: %s", queries->texts.values[queries->next - 1], queries->problem.sentence);
    else
        complain("%s:%" PRIu64 ": %s", queries->lines.name, queries->lines.line, queries->problem.sentence);
}

void queries_close(struct queries *queries) {
    text_close(&queries->text);
    reader_free(&queries->lines);
}
