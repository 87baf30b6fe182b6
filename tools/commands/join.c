/* join.c: `idx join`: prints all near pairs of two indexes. */
#include "tools/answers/near_pairs.h"

/* Opens both indexes, and prints all pairs. Sets `error` and returns false if the library fails. */
static bool print_join(struct near *near) {
    for (size_t i = 0; i < 2; i++) {
        if (!near_open(near, i, near->operands.values[i])) return false;
    }
    return idx_join(near->sides[0].index, near->sides[1].index, &near->options, near_visit, near, &near->error) ==
               IDX_OK &&
           !near->failed;
}

/* Reads the command line. Sets *status and returns false if the command ends after that. */
static bool read_arguments(int argc, char **argv, struct near *near, int *status) {
    const struct option_rule rules[] = {
#include "options/join.h"
    };
    const struct grammar grammar = GRAMMAR(join, rules, "INDEX", 1, 2);
    if (!arguments_read(&grammar, argc, argv, &near->operands, status)) return false;
    if (near->operands.count == 2) return true;
    return complain_of_usage("OTHER is missing: the index to join with");
}

int command_join(int argc, char **argv) {
    struct near near;
    int status;
    near_init(&near);
    return read_arguments(argc, argv, &near, &status) ? near_run(&near, print_join) : status;
}
