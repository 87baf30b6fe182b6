/* bad.c: records that can't be fingerprinted. */
#include "tools/text/bad.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Each follows a number and a multiplication sign. */
static const char *const names[BAD_KINDS] = {
    [BAD_JSON] = "no JSON object",
    [BAD_FIELD] = "a field missing or of another type",
    [BAD_ID] = "an ID that can't be one",
    [BAD_LINE] = "no tab behind an ID",
    [BAD_FEATURE] = "a weight or feature that can't be one",
    [BAD_WARC] = "the WARC format broken",
    [BAD_HTTP] = "an HTTP message that can't be read",
    [BAD_HTML] = "HTML that can't be read",
    [BAD_CHARSET] = "an unknown character set",
    [BAD_COMPRESSION] = "broken compression",
    [BAD_LONG] = "too long",
};

bool bad_set(struct bad *bad, enum bad_kind kind, const char *format, ...) {
    va_list arguments;
    bad->kind = kind;
    va_start(arguments, format);
    vsnprintf(bad->problem.sentence, sizeof bad->problem.sentence, format, arguments);
    va_end(arguments);
    return false;
}

void bad_count(struct bad_counts *counts, const struct bad *bad, const char *place) {
    if (counts->of[bad->kind]++ == 0 || bad->kind == BAD_FILE) complain("%s: %s", place, bad->problem.sentence);
}

uint64_t bad_total(const struct bad_counts *counts) {
    uint64_t total = 0;
    for (int kind = BAD_FILE + 1; kind < BAD_KINDS; kind++) total += counts->of[kind];
    return total;
}

void bad_say_total(const struct bad_counts *counts) {
    char list[1024] = "";
    for (int kind = BAD_FILE + 1; kind < BAD_KINDS; kind++) {
        size_t length = strlen(list);
        if (counts->of[kind] > 0)
            snprintf(list + length, sizeof list - length, "%s%" PRIu64 " × %s", length > 0 ? ", " : "",
                     counts->of[kind], names[kind]);
    }
    if (list[0] != '\0') complain("bad records, left out: %s", list);
}
