/* arguments.c: reads the command line of a subcommand by a table of its options, over getopt_long. */
#include "tools/shared/command.h"

#include "tools/shared/folder.h"
#include "tools/shared/output.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For --help and for option i, getopt returns HELP_OPTION and FIRST_OPTION + i, which are above any character. */
enum { HELP_OPTION = 999, FIRST_OPTION = 1000, MAX_OPTIONS = 64 };

/* The command line that was read: the argument of each option that is on it, "" if the option takes none; NULL for the
 * options that are not on it. The rules are copies, since the caller's may not outlive arguments_read. */
static struct {
    struct option_rule rules[MAX_OPTIONS];
    const char *arguments[MAX_OPTIONS];
    size_t option_count;
    bool has_operands; /* There are more operands than the command needs. */
} command_line;

/* Returns what precedes an option's name on the command line: one dash before a letter, two before a word. */
static const char *get_dashes(const struct option_rule *rule) { return rule->name[1] == '\0' ? "-" : "--"; }

/* Parses the argument of a numeric option. Complains and returns false if the text is no number, or one outside the
 * rule's bounds; *number may have changed even then. */
static bool parse_bounded_number(const struct option_rule *rule, const char *text, uint64_t *number) {
    if (!number_parse(text, number))
        return complain_of_usage("%s%s needs a whole number below 2^64 (such as 12, 4K, 1.5e9 or 2^34), not '%s'",
                                 get_dashes(rule), rule->name, text);
    if (*number >= rule->least && (rule->most == 0 || *number <= rule->most)) return true;
    if (rule->most == 0)
        return complain_of_usage("%s%s needs a number of at least %" PRIu64 ", not %s", get_dashes(rule), rule->name,
                                 rule->least, text);
    return complain_of_usage("%s%s needs a number from %" PRIu64 " to %" PRIu64 ", not %s", get_dashes(rule),
                             rule->name, rule->least, rule->most, text);
}

/* Parses the argument of an OPTION_NUMBER, and stores its value, an unsigned. Complains and returns false if the text
 * is no number within the rule's bounds; a rule without an upper bound has UINT_MAX. */
static bool store_number(const struct option_rule *rule, const char *text) {
    struct option_rule bounded = *rule;
    uint64_t number;
    if (rule->most == 0) bounded.most = UINT_MAX;
    if (!parse_bounded_number(&bounded, text, &number)) return false;
    *(unsigned *)rule->value = (unsigned)number;
    return true;
}

/* Parses the argument of an OPTION_SHARE, and stores its value. Complains and returns false if the text is no number
 * above 0 and up to 1. A number with too many digits is refused as well: share_parse would round 0.79999 to 0.8. */
static bool store_share(const struct option_rule *rule, const char *text) {
    int64_t *share = rule->value;
    if (share_parse(text, strlen(text), share) && *share > 0 && *share <= IDX_THRESHOLD_ONE &&
        strtod(text, NULL) == (double)*share / (double)IDX_THRESHOLD_ONE)
        return true;
    return complain_of_usage("%s%s needs a number above 0 and up to 1, with up to 4 digits after the point, not '%s'",
                             get_dashes(rule), rule->name, text);
}

/* Complains of an OPTION_GONE: an option, or a value of one, that former versions of the command had. Returns false
 * always. */
static bool complain_of_former_option(const struct option_rule *rule) {
    const char *dashes = get_dashes(rule), *value = rule->gone_value;
    if (value != NULL)
        return complain_of_usage("there is no %s%s %s; write %s", dashes, rule->name, value, rule->instead);
    return complain_of_usage("there is no option %s%s; write %s", dashes, rule->name, rule->instead);
}

/* Stores the value of an OPTION_CHOICE: the index in `names` of the name that equals the text. Complains and returns
 * false if no name does. */
static bool store_choice(const struct option_rule *rule, const char *text) {
    char names[256] = ""; /* For the message: the names of each table's choices are far shorter. */
    for (int i = 0; rule->names[i] != NULL; i++) {
        if (strcmp(rule->names[i], text) == 0) {
            *(int *)rule->value = i;
            return true;
        }
        strcat(strcat(names, i > 0 ? ", " : ""), rule->names[i]);
    }
    for (size_t i = 0; i < command_line.option_count; i++) {
        const struct option_rule *gone = &command_line.rules[i];
        if (gone->gone_value != NULL && strcmp(gone->name, rule->name) == 0 && strcmp(gone->gone_value, text) == 0)
            return complain_of_former_option(gone);
    }
    return complain_of_usage("%s%s must be one of %s, not '%s'", get_dashes(rule), rule->name, names, text);
}

/* Appends `text`, the argument of an OPTION_TEXTS, to the list. Does not copy it. Complains and returns false if memory
 * ran out. */
static bool append_text(struct strings *strings, char *text) {
    char **grown = realloc(strings->values, (strings->count + 1) * sizeof *grown);
    if (grown == NULL) return complain("out of memory");
    strings->values = grown;
    strings->values[strings->count++] = text;
    return true;
}

/* Stores the value of an option of any kind, and sets its `given`. `text` is its argument; OPTION_FLAG ignores it, and
 * an OPTION_GONE may have NULL. Complains and returns false if the option does not take this argument, or memory ran
 * out. */
static bool store_option_value(const struct option_rule *rule, char *text) {
    if (rule->given != NULL) *rule->given = true;
    switch (rule->kind) {
        case OPTION_FLAG: *(bool *)rule->value = true; return true;
        case OPTION_CHOICE: return store_choice(rule, text);
        case OPTION_COUNT: return parse_bounded_number(rule, text, rule->value);
        case OPTION_NUMBER: return store_number(rule, text);
        case OPTION_GONE: return complain_of_former_option(rule);
        default: break;
    }
    if (*text == '\0' && !rule->may_be_empty)
        return complain_of_usage("%s%s has an empty argument", get_dashes(rule), rule->name);
    if (rule->kind == OPTION_INCLUDE || rule->kind == OPTION_EXCLUDE)
        return globs_append(rule->value, text, rule->kind == OPTION_INCLUDE) || complain("out of memory");
    if (rule->kind == OPTION_SHARE) return store_share(rule, text);
    if (rule->kind == OPTION_TEXTS) return append_text(rule->value, text);
    *(const char **)rule->value = text;
    return true;
}

/* The two tables that getopt_long needs: `letters` are the options of one letter, such as ":k:h", where a colon behind
 * a letter means that the option has an argument; `words` are the longer options, and end with one without a name. */
struct getopt_tables {
    char letters[3 * MAX_OPTIONS + 8];
    struct option words[MAX_OPTIONS + 2];
};

/* Fills getopt's tables with the grammar's options, and with -h and --help. Leaves out the rules for former values of
 * options: their options have rules of their own. */
static void fill_getopt_tables(const struct grammar *grammar, struct getopt_tables *tables) {
    char *letter = tables->letters;
    struct option *word = tables->words;
    *letter++ = ':'; /* It makes getopt tell a missing argument from an unknown option, and print nothing. */
    for (size_t i = 0; i < grammar->option_count; i++) {
        const struct option_rule *rule = &grammar->options[i];
        int argument_need = rule->kind == OPTION_FLAG   ? no_argument
                            : rule->kind == OPTION_GONE ? optional_argument
                                                        : required_argument;
        if (rule->gone_value != NULL) continue;
        if (rule->name[1] == '\0') {
            *letter++ = rule->name[0];
            /* The constants of getopt_long are 0, 1 and 2, and getopt wants as many colons. */
            for (int colons = argument_need; colons > 0; colons--) *letter++ = ':';
        } else {
            *word++ = (struct option){rule->name, argument_need, NULL, FIRST_OPTION + (int)i};
        }
    }
    *letter++ = 'h';
    *letter = '\0';
    *word++ = (struct option){"help", no_argument, NULL, HELP_OPTION};
    *word = (struct option){NULL, 0, NULL, 0};
}

/* Returns the option for which getopt_long returned `code`: FIRST_OPTION plus its index, or its letter. Returns NULL if
 * there is no such option. */
static const struct option_rule *find_rule_of_code(const struct grammar *grammar, int code) {
    if (code >= FIRST_OPTION) return &grammar->options[code - FIRST_OPTION];
    for (size_t i = 0; i < grammar->option_count; i++) {
        if (grammar->options[i].name[1] == '\0' && grammar->options[i].name[0] == code) return &grammar->options[i];
    }
    return NULL;
}

/* Returns whether an argument, such as --re or --re=0.8, abbreviates the names of several options. It must begin with
 * two dashes. */
static bool is_ambiguous_name(const struct getopt_tables *tables, const char *argument) {
    size_t length = strcspn(argument, "="), match_count = 0;
    for (const struct option *word = tables->words; word->name != NULL; word++)
        match_count += length > 2 && strncmp(word->name, argument + 2, length - 2) == 0;
    return match_count > 1;
}

/* Complains of the option at which getopt_long stopped with `code`: '?' if it is unknown, ambiguous or has an argument
 * too many, ':' if its argument is missing. getopt_long has set optopt and optind. */
static void complain_of_bad_option(const struct grammar *grammar, const struct getopt_tables *tables, char **argv,
                                   int code) {
    const struct option_rule *rule = optopt > 0 ? find_rule_of_code(grammar, optopt) : NULL;
    const char *argument = argv[optind - 1];
    if (code == ':' && rule != NULL)
        complain_of_usage("%s%s needs an argument", get_dashes(rule), rule->name);
    else if (optopt >= HELP_OPTION)
        complain_of_usage("'%s' has an argument, but the option takes none", argument);
    else if (optopt > 0)
        complain_of_usage("there is no option -%c", optopt);
    else if (is_ambiguous_name(tables, argument))
        complain_of_usage("'%s' is ambiguous; write the option in full", argument);
    else
        complain_of_usage("there is no option %s", argument);
}

/* Checks the number of operands against the grammar, and that none is empty. Complains and returns false if not. */
static bool check_operands(const struct grammar *grammar, const struct strings *operands) {
    for (size_t i = 0; i < operands->count; i++)
        if (*operands->values[i] == '\0') return complain_of_usage("argument %zu is empty", i + 1);
    if (operands->count < grammar->least_operands) return complain_of_usage("%s is missing", grammar->operand);
    if (operands->count <= grammar->most_operands) return true;
    return complain_of_usage("'%s' is one argument too many", operands->values[grammar->most_operands]);
}

/* ---- What the table says of options that are given together, and of inputs ---- */

/* Returns whether `value` is among the values of a list's item, such as "json/tsv" of the item "--format json/tsv". The
 * values have `values_length` bytes together, with the slashes between them. */
static bool is_value_of_item(const char *value, const char *values, size_t values_length) {
    const size_t value_length = strlen(value);
    for (size_t i = 0; i < values_length; i += strcspn(values + i, "/,;") + 1)
        if (strcspn(values + i, "/,;") == value_length && memcmp(values + i, value, value_length) == 0) return true;
    return false;
}

/* Finds on the command line the option that a list's item names, such as --format of the item "--format json/tsv".
 * Returns its argument, or "" if the option takes none; NULL if the option is not there. */
static const char *find_item_argument(const char *item) {
    const size_t dash_count = strspn(item, "-"), name_length = strcspn(item, " ,;") - dash_count;
    for (size_t i = 0; i < command_line.option_count; i++)
        if (strncmp(command_line.rules[i].name, item + dash_count, name_length) == 0 &&
            command_line.rules[i].name[name_length] == '\0')
            return command_line.arguments[i];
    return NULL;
}

/* Returns whether a list's item is on the command line: its option, and if the item has values, with one of these. An
 * item without dashes stands for an operand beyond those that the command needs. */
static bool is_item_given(const char *item, size_t item_length) {
    const size_t name_length = strcspn(item, " ,;");
    const char *argument = find_item_argument(item);
    if (*item != '-') return command_line.has_operands;
    return argument != NULL && (name_length == item_length ||
                                is_value_of_item(argument, item + name_length + 1, item_length - name_length - 1));
}

/* Returns the first item of a list that is on the command line, and sets *item_length to its length. Returns NULL if
 * none is. The list ends at a semicolon or a NUL. */
static const char *find_given_item(const char *list, size_t *item_length) {
    for (;; list += strspn(list, ", ")) { /* Each round begins at an item, behind the comma and the space before it. */
        *item_length = strcspn(list, ",;");
        if (is_item_given(list, *item_length)) return list;
        list += *item_length;
        if (*list != ',') return NULL;
    }
}

/* Returns whether one of the items of a list equals `item`. Commas divide the items, and a semicolon or a NUL ends the
 * list. */
static bool has_listed_item(const char *list, const char *item) {
    for (;; list += strspn(list, ", ")) {
        const size_t item_length = strcspn(list, ",;");
        if (strlen(item) == item_length && memcmp(list, item, item_length) == 0) return true;
        list += item_length;
        if (*list != ',') return false;
    }
}

enum { MAX_LIST_BYTES = 256 }; /* The lists of all tables are shorter. */

/* Writes a list to `words` with "or" in place of its last comma: of "--a, --b, --c", it makes "--a, --b or --c". A
 * semicolon or a NUL ends the list. Cuts off what does not fit. Returns `words`. */
static const char *write_list_in_words(char words[MAX_LIST_BYTES], const char *list) {
    const size_t length = strcspn(list, ";");
    size_t comma = length;
    while (comma > 0 && list[comma] != ',') comma--;
    if (comma == 0)
        snprintf(words, MAX_LIST_BYTES, "%.*s", (int)length, list);
    else
        snprintf(words, MAX_LIST_BYTES, "%.*s or%.*s", (int)comma, list, (int)(length - comma - 1), list + comma + 1);
    return words;
}

/* Checks an option on the command line against the other options there. Complains and returns false if no item of one
 * of its lists in `needs` is given, or if an item of `excludes` is. */
static bool check_related_options(const struct option_rule *rule) {
    char words[MAX_LIST_BYTES];
    size_t item_length;
    for (const char *list = rule->needs; list != NULL; list = strchr(list, ';')) {
        list += strspn(list, "; ");
        if (find_given_item(list, &item_length) == NULL)
            return complain_of_usage("%s%s needs %s", get_dashes(rule), rule->name, write_list_in_words(words, list));
    }
    const char *excluded_item = rule->excludes == NULL ? NULL : find_given_item(rule->excludes, &item_length);
    if (excluded_item == NULL) return true;
    const size_t name_length = strcspn(excluded_item, " ,");
    /* An item that has values is given with one of them, which is not empty. */
    const char *value = name_length < item_length ? find_item_argument(excluded_item) : "";
    return complain_of_usage("give %s%s or %.*s%s%s, not both", get_dashes(rule), rule->name, (int)name_length,
                             excluded_item, *value == '\0' ? "" : " ", value);
}

bool arguments_have_option(const char *name) {
    for (size_t i = 0; i < command_line.option_count; i++)
        if (command_line.arguments[i] != NULL && strcmp(command_line.rules[i].name, name) == 0) return true;
    return false;
}

bool arguments_fit_input(const char *input) {
    char words[MAX_LIST_BYTES];
    for (size_t i = 0; i < command_line.option_count; i++) {
        const struct option_rule *rule = &command_line.rules[i];
        if (command_line.arguments[i] == NULL || rule->inputs == NULL || has_listed_item(rule->inputs, input)) continue;
        return complain_of_usage("%s%s is for %s, not for %s", get_dashes(rule), rule->name,
                                 write_list_in_words(words, rule->inputs), input);
    }
    return true;
}

/* ---- The whole ---- */

bool arguments_read(const struct grammar *grammar, int argc, char **argv, struct strings *operands, int *status) {
    struct getopt_tables tables;
    int code;
    *status = ENDS_BADLY;
    if (grammar->option_count > MAX_OPTIONS)
        return complain("the table of this command has %zu options, and at most %d are read", grammar->option_count,
                        MAX_OPTIONS);
    fill_getopt_tables(grammar, &tables);
    memset(&command_line, 0, sizeof command_line);
    command_line.option_count = grammar->option_count;
    for (size_t i = 0; i < grammar->option_count; i++) command_line.rules[i] = grammar->options[i];
    optind = 0; /* This makes getopt of glibc and of musl begin again. */
    opterr = 0;
    while ((code = getopt_long(argc, argv, tables.letters, tables.words, NULL)) != -1) {
        if (code == 'h' || code == HELP_OPTION) {
            bool printed = output_print(code == 'h' ? grammar->help->summary : grammar->help->whole);
            *status = printed ? ENDS_WELL : ENDS_BADLY;
            return false;
        }
        if (code == '?' || code == ':') {
            complain_of_bad_option(grammar, &tables, argv, code);
            return false;
        }
        const struct option_rule *rule = find_rule_of_code(grammar, code);
        if (!store_option_value(rule, optarg)) return false;
        command_line.arguments[rule - grammar->options] = optarg != NULL ? optarg : "";
    }
    operands->values = argv + optind;
    operands->count = (size_t)(argc - optind);
    if (!check_operands(grammar, operands)) return false;
    command_line.has_operands = operands->count > grammar->least_operands;
    for (size_t i = 0; i < command_line.option_count; i++)
        if (command_line.arguments[i] != NULL && !check_related_options(&command_line.rules[i])) return false;
    return true;
}

unsigned arguments_get_default_threads(void) {
    long processor_count = sysconf(_SC_NPROCESSORS_ONLN);
    if (processor_count < 1) return 1; /* The system does not tell. */
    return processor_count > 16 ? 16 : (unsigned)processor_count;
}

void strings_free(struct strings *strings) {
    free(strings->values);
    *strings = (struct strings){NULL, 0};
}
