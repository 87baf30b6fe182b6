/* totals.c: see totals.h. */
#include "tools/input/totals.h"

#include "tools/shared/number.h"

#include <inttypes.h>
#include <string.h>

/* Reads a number that ends at a tab, or at the end for the last one. */
static bool read_number(const char **at, const char *end, bool last, uint64_t *number) {
    const char *tab = memchr(*at, '\t', (size_t)(end - *at)), *stop = tab == NULL ? end : tab;
    bool good = (tab == NULL) == last && number_parse_digits(*at, (size_t)(stop - *at), number);
    *at = tab == NULL ? end : tab + 1;
    return good;
}

void totals_take(struct totals *totals, const struct tsv_record *record) {
    const char *at = record->id, *end = record->id + record->id_length;
    uint64_t lines = 0, left_out, status = 0;
    bool good = read_number(&at, end, false, &lines) && read_number(&at, end, false, &left_out) &&
                read_number(&at, end, true, &status);
    totals->totals++;
    totals->stated += lines;
    totals->failed |= status != 0;
    totals->broken |= !good;
}

#define ADVICE "make them again, or take what there is with --partial"

bool totals_check(const struct totals *totals, struct problem *problem) {
    if (totals->recipes == 0) return true;
    if (totals->broken) return problem_set(problem, "the line #total does not have three numbers; " ADVICE);
    if (totals->failed)
        return problem_set(problem, "the command that printed these fingerprints failed, so some are missing; " ADVICE);
    if (totals->totals < totals->recipes)
        return problem_set(problem, "the fingerprints state a recipe, but their last line (#total) is missing, so the "
                                    "command that printed them may have failed; " ADVICE);
    if (totals->stated == totals->lines) return true;
    return problem_set(problem, "there are %" PRIu64 " fingerprints, but the line #total says %" PRIu64 "; " ADVICE,
                       totals->lines, totals->stated);
}
