/* tsv.c: fuzzes the parser of input lines. An input is: bits, notation, kind of IDs, then the line. A fingerprint that
 * is accepted must fit, and come back when written and read again. */
#include "tools/input/tsv.h"

#include "tests/fuzz/fuzz.h"

static void check_fingerprint(const struct tsv_rules *rules, uint64_t fingerprint) {
    char text[NOTATION_MAX_LENGTH];
    uint64_t again;
    struct problem problem;
    CHECK(rules->bits == 64 || fingerprint >> rules->bits == 0);
    size_t length = notation_format_fingerprint(rules->notation, rules->bits, fingerprint, text);
    CHECK(length <= sizeof text);
    CHECK(notation_parse_fingerprint(rules->notation, rules->bits, text, length, &again, &problem));
    CHECK(again == fingerprint);
}

/* An ID, a recipe, or totals stand at the end of the line. */
static void check_id(const struct tsv_rules *rules, enum tsv_kind kind, const struct tsv_record *record,
                     const char *line, size_t length) {
    CHECK(record->id > line && record->id + record->id_length == line + length);
    if (kind == TSV_RECIPE || kind == TSV_TOTAL) return;
    CHECK((record->id_length > 0 || record->escaped) && record->id[-1] == '\t');
    CHECK(memchr(record->id, '\t', record->id_length) == NULL);
    CHECK(rules->ids != TSV_ID_NONE);
}

static void check_record(const struct tsv_rules *rules, enum tsv_kind kind, const struct tsv_record *record,
                         const char *line, size_t length) {
    CHECK(kind == TSV_RECORD || (length > 0 && line[0] == '#'));
    if (kind == TSV_COMMENT) return;
    if (record->id != NULL)
        check_id(rules, kind, record, line, length);
    else
        CHECK(kind == TSV_RECORD && (rules->ids == TSV_ID_NONE || rules->ids == TSV_ID_OPTIONAL));
    if (kind == TSV_RECORD) check_fingerprint(rules, record->fingerprint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    struct tsv_rules rules = {
        .bits = 1 + data[0] % 64,
        .notation = (enum notation)(data[1] % 3),
        .ids = (enum tsv_ids)(data[2] % 4),
    };
    size_t length = size - 3;
    char *line = copy_exactly(data + 3, length);
    struct tsv_record record = {0};
    struct problem problem = {.sentence = ""};
    enum tsv_kind kind = tsv_parse_line(&rules, line, length, &record, &problem);
    if (kind == TSV_BAD)
        CHECK(problem.sentence[0] != '\0' && memchr(problem.sentence, '\0', sizeof problem.sentence) != NULL);
    else
        check_record(&rules, kind, &record, line, length);
    free(line);
    return 0;
}
