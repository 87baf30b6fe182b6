/* arguments.h: reads the command line of a subcommand by a table of its options. Options stand anywhere before `--`. */
#ifndef IDX_TOOLS_ARGUMENTS_H
#define IDX_TOOLS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,    /* bool: true when given */
    OPTION_TEXT,    /* const char *: the argument itself, not empty */
    OPTION_TEXTS,   /* struct texts: every argument given */
    OPTION_INCLUDE, /* struct globs: every argument given, among those of OPTION_EXCLUDE in their order */
    OPTION_EXCLUDE,
    OPTION_NUMBER, /* unsigned */
    OPTION_COUNT,  /* uint64_t */
    OPTION_CHOICE, /* int: the index of the argument among `names`, which ends with NULL */
};

/* Arguments of the command line, in order. */
struct texts {
    char **values;
    size_t count;
};

struct option_rule {
    const char *name; /* of one letter: -k; of more: --scheme */
    enum option_kind kind;
    void *value; /* what stands there stays when the option isn't given */
    const char *const *names;
    const char *const *older_names; /* OPTION_CHOICE: what the names were before, which still count; NULL: the same */
    uint64_t least, most;           /* OPTION_NUMBER, OPTION_COUNT; most 0: no bound of its own */
};

struct grammar {
    const char *help; /* printed by --help, and in part by -h; every subcommand takes both */
    const struct option_rule *options;
    size_t option_count;
    const char *operand; /* what the first operand is called, for messages */
    size_t least_operands, most_operands;
    const char *common; /* the options that -h shows, with a space between two of them; NULL: all options */
};

/* Reads argv, in which argv[0] is the subcommand. Sets the options' values, and *operands to the arguments that are no
 * options (within argv). Where that is the end of it (--help, or a mistake, said on standard error), returns false and
 * sets *status to what the process ends with. */
bool arguments_read(const struct grammar *grammar, int argc, char **argv, struct texts *operands, int *status);

/* --threads of commands that use all processors, where it isn't given: as many as these, up to 16. */
unsigned arguments_threads(void);

void texts_free(struct texts *texts);

#endif
