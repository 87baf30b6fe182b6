/* main.c: the `idx` command: finds the subcommand and runs it. */
#include "tools/shared/command.h"
#include "tools/shared/output.h"
#include "tools/shared/wording.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static const struct subcommand {
    const char *name;
    subcommand_function *run;
} subcommands[] = {
    {"add", command_add},         {"batch", command_batch},
    {"build", command_build},     {"clusters", command_clusters},
    {"compact", command_compact}, {"compare", command_compare},
    {"dedup", command_dedup},     {"distance", command_distance},
    {"dump", command_dump},       {"fingerprint", command_fingerprint},
    {"info", command_info},       {"join", command_join},
    {"lookup", command_lookup},   {"merge", command_merge},
    {"pairs", command_pairs},     {"plan", command_plan},
    {"remove", command_remove},   {"serve", command_serve},
    {"verify", command_verify},
};

enum { SUBCOMMAND_COUNT = sizeof subcommands / sizeof *subcommands };

/* Opens standard descriptors that are closed, so that no other file gets one of their numbers. Standard input can then
 * only be written and the others only be read, so that each use of them fails. */
static void open_closed_standard_descriptors(void) {
    for (int descriptor = 0; descriptor < 3; descriptor++) {
        /* open returns the lowest free number, which is `descriptor`, since those below it are open by now. */
        if (fcntl(descriptor, F_GETFD) < 0) (void)!open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
    }
}

/* If address space is limited, as by `ulimit -v`, has all threads allocate from one arena. Otherwise glibc would
 * reserve 128 MiB of address space for the arena of each thread, and once there is none left, try again at most
 * allocations. */
static void use_one_arena_under_memory_limit(void) {
#ifdef __GLIBC__
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
#endif
}

/* Returns the subcommand of this name, or NULL if there is none. */
static const struct subcommand *find_subcommand(const char *name) {
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(subcommands[i].name, name) == 0) return &subcommands[i];
    }
    return NULL;
}

/* Returns the least number of insertions, deletions and replacements of letters that turn `from` into `to`
 * (Levenshtein's distance), or ~0U if `to` has 16 letters or more, which no subcommand has. */
static unsigned count_edits(const char *from, const char *to) {
    unsigned row[16]; /* row[j]: how many edits turn the first i letters of `from` into the first j of `to`. */
    size_t length = strlen(to);
    if (length >= sizeof row / sizeof *row) return ~0U;
    for (size_t j = 0; j <= length; j++) row[j] = (unsigned)j;
    for (size_t i = 0; from[i] != '\0'; i++) {
        unsigned diagonal = row[0]++; /* The row before has it left of what is computed next. */
        for (size_t j = 0; j < length; j++) {
            unsigned replaced = diagonal + (from[i] != to[j]);
            unsigned added = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            diagonal = row[j + 1];
            row[j + 1] = replaced < added ? replaced : added;
        }
    }
    return row[length];
}

/* Complains of a subcommand that does not exist, and names the nearest one if it is within two edits. */
static void complain_of_unknown_subcommand(const char *name) {
    const char *nearest = NULL;
    unsigned fewest_edits = 3;
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++) {
        unsigned edits = count_edits(name, subcommands[i].name);
        if (edits >= fewest_edits) continue;
        fewest_edits = edits;
        nearest = subcommands[i].name;
    }
    if (nearest != NULL)
        complain_of_usage("there is no command '%s'; the nearest is %s", name, nearest);
    else
        complain_of_usage("there is no command '%s'", name);
}

/* Runs the subcommand argv[0]. Returns the status of the process. */
static int run_subcommand(int argc, char **argv) {
    const struct subcommand *subcommand = find_subcommand(argv[0]);
    if (subcommand == NULL) {
        complain_of_unknown_subcommand(argv[0]);
        return ENDS_BADLY;
    }
    message_set_speaker(subcommand->name);
    return subcommand->run(argc, argv);
}

/* Prints the version, and which instructions look-ups use. Returns the status of the process. */
static int print_version(void) {
    struct output output = OUTPUT_STANDARD;
    output_format(&output, "idx %s\nlook-ups use %s instructions\n", idx_version(), idx_instructions());
    return output_close(&output) ? ENDS_WELL : ENDS_BADLY;
}

/* Runs the subcommand that the first argument names, or prints the help or the version. Returns the status of the
 * process. */
int main(int argc, char **argv) {
    static char help_option[] = "--help";
    open_closed_standard_descriptors();
    use_one_arena_under_memory_limit();
    signal(SIGXFSZ, SIG_IGN);    /* If a file grows too large, write fails instead. */
    unsetenv("POSIXLY_CORRECT"); /* Options may be anywhere. */
    if (argc < 2) {
        complain_of_usage("a command is missing");
        return ENDS_BADLY;
    }
    if (strcmp(argv[1], "--version") == 0) return print_version();
    if (strcmp(argv[1], "help") == 0 && argc > 2) return run_subcommand(2, (char *[]){argv[2], help_option, NULL});
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return output_print(help_main.whole) ? ENDS_WELL : ENDS_BADLY;
    return run_subcommand(argc - 1, argv + 1);
}
