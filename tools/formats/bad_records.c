/* bad_records.c: counts and reports records that can't be fingerprinted. */
#include "tools/formats/bad_records.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The names of the kinds, as in the message "left out bad records: 2 × not text". */
static const char *const kind_names[BAD_KINDS] = {
    [BAD_JSON] = "not a JSON object",
    [BAD_FIELD] = "missing field, or field of another type",
    [BAD_ID] = "unusable ID",
    [BAD_LINE] = "no tab after the ID",
    [BAD_FEATURE] = "invalid weight or feature",
    [BAD_WARC] = "broken WARC format",
    [BAD_HTTP] = "unreadable HTTP message",
    [BAD_HTML] = "unreadable HTML",
    [BAD_MANUAL] = "unreadable manual page",
    [BAD_CHARSET] = "unknown character set",
    [BAD_WIDE] = "UTF-16 or UTF-32, which is not divided",
    [BAD_BINARY] = "not text",
    [BAD_COMPRESSION] = "broken compression",
    [BAD_LONG] = "too long",
    [BAD_ICU] = "beyond this ICU",
};

bool bad_set(struct bad *bad, enum bad_kind kind, const char *format, ...) {
    va_list arguments;
    bad->kind = kind;
    va_start(arguments, format);
    vsnprintf(bad->problem.sentence, sizeof bad->problem.sentence, format, arguments);
    va_end(arguments);
    return false;
}

bool bad_set_memory(struct bad *bad) { return bad_set(bad, BAD_MEMORY, "out of memory"); }

void bad_count_record(struct bad_counts *counts, const struct bad *bad, const char *place) {
    bool is_first = counts->of[bad->kind]++ == 0, is_record = bad->kind >= BAD_JSON;
    if (is_first || !is_record) complain("%s: %s", place, bad->problem.sentence);
}

void bad_count_cut_document(struct bad_counts *counts, const char *place) {
    if (counts->cut++ == 0) complain("%s: this body is cut short; what could be read of it is taken", place);
}

uint64_t bad_sum_records(const struct bad_counts *counts) {
    uint64_t total = 0;
    for (int kind = BAD_JSON; kind < BAD_KINDS; kind++) total += counts->of[kind];
    return total;
}

bool bad_report_totals(const struct bad_counts *counts, const char *heading, uint64_t good_count) {
    char list[1024] = "";
    for (int kind = BAD_JSON; kind < BAD_KINDS; kind++) {
        size_t length = strlen(list);
        if (counts->of[kind] > 0)
            snprintf(list + length, sizeof list - length, "%s%" PRIu64 " × %s", length > 0 ? ", " : "",
                     counts->of[kind], kind_names[kind]);
    }
    bool has_bad = list[0] != '\0';
    if (has_bad) complain("%s: %s", heading, list);
    if (counts->cut > 0)
        complain("took what could be read of %" PRIu64 " document%s whose bodies are cut short", counts->cut,
                 counts->cut == 1 ? "" : "s");
    if (!has_bad || good_count > 0) return true;
    bool has_bad_fields = counts->of[BAD_JSON] + counts->of[BAD_FIELD] + counts->of[BAD_ID] + counts->of[BAD_LINE] > 0;
    const char *advice = has_bad_fields ? "; --format, --text-field and --id-field say how they are read" : "";
    return complain("all records are bad%s", advice);
}
