/* intake.c: reads documents, hands them to what compares them, and keeps aside the IDs of those that can't be
 * compared. */
#include "tools/dedup/intake.h"

#include <inttypes.h>
#include <string.h>

/* Refuses a file whose parts can be listed, but not cut out, and sets `partly`. This is a format_visitor. */
static bool check_format_can_be_cut(void *context, const char *path, enum document_format format) {
    struct intake *intake = context;
    if (format != FORMAT_WARC && format != FORMAT_HTML && format != FORMAT_MAN) return true;
    intake->partly = true;
    return complain("%s is %s, whose %s can be listed, but not cut out: leave out --write and --dropped, or that file",
                    path,
                    format == FORMAT_WARC   ? "WARC"
                    : format == FORMAT_HTML ? "HTML"
                                            : "a manual page",
                    intake->divided->by == PARTS_LINE ? "lines" : "paragraphs");
}

bool intake_check_cutting(struct intake *intake, const struct reading_rules *rules, const struct strings *paths) {
    reading_visit_formats(rules, paths, check_format_can_be_cut, intake);
    return !intake->partly;
}

/* ---- Documents ---- */

/* Keeps the hash of an ID, if IDs are listed, so that those of several documents are found. Returns false after a
 * complaint if memory ran out. */
static bool note_id_hash(struct intake *intake, const char *id, size_t length) {
    return !intake->notes_ids || id_hashes_add(&intake->all_ids, id, length);
}

/* Adds a document, or its parts, to those that are compared. `value` is what it is preferred by. Returns false after a
 * complaint. */
static bool add_to_compared(struct intake *intake, const struct made *made, const struct place *place, int64_t value) {
    if (!note_id_hash(intake, made->id.bytes, made->id.length)) return false;
    if (intake->journal != NULL) journal_add_place(intake->journal, place);
    intake->compared++;
    if (intake->divided != NULL) return divided_add_document(intake->divided, intake->resemble, made->id, made);
    return resemble_add_document(intake->resemble, made->id, made->shingles, made->shingle_count, value);
}

/* Notes a document that is kept without being compared. What is kept but is no document has an ID of length 0. Returns
 * false after a complaint. */
static bool keep_document_apart(struct intake *intake, struct span id, const struct place *place) {
    struct place kept = *place;
    if (id.length > 0) {
        output_id(&intake->apart.output, id.bytes, id.length);
        output_byte(&intake->apart.output, '\n');
        intake->apart_count++;
        if (!note_id_hash(intake, id.bytes, id.length)) return false;
    }
    kept.fate = FATE_KEPT;
    if (intake->journal != NULL) journal_add_place(intake->journal, &kept);
    return true;
}

/* Returns the value by which a document is preferred, or 0. Counts it as undated if it has no date or score. */
static int64_t find_preference_value(struct intake *intake, const struct raw_document *raw) {
    const enum preferred preferred = intake->preferred;
    if (preferred == PREFERRED_NONE) return 0;
    if (preferred == PREFERRED_LONGEST) return (int64_t)raw->text_bytes;
    bool has_score = raw->format == FORMAT_JSONL; /* Others have the date of their file. */
    int64_t date = preferred == PREFERRED_BEST && !has_score ? DATE_NONE : raw->date;
    if (date == DATE_NONE) intake->undated++;
    return date;
}

/* Keeps a bad record that has no other ID by that of its WARC record, or by its place. A file that can't be read, and a
 * text for which memory ran out, are no records, and not kept. */
static bool keep_bad_record(struct intake *intake, const struct raw_document *raw, const struct place *place) {
    if (raw->bad.kind == BAD_FILE || raw->bad.kind == BAD_MEMORY) return true;
    return keep_document_apart(intake, raw_document_get_id(raw), place);
}

/* Refuses a document whose parts can't be cut out, because its file became another one since its format was checked.
 * Returns false after a complaint. */
static bool check_cutting_again(struct intake *intake, const struct raw_document *raw) {
    const bool is_of_warc = raw->unit == UNIT_RECORD || raw->unit == UNIT_BROKEN_RECORD;
    return intake->divided == NULL || intake->journal == NULL ||
           check_format_can_be_cut(intake, raw->place, is_of_warc ? FORMAT_WARC : raw->format);
}

/* Returns where a document is. The bytes between the members are 0, since the journal writes them as well. */
static struct place make_place(const struct raw_document *raw) {
    struct place place;
    memset(&place, 0, sizeof place);
    place.file = raw->file;
    place.begins = raw->begins;
    place.ends = raw->ends;
    place.unit = raw->unit;
    place.fate = FATE_COMPARED;
    place.format = raw->format;
    return place;
}

/* Has a document compared, or keeps it apart if it has no words or is bad. Returns false after a complaint. */
static bool compare_or_keep(struct intake *intake, const struct made *made) {
    const struct raw_document *raw = made->raw;
    const struct place place = make_place(raw);
    if (!check_cutting_again(intake, raw)) return false;
    if (raw->is_large) intake->large++;
    if (intake->divided != NULL) intake->divided->text_bytes += raw->text_bytes;
    if (raw->bad.kind != BAD_NONE && made->id.length == 0) return keep_bad_record(intake, raw, &place);
    if (made->shingle_count == 0 || raw->bad.kind != BAD_NONE) return keep_document_apart(intake, made->id, &place);
    return add_to_compared(intake, made, &place, find_preference_value(intake, raw));
}

/* ---- The whole ---- */

/* Reports how many documents have no date or score, if these decide which documents are kept. `field` is where JSON has
 * it, or NULL. */
static void report_undated(const struct intake *intake, const char *field) {
    const bool is_best = intake->preferred == PREFERRED_BEST;
    if (intake->undated == 0) return;
    complain("%" PRIu64 " %s no %s%s%s%s, so %s as the %s", intake->undated,
             intake->undated == 1 ? "document has" : "documents have",
             is_best ? "number for a score" : "date that can be read",
             field == NULL ? ""
             : is_best     ? " (--score-field "
                           : " (--date-field ",
             field != NULL ? field : "", field != NULL ? ")" : "", intake->undated == 1 ? "it counts" : "they count",
             is_best ? "worst" : "oldest");
}

/* Reports how many documents may have exceeded --memory, if that was given. */
static void report_large(const struct intake *intake) {
    if (intake->large == 0 || !arguments_have("memory")) return;
    complain("%" PRIu64 " %s more than a share of --memory, so %s was read alone; --memory may have been exceeded",
             intake->large, intake->large == 1 ? "document needs" : "documents need",
             intake->large == 1 ? "it" : "each");
}

bool intake_read(struct intake *intake, struct reading_rules *rules, const struct strings *paths) {
    rules->makes = MAKES_SHINGLES;
    rules->journal = intake->journal;
    rules->bad_heading = "kept bad records, which can't be compared";
    rules->takes_others = intake->journal != NULL;
    struct reading *reading = reading_open(rules, paths);
    const struct made *made;
    bool ok = reading != NULL;
    while (ok && (made = reading_next(reading)) != NULL) ok = !interrupt_is_noted() && compare_or_keep(intake, made);
    const enum reading_status status = reading_close(reading);
    intake->partly = status == READING_PARTLY;
    report_undated(intake, rules->extract.json.date);
    report_large(intake);
    return ok && status != READING_FAILED && !interrupt_is_noted() && temporary_flush(&intake->apart);
}

bool intake_print_apart(struct intake *intake, struct listing *listing) {
    return !listing->keep || temporary_copy(&intake->apart, &listing->output);
}

void intake_close(struct intake *intake) {
    temporary_close(&intake->apart);
    id_hashes_free(&intake->all_ids);
}
