/* arguments.c: reads the command line of a subcommand by a table of its options, over getopt_long. */
#include "tools/shared/command.h"

#include "tools/shared/folder.h"
#include "tools/shared/output.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For --help and for option i, getopt returns HELP_OPTION and FIRST_OPTION + i, which are above any character. */
enum { HELP_OPTION = 999, FIRST_OPTION = 1000, MOST_OPTIONS = 48 };

static const char *dashes_of(const struct option_rule *rule) { return rule->name[1] == '\0' ? "-" : "--"; }

/* Sets *count to the number that the text is, which must be within the bounds of the rule. */
static bool parse_within_bounds(const struct option_rule *rule, const char *text, uint64_t *count) {
    if (!number_parse(text, count))
        return complain_of_usage("%s%s needs a whole number below 2^64 (such as 12, 4K, 1.5e9 or 2^34), not '%s'",
                                 dashes_of(rule), rule->name, text);
    if (*count >= rule->least && (rule->most == 0 || *count <= rule->most)) return true;
    if (rule->most == 0)
        return complain_of_usage("%s%s needs a number of at least %" PRIu64 ", not %s", dashes_of(rule), rule->name,
                                 rule->least, text);
    return complain_of_usage("%s%s needs a number from %" PRIu64 " to %" PRIu64 ", not %s", dashes_of(rule), rule->name,
                             rule->least, rule->most, text);
}

/* Sets the value of an OPTION_NUMBER, which is at most UINT_MAX, also where the rule has no bound. */
static bool store_number(const struct option_rule *rule, const char *text) {
    struct option_rule bounded = *rule;
    uint64_t number;
    if (rule->most == 0) bounded.most = UINT_MAX;
    if (!parse_within_bounds(&bounded, text, &number)) return false;
    *(unsigned *)rule->value = (unsigned)number;
    return true;
}

/* Sets the value of an OPTION_CHOICE to the index of the name that the text is. */
static bool store_choice(const struct option_rule *rule, const char *text) {
    char names[256] = ""; /* For the message: the names of each table's choices are far shorter. */
    for (int i = 0; rule->names[i] != NULL; i++) {
        if (strcmp(rule->names[i], text) == 0) {
            *(int *)rule->value = i;
            return true;
        }
        strcat(strcat(names, i > 0 ? ", " : ""), rule->names[i]);
    }
    return complain_of_usage("%s%s must be one of %s, not '%s'", dashes_of(rule), rule->name, names, text);
}

static bool append_string(struct strings *strings, char *text) {
    char **values = realloc(strings->values, (strings->count + 1) * sizeof *values);
    if (values == NULL) return complain("out of memory");
    strings->values = values;
    strings->values[strings->count++] = text;
    return true;
}

/* Sets the value of an option of any kind. `text` is its argument, or NULL for OPTION_FLAG. */
static bool store_value(const struct option_rule *rule, char *text) {
    if (rule->given != NULL) *rule->given = true;
    switch (rule->kind) {
        case OPTION_FLAG: *(bool *)rule->value = true; return true;
        case OPTION_CHOICE: return store_choice(rule, text);
        case OPTION_COUNT: return parse_within_bounds(rule, text, rule->value);
        case OPTION_NUMBER: return store_number(rule, text);
        default: break;
    }
    if (*text == '\0' && !rule->may_be_empty)
        return complain_of_usage("%s%s has an empty argument", dashes_of(rule), rule->name);
    if (rule->kind == OPTION_INCLUDE || rule->kind == OPTION_EXCLUDE)
        return globs_append(rule->value, text, rule->kind == OPTION_INCLUDE) || complain("out of memory");
    if (rule->kind == OPTION_TEXTS) return append_string(rule->value, text);
    *(const char **)rule->value = text;
    return true;
}

/* What getopt_long takes: the options of one letter, each before a colon if it takes an argument, and the longer ones,
 * up to one without a name. */
struct getopt_tables {
    char letters[2 * MOST_OPTIONS + 8];
    struct option words[MOST_OPTIONS + 2];
};

static void fill_tables(const struct grammar *grammar, struct getopt_tables *tables) {
    char *letter = tables->letters;
    struct option *word = tables->words;
    *letter++ = ':'; /* It makes getopt tell a missing argument from an unknown option, and print nothing. */
    for (size_t i = 0; i < grammar->option_count; i++) {
        const struct option_rule *rule = &grammar->options[i];
        bool takes_argument = rule->kind != OPTION_FLAG;
        if (rule->name[1] == '\0') {
            *letter++ = rule->name[0];
            if (takes_argument) *letter++ = ':';
        } else {
            *word++ = (struct option){rule->name, takes_argument, NULL, FIRST_OPTION + (int)i};
        }
    }
    *letter++ = 'h';
    *letter = '\0';
    *word++ = (struct option){"help", no_argument, NULL, HELP_OPTION};
    *word = (struct option){NULL, 0, NULL, 0};
}

/* Returns the option for which getopt_long returned `value`, or NULL if there is none. */
static const struct option_rule *find_rule(const struct grammar *grammar, int value) {
    if (value >= FIRST_OPTION) return &grammar->options[value - FIRST_OPTION];
    for (size_t i = 0; i < grammar->option_count; i++) {
        if (grammar->options[i].name[1] == '\0' && grammar->options[i].name[0] == value) return &grammar->options[i];
    }
    return NULL;
}

/* Returns whether an argument, which begins with two dashes, abbreviates the names of several options. */
static bool is_ambiguous(const struct getopt_tables *tables, const char *argument) {
    size_t length = strcspn(argument, "="), matches = 0;
    for (const struct option *word = tables->words; word->name != NULL; word++)
        matches += length > 2 && strncmp(word->name, argument + 2, length - 2) == 0;
    return matches > 1;
}

/* Complains of an option that is a mistake, for which getopt_long returned `value`, '?' or ':'. */
static void complain_of_option(const struct grammar *grammar, const struct getopt_tables *tables, char **argv,
                               int value) {
    const struct option_rule *rule = optopt > 0 ? find_rule(grammar, optopt) : NULL;
    const char *argument = argv[optind - 1];
    if (value == ':' && rule != NULL)
        complain_of_usage("%s%s needs an argument", dashes_of(rule), rule->name);
    else if (optopt >= HELP_OPTION)
        complain_of_usage("'%s' has an argument, but the option takes none", argument);
    else if (optopt > 0)
        complain_of_usage("there is no option -%c", optopt);
    else if (is_ambiguous(tables, argument))
        complain_of_usage("'%s' is ambiguous; write the option in full", argument);
    else
        complain_of_usage("there is no option %s", argument);
}

/* Refuses operands that are empty, too few or too many. */
static bool check_operands(const struct grammar *grammar, const struct strings *operands) {
    for (size_t i = 0; i < operands->count; i++) {
        if (*operands->values[i] == '\0') return complain_of_usage("argument %zu is empty", i + 1);
    }
    if (operands->count < grammar->least_operands) return complain_of_usage("%s is missing", grammar->operand);
    if (operands->count <= grammar->most_operands) return true;
    return complain_of_usage("'%s' is one argument too many", operands->values[grammar->most_operands]);
}

bool arguments_read(const struct grammar *grammar, int argc, char **argv, struct strings *operands, int *status) {
    struct getopt_tables tables;
    int value;
    fill_tables(grammar, &tables);
    *status = ENDS_BADLY;
    optind = 0; /* This makes getopt of glibc and of musl begin again. */
    opterr = 0;
    while ((value = getopt_long(argc, argv, tables.letters, tables.words, NULL)) != -1) {
        if (value == 'h' || value == HELP_OPTION) {
            bool printed = output_print(value == 'h' ? grammar->help->summary : grammar->help->whole);
            *status = printed ? ENDS_WELL : ENDS_BADLY;
            return false;
        }
        if (value == '?' || value == ':') {
            complain_of_option(grammar, &tables, argv, value);
            return false;
        }
        if (!store_value(find_rule(grammar, value), optarg)) return false;
    }
    operands->values = argv + optind;
    operands->count = (size_t)(argc - optind);
    return check_operands(grammar, operands);
}

unsigned arguments_default_threads(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > 16 ? 16 : (unsigned)processors;
}

void strings_free(struct strings *strings) {
    free(strings->values);
    *strings = (struct strings){NULL, 0};
}
