/* tsv.h: parses the lines that `idx build`, `idx lookup` and other commands read. These functions do no I/O and
 * allocate no memory, so that tests and fuzzers can call them with any bytes. */
#ifndef IDX_TOOLS_INPUT_TSV_H
#define IDX_TOOLS_INPUT_TSV_H

#include "tools/input/reader.h"
#include "tools/shared/wording.h"

/* What follows the fingerprint and a tab in a line. */
enum tsv_ids {
    TSV_ID_TEXT,     /* An ID, which is any bytes but tab, at least one; or a second tab and an ID that is escaped. */
    TSV_ID_U64,      /* An ID, which is a decimal number below 2^64. */
    TSV_ID_NONE,     /* Nothing: the line is the fingerprint alone, without the tab. */
    TSV_ID_OPTIONAL, /* An ID as with TSV_ID_TEXT, or nothing, without the tab. */
    TSV_ID_IGNORED,  /* Anything: the fingerprint alone is read. */
    /* The line is the ID alone, as with these, whatever it begins with; one that is escaped follows a tab. The
     * fingerprint is 0 then. */
    TSV_ID_TEXT_ALONE,
    TSV_ID_U64_ALONE,
};

struct tsv_rules {
    unsigned bits; /* From 1 to 64. */
    enum notation notation;
    enum tsv_ids ids;
};

enum tsv_kind {
    TSV_RECORD,  /* A fingerprint, and an ID by the rules. */
    TSV_COMMENT, /* A line that begins with #. */
    TSV_RECIPE,  /* #recipe, a tab, and the recipe, which may be empty. */
    TSV_TOTAL,   /* #total, a tab, and what struct totals describes. */
    TSV_BAD,     /* Anything else; *problem says what is wrong. */
};

struct tsv_record {
    uint64_t fingerprint;
    const char *id; /* The ID in the line, or what follows #recipe or #total; or NULL. */
    size_t id_length;
    bool escaped;    /* The ID is escaped; escape_decode_id makes the original one of it. */
    uint64_t number; /* The ID, with TSV_ID_U64 and TSV_ID_U64_ALONE. */
};

/* Parses a line of `length` bytes, without its \n, into *record, whose `id` points into the line. Returns the kind of
 * the line. With TSV_BAD, sets *problem, and *record is unspecified. A \r at the end of the line belongs to the ID. An
 * escaped ID stays escaped, but its escape sequences are checked. */
enum tsv_kind tsv_parse_line(const struct tsv_rules *rules, const char *line, size_t length, struct tsv_record *record,
                             struct problem *problem);

/* Replaces the escaped ID of a record, which tsv_parse_line has checked, by the original one, and sets its length. The
 * record must be of the line that `reader` returned last, since the ID is changed in place, in the reader's buffer. */
void reader_unescape_id(struct reader *reader, struct tsv_record *record);

/* Counts that show whether a stream of fingerprints is whole. `idx fingerprint` and `idx dump` print a line
 * #recipe, the fingerprints, and a line #total. This last line has the number of lines with fingerprints, the number of
 * documents that were left out, and the command's exit status, separated by tabs. It counts wherever it is in the
 * stream, because sorting moves it. Concatenated streams have several such lines, whose numbers are added. */
struct totals {
    uint64_t recipe_lines;        /* Lines that state a recipe; without any, the stream needs no total. */
    uint64_t fingerprints;        /* Lines with fingerprints, bad ones included. */
    uint64_t total_lines;         /* Lines #total. */
    uint64_t stated_fingerprints; /* The sum of the numbers of fingerprints in the lines #total. */
    bool states_failure;          /* A line #total has an exit status other than 0. */
    bool any_unreadable;          /* A line #total does not have three numbers. */
};

/* Counts a line, of which tsv_parse_line returned `kind` and made `record`. `record` is read only with TSV_TOTAL;
 * otherwise it may be NULL. */
void totals_count_line(struct totals *totals, enum tsv_kind kind, const struct tsv_record *record);

/* Returns whether a stream that ended is whole or states no recipe. Otherwise complains, naming the stream by `name`,
 * and advises --partial. */
bool totals_are_whole(const struct totals *totals, const char *name);

#endif
