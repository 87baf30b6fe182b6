/* join.c: `idx join`: all near pairs of two indexes. */
#include "tools/answers/near_pairs.h"
#include "tools/shared/command.h"
#include "tools/shared/wording.h"

static const char help[] =
    "Usage: idx join [OPTION…] INDEX OTHER\n"
    "Print every pair of a fingerprint of INDEX and one of OTHER that are equal or near to each other, each once.\n"
    "Both indexes must have the same bits and recipe.\n"
    "\n" NEAR_HELP_DISTANCE "  --documents            also print the first document of each fingerprint\n" NEAR_HELP
    "\n"
    "Output, one line per pair, in no particular order:\n"
    "  fingerprint of INDEX, tab, fingerprint of OTHER, tab, distance\n"
    "With --documents there are two more columns, a document of each fingerprint. IDs with control characters are\n"
    "escaped as by idx lookup.\n"
    "\n"
    "Examples:\n"
    "  idx join new.idx old.idx\n"
    "  idx join -k 0 new.idx old.idx | wc -l\n"
    "  idx join --documents new.idx old.idx | cut -f 4 | sort -u\n"
    "The last one lists the documents of a new crawl, one per fingerprint, that are near to documents of an old one.\n"
    "\n"
    "Exit status: 0 there were pairs; 1 there were none; 2 error.\n";

static bool print_join(struct near *near) {
    for (size_t i = 0; i < 2; i++) {
        if (!near_open(near, i, near->operands.values[i])) return false;
    }
    return idx_join(near->sides[0].index, near->sides[1].index, &near->options, near_visit, near, &near->error) ==
               IDX_OK &&
           !near->failed;
}

static bool read_arguments(int argc, char **argv, struct near *near, int *status) {
    struct option_rule rules[NEAR_OPTIONS];
    const struct grammar grammar = {help, rules, NEAR_OPTIONS, "INDEX", 1, 2, NULL};
    near_list(near, rules);
    if (!arguments_read(&grammar, argc, argv, &near->operands, status)) return false;
    *status = ENDS_BADLY;
    if (near->operands.count == 2) return true;
    return complain_of_usage("OTHER is missing: the index to join with");
}

int command_join(int argc, char **argv) {
    struct near near;
    int status;
    near_init(&near);
    return read_arguments(argc, argv, &near, &status) ? near_run(&near, print_join) : status;
}
