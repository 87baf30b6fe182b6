/* tsv.c: reads one line of fingerprint<TAB>ID, and checks by the line #total that a stream of lines is whole. */
#include "tools/input/tsv.h"

#include <inttypes.h>
#include <string.h>

static const char recipe_mark[] = "#recipe\t", total_mark[] = "#total\t";

/* Sets the record's number by its ID, which must not be empty. Sets *problem and returns false if the ID is not a
 * decimal number below 2^64. */
static bool parse_number_id(struct tsv_record *record, struct problem *problem) {
    if (number_parse_digits(record->id, record->id_length, &record->number)) return true;
    if (record->id[record->id_length - 1] == '\r')
        return problem_set(problem, "the ID ends in a carriage return; lines must end in \\n alone");
    return problem_set(problem, "the ID is not a decimal number below 2^64, as --id-type u64 requires");
}

/* Returns whether lines have IDs but no fingerprints. */
static bool has_ids_alone(const struct tsv_rules *rules) {
    return rules->ids == TSV_ID_TEXT_ALONE || rules->ids == TSV_ID_U64_ALONE;
}

/* Sets *problem and returns false if an ID that has `id_bytes` bytes in its original form is too long. */
static bool check_id_length(size_t id_bytes, struct problem *problem) {
    return id_bytes <= IDX_MAX_ID_BYTES ||
           problem_set(problem, "an ID of %zu bytes is too long: the maximum is %d", id_bytes, IDX_MAX_ID_BYTES);
}

/* Sets the record's ID to the bytes from `id`, behind the extra tab, up to, but not including, `id_end`. Leaves it
 * escaped, but checks it: sets *problem and returns false if an escape sequence is wrong, or if the ID has a tab or is
 * too long. */
static bool parse_escaped_id(const struct tsv_rules *rules, const char *id, const char *id_end,
                             struct tsv_record *record, struct problem *problem) {
    bool alone = has_ids_alone(rules);
    size_t id_bytes = 0;
    char byte;
    record->id = id;
    record->id_length = (size_t)(id_end - id);
    record->escaped = true;
    for (const char *next = id; next < id_end; id_bytes++) {
        if (*next == '\t')
            return problem_set(problem, "the line has a %s tab, which an ID can't contain", alone ? "second" : "third");
        size_t sequence_length = *next == '\\' ? escape_decode_sequence(next, id_end, &byte) : 1;
        if (sequence_length == 0)
            return problem_set(problem,
                               "after a %stab, an ID is escaped: a backslash must be followed by t, n, another "
                               "backslash, or x and two lower-case hex digits",
                               alone ? "" : "second ");
        next += sequence_length;
    }
    return check_id_length(id_bytes, problem);
}

/* Sets the record's ID to the bytes from `id` up to, but not including, `line_end`, and its number if IDs are numbers.
 * Sets *problem and returns false if the rules don't allow this ID. */
static bool parse_id(const struct tsv_rules *rules, const char *id, const char *line_end, struct tsv_record *record,
                     struct problem *problem) {
    record->id = id;
    record->id_length = (size_t)(line_end - id);
    if (record->id_length == 0)
        return problem_set(problem, has_ids_alone(rules) ? "the ID is missing" : "the ID after the tab is empty");
    bool is_number = rules->ids == TSV_ID_U64 || rules->ids == TSV_ID_U64_ALONE;
    if (*id == '\t' && !is_number) return parse_escaped_id(rules, id + 1, line_end, record, problem);
    if (memchr(id, '\t', record->id_length) != NULL)
        return problem_set(problem, has_ids_alone(rules) ? "the line has a tab, which an ID can't contain"
                                                         : "the line has a second tab, which an ID can't contain");
    return is_number ? parse_number_id(record, problem) : check_id_length(record->id_length, problem);
}

/* Sets the record's ID to what follows the fingerprint, if the rules ask for one. `tab` is the tab behind the
 * fingerprint, or NULL if the fingerprint is the whole line. Sets *problem and returns false if the rules don't allow
 * the ID or its absence. */
static bool parse_id_after_fingerprint(const struct tsv_rules *rules, const char *tab, const char *line_end,
                                       struct tsv_record *record, struct problem *problem) {
    if (rules->ids == TSV_ID_IGNORED) return true;
    if (rules->ids == TSV_ID_NONE && tab != NULL)
        return problem_set(
            problem, "the line has a tab, but with --id-type none or --by-fingerprint it must be a fingerprint alone");
    if (tab == NULL) {
        if (rules->ids == TSV_ID_NONE || rules->ids == TSV_ID_OPTIONAL) return true;
        return problem_set(problem, "the ID is missing; a line is a fingerprint, a tab and an ID");
    }
    return parse_id(rules, tab + 1, line_end, record, problem);
}

/* Returns whether the line begins with `mark`. If so, sets the record's `id` to what follows the mark. */
static bool parse_marked_line(const char *line, size_t length, const char *mark, struct tsv_record *record) {
    size_t mark_length = strlen(mark);
    if (length < mark_length || memcmp(line, mark, mark_length) != 0) return false;
    record->id = line + mark_length;
    record->id_length = length - mark_length;
    return true;
}

enum tsv_kind tsv_parse_line(const struct tsv_rules *rules, const char *line, size_t length, struct tsv_record *record,
                             struct problem *problem) {
    memset(record, 0, sizeof *record);
    if (has_ids_alone(rules)) return parse_id(rules, line, line + length, record, problem) ? TSV_RECORD : TSV_BAD;
    if (length > 0 && line[0] == '#') {
        if (parse_marked_line(line, length, recipe_mark, record)) return TSV_RECIPE;
        return parse_marked_line(line, length, total_mark, record) ? TSV_TOTAL : TSV_COMMENT;
    }
    const char *tab = length > 0 ? memchr(line, '\t', length) : NULL;
    size_t digit_count = tab != NULL ? (size_t)(tab - line) : length;
    if (!notation_parse_fingerprint(rules->notation, rules->bits, line, digit_count, &record->fingerprint, problem))
        return TSV_BAD;
    return parse_id_after_fingerprint(rules, tab, line + length, record, problem) ? TSV_RECORD : TSV_BAD;
}

/* The line is in the buffer of the reader, which gives a pointer that may be written to. */
void reader_unescape_id(struct reader *reader, struct tsv_record *record) {
    record->id_length = escape_decode_id(reader->bytes + (record->id - reader->bytes), record->id_length);
}

/* ---- Whether a stream is whole ---- */

/* Parses the number from *rest to the next tab or, without one, to `end`. Moves *rest behind the tab, or sets it to
 * NULL where there is none. Returns false, without a complaint, if *rest is NULL or there is no number. */
static bool parse_total_number(const char **rest, const char *end, uint64_t *number) {
    if (*rest == NULL) return false;
    const char *tab = memchr(*rest, '\t', (size_t)(end - *rest));
    bool ok = number_parse_digits(*rest, (size_t)((tab == NULL ? end : tab) - *rest), number);
    *rest = tab == NULL ? NULL : tab + 1;
    return ok;
}

/* Adds the numbers of a line #total, whose record this is, to the totals. The number of documents that were left out is
 * not used: a stream without them is whole. Sets any_unreadable if there are not three numbers. */
static void add_total_line(struct totals *totals, const struct tsv_record *record) {
    const char *rest = record->id, *end = record->id + record->id_length;
    uint64_t fingerprint_count = 0, left_out, exit_status = 0;
    bool ok = parse_total_number(&rest, end, &fingerprint_count) && parse_total_number(&rest, end, &left_out) &&
              parse_total_number(&rest, end, &exit_status) && rest == NULL;
    totals->total_lines++;
    totals->stated_fingerprints += fingerprint_count;
    totals->states_failure |= exit_status != 0;
    totals->any_unreadable |= !ok;
}

void totals_count_line(struct totals *totals, enum tsv_kind kind, const struct tsv_record *record) {
    totals->recipe_lines += kind == TSV_RECIPE;
    totals->fingerprints += kind == TSV_RECORD || kind == TSV_BAD;
    if (kind == TSV_TOTAL) add_total_line(totals, record);
}

bool totals_are_whole(const struct totals *totals, const char *name) {
    static const char advice[] = "make them again, or take what there is with --partial";
    if (totals->recipe_lines == 0) return true;
    if (totals->any_unreadable) return complain("%s: the line #total does not have three numbers; %s", name, advice);
    if (totals->states_failure)
        return complain("%s: the command that printed these fingerprints failed, so some are missing; %s", name,
                        advice);
    if (totals->total_lines < totals->recipe_lines)
        return complain(
            "%s: the fingerprints state a recipe, but their last line (#total) is missing, so the command that "
            "printed them may have failed; %s",
            name, advice);
    if (totals->stated_fingerprints != totals->fingerprints)
        return complain("%s: there are %" PRIu64 " fingerprints, but the line #total says %" PRIu64 "; %s", name,
                        totals->fingerprints, totals->stated_fingerprints, advice);
    return true;
}
