/* arguments.h: reads the command line of a subcommand by a table of its options. Options stand anywhere before `--`. */
#ifndef IDX_TOOLS_ARGUMENTS_H
#define IDX_TOOLS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,    /* bool: it becomes true if the option is given. */
    OPTION_TEXT,    /* const char *: it is the argument itself, which is not empty. */
    OPTION_TEXTS,   /* struct texts: it collects all arguments. */
    OPTION_INCLUDE, /* struct globs: it collects all arguments, in one order with those of OPTION_EXCLUDE. */
    OPTION_EXCLUDE,
    OPTION_NUMBER, /* unsigned: it is a number. */
    OPTION_COUNT,  /* uint64_t: it is a number. */
    OPTION_CHOICE, /* int: it is the index of the argument among `names`, which ends with NULL. */
};

/* These are arguments of the command line, in order. */
struct texts {
    char **values;
    size_t count;
};

struct option_rule {
    const char *name; /* A name of one letter is written -k, and a longer one --scheme. */
    enum option_kind kind;
    void *value; /* The value stays as it is if the option is not given. */
    const char *const *names;
    const char *const *older_names; /* OPTION_CHOICE takes these former names, too; NULL: there are none. */
    uint64_t least, most;           /* They bound OPTION_NUMBER and OPTION_COUNT; most 0 is no bound. */
};

struct grammar {
    const char *help; /* --help prints it, and -h a part of it; every subcommand takes both. */
    const struct option_rule *options;
    size_t option_count;
    const char *operand; /* Messages call the first operand by this name. */
    size_t least_operands, most_operands;
    const char *common; /* -h shows these options, with a space between two of them; NULL: it shows all. */
};

/* Reads argv, in which argv[0] is the subcommand. Sets the options' values, and *operands to the arguments within argv
 * that are no options. After --help or -h, and after a mistake, which it complains of, it returns false and sets
 * *status to the status of the process. */
bool arguments_read(const struct grammar *grammar, int argc, char **argv, struct texts *operands, int *status);

/* Returns the default of --threads for commands that use all processors: their number, up to 16. */
unsigned arguments_threads(void);

void texts_free(struct texts *texts);

#endif
