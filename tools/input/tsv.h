/* tsv.h: the lines that `idx build`, `idx lookup` and their kin read: one line's bytes in, what they say out. No I/O,
 * no allocation, so that tests and fuzzers can call it with any bytes. */
#ifndef IDX_TOOLS_TSV_H
#define IDX_TOOLS_TSV_H

#include "tools/shared/notation.h"

#include <stdbool.h>

/* What follows the fingerprint and a tab. */
enum tsv_ids {
    TSV_ID_TEXT,     /* an ID: any bytes but tab, at least one; or a second tab and an ID that is escaped */
    TSV_ID_U64,      /* an ID: a decimal number below 2^64 */
    TSV_ID_NONE,     /* nothing: the line is the fingerprint alone, without the tab */
    TSV_ID_OPTIONAL, /* an ID as with TSV_ID_TEXT, or nothing, without the tab */
    /* The line is the ID alone, as with these, whatever it begins with; the fingerprint is 0 then. */
    TSV_ID_TEXT_ALONE,
    TSV_ID_U64_ALONE,
};

struct tsv_rules {
    unsigned bits; /* 1 to 64 */
    enum notation notation;
    enum tsv_ids ids;
};

enum tsv_kind {
    TSV_RECORD,  /* a fingerprint, and its ID by the rules */
    TSV_COMMENT, /* begins with # */
    TSV_RECIPE,  /* #recipe, a tab, and the recipe, which may be empty */
    TSV_TOTAL,   /* #total, a tab, and what struct totals says */
    TSV_BAD,     /* `problem` says why */
};

struct tsv_record {
    uint64_t fingerprint;
    const char *id; /* within the line: the ID's bytes, or those behind #recipe or #total; NULL when there is none */
    size_t id_length;
    bool escaped;    /* whether the ID is escaped, so that escape_undo has to be called for it */
    uint64_t number; /* TSV_ID_U64: the ID */
};

/* Reads a line of `length` bytes, given without its \n. A \r before it belongs to the ID. */
enum tsv_kind tsv_parse(const struct tsv_rules *rules, const char *line, size_t length, struct tsv_record *record,
                        struct problem *problem);

/* What a stream of fingerprints says of itself, and what it has, to know whether it is whole. `idx fingerprint` and
 * `idx dump` state a recipe before the fingerprints and end with a line `#total`, a tab, how many lines of fingerprints
 * there are, a tab, how many documents were left out, a tab and the command's exit status. It counts wherever it
 * is in the stream, because sorting moves it. Streams that were concatenated have several such lines, whose numbers add
 * up. */
struct totals {
    uint64_t recipes; /* lines that state one: without any the stream needs no total */
    uint64_t lines;   /* of fingerprints, bad ones included */
    uint64_t totals;  /* lines with a total */
    uint64_t stated;  /* the sum of their lines of fingerprints */
    bool failed;      /* one of them states a failure */
    bool broken;      /* one of them can't be read */
};

/* Counts a line, with what tsv_parse made of it. */
void totals_count(struct totals *totals, enum tsv_kind kind, const struct tsv_record *record);

/* At the end of a stream: whether it is whole, or states no recipe. Returns false after a complaint, which begins with
 * the name of the stream and names --partial. */
bool totals_check(const struct totals *totals, const char *name);

#endif
