/* arguments.c: reads the command line of a subcommand by a table of its options, over getopt_long. */
#include "tools/shared/command.h"

#include "tools/shared/files.h"
#include "tools/shared/output.h"
#include "tools/shared/wording.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For --help and for option i, getopt returns HELP_OPTION and FIRST_OPTION + i, which are above any character. */
enum { HELP_OPTION = 999, FIRST_OPTION = 1000, MOST_OPTIONS = 48 };

static const char *dashes(const struct option_rule *rule) { return rule->name[1] == '\0' ? "-" : "--"; }

/* Reads a number within the bounds of the rule. Returns false after a complaint. */
static bool read_count(const struct option_rule *rule, const char *text, uint64_t *count) {
    if (!number_parse(text, count))
        return complain_of_usage("%s%s needs a whole number below 2^64 (such as 12, 4K, 1.5e9 or 2^34), not '%s'",
                                 dashes(rule), rule->name, text);
    if (*count >= rule->least && (rule->most == 0 || *count <= rule->most)) return true;
    if (rule->most == 0)
        complain_of_usage("%s%s needs a number of at least %" PRIu64 ", not %s", dashes(rule), rule->name, rule->least,
                          text);
    else
        complain_of_usage("%s%s needs a number from %" PRIu64 " to %" PRIu64 ", not %s", dashes(rule), rule->name,
                          rule->least, rule->most, text);
    return false;
}

static bool read_number(const struct option_rule *rule, const char *text) {
    struct option_rule bounded = *rule;
    uint64_t number;
    if (rule->most == 0) bounded.most = UINT_MAX;
    if (!read_count(&bounded, text, &number)) return false;
    *(unsigned *)rule->value = (unsigned)number;
    return true;
}

static bool read_choice(const struct option_rule *rule, const char *text) {
    char names[256] = "";
    for (int i = 0; rule->names[i] != NULL; i++) {
        if (strcmp(rule->names[i], text) == 0 ||
            (rule->older_names != NULL && strcmp(rule->older_names[i], text) == 0)) {
            *(int *)rule->value = i;
            return true;
        }
        strcat(strcat(names, i > 0 ? ", " : ""), rule->names[i]);
    }
    return complain_of_usage("%s%s must be one of %s, not '%s'", dashes(rule), rule->name, names, text);
}

static bool append_text(struct texts *texts, char *text) {
    char **values = realloc(texts->values, (texts->count + 1) * sizeof *values);
    if (values == NULL) return complain("out of memory");
    texts->values = values;
    texts->values[texts->count++] = text;
    return true;
}

static bool append_glob(struct globs *globs, const char *pattern, bool includes) {
    bool appended = globs_append(globs, pattern, includes);
    return appended || complain("out of memory");
}

/* Stores the argument of an option as its kind says. Returns false after a complaint. */
static bool read_value(const struct option_rule *rule, char *text) {
    switch (rule->kind) {
        case OPTION_FLAG: *(bool *)rule->value = true; return true;
        case OPTION_CHOICE: return read_choice(rule, text);
        case OPTION_COUNT: return read_count(rule, text, rule->value);
        case OPTION_NUMBER: return read_number(rule, text);
        default: break;
    }
    if (*text == '\0' && !rule->may_be_empty)
        return complain_of_usage("%s%s has an empty argument", dashes(rule), rule->name);
    if (rule->kind == OPTION_INCLUDE || rule->kind == OPTION_EXCLUDE)
        return append_glob(rule->value, text, rule->kind == OPTION_INCLUDE);
    if (rule->kind == OPTION_TEXTS) return append_text(rule->value, text);
    *(const char **)rule->value = text;
    return true;
}

/* The options as getopt_long takes them. */
struct getopt_tables {
    char letters[2 * MOST_OPTIONS + 8];
    struct option words[MOST_OPTIONS + 2];
};

/* Describes the options of the grammar, and --help and -h, to getopt_long. */
static void fill_tables(const struct grammar *grammar, struct getopt_tables *tables) {
    char *letter = tables->letters;
    struct option *word = tables->words;
    *letter++ = ':'; /* It makes getopt tell a missing argument from an unknown option, and print nothing. */
    for (size_t i = 0; i < grammar->option_count; i++) {
        const struct option_rule *rule = &grammar->options[i];
        bool takes = rule->kind != OPTION_FLAG;
        if (rule->name[1] == '\0') {
            *letter++ = rule->name[0];
            if (takes) *letter++ = ':';
        } else {
            *word++ = (struct option){rule->name, takes, NULL, FIRST_OPTION + (int)i};
        }
    }
    *letter++ = 'h';
    *letter = '\0';
    *word++ = (struct option){"help", no_argument, NULL, HELP_OPTION};
    *word = (struct option){NULL, 0, NULL, 0};
}

static const struct option_rule *find_rule(const struct grammar *grammar, int value) {
    if (value >= FIRST_OPTION) return &grammar->options[value - FIRST_OPTION];
    for (size_t i = 0; i < grammar->option_count; i++) {
        if (grammar->options[i].name[1] == '\0' && grammar->options[i].name[0] == value) return &grammar->options[i];
    }
    return NULL;
}

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
        complain_of_usage("%s%s needs an argument", dashes(rule), rule->name);
    else if (optopt >= HELP_OPTION)
        complain_of_usage("'%s' has an argument, but the option takes none", argument);
    else if (optopt > 0)
        complain_of_usage("there is no option -%c", optopt);
    else if (is_ambiguous(tables, argument))
        complain_of_usage("'%s' is ambiguous; write the option in full", argument);
    else
        complain_of_usage("there is no option %s", argument);
}

static bool check_operands(const struct grammar *grammar, const struct texts *operands) {
    for (size_t i = 0; i < operands->count; i++) {
        if (*operands->values[i] != '\0') continue;
        return complain_of_usage("argument %zu is empty", i + 1);
    }
    if (operands->count < grammar->least_operands)
        complain_of_usage("%s is missing", grammar->operand);
    else if (operands->count > grammar->most_operands)
        complain_of_usage("'%s' is one argument too many", operands->values[grammar->most_operands]);
    return operands->count >= grammar->least_operands && operands->count <= grammar->most_operands;
}

/* ---- The one screen that -h prints ---- */

/* It is cut out of the text of --help, so that the two can't differ. That text has a paragraph about the command, a
 * paragraph of options, each of which begins with two spaces and a hyphen, and examples, which are indented and follow
 * a line that begins with 'Example'. */

enum { MOST_EXAMPLES = 3 };

static bool is_named(const char *option, const char *names) {
    size_t length = strcspn(option, " \n");
    for (const char *name = names; *name != '\0'; name += strcspn(name, " "), name += *name == ' ') {
        if (strcspn(name, " ") == length && strncmp(name, option, length) == 0) return true;
    }
    return false;
}

static bool begins_with(const char *line, const char *text) { return strncmp(line, text, strlen(text)) == 0; }

static void put_line(struct output *output, const char *line) {
    output_bytes(output, line, strcspn(line, "\n"));
    output_byte(output, '\n');
}

/* Returns the beginning of the next line, or the end of the text. */
static const char *next_line(const char *line) {
    line += strcspn(line, "\n");
    return *line == '\n' ? line + 1 : line;
}

/* Returns the first line from `line` on that begins with the text, or the end where there is none. */
static const char *find_line(const char *line, const char *text) {
    while (*line != '\0' && !begins_with(line, text)) line = next_line(line);
    return line;
}

/* Writes the options that are named in `common`, or all if that is NULL. Lines without a hyphen go on with the option
 * before. */
static void put_options(struct output *output, const char *line, const char *common) {
    bool shown = true;
    for (; begins_with(line, "  "); line = next_line(line)) {
        if (line[2] == '-') shown = common == NULL || is_named(line + 2, common);
        if (shown) put_line(output, line);
    }
    output_byte(output, '\n');
}

/* Writes the first paragraph of a help, the options that are named in `common` (with a space between two of them; NULL:
 * all options), and the first three lines of its examples. */
static void put_brief_help(struct output *output, const char *help, const char *common, const char *command) {
    const char *line = help, *options = find_line(help, "  -");
    for (; *line != '\n'; line = next_line(line)) put_line(output, line);
    output_byte(output, '\n');
    if (*options != '\0') put_options(output, options, common);
    line = find_line(line, "Example");
    for (int i = 0; i <= MOST_EXAMPLES && (i == 0 || begins_with(line, "  ")); i++, line = next_line(line))
        put_line(output, line);
    output_format(output, "\nThis is a summary; idx %s --help prints the whole help.\n", command);
}

/* ---- The whole ---- */

static bool print_help(const struct grammar *grammar, const char *command, bool briefly) {
    struct output output = OUTPUT_STANDARD;
    if (!briefly) return output_print(grammar->help->whole);
    if (grammar->help->summary != NULL) return output_print(grammar->help->summary);
    put_brief_help(&output, grammar->help->whole, grammar->common, command);
    return output_close(&output);
}

bool arguments_read(const struct grammar *grammar, int argc, char **argv, struct texts *operands, int *status) {
    struct getopt_tables tables;
    int value;
    fill_tables(grammar, &tables);
    *status = ENDS_BADLY;
    optind = 0; /* This makes getopt of glibc and of musl begin again. */
    opterr = 0;
    while ((value = getopt_long(argc, argv, tables.letters, tables.words, NULL)) != -1) {
        if (value == 'h' || value == HELP_OPTION) {
            *status = print_help(grammar, argv[0], value == 'h') ? ENDS_WELL : ENDS_BADLY;
            return false;
        }
        if (value == '?' || value == ':') {
            complain_of_option(grammar, &tables, argv, value);
            return false;
        }
        if (!read_value(find_rule(grammar, value), optarg)) return false;
    }
    operands->values = argv + optind;
    operands->count = (size_t)(argc - optind);
    return check_operands(grammar, operands);
}

unsigned arguments_threads(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > 16 ? 16 : (unsigned)processors;
}

void texts_free(struct texts *texts) {
    free(texts->values);
    *texts = (struct texts){NULL, 0};
}
