/* join.c: `idx join`: prints all near pairs of two indexes, or of their texts. */
#include "tools/dedup/indexed.h"

/* Opens both indexes, and prints all pairs of them, or of their texts. Sets near->error and returns false if the
 * library fails; returns false also after a complaint or a signal. This is `find` of near_run_command. */
static bool print_pairs_of_two(struct near *near) {
    for (size_t i = 0; i < 2; i++) {
        if (!near_open_index(near, i, near->operands.values[i])) return false;
    }
    if (near->sides[0].properties.sketch > 0 || near->sides[1].properties.sketch > 0)
        return indexed_write_pairs(near, 2);
    if (!arguments_fit_input("an index of fingerprints")) return false;
    return idx_join(near->sides[0].index, near->sides[1].index, &near->options, near_print_pairs, near, &near->error) ==
               IDX_OK &&
           !near->failed;
}

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_join_arguments(int argc, char **argv, struct near *near, int *status) {
    struct indexed *texts = near->texts;
    const struct option_rule rules[] = {
#include "options/join.h" /* the rules made of join.txt; they set *near and *texts */
    };
    const struct grammar grammar = GRAMMAR(join, rules, "INDEX", 1, 2);
    if (!arguments_read(&grammar, argc, argv, &near->operands, status)) return false;
    return near->operands.count == 2 || complain_of_usage("OTHER is missing: the index to join with");
}

/* Runs `idx join`. Returns ENDS_WELL if a pair was printed, ENDS_WITHOUT if there is none, and ENDS_BADLY after an
 * error. */
int command_join(int argc, char **argv) {
    struct indexed texts = INDEXED_INIT;
    struct near near;
    int status;
    near_init(&near);
    near.texts = &texts;
    return read_join_arguments(argc, argv, &near, &status) ? near_run_command(&near, print_pairs_of_two) : status;
}
