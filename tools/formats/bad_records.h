/* bad_records.h: records that can't be fingerprinted: their kinds, counts and messages. */
#ifndef IDX_TOOLS_FORMATS_BAD_RECORDS_H
#define IDX_TOOLS_FORMATS_BAD_RECORDS_H

#include "tools/shared/wording.h"

#include <stdbool.h>
#include <stdint.h>

enum bad_kind {
    BAD_NONE,
    BAD_FILE,   /* Not a record, but a file that can't be read; always reported, and an error. */
    BAD_MEMORY, /* Not a record, but memory that ran out, which ends the command. */
    BAD_JSON,   /* This and the kinds behind it are kinds of records. */
    BAD_FIELD,
    BAD_ID,
    BAD_LINE,
    BAD_FEATURE,
    BAD_WARC,
    BAD_HTTP,
    BAD_HTML,
    BAD_MANUAL,
    BAD_CHARSET,
    BAD_WIDE,
    BAD_BINARY,
    BAD_COMPRESSION,
    BAD_LONG,
    BAD_ICU, /* ICU fails, or lacks a dictionary */
    BAD_KINDS,
};

/* What is wrong with a record. The problem is worded to follow "PLACE: ". A function with the last parameter `bad` sets
 * it and returns false if it fails. */
struct bad {
    enum bad_kind kind;
    struct problem problem;
};

/* Sets the kind BAD_MEMORY, and its sentence. Returns false always. */
bool bad_set_memory(struct bad *bad);

/* Sets the kind, and the problem as printf formats it, cut off where it is too long. Returns false always, so that a
 * parser can return what this returns. */
__attribute__((format(printf, 3, 4))) bool bad_set(struct bad *bad, enum bad_kind kind, const char *format, ...);

struct bad_counts {
    uint64_t of[BAD_KINDS];
    uint64_t cut; /* Documents that are not bad, but end too soon. */
};

/* Counts a bad record, whose bad->kind must not be BAD_NONE. If it is the first of its kind, reports on standard error
 * what is wrong with it; BAD_FILE and BAD_MEMORY are always reported. The message begins with `place`: FILE, FILE:LINE
 * or the like. */
void bad_count_record(struct bad_counts *counts, const struct bad *bad, const char *place);

/* Counts a document that ends too soon, but is used as far as it could be read. Reports it, as bad_count_record does,
 * if it is the first. */
void bad_count_cut_document(struct bad_counts *counts, const char *place);

/* Returns how many records were bad; BAD_FILE and BAD_MEMORY do not count, since they are no records. */
uint64_t bad_sum_records(const struct bad_counts *counts);

/* Reports on standard error how many records of each kind were bad, in a message that begins with `heading` and a
 * colon, and how many documents end too soon. Returns false, after a complaint, if some records are bad and
 * `good_count`, the number of good ones, is 0. */
bool bad_report_totals(const struct bad_counts *counts, const char *heading, uint64_t good_count);

#endif
