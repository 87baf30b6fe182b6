/* command.h: what subcommands share: their statuses and command lines, the names of what they take, and signals. */
#ifndef IDX_TOOLS_SHARED_COMMAND_H
#define IDX_TOOLS_SHARED_COMMAND_H

#include <idx.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/shared/wording.h"

/* ---- The subcommands, and the statuses they end with ---- */

/* The process ends with one of these statuses, as grep does. */
enum {
    ENDS_WELL = 0,
    ENDS_WITHOUT = 1, /* lookup, batch: no match; pairs, join: no pair; remove: not there; verify: damage; compare:
                         different */
    ENDS_BADLY = 2,   /* There was an error, which standard error names. */
};

/* What --help and -h print. The build makes these of the tables NAME.txt in tools/commands. */
struct help {
    const char *whole, *summary;
};

extern const struct help help_main, help_add, help_batch, help_build, help_clusters, help_compact, help_compare,
    help_dedup, help_distance, help_dump, help_fingerprint, help_info, help_join, help_lookup, help_merge, help_pairs,
    help_plan, help_remove, help_serve, help_verify;

/* A subcommand, whose name is argv[0]. Returns the status of the process: ENDS_WELL also after --help. */
typedef int subcommand_function(int argc, char **argv);

subcommand_function command_add, command_batch, command_build, command_clusters, command_compact, command_compare,
    command_dedup, command_distance, command_dump, command_fingerprint, command_info, command_join, command_lookup,
    command_merge, command_pairs, command_plan, command_remove, command_serve, command_verify;

/* ---- Reads the command line of a subcommand by a table of its options ---- */

/* Options stand anywhere before `--`. */

enum option_kind {
    OPTION_FLAG,    /* bool: becomes true if the option is given. */
    OPTION_TEXT,    /* const char *: the argument itself, which must not be empty. */
    OPTION_TEXTS,   /* struct strings: the arguments of all its occurrences. */
    OPTION_INCLUDE, /* struct globs: all arguments, in one order with those of OPTION_EXCLUDE. */
    OPTION_EXCLUDE,
    OPTION_NUMBER, /* unsigned, as number_parse reads it. */
    OPTION_COUNT,  /* uint64_t, as number_parse reads it. */
    OPTION_SHARE,  /* int64_t: a number above 0 and up to 1, in units of 1/IDX_THRESHOLD_ONE. */
    OPTION_CHOICE, /* int: the index of the argument among `names`, which ends with NULL. */
    OPTION_GONE,   /* The command no longer takes the option, or `gone_value` of it: `instead` does what it did. */
};

/* Arguments of the command line, in order. The strings are those of argv. */
struct strings {
    char **values;
    size_t count;
};

struct option_rule {
    const char *name; /* A name of one letter is written -k, and a longer one --scheme. */
    enum option_kind kind;
    void *value; /* The value stays as it is if the option is not given. */
    const char *const *names;
    uint64_t least, most; /* Bounds of OPTION_NUMBER and OPTION_COUNT; most 0 is no bound. */
    bool may_be_empty;    /* The argument may be "". */
    bool *given;          /* Becomes true if the option is given, where no value says that; or NULL. */

    /* These are lists with commas, of --NAME, --NAME VALUE/VALUE, or OPERAND for operands beyond the least; or NULL. */
    const char *needs;    /* Of each list, which semicolons divide, one item has to be given with the option. */
    const char *excludes; /* None of these can be given with the option. */
    const char *inputs;   /* Names of the inputs that the option is for, as arguments_fit_input takes them. */
    const char *instead, *gone_value;
};

struct grammar {
    const struct help *help;           /* --help and -h print it; every subcommand takes both. */
    const struct option_rule *options; /* The build makes them of the table: options/NAME.h. */
    size_t option_count;
    const char *operand; /* Messages call the first operand by this name. */
    size_t least_operands, most_operands;
};

/* The grammar of a command of this name, whose table made `rules`. */
#define GRAMMAR(command, rules, operand, least, most)                                                                  \
    { &help_##command, rules, sizeof(rules) / sizeof *(rules), operand, least, most }

/* Reads argv, in which argv[0] is the subcommand. Sets the options' values, and *operands to the arguments that are no
 * options: they stay in argv, whose order may change. Returns false if the process is to end with *status: ENDS_WELL
 * after printing help, or ENDS_BADLY after a complaint of a mistake. After success *status is ENDS_BADLY as well, which
 * the command overwrites. Nothing of *operands is to be freed. In any case, the caller frees the lists of OPTION_TEXTS,
 * OPTION_INCLUDE and OPTION_EXCLUDE. */
bool arguments_read(const struct grammar *grammar, int argc, char **argv, struct strings *operands, int *status);

/* Returns whether the command line that arguments_read read last has the option of this name, without dashes. */
bool arguments_have_option(const char *name);

/* Returns whether all options on the command line that arguments_read read last are for an input of this name, which is
 * one of the `inputs` in the command's table. Otherwise complains of the first option that is not. */
bool arguments_fit_input(const char *input);

/* The values of --format where a command prints lines, or else JSON. */
enum { PRINTS_LINES, PRINTS_JSON };

/* Returns the default of --threads for commands that use all processors: their number, up to 16. */
unsigned arguments_get_default_threads(void);

/* Frees the list and empties it, but not the strings, which are those of argv. Only for lists of OPTION_TEXTS: operands
 * are not allocated. */
void strings_free(struct strings *strings);

/* ---- Has the names of idx.h's enums on the command line and in output ---- */

/* The names are in the order of enum idx_id_type, and end with NULL. */
extern const char *const id_type_names[];

/* The names are in the order of enum idx_cluster_method and of enum idx_representative, and end with NULL. */
extern const char *const cluster_method_names[];
extern const char *const representative_names[];

/* Returns what an index keeps, as a word for `count` of them: document(s), text(s), or fingerprint(s) if it keeps no
 * documents. */
const char *choose_noun(const struct idx_properties *properties, uint64_t count);

/* ---- Decides whether fingerprints of two recipes can be compared ---- */

/* The warning about fingerprints whose recipes differ in the version of ICU alone. */
extern const char recipes_icu_warning[];

/* Returns the properties of a recipe, by idx_recipe_read. Does not check the recipe: unknown parts of it are ignored.
 * `recipe` must not be NULL. */
struct idx_recipe_properties recipe_read(const char *recipe);

/* Whose fingerprints the others are compared with or added to, for the message. */
enum recipe_owner { RECIPE_OF_INDEX, RECIPE_OF_QUERIES, RECIPE_OF_THOSE_BEFORE };

/* Sets *problem to why fingerprints with one recipe, the `other_length` bytes at `other_recipe`, can't be compared with
 * those of `owner`, which have the recipe `recipe`. Call this after recipes_match has returned false. */
void recipes_explain_difference(struct problem *problem, enum recipe_owner owner, const char *recipe,
                                const char *other_recipe, size_t other_length);

/* Returns whether fingerprints of two recipes can be compared, by idx_recipe_matches: `recipe`, and the `other_length`
 * bytes at `other_recipe`, which need no terminating NUL. They can even if only the versions of ICU differ; then, warns
 * of that unless *warned, and sets *warned. The caller sets *warned to false before the first call. */
bool recipes_match(const char *recipe, const char *other_recipe, size_t other_length, bool *warned);

/* ---- Notes SIGHUP, SIGINT and SIGTERM while a command runs that has to clean up before it ends ---- */

/* Notes these signals from now on, in place of ending the process; except for those that are ignored, as under nohup.
 * Changes nothing if the pipe for interrupt_get_descriptor can't be made. */
void interrupt_catch(void);

/* Returns whether one of these signals was noted since interrupt_catch. */
bool interrupt_is_noted(void);

/* Returns a descriptor that is readable once a signal was noted, or -1 before interrupt_catch. */
int interrupt_get_descriptor(void);

/* Ends the process by the signal that was noted last, so that its parent sees which one it was. Returns only if no
 * signal was noted. */
void interrupt_end_process(void);

/* Like interrupt_catch, for a service: SIGHUP does not end it, signals are noted even if they were ignored before, and
 * SIGPIPE is ignored. Returns false and sets errno if the pipe can't be made; then no signal is noted. */
bool interrupt_catch_in_service(void);

/* Returns whether SIGHUP came since the last call. Empties the pipe, so that interrupt_get_descriptor is no longer
 * readable: the caller must also look at interrupt_is_noted. */
bool interrupt_consume_hangup(void);

/* From now on, a second SIGINT or SIGTERM ends the process at once, with status 0. If two have come already, the call
 * itself ends the process. */
void interrupt_end_at_second_signal(void);

#endif
