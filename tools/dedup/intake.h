/* intake.h: reads the documents of `idx dedup`, one after the other. Those to be compared go to resemble.h as sets of
 * shingles, or to divided.h as parts; IDs of the others go to a file. */
#ifndef IDX_TOOLS_DEDUP_INTAKE_H
#define IDX_TOOLS_DEDUP_INTAKE_H

#include "tools/answers/cluster_listing.h"
#include "tools/dedup/divided.h"
#include "tools/dedup/id_hashes.h"
#include "tools/documents/journal.h"
#include "tools/documents/reading.h"
#include "tools/resemblance/resemble.h"

/* The values of --representative that the library does not know: it prefers documents by values that they are given. */
enum preferred { PREFERRED_NONE, PREFERRED_LONGEST, PREFERRED_NEWEST, PREFERRED_BEST };

struct intake {
    /* These are set by the caller. */
    struct resemble *resemble;
    struct divided *divided; /* It takes documents and hands their parts to `resemble`; NULL: documents are compared. */
    enum preferred preferred;
    bool notes_ids;          /* Hashes of all IDs are stored in `all_ids`. */
    struct journal *journal; /* NULL: there is no journal. */

    struct id_hashes all_ids;
    struct temporary apart; /* IDs of the documents that are kept without being compared, a line each. */
    uint64_t compared;      /* Documents that are compared. */
    uint64_t apart_count;
    bool partly; /* An input could not be read, or its parts could not be cut out. */

    /* These are used by intake.c alone. */
    uint64_t undated_count; /* How many documents have no date or score, if the newest or best are preferred. */
    uint64_t large_count;   /* How many documents may have needed more than their share of --memory. */
};

/* Checks, before all the work, that the parts of all documents can be cut out of their files, by the files' formats. If
 * not, complains, sets `partly`, and returns false. intake->divided must not be NULL. */
bool intake_check_can_be_cut(struct intake *intake, const struct reading_rules *rules, const struct strings *paths);

/* Reads the documents of the inputs by `rules`, of which it sets makes, journal, bad_heading and takes_other_records.
 * Adds them to those that are compared, or keeps them apart if they can't be, and reports how many are undated or
 * large. Sets `partly` if an input could not be read. Returns false after a complaint, or if a signal was noted. */
bool intake_read(struct intake *intake, struct reading_rules *rules, const struct strings *paths);

/* With --keep, prints the IDs of the documents that are kept without being compared to listing->output. Returns false,
 * after a complaint, if they can't be read; an error of output stays in listing->output. */
bool intake_print_ids_apart(struct intake *intake, struct listing *listing);

/* Frees the hashes of IDs, and removes the file of those kept apart. */
void intake_close(struct intake *intake);

#endif
