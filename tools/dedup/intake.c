/* intake.c: reads documents, hands them to what compares them, and keeps aside the IDs of those that can't be
 * compared. */
#include "tools/dedup/intake.h"

#include <inttypes.h>
#include <string.h>

/* Checks that the parts of the file at `path` can be cut out of it, and not only listed, by the format of its
 * documents. If not, complains, sets `partly`, and returns false. This is a format_visitor; `context` is the struct
 * intake. */
static bool check_file_can_be_cut(void *context, const char *path, enum document_format format) {
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

bool intake_check_can_be_cut(struct intake *intake, const struct reading_rules *rules, const struct strings *paths) {
    reading_visit_formats(rules, paths, check_file_can_be_cut, intake);
    return !intake->partly;
}

/* ---- Documents ---- */

/* Keeps the hash of an ID if notes_ids is set, so that IDs of several documents are found. Returns false after a
 * complaint if memory ran out. */
static bool note_id_hash(struct intake *intake, const char *id, size_t length) {
    return !intake->notes_ids || id_hashes_add(&intake->all_ids, id, length);
}

/* Adds a document, or its parts, to those that are compared, and to the journal. A document with a larger `value` is
 * preferred; parts have none. Returns false after a complaint. */
static bool add_to_compared(struct intake *intake, const struct made *made, const struct place *place, int64_t value) {
    if (!note_id_hash(intake, made->id.bytes, made->id.length)) return false;
    if (intake->journal != NULL) journal_add_place(intake->journal, place);
    intake->compared++;
    if (intake->divided != NULL) return divided_add_document(intake->divided, intake->resemble, made->id, made);
    return resemble_add_document(intake->resemble, made->id, made->shingles, made->shingle_count, value);
}

/* Notes that a document is kept without being compared, in the file of IDs and in the journal. If the ID is empty, this
 * is a record without a document, which only the journal notes. Returns false after a complaint. */
static bool keep_document_apart(struct intake *intake, struct span id, const struct place *place) {
    struct place kept_place = *place;
    if (id.length > 0) {
        output_id(&intake->apart.output, id.bytes, id.length);
        output_byte(&intake->apart.output, '\n');
        intake->apart_count++;
        if (!note_id_hash(intake, id.bytes, id.length)) return false;
    }
    kept_place.fate = FATE_KEPT;
    if (intake->journal != NULL) journal_add_place(intake->journal, &kept_place);
    return true;
}

/* Returns the value by which a document is preferred, the larger the better: its bytes, its date or its score; 0 for
 * all if the first ones are preferred. Counts the document as undated if it has no date or score, which is
 * DATE_NONE. */
static int64_t find_preference(struct intake *intake, const struct raw_document *raw) {
    const enum preferred preferred = intake->preferred;
    if (preferred == PREFERRED_NONE) return 0;
    if (preferred == PREFERRED_LONGEST) return (int64_t)raw->text_bytes;
    bool has_score = raw->format == FORMAT_JSONL; /* Others have the date of their file. */
    int64_t date = preferred == PREFERRED_BEST && !has_score ? DATE_NONE : raw->date;
    if (date == DATE_NONE) intake->undated_count++;
    return date;
}

/* Checks that the parts of a document can be cut out, if they are to be: its file may have become another one since
 * intake_check_can_be_cut. Otherwise complains, sets `partly`, and returns false. */
static bool check_document_can_be_cut(struct intake *intake, const struct raw_document *raw) {
    const bool is_of_warc = raw->unit == UNIT_RECORD || raw->unit == UNIT_BROKEN_RECORD;
    return intake->divided == NULL || intake->journal == NULL ||
           check_file_can_be_cut(intake, raw->place, is_of_warc ? FORMAT_WARC : raw->format);
}

/* Returns the record of a document in the journal, as one that is compared. Its bytes are zeroed first, since the
 * journal also writes the padding between its members. */
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

/* Adds a document to those that are compared, or keeps it apart if it has no shingles or is bad. Counts it if it is
 * large. Returns false after a complaint. */
static bool compare_or_keep(struct intake *intake, const struct made *made) {
    const struct raw_document *raw = made->raw;
    const struct place place = make_place(raw);
    if (!check_document_can_be_cut(intake, raw)) return false;
    if (raw->is_large) intake->large_count++;
    if (intake->divided != NULL) intake->divided->text_bytes += raw->text_bytes;
    /* What is no record, but a file that can't be read or memory that ran out, is not kept. Records without an ID are
     * kept by the ID of their WARC record, or else by their place. */
    if (raw->bad.kind != BAD_NONE && made->id.length == 0)
        return raw->bad.kind == BAD_FILE || raw->bad.kind == BAD_MEMORY ||
               keep_document_apart(intake, raw_document_get_id(raw), &place);
    if (made->shingle_count == 0 || raw->bad.kind != BAD_NONE) return keep_document_apart(intake, made->id, &place);
    return add_to_compared(intake, made, &place, find_preference(intake, raw));
}

/* ---- The whole ---- */

/* Reports how many documents have no date or score, if these decide which documents are kept. `field` is the path of
 * the date or score in JSON, or NULL if none was given. */
static void report_undated(const struct intake *intake, const char *field) {
    const bool is_best = intake->preferred == PREFERRED_BEST;
    const char *option = is_best ? " (--score-field " : " (--date-field ";
    if (intake->undated_count == 0) return;
    complain("%" PRIu64 " %s no %s%s%s%s, so %s as the %s", intake->undated_count,
             intake->undated_count == 1 ? "document has" : "documents have",
             is_best ? "number for a score" : "date that can be read", field != NULL ? option : "",
             field != NULL ? field : "", field != NULL ? ")" : "",
             intake->undated_count == 1 ? "it counts" : "they count", is_best ? "worst" : "oldest");
}

/* Reports how many documents may have exceeded --memory, if that was given. */
static void report_large(const struct intake *intake) {
    if (intake->large_count == 0 || !arguments_have_option("memory")) return;
    complain("%" PRIu64 " %s more than a share of --memory, so %s was read alone; --memory may have been exceeded",
             intake->large_count, intake->large_count == 1 ? "document needs" : "documents need",
             intake->large_count == 1 ? "it" : "each");
}

bool intake_read(struct intake *intake, struct reading_rules *rules, const struct strings *paths) {
    rules->makes = MAKES_SHINGLES;
    rules->journal = intake->journal;
    rules->bad_heading = "kept bad records, which can't be compared";
    rules->takes_other_records = intake->journal != NULL;
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

bool intake_print_ids_apart(struct intake *intake, struct listing *listing) {
    return !listing->keep || temporary_copy(&intake->apart, &listing->output);
}

void intake_close(struct intake *intake) {
    temporary_close(&intake->apart);
    id_hashes_free(&intake->all_ids);
}
