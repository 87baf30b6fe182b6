/* command.h: the subcommands, and the statuses they end with. */
#ifndef IDX_TOOLS_COMMAND_H
#define IDX_TOOLS_COMMAND_H

/* The process ends with one of these statuses, as grep does. */
enum {
    ENDS_WELL = 0,
    ENDS_WITHOUT = 1, /* lookup, batch: no match; pairs, join: no pair; remove: not there; verify: damage; compare:
                         different */
    ENDS_BADLY = 2,   /* There was an error, which standard error names. */
};

/* argv[0] is the subcommand. Each returns the status of the process. */
int command_add(int argc, char **argv);
int command_batch(int argc, char **argv);
int command_build(int argc, char **argv);
int command_clusters(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_dedup(int argc, char **argv);
int command_distance(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_fingerprint(int argc, char **argv);
int command_info(int argc, char **argv);
int command_join(int argc, char **argv);
int command_lookup(int argc, char **argv);
int command_compact(int argc, char **argv);
int command_merge(int argc, char **argv);
int command_pairs(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_remove(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_verify(int argc, char **argv);

#endif
