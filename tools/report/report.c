/* report.c: makes the page of --report from what was found, and publishes it. */
#include "tools/report/report.h"
#include "tools/report/gather.h"

#include "tools/documents/bits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char option_name[] = "--report";
static const char page_name[] = "report"; /* The name of the page in the scratch folder. */

/* ---- Checking ---- */

/* Returns whether there is a regular file at `path` that begins as reports do; false also if it can't be read. */
static bool is_report_file(const char *path) {
    char first_bytes[64];
    const size_t length = strlen(page_begin); /* It is shorter than `first_bytes`. */
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return false;
    bool matches = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                   read(file, first_bytes, length) == (ssize_t)length && memcmp(first_bytes, page_begin, length) == 0;
    close(file);
    return matches;
}

bool report_check(const struct report *report) {
    struct stat status;
    if (strcmp(report->path, "-") == 0)
        return complain_of_usage("%s needs the name of a file: standard output is for IDs", option_name);
    size_t length = strlen(report->path);
    if (length > 0 && report->path[length - 1] == '/')
        return complain_of_usage("%s needs the name of a file, but %s is that of a folder", option_name, report->path);
    if (lstat(report->path, &status) != 0 || is_report_file(report->path)) /* Nothing is there, or only a report. */
        return folder_check_can_create(report->path, option_name);
    return complain("%s exists already, and %s replaces nothing but a report; remove it, or give another name",
                    report->path, option_name);
}

/* ---- Gathering ---- */

void report_add_member(struct report *report, const struct idx_cluster_member *member) {
    report->findings.k = report->listing->options.distance;
    if (!member->is_representative) report->findings.dropped_counts[member->distance]++;
    chains_add_member(&report->findings, member);
}

/* Copies the summary of the clusters from the listing, and computes from it how many documents are kept and dropped. */
static void copy_summary(struct report *report) {
    const struct idx_cluster_summary *clusters = &report->listing->summary;
    struct findings *findings = &report->findings;
    findings->clusters = *clusters;
    findings->dropped.documents = clusters->clustered - clusters->clusters;
    findings->kept.documents = clusters->documents - findings->dropped.documents;
}

bool report_gather_by_distance(struct report *report, const struct idx_index *index) {
    const struct listing *listing = report->listing;
    chains_add_member(&report->findings, NULL); /* There are no more members. */
    copy_summary(report);
    snprintf(report->origin.recipe, sizeof report->origin.recipe, "%s", listing->properties.recipe);
    report->origin.representative = representative_names[listing->representative];
    report->origin.method = cluster_method_names[listing->method];
    bool ok = gather_findings(&report->findings, index, &listing->options);
    progress_end(listing->options.context);
    return ok;
}

bool report_gather_by_resemblance(struct report *report, struct resemble *resemble) {
    copy_summary(report);
    bool ok = levels_gather_findings(&report->findings, resemble, report->listing->options.memory_bytes);
    progress_end(resemble->options.context);
    return ok;
}

bool report_count_inputs(struct report *report, struct intake *intake, const uint64_t *dropped_bits) {
    struct findings *findings = &report->findings;
    struct place place;
    uint64_t number = 0; /* That of the next document that was compared. */
    findings->has_inputs = true;
    findings->kept_uncompared.documents = intake->apart_count;
    findings->known.documents = intake->resemble->like_known;
    findings->kept.documents += intake->apart_count;
    findings->dropped.documents += findings->known.documents;
    if (!journal_rewind(intake->journal)) return false;
    while (journal_read_next_place(intake->journal, &place)) {
        uint64_t bytes = place.ends - place.begins;
        bool is_known = false, is_dropped = false;
        if (place.fate == FATE_COMPARED) {
            is_known = resemble_is_like_known(intake->resemble, number);
            is_dropped = bit_is_set(dropped_bits, number);
            number++;
        }
        if (is_dropped)
            findings->dropped.bytes += bytes;
        else
            findings->kept.bytes += bytes;
        if (is_known) findings->known.bytes += bytes;
        if (place.fate == FATE_KEPT) findings->kept_uncompared.bytes += bytes;
    }
    return true;
}

/* ---- Texts ---- */

/* Stores a copy of a document's text in each shown document of its number: one for each shown pair that it is in. The
 * reader uses the memory of the text again. Complains and returns false if memory ran out. */
static bool store_text_copies(struct findings *findings, const struct made *text) {
    for (size_t i = 0; i < findings->shown_count; i++) {
        struct shown_document *shown = &findings->shown[i];
        if (shown->number != text->raw->number || shown->text != NULL) continue;
        shown->text_bytes = text->body_bytes;
        shown->text_length = text->body.length;
        shown->text = malloc(shown->text_length + 1);
        if (shown->text == NULL) return complain("out of memory");
        if (shown->text_length > 0) memcpy(shown->text, text->body.bytes, shown->text_length);
    }
    return true;
}

bool report_read_texts(struct report *report, struct intake *intake, const struct reading_rules *rules) {
    struct findings *findings = &report->findings;
    struct second_reading again = {.journal = intake->journal, .compared = intake->compared};
    struct reading_rules own_rules = *rules;
    again.wanted = report->wanted = bits_allocate(intake->compared);
    if (report->wanted == NULL) return false;
    for (size_t i = 0; i < findings->shown_count; i++)
        if (findings->shown[i].number < intake->compared) bit_set(report->wanted, findings->shown[i].number);
    /* The same reading once more, but it notes nothing, and a bad record does not end it. */
    own_rules.strict = own_rules.takes_other_records = false;
    own_rules.makes = MAKES_BODY;
    own_rules.journal = NULL;
    own_rules.again = &again;
    struct reading *reading = second_reading_begin(&again) ? reading_open(&own_rules, NULL) : NULL;
    const struct made *made;
    bool ok = reading != NULL;
    while (ok && (made = reading_next(reading)) != NULL)
        ok = !interrupt_is_noted() && (made->raw->bad.kind != BAD_NONE || store_text_copies(findings, made));
    return reading_close(reading) == READING_WELL && ok && !again.failed && !again.has_next;
}

/* ---- Writing ---- */

/* Complains that the page can't be written to its path, because of errno. Returns false always. */
static bool complain_of_writing(const struct report *report) {
    return complain("%s: can't be written: %s", report->path, strerror(errno));
}

/* Writes the page, whose bytes `page` has in memory, to a new file at `path`, and waits until it is on the disk.
 * Complains, by the path of the report, and returns false if that fails; the file stays. */
static bool write_page_file(const struct report *report, const struct output *page, const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return complain_of_writing(report);
    struct output output = *page; /* With a descriptor, flushing writes the bytes. They stay the caller's. */
    output.descriptor = file;
    output_flush(&output);
    bool written = output.error == 0 && fsync(file) == 0;
    if (output.error != 0) errno = output.error;
    if (!written) complain_of_writing(report);
    close(file);
    return written;
}

bool report_write(struct report *report) {
    struct output page = OUTPUT_BUFFER;
    char *folder = folder_find_parent(report->path), *path = NULL;
    bool ok = folder != NULL || complain("out of memory");
    ok = ok && page_write(&page, &report->findings, &report->origin) && !interrupt_is_noted() &&
         scratch_open(&report->scratch, folder, option_name);
    if (ok) path = scratch_join(&report->scratch, page_name);
    ok = ok && (path != NULL || complain("out of memory")) && write_page_file(report, &page, path);
    free(page.bytes);
    free(folder);
    free(path);
    return ok;
}

bool report_publish(const struct report *report) {
    char *path = scratch_join(&report->scratch, page_name);
    if (path == NULL) return complain("out of memory");
    bool ok = (rename(path, report->path) == 0 && folder_sync_parent(report->path)) || complain_of_writing(report);
    free(path);
    return ok;
}

void report_close(struct report *report) {
    for (size_t i = 0; i < report->findings.shown_count; i++) free(report->findings.shown[i].text);
    free(report->findings.shown);
    free(report->wanted);
    scratch_remove(&report->scratch);
}
