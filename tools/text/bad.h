/* bad.h: records that can't be fingerprinted: the kinds of them, how many there were, and what is said of them. */
#ifndef IDX_TOOLS_BAD_H
#define IDX_TOOLS_BAD_H

#include "tools/shared/message.h"

#include <stdbool.h>
#include <stdint.h>

enum bad_kind {
    BAD_NONE,
    BAD_FILE,   /* no record, but a file that can't be read, which is always reported and is an error */
    BAD_MEMORY, /* no record, but memory that ran out, which ends the command */
    BAD_JSON,
    BAD_FIELD,
    BAD_ID,
    BAD_LINE,
    BAD_FEATURE,
    BAD_WARC,
    BAD_HTTP,
    BAD_HTML,
    BAD_MANUAL,
    BAD_CHARSET,
    BAD_BINARY,
    BAD_COMPRESSION,
    BAD_LONG,
    BAD_KINDS,
};

/* What is wrong with a record; `problem` is worded to follow "PLACE: ". */
struct bad {
    enum bad_kind kind;
    struct problem problem;
};

/* Sets it to BAD_MEMORY; always returns false. */
bool bad_set_memory(struct bad *bad);

/* Sets it; always returns false, so that a parser can return it. */
__attribute__((format(printf, 3, 4))) bool bad_set(struct bad *bad, enum bad_kind kind, const char *format, ...);

struct bad_counts {
    uint64_t of[BAD_KINDS];
};

/* Counts a bad record, and says it where it is the first of its kind, or none. */
void bad_count(struct bad_counts *counts, const struct bad *bad, const char *place);

/* How many records were bad. */
uint64_t bad_total(const struct bad_counts *counts);

/* Says how many records were left out, by kind; nothing where there were none. */
void bad_say_total(const struct bad_counts *counts);

#endif
